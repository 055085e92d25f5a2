//! Helpers that tests share: test systems, and trials with readable counts.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use driver::{Datum, LoginSources, Target, mysql, postgres, sqlite};
use engine::{Load, OfferedLoad, Outcome, Pacing, PhaseEnds, Stop, TrialObserver, Workers, offer};
use measure::{Failure, Interval, Phase, Tally};
use plan::{Existing, Files, Limit, Options, Password, PhaseSql, Problem, WorkloadPlan};
use tempfile::TempDir;

use crate::{LoadKey, LoadPart, LoadProgress, Workload, WorkloadContext, parallel, read};

pub(crate) struct TestSystem {
    pub(crate) name: &'static str,
    pub(crate) target: Target,
    pub(crate) existing: Existing,
    pub(crate) seed: u64,
    pub(crate) load_key: LoadKey,
    pub(crate) part: LoadPart,
    pub(crate) sql: PhaseSql,
    pub(crate) stop: Stop,
    pub(crate) progress: LoadProgress,
    /// Keeps the database file until the test ends.
    folder: Option<TempDir>,
}

impl TestSystem {
    /// An SQLite file that is deleted after the test.
    pub(crate) fn sqlite() -> Self {
        let folder = TempDir::new().unwrap();
        let mut config = sqlite::Config::new(folder.path().join("test.db"));
        config.synchronous = sqlite::Synchronous::Off;
        Self::new(Target::sqlite(config), Some(folder))
    }

    /// A copy of this SQLite file, to which a trial can write without changing the original.
    pub(crate) fn copy(&self) -> Self {
        let copy = Self::sqlite();
        std::fs::copy(self.file(), copy.file()).unwrap();
        copy
    }

    /// The same database for another thread.
    pub(crate) fn beside(&self) -> Self {
        Self::new(self.target.clone(), None)
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.folder.as_ref().unwrap().path().join("test.db")
    }

    /// A separate database on the server that `cargo xtask test` provides.
    pub(crate) fn mysql(database: &str) -> Self {
        let test_system = Self::new(mysql_target(None, None), None);
        test_system.run(&format!("DROP DATABASE IF EXISTS {database}"));
        test_system.run(&format!("CREATE DATABASE {database}"));
        Self::new(mysql_target(Some(database), None), None)
    }

    /// The same on a PostgreSQL.
    pub(crate) fn postgres(database: &str) -> Self {
        let test_system = Self::postgres_server();
        test_system.run(&format!("DROP DATABASE IF EXISTS {database}"));
        test_system.run(&format!("CREATE DATABASE {database}"));
        Self::new(postgres_target(Some(database)), None)
    }

    /// The same with options of the URL, such as `?ps=text`.
    pub(crate) fn postgres_with(database: &str, options: &str) -> Self {
        let whole = Self::postgres(database);
        let url = format!("{}{options}", postgres_url(database));
        let config = postgres::Url::parse(&url).unwrap().resolve(&LoginSources::default()).unwrap();
        drop(whole);
        Self::new(Target::postgres(config), None)
    }

    /// That server itself.
    pub(crate) fn postgres_server() -> Self {
        Self::new(postgres_target(None), None)
    }

    /// The same server with another user, who has no password.
    pub(crate) fn mysql_as(user: &str, database: &str) -> Self {
        Self::new(mysql_target(Some(database), Some(user)), None)
    }

    fn new(target: Target, folder: Option<TempDir>) -> Self {
        Self {
            name: "test",
            target,
            existing: Existing::Refuse,
            seed: 42,
            load_key: LoadKey::default(),
            part: LoadPart::default(),
            sql: PhaseSql::default(),
            stop: Stop::new(),
            progress: LoadProgress::new(),
            folder,
        }
    }

    pub(crate) fn context(&self) -> WorkloadContext<'_> {
        WorkloadContext {
            system: self.name,
            target: &self.target,
            keeps_data: true,
            loaders: 2,
            existing: self.existing,
            seed: self.seed,
            load_key: self.load_key,
            sql: &self.sql,
            progress: &self.progress,
            reconnect_limit: None,
            stop: &self.stop,
        }
    }

    pub(crate) fn with(mut self, existing: Existing) -> Self {
        self.existing = existing;
        self
    }

    pub(crate) fn run(&self, sql: &str) {
        let sql = sql.to_owned();
        parallel::on_session(&self.context(), async move |session| session.run(&sql).await)
            .unwrap();
    }

    pub(crate) fn rows(&self, sql: &str) -> Vec<Vec<Datum>> {
        let sql = sql.to_owned();
        parallel::on_session(&self.context(), async move |session| session.rows(&sql).await)
            .unwrap()
    }

    pub(crate) fn integer(&self, sql: &str) -> i64 {
        let rows = self.rows(sql);
        parallel::as_integer(rows.first().and_then(|row| row.first())).unwrap()
    }

    pub(crate) fn drop_database(&self, database: &str) {
        self.run(&format!("DROP DATABASE {database}"));
    }

    /// Runs a trial of `events` transactions; every client must run to the end.
    pub(crate) fn trial(&self, workload: &dyn Workload, clients: usize, events: u64) -> Trial {
        let load = workload.load_part(&self.context(), self.part);
        let trial = self.offer(&*load, clients, events);
        assert_eq!(trial.tally.transactions + trial.tally.failed_transactions, events);
        for client in &trial.outcome.clients {
            assert_eq!(client.failure, None);
        }
        trial
    }

    pub(crate) fn offer(&self, load: &dyn Load, clients: usize, events: u64) -> Trial {
        self.try_offer(load, clients, events).unwrap()
    }

    /// The same for a load that may not begin.
    pub(crate) fn try_offer(
        &self,
        load: &dyn Load,
        clients: usize,
        events: u64,
    ) -> Result<Trial, String> {
        let is_blocking = self.target.capabilities().is_blocking;
        let offered = OfferedLoad {
            clients,
            workers: if is_blocking { Workers::PerClient } else { Workers::EventLoops(2) },
            cpus: Vec::new(),
            pacing: Pacing::Closed { think_time_ns: 0 },
            warm_up: Duration::ZERO,
            limit: Limit::events(events),
            ends: PhaseEnds::default(),
            runs_once: false,
            interval: Duration::from_secs(1),
            reconnect_limit: Some(Duration::from_secs(30)),
            connect_timeout: Duration::from_secs(30),
            drain_timeout: Duration::from_secs(30),
            levers: None,
        };
        let names = load.operations().iter().map(|operation| operation.name.clone()).collect();
        let mut sum = Sum(Tally::new(load.operations().len()));
        let outcome = offer(&offered, load, &self.stop, &mut sum);
        let outcome = outcome.map_err(|error| format!("{error:?}"))?;
        Ok(Trial { names, tally: sum.0, outcome })
    }
}

/// The address of a database on the PostgreSQL that `cargo xtask test` provides.
pub(crate) fn postgres_url(database: &str) -> String {
    let url = std::env::var("DYNO_TEST_POSTGRES")
        .expect("DYNO_TEST_POSTGRES is not set: run `cargo xtask test`");
    let (server, _) = url.rsplit_once('/').unwrap();
    format!("{server}/{database}")
}

/// A program of PostgreSQL, which stands beside the server or is on PATH.
#[expect(clippy::disallowed_methods, reason = "the test starts pgbench as its users do")]
pub(crate) fn postgres_command(name: &str) -> Command {
    let installed = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let versions = installed.map(|folder| folder.path().join("bin").join(name));
    let path = versions.filter(|path| path.exists()).max().unwrap_or_else(|| name.into());
    Command::new(path)
}

/// Runs a program on a database and returns what it prints.
pub(crate) fn postgres_program(name: &str, database: &str, arguments: &[&str]) -> Vec<u8> {
    let mut command = postgres_command(name);
    let output = command.args(arguments).arg(postgres_url(database)).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name} {arguments:?}: {said}");
    output.stdout
}

fn postgres_target(database: Option<&str>) -> Target {
    let url = std::env::var("DYNO_TEST_POSTGRES")
        .expect("DYNO_TEST_POSTGRES is not set: run `cargo xtask test`");
    let url = postgres::Url::parse(&url).unwrap();
    let database = database.map(str::to_owned).or_else(|| url.database.clone());
    let url = postgres::Url { database, ..url };
    Target::postgres(url.resolve(&LoginSources::default()).unwrap())
}

fn mysql_target(database: Option<&str>, user: Option<&str>) -> Target {
    let url = std::env::var("DYNO_TEST_MYSQL")
        .expect("DYNO_TEST_MYSQL is not set: run `cargo xtask test`");
    let mut config = mysql::Url::parse(&url).unwrap().resolve(&LoginSources::default()).unwrap();
    if let Some(database) = database {
        config.database = Some(database.to_owned());
    }
    if let Some(user) = user {
        config.user = user.to_owned();
        config.password = Password::default();
    }
    Target::mysql(config)
}

/// The sum of all intervals.
struct Sum(Tally);

impl TrialObserver for Sum {
    fn begins(&mut self, _phase: Phase, _late_ns: u64) -> io::Result<()> {
        Ok(())
    }

    fn interval(&mut self, interval: &Interval) -> io::Result<()> {
        self.0.merge(&interval.tally);
        Ok(())
    }

    fn ends(&mut self, _late_ns: u64) -> io::Result<()> {
        Ok(())
    }
}

pub(crate) struct Trial {
    pub(crate) names: Vec<String>,
    pub(crate) tally: Tally,
    pub(crate) outcome: Outcome,
}

impl Trial {
    /// How often each operation succeeded.
    pub(crate) fn counts(&self) -> Vec<(&str, u64)> {
        let tallies = self.tally.operations.iter().map(|one| one.succeeded.count());
        self.names.iter().map(String::as_str).zip(tallies).collect()
    }
}

pub(crate) fn try_workload(
    kind: &str,
    options: &str,
    folder: &Path,
) -> Result<Box<dyn Workload>, Vec<Problem>> {
    let options = Options::parse(options).unwrap();
    let plan = WorkloadPlan { name: kind.to_owned(), kind: kind.to_owned(), options };
    read(&plan, &Files::of(folder))
}

pub(crate) fn workload(kind: &str, options: &str) -> Box<dyn Workload> {
    try_workload(kind, options, Path::new("/"))
        .unwrap_or_else(|problems| panic!("{kind}: {problems:?}"))
}

pub(crate) fn message(result: Result<(), Failure>) -> String {
    result.unwrap_err().message.clone()
}
