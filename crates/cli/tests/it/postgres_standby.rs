//! A load on a hot standby of PostgreSQL: what only reads is measured, and what writes is refused with what to do.

use std::fs::{Permissions, create_dir, read_link, set_permissions};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use driver::postgres::Url;
use driver::{Datum, LoginSources, Target};
use measure::ErrorClass;
use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, User, chown, geteuid};
use system::Daemon;
use system::postgres::{Settings, start};
use tempfile::TempDir;

use crate::driver_support::{cell, run};
use crate::own_server::{Background, wait_until};
use crate::sandbox::{Sandbox, both, report};

/// A server, and another one that follows it.
struct Pair {
    primary: Daemon,
    standby: Child,
    standby_url: String,
    /// The data of both.
    _folder: TempDir,
}

impl Drop for Pair {
    fn drop(&mut self) {
        // An immediate shutdown, which also removes its shared memory.
        let _ = kill(Pid::from_raw(self.standby.id().cast_signed()), Signal::SIGQUIT);
        let _ = self.standby.wait();
    }
}

impl Pair {
    fn start() -> Self {
        let folder = TempDir::new().unwrap();
        set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
        let data = folder.path().join("of-primary");
        create_dir(&data).unwrap();
        let settings = ["shared_preload_libraries=pg_stat_statements", "wal_level=replica"];
        let settings = settings.map(str::to_owned).to_vec();
        let primary = start(Settings { settings, ..Settings::default() }, &data).unwrap();
        ask(&primary.url(), "CREATE EXTENSION pg_stat_statements");
        let url = primary.url();
        let (login, _) = url.split_once('@').unwrap();
        let (_, password) = login.rsplit_once(':').unwrap();
        let standby_data = folder.path().join("of-standby");
        create_dir(&standby_data).unwrap();
        let copied = program(&primary, "pg_basebackup", &standby_data)
            .args(["--write-recovery-conf", "--checkpoint=fast", "--username=postgres"])
            .args(["--host=127.0.0.1", "--port", &primary.port().to_string(), "--pgdata"])
            .arg(&standby_data)
            .env("PGPASSWORD", password)
            .output()
            .unwrap();
        assert!(copied.status.success(), "{}", both(&copied));
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        // A standby takes at least as many as its primary.
        let connections = ask(&url, "SELECT current_setting('max_connections')");
        let Some(Datum::Text(connections)) = connections else { panic!("{connections:?}") };
        let standby = program(&primary, "postgres", &standby_data)
            .arg("-D")
            .arg(&standby_data)
            .args(["-h", "127.0.0.1", "-k", "", "-p", &port.to_string()])
            .args(["-c", &format!("max_connections={connections}")])
            // What the primary has written does not wait for a statement that it would change.
            .args(["-c", "max_standby_streaming_delay=0"])
            .args(["-c", "shared_preload_libraries=pg_stat_statements"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let standby_url = format!("{login}@127.0.0.1:{port}/postgres");
        let pair = Self { primary, standby, standby_url, _folder: folder };
        wait_until("the standby answers", || pair.try_follow().is_some());
        pair
    }

    /// Whether the standby has applied what the primary has written; `None` when it does not answer.
    fn try_follow(&self) -> Option<bool> {
        let written = ask(&self.primary.url(), "SELECT pg_current_wal_lsn()::text")?;
        let Datum::Text(written) = written else { panic!("{written:?}") };
        let follows = format!("SELECT (pg_last_wal_replay_lsn() >= '{written}'::pg_lsn)::text");
        Some(ask(&self.standby_url, &follows)? == Datum::Text("true".to_owned()))
    }

    fn follow(&self) {
        wait_until("the standby has followed", || self.try_follow() == Some(true));
    }
}

/// A program beside the server's, as the account that the server runs as, to which `folder` is given.
fn program(primary: &Daemon, name: &str, folder: &Path) -> Command {
    let server = read_link(format!("/proc/{}/exe", primary.pid())).unwrap();
    let mut command = Command::new(server.with_file_name(name));
    if geteuid().is_root() {
        let account = User::from_name("postgres").unwrap().expect("the package made it");
        chown(folder, Some(account.uid), Some(account.gid)).unwrap();
        command.uid(account.uid.as_raw()).gid(account.gid.as_raw());
    }
    set_permissions(folder, Permissions::from_mode(0o700)).unwrap();
    command.current_dir(folder);
    command
}

/// The only cell of the answer, or an empty one; `None` when the server does not let in.
fn ask(url: &str, statement: &str) -> Option<Datum> {
    let config = Url::parse(url).unwrap().resolve(&LoginSources::default()).unwrap();
    let statement = statement.to_owned();
    run(|handle| async move {
        let mut session = Target::postgres(config).connect(&handle, 0).await.ok()?;
        let answer = match statement.starts_with("SELECT") {
            true => cell(&mut session, &statement).await,
            false => session.run(&statement).await.map(|_| Datum::Null).unwrap(),
        };
        session.close().await;
        Some(answer)
    })
}

fn dyno(sandbox: &Sandbox, verb: &str, workload: &str, url: &str) -> Command {
    let mut command = sandbox.dyno([verb, workload, "--tables=1", "--table-size=1000"]);
    command.args(["--system", url]);
    command
}

fn bench(sandbox: &Sandbox, workload: &str, url: &str, existing: &str) -> Command {
    let mut command = dyno(sandbox, "bench", workload, url);
    command.args(["--clients=4", "--events=200", "--warm-up=0s", "--repetitions=1"]);
    command.args(["--format=json", "--existing", existing]);
    command
}

fn is_refused(pair: &Pair, workload: &str, existing: &str) {
    let sandbox = Sandbox::new();
    let output = bench(&sandbox, workload, &pair.standby_url, existing).output().unwrap();
    let told = both(&output);
    assert!(!output.status.success(), "{workload} {existing}: {told}");
    for words in ["25006", "the server is a standby", "use its primary"] {
        assert!(told.contains(words), "{workload} {existing}: {told}");
    }
}

#[test]
fn a_standby_is_measured_by_reads_and_refuses_writes_with_what_to_do() {
    let (reads, writes) = ("sysbench/oltp_read_only", "sysbench/oltp_update_index");
    let pair = Pair::start();
    // The tables are not there yet.
    is_refused(&pair, reads, "match");
    let sandbox = Sandbox::new();
    let prepared = dyno(&sandbox, "prepare", reads, &pair.primary.url()).output().unwrap();
    assert!(prepared.status.success(), "{}", both(&prepared));
    pair.follow();
    is_refused(&pair, reads, "replace");
    is_refused(&pair, writes, "reuse");
    let report = report(&mut bench(&sandbox, reads, &pair.standby_url, "reuse"));
    let trial = &report["trials"][0];
    assert_eq!(trial["transactions"], 200, "{trial:#}");
    assert_eq!(report["systems"][0]["settings"]["in_hot_standby"], "on");
    let findings = trial["findings"].to_string();
    assert!(findings.contains("the server is a standby"), "{findings}");
    let check = &trial["cross_check"];
    assert_eq!(check["others_connected"], false, "{check}");
    assert_eq!(check["session_statements"]["difference"], 0, "{check}");
    let more = 0..=check["routine_max"].as_i64().unwrap();
    assert!(more.contains(&check["difference"].as_i64().unwrap()), "{check}");
}

#[test]
fn statements_that_a_standby_cancels_to_follow_its_primary_are_tried_again() {
    let pair = Pair::start();
    let primary = pair.primary.url();
    ask(&primary, "CREATE TABLE changing AS SELECT 0 AS value FROM generate_series(1, 100)");
    pair.follow();
    let sandbox = Sandbox::new();
    let script = sandbox.file("slow.sql", "SELECT COUNT(*) FROM changing, pg_sleep(0.1);\n");
    let mut command = sandbox.dyno(["bench", "--clients=4", "--time=60s", "--warm-up=0s"]);
    command.args(["--interval=200ms", "--repetitions=1", "--format=json", "--system"]);
    let mut run = Background::start(&sandbox, command.arg(&pair.standby_url).arg(script));
    run.wait_for("0000", "measure", 1);
    // Rows that a statement of the standby still sees are removed.
    ask(&primary, "UPDATE changing SET value = 1");
    ask(&primary, "VACUUM changing");
    run.wait_for_record("statements were cancelled", |trial| {
        let mut all = trial.intervals.iter().flat_map(|it| &it.tally.errors);
        all.any(|(key, _)| (key.class, &*key.code) == (ErrorClass::WriteConflict, "40001"))
    });
    let trial = run.interrupted_trial();
    assert_eq!(trial["failed_transactions"], 0, "{trial:#}");
    let check = &trial["cross_check"];
    assert!(check["counters"]["conflicts"].as_u64().unwrap() > 0, "{check}");
    // Of a statement that the interrupt cut off dyno saw no answer.
    let difference = check["session_statements"]["difference"].as_i64().unwrap();
    assert!((0..=4).contains(&difference), "{check}");
}
