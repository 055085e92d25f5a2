//! A client of its own that asks a database for a row every 10 ms, beside dyno: it sees an outage independently.
//!
//! It is a process in the network of a cluster, started from the program of the tests.

use std::fs::{self, File};
use std::io::Write;
use std::path::PathBuf;
use std::process::{Child, Command};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::driver_support::{run, target};
use crate::own_server::wait_until;
use crate::sandbox::Sandbox;

/// The URL to ask, and the file for the times of the answers.
const URL: &str = "DYNO_TEST_PING_URL";
const FILE: &str = "DYNO_TEST_PING_FILE";
const QUERY: &str = "SELECT c FROM sbtest1 WHERE id = 1";
/// Time between two questions of one connection, and how many connections ask in turn.
const PERIOD: Duration = Duration::from_millis(40);
const CONNECTIONS: u32 = 4;
/// A connection without an answer for so long is given up, because the server may wait long before it tries again.
const BOUND: Duration = Duration::from_millis(100);

/// A running ping.
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
        wait_until("the ping is answered", || ping.answers().len() > 20);
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

/// A command in the network of the process `pid`.
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
    let file = File::options().create(true).append(true).open(path).unwrap();
    thread::scope(|scope| {
        for _ in 0..CONNECTIONS {
            thread::sleep(PERIOD / CONNECTIONS);
            let (url, file) = (url.clone(), file.try_clone().unwrap());
            scope.spawn(move || ask(url, file));
        }
    });
}

/// Asks with one connection at a time, for ever.
fn ask(url: String, mut file: File) {
    run(|handle| async move {
        let target = target(&url);
        loop {
            let connected = net::within(&handle, BOUND, target.connect(&handle, 0)).await;
            if let Some(Ok(mut session)) = connected {
                while let Some(Ok(rows)) = net::within(&handle, BOUND, session.rows(QUERY)).await {
                    assert_eq!(rows.len(), 1);
                    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
                    file.write_all(format!("{}\n", now.as_nanos()).as_bytes()).unwrap();
                    handle.sleep(PERIOD).await;
                }
            }
            handle.sleep(PERIOD / CONNECTIONS).await;
        }
    })
}
