//! A client of its own that asks a database for a row every 10 ms, beside dyno: it sees an outage independently.
//!
//! It is a process in the network of a cluster, started from the program of the tests.

use std::fs::{self, File};
use std::io::Write;
use std::path::PathBuf;
use std::process::{Child, Command};
use std::rc::Rc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use measure::nanos;
use net::{Handle, Nanos};

use crate::driver_support::{run, target};
use crate::own_server::wait_until;
use crate::sandbox::Sandbox;

/// The URL to ask, and the file for the times of the answers.
const URL: &str = "DYNO_TEST_PING_URL";
const FILE: &str = "DYNO_TEST_PING_FILE";
const QUERY: &str = "SELECT c FROM sbtest1 WHERE id = 1";
/// Time between two questions.
const PERIOD: Duration = Duration::from_millis(10);
/// They ask in turn, so that a question without an answer keeps no other from being asked: those of 4.5 s.
const CONNECTIONS: u32 = 450;

pub(crate) struct Ping {
    process: Child,
    file: PathBuf,
}

impl Ping {
    /// Starts to ask the database at `url`, in the network of the process `pid`.
    pub(crate) fn start(sandbox: &Sandbox, pid: i32, url: &str) -> Self {
        let file = sandbox.path().join(format!("ping-{pid}"));
        let tests = std::env::current_exe().unwrap();
        let mut ping = in_network_of(pid, tests.to_str().unwrap());
        ping.args(["--exact", "ping::ask_until_killed", "--ignored"]);
        let process = ping.env(URL, url).env(FILE, &file).spawn().unwrap();
        let ping = Self { process, file };
        wait_until("each connection was answered", || ping.answers().len() >= CONNECTIONS as usize);
        ping
    }

    /// The times of the answers since 1970, ns.
    fn answers(&self) -> Vec<u64> {
        let text = fs::read_to_string(&self.file).unwrap_or_default();
        let whole = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
        let mut answers: Vec<u64> = whole.map(|line| line.trim().parse().unwrap()).collect();
        answers.sort_unstable();
        answers
    }

    /// Ends it; returns the longest time between two answers, in seconds.
    pub(crate) fn longest_gap_s(mut self) -> f64 {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
        let gaps = self.answers().windows(2).map(|pair| pair[1] - pair[0]).max();
        gaps.unwrap() as f64 / 1e9
    }
}

pub(crate) fn in_network_of(pid: i32, program: &str) -> Command {
    let mut command = Command::new("nsenter");
    command.arg(format!("--target={pid}")).arg("--net");
    if !nix::unistd::geteuid().is_root() {
        command.args(["--user", "--preserve-credentials"]);
    }
    command.arg(program);
    command
}

/// Not a test: the process that asks.
#[test]
#[ignore = "another test runs this as a process of its own"]
fn ask_until_killed() {
    let (Ok(url), Ok(path)) = (std::env::var(URL), std::env::var(FILE)) else { return };
    run(|handle| async move {
        let start = handle.now();
        let file = Rc::new(File::options().create(true).append(true).open(path).unwrap());
        for place in 0..CONNECTIONS {
            let first = start + nanos(PERIOD * place);
            handle.spawn(ask(handle.clone(), url.clone(), first, Rc::clone(&file)));
        }
        std::future::pending::<()>().await;
    });
}

/// Asks with a connection of its own, first at `first` and then each time that all others have asked.
async fn ask(handle: Handle, url: String, first: Nanos, file: Rc<File>) {
    let mut due = first;
    handle.sleep_until(due).await;
    let mut session = target(&url).connect(&handle, 0).await.unwrap();
    loop {
        assert_eq!(session.rows(QUERY).await.unwrap().len(), 1);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        (&*file).write_all(format!("{}\n", now.as_nanos()).as_bytes()).unwrap();
        while due <= handle.now() {
            due += nanos(PERIOD * CONNECTIONS);
        }
        handle.sleep_until(due).await;
    }
}
