//! A job that has crossed bytes makes the load of the process that sent it, on a real server and on a real socket.

use std::io::{self, Read as _};
use std::net::TcpListener;
use std::path::Path;
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use driver::{Datum, Target};
use engine::{Outcome, Pacing, PhaseEnds, TrialObserver, Workers, worker_pool};
use measure::{Interval, Nanos, Phase};
use plan::{Limit, Plan, Source};
use runner::testing::first_trial;
use runner::{Event, Experiment, RunListener, progress_listener};
use zeroize::Zeroizing;

use super::*;

const PASSWORD: &str = "carr1age-of-the-job";
const OTHER_PASSWORD: &str = "carr1age-of-another";
const USER: &str = "dyno_job";

impl GeneratorJob {
    /// The bytes of a job. They are written in one place, which is overwritten after their use.
    ///
    /// # Errors
    /// None is known.
    fn to_bytes(&self) -> Result<Zeroizing<Vec<u8>>> {
        const UNWRITTEN: &str = "a generator's job is not written";
        let size = postcard::experimental::serialized_size(self).context(UNWRITTEN)?;
        let mut bytes = Zeroizing::new(vec![0; size]);
        postcard::to_slice(self, &mut bytes).context(UNWRITTEN)?;
        Ok(bytes)
    }

    /// Reads the bytes of a job.
    ///
    /// # Errors
    /// When they are none.
    fn from_bytes(bytes: &[u8]) -> Result<Self> {
        postcard::from_bytes(bytes).context("what came is not a generator's job")
    }
}

/// The log of the server is one for all tests.
static LOG: Mutex<()> = Mutex::new(());

struct Silent;

impl RunListener for Silent {
    fn on_event(&mut self, _event: Event<'_>) {}
}

impl TrialObserver for Silent {
    fn begins(&mut self, _phase: Phase, _late_ns: Nanos) -> io::Result<()> {
        Ok(())
    }

    fn interval(&mut self, _interval: &Interval) -> io::Result<()> {
        Ok(())
    }

    fn ends(&mut self, _late_ns: Nanos) -> io::Result<()> {
        Ok(())
    }
}

fn server_url() -> String {
    std::env::var("DYNO_TEST_MYSQL").expect("DYNO_TEST_MYSQL is not set: run `cargo xtask test`")
}

/// `host:port` of the server.
fn address() -> String {
    let url = server_url();
    url.split_once('@').unwrap().1.split_once('/').unwrap().0.to_owned()
}

fn experiment(text: &str, folder: &Path) -> Experiment {
    let source = Source { name: "x".to_owned(), text: text.to_owned(), folder: folder.into() };
    Experiment::check(Plan::parse(source).unwrap())
        .unwrap_or_else(|problems| panic!("{:?}", problems.problems))
}

/// Runs statements as the administrator of the server, and returns the rows of the last one.
fn rows(statements: &[String]) -> Vec<Vec<Datum>> {
    let url = server_url();
    let text =
        format!("[systems.s]\nkind = \"mysql\"\nurl = {url:?}\n[workloads.w]\nkind = \"ycsb/c\"\n");
    let source = Source { name: "x".to_owned(), text, folder: "/".into() };
    let plan = Plan::parse(source).unwrap();
    let (stop, scratch) = (Stop::new(), tempfile::tempdir().unwrap());
    let system = system::read(&plan.systems[0], Path::new("/"))
        .unwrap_or_else(|problems| panic!("{problems:?}"));
    let timeouts = Timeouts { connect: Duration::from_secs(20), query: None };
    let running =
        system.start(scratch.path(), timeouts, &mut progress_listener(&stop, &mut Silent)).unwrap();
    let Access::Database(target) = running.access() else { panic!("it has no tables") };
    let target: Target = target.clone();
    let answer = std::sync::Arc::new(Mutex::new(Vec::new()));
    let (kept, statements) = (std::sync::Arc::clone(&answer), statements.to_vec());
    let asked = worker_pool::run_one(&stop, |handle| {
        Box::pin(async move {
            let mut session = target.connect(&handle, 0).await?;
            for statement in statements {
                *kept.lock().unwrap() = session.rows(&statement).await?;
            }
            session.close().await;
            Ok(())
        })
    });
    asked.unwrap();
    std::mem::take(&mut *answer.lock().unwrap())
}

fn run(statements: &[&str]) {
    rows(&statements.iter().map(|it| (*it).to_owned()).collect::<Vec<String>>());
}

fn one_client(events: u64) -> OfferedLoad {
    OfferedLoad {
        clients: 1,
        workers: Workers::EventLoops(1),
        cpus: Vec::new(),
        pacing: Pacing::Closed { think_time_ns: 0 },
        warm_up: Duration::ZERO,
        limit: Limit::events(events),
        ends: PhaseEnds::default(),
        runs_once: false,
        interval: Duration::from_secs(1),
        connect_timeout: Duration::from_secs(30),
        reconnect_limit: None,
        drain_timeout: Duration::from_secs(10),
        levers: None,
    }
}

fn offer(offered: &OfferedLoad, load: &dyn Load) -> Outcome {
    engine::offer(offered, load, &Stop::new(), &mut Silent).unwrap()
}

/// The statements that the server gets from the load's user meanwhile.
fn logged(load: impl FnOnce()) -> Vec<String> {
    run(&[
        "SET GLOBAL log_output = 'TABLE'",
        "TRUNCATE mysql.general_log",
        "SET GLOBAL general_log = ON",
    ]);
    load();
    run(&["SET GLOBAL general_log = OFF", "SET GLOBAL log_output = 'FILE'"]);
    let log = rows(&[format!(
        "SELECT CONVERT(argument USING utf8mb4) FROM mysql.general_log \
         WHERE user_host LIKE '{USER}%' AND command_type IN ('Query', 'Execute')"
    )]);
    let text = |row: Vec<Datum>| match row.into_iter().next() {
        Some(Datum::Text(text)) => text,
        other => panic!("{other:?}"),
    };
    log.into_iter().map(text).collect()
}

/// The plan of a workload on a database of its own, with or without generators.
fn plan(database: &str, workload: &str, load: &str) -> String {
    let address = address();
    format!(
        "seed = 7\nexisting = \"replace\"\n\
         [systems.s]\nkind = \"mysql\"\nurl = \"mysql://{USER}:{PASSWORD}@{address}/{database}\"\n\
         [systems.s.sql]\nrun_session = \"SET @of_the_session = 1\"\n\
         [systems.other]\nkind = \"mysql\"\nurl = \"mysql://{USER}:{OTHER_PASSWORD}@{address}/{database}\"\n\
         [workloads.w]\n{workload}\n\
         [load]\nclients = 1\n{load}\n"
    )
}

fn has(bytes: &[u8], part: &str) -> bool {
    bytes.windows(part.len()).any(|window| window == part.as_bytes())
}

/// The job after its way through bytes, which have the secrets of its own system alone.
fn crossed(job: &GeneratorJob) -> GeneratorJob {
    let bytes = job.to_bytes().unwrap();
    assert!(has(&bytes, PASSWORD) && !has(&bytes, OTHER_PASSWORD));
    let shown = format!("{job:?}");
    assert!(!shown.contains("carr1age") && !shown.contains("of_the_session"), "{shown}");
    GeneratorJob::from_bytes(&bytes).unwrap()
}

/// Compares the first statements of both loads on data that the first one of them has prepared; returns them.
fn compare(database: &str, folder: &Path, workload: &str, events: u64, most: usize) -> Vec<String> {
    let _log = LOG.lock().unwrap();
    run(&[&format!("DROP DATABASE IF EXISTS {database}"), &format!("CREATE DATABASE {database}")]);
    // The server may know this host by name, and may have an anonymous user for it.
    for host in ["%", "localhost"] {
        run(&[
            &format!("CREATE USER IF NOT EXISTS {USER}@'{host}' IDENTIFIED BY '{PASSWORD}'"),
            &format!("GRANT ALL ON {database}.* TO {USER}@'{host}'"),
        ]);
    }
    let here = experiment(&plan(database, workload, ""), folder);
    let there = experiment(&plan(database, workload, "generators = [\"local\"]"), folder);
    let scratch = tempfile::tempdir().unwrap();
    let (load, _) = first_trial(&here, scratch.path(), &mut Silent).unwrap();
    let offered = one_client(events);
    let one_process = logged(|| drop(offer(&offered, load.as_ref())));
    let (_, shared) = first_trial(&there, scratch.path(), &mut Silent).unwrap();
    let place = (LoadPart::default(), &Place::Local);
    let job = GeneratorJob::of(&shared.unwrap(), place, &offered).unwrap();
    let (crossed_offer, crossed_load) = crossed(&job).load().unwrap();
    assert_eq!(crossed_offer, offered);
    assert_eq!(job.shortages(1).unwrap(), []);
    assert_eq!(crossed_load.operations(), load.operations());
    let generator = logged(|| drop(offer(&crossed_offer, crossed_load.as_ref())));
    let first = |log: &[String]| log[..most.min(log.len())].to_vec();
    assert_eq!(first(&generator), first(&one_process), "{workload}");
    assert!(generator[0].contains("of_the_session"), "{}", generator[0]);
    run(&[&format!("DROP DATABASE {database}")]);
    generator
}

#[test]
fn a_job_makes_the_statements_of_one_process() {
    let folder = tempfile::tempdir().unwrap();
    let nowhere = Path::new("/nowhere");
    let sysbench = "kind = \"sysbench/oltp_read_write\"\ntables = 3\ntable_size = 200";
    let statements = compare("job_sysbench", nowhere, sysbench, 3, usize::MAX);
    assert_eq!(statements.len(), 1 + 3 * 20, "{statements:?}");
    let properties = "recordcount=300\ncompatibility=ycsb\nfieldlength=5\n";
    std::fs::write(folder.path().join("a.properties"), properties).unwrap();
    let ycsb = "kind = \"ycsb/c\"\nproperties = \"a.properties\"";
    assert_eq!(compare("job_ycsb", folder.path(), ycsb, 20, usize::MAX).len(), 1 + 20);
    std::fs::create_dir(folder.path().join("sub")).unwrap();
    let script = "\\prepare\nCREATE TABLE t (a INT PRIMARY KEY, b INT);\n\
                  \\cleanup\nDROP TABLE IF EXISTS t;\n\
                  \\transaction mine\n\\set n random(1, 1000000)\n\
                  SELECT b FROM t WHERE a = :n;\nSELECT :client_id, :scale;\n";
    std::fs::write(folder.path().join("sub/mine.sql"), script).unwrap();
    let sql = "kind = \"sub/mine.sql\"\nvariables = { scale = 77 }";
    let statements = compare("job_sql", folder.path(), sql, 5, usize::MAX);
    assert_eq!((statements.len(), statements[2].as_str()), (1 + 2 * 5, "SELECT 0, 77"));
}

#[test]
fn a_job_of_terminals_begins_as_that_of_one_process() {
    // Later statements depend on the orders that the first load has left.
    let statements = compare("job_tpcc", Path::new("/"), "kind = \"tpcc\"\nwarehouses = 1", 1, 3);
    assert!(statements.len() >= 3, "{statements:?}");
}

/// The first bytes that a service gets on its second connection; the first one shows only that it can be reached.
fn first_request(listener: &TcpListener, call: impl FnOnce() + Send) -> Vec<u8> {
    thread::scope(|scope| {
        scope.spawn(call);
        let mut stream = listener.accept().unwrap().0;
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let mut bytes = vec![0; 4096];
        let count = stream.read(&mut bytes).unwrap();
        bytes.truncate(count);
        bytes
    })
}

#[test]
fn a_job_of_calls_makes_the_requests_of_one_process() {
    let folder = tempfile::tempdir().unwrap();
    let proto = "syntax = \"proto3\";\npackage a;\nimport \"named.proto\";\n\
                 service B { rpc C(Name) returns (Name); }\n";
    let named = "syntax = \"proto3\";\npackage a;\nmessage Name { string text = 1; }\n";
    std::fs::create_dir(folder.path().join("types")).unwrap();
    std::fs::write(folder.path().join("b.proto"), proto).unwrap();
    std::fs::write(folder.path().join("types/named.proto"), named).unwrap();
    std::fs::write(folder.path().join("body"), "a body from a file").unwrap();
    let message = "message = '{\"text\": \"drawn ${random(1, 1000000000)}\"}'\nproto = \"b.proto\"\nproto_path = \"types\"";
    for (workload, part) in [("file = \"body\"", "a body from a file"), (message, "drawn ")] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let plan = |load: &str| {
            format!(
                "seed = 7\n[systems.s]\nkind = \"trpc\"\nurl = \"trpc://127.0.0.1:{port}/a.B/C\"\n\
                 [workloads.w]\nkind = \"rpc\"\nmetadata = \"token={PASSWORD}\"\n{workload}\n[load]\nclients = 1\n{load}\n"
            )
        };
        let here = experiment(&plan(""), folder.path());
        let there = experiment(&plan("generators = [\"local\"]"), folder.path());
        let scratch = tempfile::tempdir().unwrap();
        let trial_of = |experiment| {
            let trial = first_trial(experiment, scratch.path(), &mut Silent);
            drop(listener.accept().unwrap());
            trial.unwrap()
        };
        let ((load, _), (_, shared)) = (trial_of(&here), trial_of(&there));
        let offered = one_client(1);
        let place = (LoadPart::default(), &Place::Local);
        let job = GeneratorJob::of(&shared.unwrap(), place, &offered).unwrap();
        let (crossed_offer, crossed_load) = crossed(&job).load().unwrap();
        assert_eq!(crossed_load.operations(), load.operations());
        let call = |load: Box<dyn Load>| {
            let offered = &crossed_offer;
            // The service closes the connection, so the load fails.
            first_request(&listener, || {
                let _ = engine::offer(offered, load.as_ref(), &Stop::new(), &mut Silent);
            })
        };
        let (one_process, generator) = (call(load), call(crossed_load));
        assert_eq!(generator, one_process);
        assert!(has(&generator, PASSWORD) && has(&generator, part), "{generator:?}");
    }
}

#[test]
fn bytes_that_are_not_a_job_are_refused() {
    for bytes in [&b""[..], b"x", &[255; 64]] {
        let error = GeneratorJob::from_bytes(bytes).unwrap_err();
        assert_eq!(error.to_string(), "what came is not a generator's job");
    }
}

#[test]
fn a_unix_socket_is_for_local_generators_only() {
    let socket = [Endpoint::Unix("/run/db.sock".into())];
    let address = [Endpoint::Tcp("10.0.0.1:3306".parse().unwrap())];
    let far = Place::parse("ssh://bench1").unwrap();
    assert_eq!(unreachable(&socket, &Place::Local), None);
    assert_eq!(unreachable(&address, &far), None);
    insta::assert_snapshot!(unreachable(&socket, &far).unwrap(), @"generator ssh://bench1 cannot use the unix socket /run/db.sock of this machine: give the system's URL with a TCP address that the generator can reach");
}
