//! A separate MariaDB for a test that would disturb other tests: by killing it, pausing it, or lowering its limits.
//! Also a `dyno` in the background, so that this can happen during a run.

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use record::{Run, TrialRecord};
use serde_json::Value;
use system::Daemon;
use system::mariadb::{Settings, start};
use tempfile::TempDir;

use crate::sandbox::{Sandbox, both, json};
use crate::server::{Login, login};

const POLL_PERIOD: Duration = Duration::from_millis(20);
/// Polls before a test gives up: two minutes, for slow machines.
const POLLS_MAX: usize = 6_000;

/// A server with its data in a temporary folder.
pub(crate) struct OwnServer {
    pub(crate) server: Daemon,
    _scratch: TempDir,
}

impl OwnServer {
    pub(crate) fn start(arguments: &[&str]) -> Self {
        let scratch = TempDir::new().unwrap();
        let arguments = arguments.iter().map(|&argument| argument.to_owned()).collect();
        let settings = Settings { arguments, ..Settings::default() };
        let server = start(settings, scratch.path()).unwrap();
        Self { server, _scratch: scratch }
    }

    pub(crate) fn url(&self) -> String {
        self.server.url()
    }

    /// The URL for `user`.
    pub(crate) fn url_of(&self, user: &str) -> String {
        let Login { host, port, database, .. } = self.login();
        format!("mysql://{user}@{host}:{port}/{database}")
    }

    pub(crate) fn login(&self) -> Login {
        login(&self.url())
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.server.pid().cast_signed()), signal).unwrap();
    }

    /// Kills it as in a crash, and waits until it is gone.
    pub(crate) fn kill(&self) {
        self.signal(Signal::SIGKILL);
        wait_until("the server is gone", || self.server.exited().is_some());
    }

    pub(crate) fn client(&self, statements: &str) -> Command {
        let mut client = Command::new("mariadb");
        client
            .args(["--no-defaults", "--user=root", "--batch", "--skip-column-names"])
            .arg(format!("--socket={}", self.server.socket().display()))
            .env("MYSQL_PWD", self.login().password)
            .args(["test", "--execute", statements]);
        client
    }

    /// Runs statements as root.
    pub(crate) fn sql(&self, statements: &str) -> String {
        let output = self.client(statements).output().unwrap();
        assert!(output.status.success(), "{statements}: {}", both(&output));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs statements as root; `None` when the server refuses the login, for example because it is full.
    pub(crate) fn try_sql(&self, statements: &str) -> Option<String> {
        let output = self.client(statements).output().unwrap();
        output.status.success().then(|| String::from_utf8(output.stdout).unwrap())
    }

    /// Creates a user with rights only on the database `test`.
    pub(crate) fn make_user(&self, user: &str, password: &str) {
        self.sql(&format!(
            "CREATE USER {user}@localhost IDENTIFIED BY '{password}'; \
             GRANT ALL ON test.* TO {user}@localhost"
        ));
    }
}

pub(crate) fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    for _ in 0..POLLS_MAX {
        if is_so() {
            return;
        }
        thread::sleep(POLL_PERIOD);
    }
    panic!("it never came to pass that {what}");
}

pub(crate) struct Background<'d> {
    sandbox: &'d Sandbox,
    child: Child,
}

impl<'d> Background<'d> {
    pub(crate) fn start(sandbox: &'d Sandbox, command: &mut Command) -> Self {
        Self::start_into(sandbox, command, Stdio::piped())
    }

    /// The same, with its output in a file.
    pub(crate) fn start_into(
        sandbox: &'d Sandbox,
        command: &mut Command,
        output: impl Into<Stdio>,
    ) -> Self {
        let errors = fs::File::create(Self::errors(sandbox)).unwrap();
        let child = command.stdout(output).stderr(errors).spawn().unwrap();
        // So that the child alone has its output open.
        command.stdout(Stdio::null()).stderr(Stdio::null());
        Self { sandbox, child }
    }

    /// The file of its standard error, readable while it runs.
    fn errors(sandbox: &Sandbox) -> PathBuf {
        sandbox.path().join("stderr")
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.pid().cast_signed()), signal).unwrap();
    }

    pub(crate) fn interrupt(&self) {
        self.signal(Signal::SIGINT);
    }

    /// Its standard error so far.
    pub(crate) fn stderr_text(&self) -> String {
        fs::read_to_string(Self::errors(self.sandbox)).unwrap()
    }

    /// Waits until a trial has this many intervals of a phase on disk in which transactions ended; on a busy
    /// machine some intervals have none.
    pub(crate) fn wait_for(&mut self, trial: &str, phase: &str, intervals: usize) {
        for _ in 0..POLLS_MAX {
            let text = self.intervals(trial).unwrap_or_default();
            let whole = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
            let all = whole.map(|line| serde_json::from_str::<Value>(line).unwrap());
            let busy = all.filter(|it| it["phase"] == phase && it["transactions"] != 0);
            if busy.count() >= intervals {
                return;
            }
            let end = self.child.try_wait().unwrap();
            assert_eq!(end, None, "it ended before its time: {}", self.stderr_text());
            thread::sleep(POLL_PERIOD);
        }
        panic!("there never were {intervals} intervals of {phase} on disk");
    }

    fn folder(&self) -> Option<PathBuf> {
        Some(self.sandbox.path().join("results").read_dir().ok()?.next()?.ok()?.path())
    }

    fn intervals(&self, trial: &str) -> Option<String> {
        let trial = self.folder()?.join("trials").join(trial);
        fs::read_to_string(trial.join("intervals.jsonl")).ok()
    }

    /// The part of its first trial's record that is on disk.
    pub(crate) fn first_trial(&self) -> Option<TrialRecord> {
        Run::open(&self.folder()?).ok()?.trials.into_iter().next()
    }

    /// Waits until the record of its first trial meets a condition.
    pub(crate) fn wait_for_record(&mut self, what: &str, is_shown: impl Fn(&TrialRecord) -> bool) {
        for _ in 0..POLLS_MAX {
            if self.first_trial().is_some_and(|trial| is_shown(&trial)) {
                return;
            }
            assert_eq!(self.child.try_wait().unwrap(), None, "it ended before {what}");
            thread::sleep(POLL_PERIOD);
        }
        panic!("the record never shows that {what}");
    }

    pub(crate) fn wait_until_trial_ends(&mut self, trial: &str) {
        let place: usize = trial.parse().unwrap();
        wait_until("the trial ends", || {
            let run = self.folder().and_then(|folder| Run::open(&folder).ok());
            run.is_some_and(|run| run.trials.get(place).is_some_and(|it| it.end.is_some()))
        });
    }

    /// Interrupts it, and returns the first trial of the report that it then prints as JSON.
    pub(crate) fn interrupted_trial(self) -> Value {
        self.interrupt();
        let output = self.finish();
        assert_eq!(output.status.code(), Some(130), "{}", both(&output));
        let trial = json(&output)["trials"][0].clone();
        assert_eq!(trial["status"], "interrupted", "{trial}");
        trial
    }

    /// Waits for its end, expects success and returns the report that it printed as JSON.
    pub(crate) fn report(self) -> Value {
        let output = self.finish();
        assert!(output.status.success(), "{}", both(&output));
        json(&output)
    }

    pub(crate) fn finish(self) -> Output {
        let mut output = self.child.wait_with_output().unwrap();
        output.stderr = fs::read(Self::errors(self.sandbox)).unwrap();
        output
    }
}
