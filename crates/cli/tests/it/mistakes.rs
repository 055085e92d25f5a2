//! Mistakes of a first use: each is told in a few lines with its remedy, and leaves nothing behind.

use std::fs;

use crate::sandbox::{Sandbox, both};
use crate::server;

/// The most lines on standard error for one mistake.
const LINES_MAX: usize = 6;

struct Mistake {
    name: &'static str,
    arguments: Vec<String>,
    /// Words of the cause and of the remedy.
    told: &'static [&'static str],
}

fn mistake(name: &'static str, arguments: &str, told: &'static [&'static str]) -> Mistake {
    let arguments = arguments.split(' ').map(str::to_owned).collect();
    Mistake { name, arguments, told }
}

/// Runs `dyno` and checks everything but the words: exit code, lines, standard output and the folder of results.
fn explained(sandbox: &Sandbox, mistake: &Mistake) -> String {
    let Mistake { name, arguments, .. } = mistake;
    let results = sandbox.path().join("results");
    let entries = || fs::read_dir(&results).map(|entries| entries.count()).ok();
    let before = entries();
    let output = sandbox.dyno([]).args(arguments).output().unwrap();
    let all = both(&output);
    assert_eq!(output.status.code(), Some(2), "{name}: {all}");
    assert!(output.stdout.is_empty(), "{name}: {all}");
    assert_eq!(entries(), before, "{name}: {all}");
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.lines().count() <= LINES_MAX, "{name}: {all}");
    error
}

fn bench(system: &str) -> String {
    format!("bench oltp_read_write --time 9s --system {system}")
}

/// Mistakes of which a server tells.
fn at_a_server() -> Vec<Mistake> {
    let user = server::user_with_password("dyno_mistakes", "right");
    let (right, wrong) = (user.url(Some("right")), user.url(Some("wr0ng")));
    let (server, _) = right.rsplit_once('/').unwrap();
    server::sql("CREATE TABLE dyno_mistakes.sbtest1 (id INT PRIMARY KEY, k INT, c INT, pad INT)");
    vec![
        mistake("wrong password", &bench(&wrong), &["Access denied", "help: ", "DYNO_PASSWORD"]),
        mistake("no password", &bench(&user.url(None)), &["using password: NO", "help: "]),
        mistake(
            "server down",
            &bench("mysql://root@127.0.0.1:1/test"),
            &["Connection refused", "help: nothing listens there: start the server"],
        ),
        mistake(
            "no such database",
            &bench(&format!("{server}_no_such")).replace("_no_such", "/dyno_no_such"),
            &["dyno_no_such", "help: "],
        ),
        mistake(
            "no database",
            &bench(server),
            &[
                "No database selected",
                "help: name a database in the URL: mysql://dyno_mistakes@",
                "/DATABASE",
            ],
        ),
        mistake(
            "tables of another kind or size",
            &bench(&right),
            &["sbtest1 has no index on k", "help: ", "--existing replace"],
        ),
        mistake(
            "tables are refused",
            &format!("{} --existing refuse", bench(&right)),
            &["table sbtest1 already exists", "help: ", "--existing reuse"],
        ),
        mistake(
            "more clients than the server takes",
            &format!("{} --existing replace --clients 99999", bench(&right)),
            &["too few", "help: "],
        ),
    ]
}

/// Mistakes that need no server.
fn elsewhere() -> Vec<Mistake> {
    vec![
        mistake(
            "unknown host",
            &bench("mysql://root@no-such-host.invalid/test"),
            &["no-such-host.invalid", "help: check its spelling"],
        ),
        mistake(
            "no method",
            "bench rpc --system trpc://127.0.0.1:1",
            &["no method is named", "help: ", "package.Service/Method"],
        ),
        mistake(
            "no service",
            "bench rpc --system grpc://127.0.0.1:1/a.B/C --time 9",
            &["Connection refused", "help: "],
        ),
        mistake("a misspelled scheme", &bench("postgre://a@b/c"), &["did you mean `postgres`?"]),
        mistake("HTTP", &bench("http://a/b"), &["HTTP is not supported", "gRPC, tRPC and TCP"]),
        mistake("no scheme", &bench("root@host/db"), &["help: ", "mysql://root@host/db"]),
        mistake(
            "a set of workloads",
            "bench sysbench --system postgres",
            &["unknown workload `sysbench`", "help: ", "`sysbench/oltp_point_select`"],
        ),
        mistake("another tool's command", "start mariadb", &["'up'"]),
        mistake("unknown CPU", "bench oltp_read_write --client-cpus 999", &["there is no CPU 999"]),
        mistake(
            "a plan that does not exist",
            "run no-such-plan.toml",
            &["cannot read this plan", "No such file"],
        ),
    ]
}

#[test]
fn each_mistake_is_told_in_a_few_lines_and_leaves_nothing() {
    let mistakes: Vec<Mistake> = at_a_server().into_iter().chain(elsewhere()).collect();
    let sandbox = Sandbox::new();
    let all_told = |it: &Mistake| {
        let told = explained(&sandbox, it);
        for word in it.told {
            assert!(told.contains(word), "{}: {word} is missing in: {told}", it.name);
        }
        assert!(!told.contains("wr0ng") && !told.contains("right"), "{}: {told}", it.name);
    };
    mistakes.iter().for_each(all_told);
    assert!(!sandbox.path().join("results").exists());
    sandbox.succeed(["bench", "oltp_read_write", "--events", "1", "--table-size", "10"]);
    mistakes.iter().take(3).for_each(all_told);
}

/// One of two systems can be measured: the run has a record, in which the other one has failed.
#[test]
fn a_run_of_which_something_was_measured_keeps_its_record() {
    let sandbox = Sandbox::new();
    let plan = "workload = \"oltp_point_select\"\n[systems.down]\nurl = \"mysql://root@127.0.0.1:1/test\"\n\
                [systems.sqlite]\n[load]\nevents = 10\nwarm_up = \"0s\"\n";
    let plan = sandbox.file("plan.toml", plan);
    let output = sandbox.dyno(["run"]).arg(plan).output().unwrap();
    let all = both(&output);
    assert_eq!(output.status.code(), Some(1), "{all}");
    let runs = sandbox.runs();
    assert_eq!(runs.len(), 1, "{all}");
    let run = record::Run::open(&runs[0]).unwrap();
    assert_eq!(run.trials.len(), 2, "{all}");
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(error.matches("Connection refused").count(), 1, "{error}");
}

/// The folder has the whole log of the build, of which the message shows the end.
#[test]
fn a_failed_build_keeps_its_log() {
    let sandbox = Sandbox::new();
    let plan = "workload = \"simulated\"\n[systems.simulated]\nbuild = \"echo one; exit 3\"\n";
    let plan = sandbox.file("plan.toml", plan);
    let output = sandbox.dyno(["run"]).arg(plan).output().unwrap();
    let all = both(&output);
    assert_eq!(output.status.code(), Some(2), "{all}");
    assert!(output.stdout.is_empty(), "{all}");
    let runs = sandbox.runs();
    assert_eq!(runs.len(), 1, "{all}");
    let log = fs::read_to_string(runs[0].join("build-simulated.log")).unwrap();
    assert!(log.contains("one"), "{log}");
    assert!(
        all.contains(&format!("log: {}", runs[0].strip_prefix(sandbox.path()).unwrap().display())),
        "{all}"
    );
}

/// The second run of the README's command uses the tables of the first.
#[test]
fn the_same_command_runs_twice_on_a_server() {
    let sandbox = Sandbox::new();
    let url = server::database("dyno_twice");
    let arguments =
        "--tables 2 --table-size 500 --clients 1,2 --time 300ms --warm-up 0s --repetitions 1";
    let run = || {
        let mut command = sandbox.dyno(["bench", "sysbench/oltp_read_write", "--system", &url]);
        let output = command.args(arguments.split(' ')).output().unwrap();
        assert!(output.status.success(), "{}", both(&output));
        String::from_utf8(output.stderr).unwrap()
    };
    let used = "tables sbtest1, sbtest2 exist and match";
    assert!(!run().contains(used));
    let told = run();
    assert!(told.contains(used), "{told}");
    server::sql("DROP DATABASE dyno_twice");
}
