//! `dyno compare` on records of real runs: simulated systems, whose true ratios are known.

use std::fs;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::faults_server::managed_mariadb;
use crate::own_server::Background;
use crate::sandbox::{Sandbox, both};

/// Runs a plan, and gives its record this name.
fn run(sandbox: &Sandbox, name: &str, plan: &str) {
    sandbox.file("plan.toml", plan);
    record(sandbox, name, &["run", "plan.toml"]);
}

/// Makes a record with these arguments, and gives it this name.
fn record(sandbox: &Sandbox, name: &str, args: &[&str]) {
    let out = format!("--out=results-{name}");
    let output = sandbox.dyno([]).args(args).args(["--quiet", &out]).output().unwrap();
    assert!(output.status.success(), "{}", both(&output));
    let results = sandbox.path().join(format!("results-{name}"));
    let mut entries = fs::read_dir(&results).unwrap().map(|entry| entry.unwrap().path());
    let made = entries.find(|path| !path.is_symlink()).unwrap();
    fs::rename(made, sandbox.path().join(name)).unwrap();
}

/// One client of a server with services of this length: one transaction in each.
fn constant(service: &str, rest: &str) -> String {
    format!(
        "repetitions = 3\n[systems.simulated]\nservice_times = [\"{service}\"]\n{rest}\n[workloads.simulated]\n\
         [load]\nclients = 1\ntime = \"5s\"\nwarm_up = \"1s\"\n"
    )
}

fn json(sandbox: &Sandbox, args: &[&str]) -> (Value, Option<i32>) {
    let output = sandbox.dyno(["compare"]).args(args).arg("--format=json").output().unwrap();
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    let value = serde_json::from_str(&text).unwrap_or_else(|_| panic!("{}", both(&output)));
    (value, output.status.code())
}

fn row<'v>(compared: &'v Value, figure: &str) -> &'v Value {
    let rows = compared["compared"].as_array().unwrap();
    rows.iter().find(|row| row["figure"] == figure).unwrap_or_else(|| panic!("{compared}"))
}

#[test]
fn services_of_ten_and_of_eight_milliseconds_differ_by_a_quarter() {
    let sandbox = Sandbox::new();
    run(&sandbox, "slow", &constant("10ms", ""));
    run(&sandbox, "fast", &constant("8ms", ""));
    let (found, code) = json(&sandbox, &["slow", "fast"]);
    assert_eq!(code, Some(0));
    let tps = row(&found, "tps");
    assert!((tps["ratio"].as_f64().unwrap() - 1.25).abs() < 1e-3, "{tps}");
    assert_eq!((&tps["verdict"], &tps["repetitions"]["baseline"]), (&"faster".into(), &3.into()));
    let p99 = row(&found, "p99");
    // Histograms keep three digits.
    assert!((p99["ratio"].as_f64().unwrap() - 0.8).abs() < 2e-3, "{p99}");
    assert_eq!(p99["verdict"], "faster");
    let differences = found["differences"].as_array().unwrap();
    let plan = differences.iter().find(|it| it["of"] == "plan" && it["fact"] == "lines").unwrap();
    assert_eq!(plan["baseline"], "service_times = [\"10ms\"]");
    // The other way round, under thresholds.
    let (found, code) =
        json(&sandbox, &["fast", "slow", "--fail-if=p99 > +5%", "--fail-if=tps < -30%"]);
    assert_eq!(code, Some(1));
    let results: Vec<&Value> =
        found["thresholds"].as_array().unwrap().iter().map(|it| &it["result"]).collect();
    assert_eq!(results, ["crossed", "kept"]);
    assert_eq!(found["passed"], false);
    let text = String::from_utf8(sandbox.succeed(["compare", "slow", "fast"]).stdout).unwrap();
    assert!(text.contains("faster by 25 % (25 to 25)"), "{text}");
    let place = |part: &str| text.find(part).unwrap_or_else(|| panic!("{part}: {text}"));
    assert!(place("What differs besides") < place("Candidate to baseline"));
    assert!(text.contains("Holm"), "{text}");
}

/// Services vary by a half. How long noise lasts is judged by the times at which trials began, and these are irregular where
/// they are in virtual time. Trials of 100 s have so little noise that it does not matter.
#[test]
fn the_same_system_twice_gives_no_alarm_and_a_slower_one_does() {
    let sandbox = Sandbox::new();
    let noisy = |service: &str, seed: u32| {
        let plan = constant(service, "distribution = \"lognormal\"\nvariation = 0.5");
        let plan = plan.replace("repetitions = 3", "repetitions = 8");
        format!("seed = {seed}\n{}", plan.replace("time = \"5s\"", "time = \"100s\""))
    };
    run(&sandbox, "one", &noisy("10ms", 1));
    run(&sandbox, "two", &noisy("10ms", 2));
    run(&sandbox, "slower", &noisy("12ms", 3));
    let (found, code) =
        json(&sandbox, &["one", "two", "--fail-if=tps < -3%", "--fail-if=p99 > +10%"]);
    assert_eq!(code, Some(0), "{found}");
    for row in found["compared"].as_array().unwrap() {
        let verdict = row["verdict"].as_str().unwrap();
        assert!(["not-decided", "no-difference-larger"].contains(&verdict), "{row}");
    }
    let (found, code) = json(&sandbox, &["one", "slower", "--fail-if=tps < -3%"]);
    assert_eq!(code, Some(1), "{found}");
    let tps = row(&found, "tps");
    let end = |key: &str| 1.0 + tps["change"][key].as_f64().unwrap();
    assert!(end("low_95") <= 10.0 / 12.0 && end("high_95") >= 10.0 / 12.0, "{tps}");
    assert_eq!(tps["verdict"], "slower");
    // Both together as one side: a run is then no more than one repetition, but one side has a single run.
    let (found, _) = json(&sandbox, &["one,two", "slower"]);
    assert_eq!(row(&found, "tps")["repetitions"]["baseline"], 16);
}

#[test]
fn variants_of_one_run_are_compared_by_their_rounds() {
    let sandbox = Sandbox::new();
    let plan = "repetitions = 4\n[systems.it]\nkind = \"simulated\"\n\
                noise = [{ kind = \"autocorrelated\", deviation = 0.2, time = \"60s\" }]\n\
                [systems.it.variants.old]\nservice_times = [\"10ms\"]\n\
                [systems.it.variants.new]\nservice_times = [\"5ms\"]\n[workloads.simulated]\n\
                [load]\nclients = 1\ntime = \"5s\"\nwarm_up = \"0s\"\n";
    run(&sandbox, "both", plan);
    let (found, _) = json(&sandbox, &["both:old", "both:it.new"]);
    let tps = row(&found, "tps");
    assert_eq!(
        tps["repetitions"],
        serde_json::json!({ "of": "rounds", "baseline": 4, "candidate": 4 })
    );
    assert_eq!(tps["verdict"], "faster", "{tps}");
    let report = sandbox.succeed(["report", "both", "--format=json"]);
    let report: Value = serde_json::from_slice(&report.stdout).unwrap();
    let of_report = &report["variants"][0]["compared"][0]["throughput"];
    assert_eq!(of_report["ratio"], tps["ratio"]);
    let low = 1.0 + tps["change"]["low_95"].as_f64().unwrap();
    assert!((low - of_report["low_95"].as_f64().unwrap()).abs() < 1e-12, "{of_report} {tps}");
}

#[test]
fn a_junit_file_has_a_case_for_each_threshold() {
    let sandbox = Sandbox::new();
    run(&sandbox, "slow", &constant("10ms", ""));
    run(&sandbox, "fast", &constant("8ms", ""));
    let mut command = sandbox.dyno(["compare", "fast", "slow", "--format=junit"]);
    let output = command.args(["--fail-if=p99 > +5%", "--fail-if=p50 > +90%"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stdout).unwrap();
    let document = roxmltree::Document::parse(&text).unwrap();
    let suites: Vec<_> = document.root_element().children().filter(|it| it.is_element()).collect();
    let attribute = |at: usize, name: &str| suites[at].attribute(name).unwrap();
    assert_eq!(document.root_element().tag_name().name(), "testsuites");
    assert_eq!((attribute(0, "name"), attribute(0, "tests")), ("thresholds", "2"));
    assert_eq!((attribute(0, "failures"), attribute(0, "skipped")), ("1", "0"));
    let failed = document.descendants().find(|it| it.has_tag_name("failure")).unwrap();
    assert_eq!(failed.parent().unwrap().attribute("name"), Some("p99 > +5%"));
    let cases = |at: usize| suites[at].children().filter(|it| it.has_tag_name("testcase")).count();
    assert_eq!([cases(0), cases(1)].map(|count| count.to_string()), ["2", attribute(1, "tests")]);
}

#[test]
fn what_cannot_be_compared_is_refused_with_the_exit_code_of_a_wrong_command_line() {
    let sandbox = Sandbox::new();
    let bench = |name: &str, rows: &str| {
        let size = format!("--table-size={rows}");
        let workload = "sysbench/oltp_point_select";
        record(&sandbox, name, &["bench", workload, &size, "--events=20", "--warm-up=0s"]);
    };
    bench("small", "100");
    bench("large", "200");
    bench("again", "100");
    let message = sandbox.fail(2, ["compare", "small", "large"]);
    assert!(message.contains("is not the same") && message.contains("of 200 rows"), "{message}");
    let message = sandbox.fail(2, ["compare", "small", "./small"]);
    assert!(message.contains("compared with themselves"), "{message}");
    let message = sandbox.fail(2, ["compare", "small", "nowhere"]);
    assert!(message.contains("nowhere does not exist"), "{message}");
    let message = sandbox.fail(2, ["compare", "small", "again", "--fail-if=p99 > 5%"]);
    assert!(message.contains("has a sign"), "{message}");
    let message = sandbox.fail(2, ["compare", "small", "again", "--margin=2"]);
    assert!(message.contains("--margin"), "{message}");
    // One trial each: no verdict, and nothing is refused.
    let text = sandbox.succeed(["compare", "small", "again", "--format=markdown"]).stdout;
    let text = String::from_utf8(text).unwrap();
    assert!(text.contains("| too few trials |"), "{text}");
}

#[test]
fn two_builds_of_one_database_are_compared_to_a_sentence_to_quote() {
    let sandbox = Sandbox::new();
    let plan = "repetitions = 6\n[systems.tidb]\nkind = \"simulated\"\ndistribution = \"lognormal\"\nvariation = 0.1\n\
                [systems.tidb.variants.v1]\nservice_times = [\"10ms\"]\n\
                [systems.tidb.variants.v3]\nservice_times = [\"8ms\"]\n[workloads.simulated]\n\
                [load]\nclients = [1, 2, 4]\ntime = \"20s\"\nwarm_up = \"1s\"\n";
    run(&sandbox, "builds", plan);
    let text = sandbox.succeed(["compare", "builds:v1", "builds:v3"]).stdout;
    let text = String::from_utf8(text).unwrap();
    let told = text.lines().nth(2).unwrap();
    // A service takes four fifths of the time, so that 1.25 times as many are done, with any number of clients.
    let expected =
        "tidb.v3 is faster than tidb.v1 under 3 of 3 loads of simulated: throughput +25 %";
    assert!(told.starts_with(expected) && told.ends_with(", 6 rounds."), "{text}");
    assert!(text.starts_with("Conclusions:\n"), "{text}");
}

#[test]
fn crashes_of_a_real_server_are_compared_and_its_survivors_are_marked() {
    let sandbox = Sandbox::new();
    let plan = "workload = { kind = \"sysbench/oltp_read_only\", table_size = 200 }\nrepetitions = 3\n\
                load = { clients = 2, time = \"3s\", warm_up = \"0s\", interval = \"200ms\", think_time = \"20ms\" }\n\
                [systems.maria]\nkind = \"mariadb\"\n\
                [systems.maria.variants.sturdy]\nsettings = { max_connections = 50 }\n\
                [systems.maria.variants.fragile]\nsettings = { max_connections = 60 }\n";
    sandbox.file("plan.toml", plan);
    let mut run = Background::start(&sandbox, &mut sandbox.dyno(["run", "plan.toml", "--quiet"]));
    let mut killed = 0;
    for trial in 0..6 {
        let name = format!("{trial:04}");
        run.wait_for(&name, "measure", 1);
        let header = sandbox.runs()[0].join(format!("trials/{name}/trial.json"));
        let header: Value = serde_json::from_str(&fs::read_to_string(header).unwrap()).unwrap();
        if header["system"]["variant"]["name"] == "fragile" && killed < 2 {
            kill(Pid::from_raw(managed_mariadb(&run)), Signal::SIGKILL).unwrap();
            killed += 1;
        }
    }
    assert_eq!(run.finish().status.code(), Some(1), "trials have crashed");
    let record = sandbox.runs()[0].display().to_string();
    let [sturdy, fragile] = ["sturdy", "fragile"].map(|name| format!("{record}:{name}"));
    let (found, code) = json(&sandbox, &[&sturdy, &fragile]);
    assert_eq!(code, Some(0), "{found}");
    let crashes = &found["crashes"][0];
    let cases = |crashed: u64| serde_json::json!({ "crashed": crashed, "trials": 3 });
    assert_eq!((&crashes["baseline"], &crashes["candidate"]), (&cases(0), &cases(2)));
    // Two of six trials crashed: both are of one side in 3 / 15 of all ways, and of the other in as many.
    assert!((crashes["p_value"].as_f64().unwrap() - 0.4).abs() < 1e-12, "{crashes}");
    assert_eq!(crashes["verdict"], "not-decided");
    let tps = row(&found, "tps");
    assert!(tps["remarks"].as_str().unwrap().contains("survivors of the candidate"), "{tps}");
    assert_eq!(
        (&tps["repetitions"]["candidate"], &tps["verdict"]),
        (&1.into(), &"too-few-repetitions".into())
    );
    let told = found["conclusions"][1]["text"].as_str().unwrap();
    let expected =
        "maria.fragile crashed in 2 of 3 trials, maria.sturdy in 0 of 3 trials: not decided ";
    assert!(told.starts_with(expected), "{told}");
    let text = sandbox.succeed(["compare", &sturdy, &fragile]).stdout;
    let text = String::from_utf8(text).unwrap();
    assert!(
        text.contains("survivors of the candidate") && text.lines().nth(3) == Some(told),
        "{text}"
    );
}
