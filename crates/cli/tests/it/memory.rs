//! What of a password is in the memory of dyno and of its generators: a single copy as long as a login may follow,
//! and none after the last.

use std::fs::{self, File};
use std::hash::{BuildHasher, RandomState};
use std::io::PipeReader;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::process::{Command, Output};

use nix::fcntl::{FcntlArg, fcntl};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use procfs::process::{Process, Task};
use serde_json::Value;

use crate::generators::generators_of;
use crate::go_mysql::{GoMysql, PASSWORD, PASSWORD_IN_URL, Place};
use crate::own_server::{Background, wait_until};
use crate::sandbox::{Sandbox, both};
use crate::server;

/// A password that nothing else contains by chance.
fn new_password() -> String {
    let random = || RandomState::new().hash_one(0);
    format!("pass-{:016x}-{:016x}", random(), random())
}

/// A mapping of a process's memory.
#[derive(Debug)]
struct Mapping {
    start: u64,
    end: u64,
    name: String,
}

/// The mappings that a process can write to. Source: proc_pid_maps(5).
fn writable(pid: u32) -> Vec<Mapping> {
    let maps = fs::read_to_string(format!("/proc/{pid}/maps")).unwrap();
    let parse = |line: &str| {
        let mut fields = line.split_ascii_whitespace();
        let (start, end) = fields.next()?.split_once('-')?;
        let number = |text| u64::from_str_radix(text, 16).ok();
        let is_writable = fields.next()?.starts_with("rw");
        let name = fields.nth(3).unwrap_or("anonymous").to_owned();
        is_writable.then_some(Mapping { start: number(start)?, end: number(end)?, name })
    };
    maps.lines().filter_map(parse).collect()
}

/// A process that stands still, so that nothing in its memory moves while it is searched, and no load ends meanwhile.
struct Paused(Pid);

impl Paused {
    fn new(pid: u32) -> Self {
        let pid = Pid::from_raw(pid.cast_signed());
        kill(pid, Signal::SIGSTOP).unwrap();
        let process = Process::new(pid.as_raw()).unwrap();
        let stands = |task: Task| task.stat().is_ok_and(|stat| stat.state == 'T');
        let all_stand = || process.tasks().unwrap().flatten().all(stands);
        wait_until("the process stands still", all_stand);
        Self(pid)
    }
}

impl Drop for Paused {
    fn drop(&mut self) {
        kill(self.0, Signal::SIGCONT).unwrap();
    }
}

/// The names of the mappings in which a text occurs, one for each copy. A parent may read the memory of its child.
fn copies(pid: u32, text: &str) -> Vec<String> {
    let _paused = Paused::new(pid);
    let memory = File::open(format!("/proc/{pid}/mem")).unwrap();
    let mut found = Vec::new();
    for mapping in writable(pid) {
        let mut bytes = vec![0; usize::try_from(mapping.end - mapping.start).unwrap()];
        let read = memory.read_exact_at(&mut bytes, mapping.start);
        read.unwrap_or_else(|error| panic!("cannot read {mapping:?}: {error}"));
        let first = text.as_bytes()[0];
        let starts = bytes.iter().enumerate().filter(|(_, byte)| **byte == first);
        let copies = starts.filter(|(at, _)| bytes[*at..].starts_with(text.as_bytes()));
        found.extend(copies.map(|_| mapping.name.clone()));
    }
    found
}

/// A run whose report nobody reads yet.
struct Unread<'s> {
    run: Background<'s>,
    sandbox: &'s Sandbox,
    output: PipeReader,
}

impl<'s> Unread<'s> {
    fn start(sandbox: &'s Sandbox, command: &mut Command) -> Self {
        command.args(["--format=json", "--quiet", "--set", "load.warm_up=0s"]);
        let (output, input) = std::io::pipe().unwrap();
        fcntl(&input, FcntlArg::F_SETPIPE_SZ(4096)).unwrap();
        Self { run: Background::start_into(sandbox, command, input), sandbox, output }
    }

    /// The copies after the run's last login, when dyno waits for someone to read its report.
    fn copies_at_end(self, password: &str) -> (Vec<String>, Output) {
        let is_written = |run: &PathBuf| run.join("report.json").exists();
        let results = self.sandbox.path().join("results");
        let is_over = || results.exists() && self.sandbox.runs().first().is_some_and(is_written);
        wait_until("the report is written", is_over);
        let copies = copies(self.run.pid(), password);
        // It was still there: its report does not fit into the pipe.
        let text = std::io::read_to_string(self.output).unwrap();
        assert!(text.len() > 4096, "{}", self.run.stderr_text());
        (copies, self.run.finish())
    }
}

/// The copies while the load runs, and those after the run's last login.
fn searched(sandbox: &Sandbox, command: &mut Command, password: &str) -> [Vec<String>; 2] {
    command.args(["--set", "load.time=5s", "--set", "load.interval=10ms", "--set", "cleanup=true"]);
    command.args(["--set", "existing=replace", "--set", "load.clients=2"]);
    let mut unread = Unread::start(sandbox, command);
    unread.run.wait_for("0000", "measure", 3);
    let during = copies(unread.run.pid(), password);
    let (after, output) = unread.copies_at_end(password);
    assert!(output.status.success(), "{}", both(&output));
    [during, after]
}

const WORKLOAD: &str =
    "[workloads.reads]\nkind = \"sysbench/oltp_point_select\"\ntable_size = 50\n";

fn plan(sandbox: &Sandbox, system: &str) -> Command {
    sandbox.file("plan.toml", &format!("{WORKLOAD}[systems.server]\n{system}\n"));
    sandbox.dyno(["run", "plan.toml"])
}

#[track_caller]
fn assert_one_then_none([during, after]: [Vec<String>; 2]) {
    assert_eq!((during.len(), after.len()), (1, 0), "{during:?}, then {after:?}");
}

#[test]
fn a_password_of_a_plan_leaves_no_copy_in_memory() {
    let (sandbox, password) = (Sandbox::new(), new_password());
    let url = server::user_with_password("dyno_memory_plan", &password).url(Some(&password));
    let mut command = plan(&sandbox, &format!("url = \"{url}\""));
    assert_one_then_none(searched(&sandbox, &mut command, &password));
}

#[test]
fn a_password_of_the_command_line_leaves_no_copy_in_memory() {
    let (sandbox, password) = (Sandbox::new(), new_password());
    let url = server::user_with_password("dyno_memory_words", &password).url(Some(&password));
    let mut command = sandbox.dyno(["bench", "sysbench/oltp_point_select", "--table-size=50"]);
    command.args(["--system", &url]);
    assert_one_then_none(searched(&sandbox, &mut command, &password));
}

#[test]
fn a_password_of_the_environment_leaves_no_copy_in_memory() {
    let (sandbox, password) = (Sandbox::new(), new_password());
    let url = server::user_with_password("dyno_memory_variable", &password).url(None);
    let mut command = plan(&sandbox, &format!("url = \"{url}\""));
    command.env("DYNO_PASSWORD", &password).env("MYSQL_PWD", &password);
    assert_one_then_none(searched(&sandbox, &mut command, &password));
}

#[test]
fn a_password_of_a_file_leaves_no_copy_in_memory() {
    let (sandbox, password) = (Sandbox::new(), new_password());
    let url = server::user_with_password("dyno_memory_file", &password).url(None);
    sandbox.file("secret", &format!("{password}\n"));
    let mut command = plan(&sandbox, &format!("url = \"{url}\"\npassword_file = \"secret\""));
    assert_one_then_none(searched(&sandbox, &mut command, &password));
    let sandbox = Sandbox::new();
    sandbox.file(".my.cnf", &format!("[client]\npassword={password}\n"));
    let mut command = plan(&sandbox, &format!("url = \"{url}\""));
    assert_one_then_none(searched(&sandbox, &mut command, &password));
}

#[test]
fn generators_have_one_copy_of_a_password_each() {
    let (sandbox, password) = (Sandbox::new(), new_password());
    let url = server::user_with_password("dyno_memory_generators", &password).url(Some(&password));
    let mut command = plan(&sandbox, &format!("url = \"{url}\""));
    command.args(["--set", "load.generators=[\"local\", \"command:env LC_ALL=C\"]"]);
    command.args(["--set", "load.time=10m", "--set", "load.interval=100ms"]);
    command.args(["--set", "load.clients=4", "--set", "load.warm_up=0s"]);
    let mut run = Background::start(&sandbox, &mut command);
    run.wait_for("0000", "measure", 3);
    let generators = generators_of(run.pid());
    assert_eq!(generators.len(), 2);
    let pids = generators.iter().map(|pid| pid.as_raw().cast_unsigned());
    let found: Vec<_> = pids.chain([run.pid()]).map(|pid| copies(pid, &password)).collect();
    run.interrupt();
    assert_eq!(run.finish().status.code(), Some(130));
    let counts: Vec<usize> = found.iter().map(Vec::len).collect();
    assert_eq!(counts, [1, 1, 1], "{found:?}");
}

#[test]
fn a_password_that_is_sent_itself_leaves_no_copy_in_memory() {
    let server = GoMysql::start();
    let in_tls = "?ssl-mode=required&enable-cleartext-plugin=1";
    let encrypted_by_rsa = "?ssl-mode=disabled&get-server-public-key=1";
    for options in [in_tls, encrypted_by_rsa] {
        let sandbox = Sandbox::new();
        sandbox.file("look.sql", "\\transaction look\nSELECT 1;\n");
        let url = server.url(Place::Tls, &format!("sha256:{PASSWORD_IN_URL}"), options);
        let mut command = sandbox.dyno(["bench", "look.sql", "--system", &url]);
        let (after, output) = Unread::start(&sandbox, &mut command).copies_at_end(PASSWORD);
        assert_eq!(after, Vec::<String>::new(), "{options}");
        // The server accepts the login, and then answers no more than a test of logins needs.
        let report: Value = serde_json::from_str(
            &fs::read_to_string(sandbox.runs()[0].join("report.json")).unwrap(),
        )
        .unwrap();
        let reason = report["trials"][0]["reason"].as_str().unwrap();
        assert!(reason.contains("only SELECT is answered here"), "{reason} {}", both(&output));
    }
}

#[test]
fn a_copy_in_memory_is_found() {
    let (sandbox, password) = (Sandbox::new(), new_password());
    let url = server::user_with_password("dyno_memory_copy", &password).url(Some(&password));
    let mut command = plan(&sandbox, &format!("url = \"{url}\""));
    // A variable of no meaning, which dyno leaves where it is.
    command.env("KEPT", &password);
    let [during, after] = searched(&sandbox, &mut command, &password);
    assert_eq!((during.len(), after), (2, vec!["[stack]".to_owned()]), "{during:?}");
}
