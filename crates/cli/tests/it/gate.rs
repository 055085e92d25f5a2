//! Gates of continuous integration: bounds at which a run fails, doubts that are accepted, names of runs.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::sandbox::{SIMULATED, Sandbox, block, both, json};

#[test]
fn a_run_fails_when_a_figure_of_a_load_is_beyond_a_bound() {
    let sandbox = Sandbox::new();
    // 1 client: 100 per s, 10 ms; 6 clients: 200 per s, 30 ms.
    let bounds = "fail_if = [\"p99 > 20ms\", \"errors > 0.1%, throughput < 90\"]\n";
    sandbox.file("plan.toml", &format!("{bounds}{SIMULATED}"));
    let output = sandbox.dyno(["run", "plan.toml"]).output().unwrap();
    let told = both(&output);
    assert_eq!(output.status.code(), Some(1), "{told}");
    for line in [
        "p99 > 20ms: crossed with 30.0 ms (simulated on simulated, 6 clients)",
        "not crossed: errors > 0.1%, throughput < 90",
        "fail_if: of 6 bounds, 1 crossed",
    ] {
        assert!(told.contains(line), "{line}: {told}");
    }
    // Everything was written, and a report of it shows the same; to show it is no failure.
    let report = json(&sandbox.succeed(["report", "--format=json"]));
    assert_eq!(
        (report["status"].as_str(), report["bounds_kept"].as_bool()),
        (Some("complete"), Some(false))
    );
    let results: Vec<_> =
        report["fail_if"].as_array().unwrap().iter().map(|it| &it["result"]).collect();
    assert_eq!(results, ["kept", "crossed", "kept", "kept", "kept", "kept"]);
    let crossed = &report["fail_if"][1];
    assert_eq!((&crossed["figure"], &crossed["limit"]), (&"p99".into(), &20e6.into()));
    let value = crossed["value"].as_f64().unwrap();
    assert!((value / 30e6 - 1.0).abs() < 0.01, "{crossed}");
    let markdown =
        String::from_utf8(sandbox.succeed(["report", "--format=markdown"]).stdout).unwrap();
    assert!(markdown.contains("## Bounds") && markdown.contains("| crossed |"), "{markdown}");
    // Bounds of the command line stand in place of those of the plan.
    let run = ["run", "plan.toml", "--fail-if", "p99 > 40ms", "--fail-if=tps < 90", "-q"];
    let told = both(&sandbox.succeed(run));
    assert!(told.contains("not crossed: p99 > 40ms, throughput < 90"), "{told}");
}

#[test]
fn a_bound_that_cannot_be_checked_fails_the_run() {
    let sandbox = Sandbox::new();
    // All 1000 clients wait for the first answer, which takes longer than the load.
    let slow = "[systems.simulated]\nservice_times = [\"100s\"]\n[workloads.simulated]\n[load]\ntime = \"1s\"\n";
    sandbox.file("plan.toml", slow);
    let told = sandbox.fail(1, ["run", "plan.toml", "--fail-if=p99 > 1h"]);
    assert!(told.contains("fail_if: of 1 bound, 1 not known"), "{told}");
}

#[test]
fn wrong_bounds_are_told_before_anything_runs() {
    let sandbox = Sandbox::new();
    sandbox.file("plan.toml", &format!("fail_if = \"p99 > 10\"\n{SIMULATED}"));
    let told = sandbox.fail(2, ["run", "plan.toml"]);
    for part in ["plan.toml:1", "a latency has a unit, such as 10ms", "help: write such as"] {
        assert!(told.contains(part), "{part}: {told}");
    }
    for bound in ["p99 > +5%", "latency > 1s", "p99"] {
        let told = sandbox.fail(2, ["bench", "oltp_point_select", "--fail-if", bound]);
        assert!(told.contains("--fail-if: `") && told.contains("write such as"), "{told}");
    }
    assert!(!sandbox.path().join("results").exists());
}

/// A server of 100 a second, to which 105 arrive: the trial is doubtful by `rate-missed`.
const DOUBTFUL: &str = "percentiles = [50]\n[systems.simulated]\nservice_times = [\"10ms\"]\n\
                        [workloads.simulated]\n[load]\nclients = 1000\nrate = 105\narrivals = \"constant\"\n\
                        time = \"60s\"\n";

#[test]
fn a_doubt_that_is_accepted_does_not_fail_a_strict_run() {
    let sandbox = Sandbox::new();
    sandbox.file("plan.toml", DOUBTFUL);
    let told = sandbox.fail(1, ["run", "plan.toml", "--strict", "-q"]);
    assert!(told.contains("(doubtful: rate-missed)"), "{told}");
    sandbox.succeed(["run", "plan.toml", "--strict", "--accept=rate-missed", "--accept=trend"]);
    sandbox.succeed(["report", "--strict", "--accept=rate-missed"]);
    sandbox.fail(1, ["report", "--strict", "--accept=trend"]);
    let told = sandbox.fail(2, ["run", "plan.toml", "--strict", "--accept=rate-mised"]);
    let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("did you mean `rate-missed`? they are baseline-differs,"), "{told}");
}

#[test]
fn a_name_leads_to_the_newest_run_of_it_and_is_no_run_of_its_own() {
    let sandbox = Sandbox::new();
    sandbox.file("plan.toml", SIMULATED);
    let run = |name: &str| sandbox.succeed(["run", "plan.toml", "--name", name, "-q"]);
    let leads_to =
        |name: &str| fs::canonicalize(sandbox.path().join("results").join(name)).unwrap();
    ["main", "main", "change"].into_iter().for_each(|name| drop(run(name)));
    let runs = sandbox.runs();
    let runs: Vec<_> = runs.iter().map(|run| fs::canonicalize(run).unwrap()).collect();
    assert_eq!(runs.len(), 3, "nothing was overwritten");
    assert_eq!(
        ["main", "change", "latest"].map(leads_to),
        [&runs[1], &runs[2], &runs[2]].map(Clone::clone)
    );
    let listed = String::from_utf8(sandbox.succeed(["list"]).stdout).unwrap();
    assert_eq!(listed.matches(" complete ").count(), 3, "{listed}");
    let history = String::from_utf8(sandbox.succeed(["history", "results"]).stdout).unwrap();
    assert!(history.contains("3 runs"), "{history}");
    let compared = sandbox.succeed(["compare", "results/main", "results/change"]);
    assert!(both(&compared).contains("2 of 2"), "{}", both(&compared));
    // A run that measured nothing has no folder, and takes no name.
    sandbox.file(
        "wrong.toml",
        "system = \"sqlite:/nowhere/at all\"\nworkload = \"oltp_point_select\"\n",
    );
    sandbox.fail(2, ["run", "wrong.toml", "--name=main"]);
    assert_eq!(leads_to("main"), runs[1]);
}

#[test]
fn names_that_could_replace_something_are_refused_before_the_run() {
    let sandbox = Sandbox::new();
    sandbox.file("plan.toml", SIMULATED);
    fs::create_dir_all(sandbox.path().join("results/kept")).unwrap();
    for (name, why) in [
        ("a/b", "cannot name a run"),
        ("", "cannot name a run"),
        ("latest", "always leads to the newest run"),
        ("kept", "is no link to a run and is not replaced"),
    ] {
        let told = sandbox.fail(2, ["run", "plan.toml", "--name", name]);
        let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(told.contains(why), "{name}: {told}");
    }
    assert_eq!(sandbox.runs().len(), 1, "the folder alone");
}

#[test]
fn a_folder_of_results_means_its_newest_run_and_the_list_has_its_best_load() {
    let sandbox = Sandbox::new();
    sandbox.file("plan.toml", SIMULATED);
    for out in ["base", "base", "new"] {
        sandbox.succeed(["run", "plan.toml", "-q", "--out", out]);
    }
    let compared = both(&sandbox.succeed(["compare", "base", "new:simulated"]));
    let newest = fs::canonicalize(sandbox.path().join("base/latest")).unwrap();
    assert!(compared.contains(newest.file_name().unwrap().to_str().unwrap()), "{compared}");
    let told = sandbox.fail(2, ["compare", "base", "bin"]);
    assert!(told.contains("bin does not exist"), "{told}");
    fs::create_dir(sandbox.path().join("bin")).unwrap();
    assert!(sandbox.fail(2, ["compare", "base", "bin"]).contains("bin has no run"));
    // 6 clients of two servers make 200 a second, with 30 ms each.
    let listed = String::from_utf8(sandbox.succeed(["list", "new"]).stdout).unwrap();
    let row: Vec<&str> = listed.lines().nth(1).unwrap().split_whitespace().collect();
    let figures = &row[row.len() - 6..row.len() - 1];
    assert_eq!(figures, ["simulated", "6", "200", "30.0", "ms"], "{listed}");
}

#[test]
fn a_brief_report_and_a_brief_comparison_have_the_verdict_first_in_25_lines() {
    let sandbox = Sandbox::new();
    sandbox.file("plan.toml", &format!("repetitions = 3\n{SIMULATED}"));
    sandbox.fail(1, ["run", "plan.toml", "-q", "--name=main", "--fail-if=p99 > 20ms"]);
    sandbox.succeed(["run", "plan.toml", "-q", "--name=change"]);
    let text = |output: std::process::Output| String::from_utf8(output.stdout).unwrap();
    let brief = text(sandbox.succeed(["report", "results/main", "--brief"]));
    assert!(brief.starts_with("**Failed: of 2 bounds, 1 crossed**"), "{brief}");
    assert!(brief.contains("| simulated") && brief.lines().count() <= 25, "{brief}");
    let compare = ["compare", "results/main", "results/change", "--brief", "--fail-if=tps < -5%"];
    let brief = text(sandbox.succeed(compare));
    assert!(brief.starts_with("**Passed: of 2 thresholds, none crossed"), "{brief}");
    assert!(brief.lines().count() <= 25, "{brief}");
}

/// How the lines of docs/ci.md end, for a change to a view that reads so many rows, 2,000 before it.
fn gate_of_the_documents(rows: u64) -> (Option<i32>, String) {
    const GUIDE: &str = include_str!("../../../../docs/ci.md");
    let sandbox = Sandbox::new();
    let view = |rows: u64| {
        format!(
            "CREATE VIEW totals AS SELECT sum(total) AS total FROM orders WHERE id <= {rows};\n"
        )
    };
    sandbox.file("ci.toml", block(GUIDE, "toml", "[systems.sqlite.variants.base]"));
    sandbox.file(
        "orders.sql",
        "\\prepare\nCREATE TABLE orders (id INTEGER PRIMARY KEY, customer INTEGER, total INTEGER);\n\
         WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < 20000)\n\
         INSERT INTO orders SELECT value, value % 500, value FROM n;\n\
         \\transaction totals\nSELECT total FROM totals;\n\
         \\cleanup\nDROP VIEW IF EXISTS totals;\nDROP TABLE orders;\n",
    );
    sandbox.file("schema.sql", &view(2_000));
    let commit =
        "git init -q . && git add -A && git -c user.name=n -c user.email=e commit -qm base";
    let program = Path::new(env!("CARGO_BIN_EXE_dyno")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    let shell = |lines: &str| {
        let mut shell = Command::new("bash");
        shell.args(["-e", "-c", lines]).current_dir(sandbox.path()).env("PATH", &path);
        shell.env("HOME", sandbox.path()).env("BASE", "HEAD").output().unwrap()
    };
    assert!(shell(commit).status.success());
    sandbox.file("schema.sql", &view(rows));
    let output = shell(block(GUIDE, "sh", "git show"));
    (output.status.code(), both(&output))
}

/// On a machine whose other tests take the CPU as well, only a change as large as this is surely seen in so short a time;
/// one of 15 % is in docs/ci.md.
#[test]
fn the_lines_of_the_documents_fail_a_change_that_is_slower_and_pass_one_that_is_not() {
    let (code, told) = gate_of_the_documents(6_000);
    assert_eq!(code, Some(1), "{told}");
    assert!(told.contains("p50 > +5%: crossed"), "{told}");
    let (code, told) = gate_of_the_documents(2_000);
    assert_eq!(code, Some(0), "{told}");
    assert!(told.contains("**Passed: of 1 threshold, none crossed"), "{told}");
}

/// The lines of the last step of the action at the root.
fn lines_of_the_action() -> String {
    const ACTION: &str = include_str!("../../../../action.yml");
    let (_, lines) = ACTION.rsplit_once("      run: |\n").unwrap();
    lines.lines().map(|line| format!("{}\n", line.strip_prefix("        ").unwrap())).collect()
}

#[test]
fn the_action_writes_a_summary_and_fails_where_a_bound_or_a_threshold_is_crossed() {
    let sandbox = Sandbox::new();
    let plan = "repetitions = 2\n[systems.simulated]\nservers = 2\n\
                [systems.simulated.variants.base]\nservice_times = [\"10ms\"]\n\
                [systems.simulated.variants.change]\nservice_times = [\"12ms\"]\n\
                [workloads.simulated]\n[load]\nclients = 1\ntime = \"5s\"\n";
    sandbox.file("ci.toml", plan);
    let of = |plan: &str, bounds: &str, thresholds: &str| {
        let summary = sandbox.file("summary.md", "");
        let mut shell = Command::new("bash");
        shell
            .args(["-e", "-o", "pipefail", "-c", &lines_of_the_action()])
            .current_dir(sandbox.path());
        shell.envs([
            ("PLAN", plan),
            ("NAME", "gate"),
            ("COMPARE", "base change"),
            ("ARGUMENTS", "--set load.warm_up=0s"),
        ]);
        shell.envs([
            ("FAIL_IF", bounds),
            ("THRESHOLDS", thresholds),
            ("DYNO", env!("CARGO_BIN_EXE_dyno")),
        ]);
        let output = shell
            .env("GITHUB_STEP_SUMMARY", &summary)
            .env("HOME", sandbox.path())
            .output()
            .unwrap();
        (output.status.code(), fs::read_to_string(&summary).unwrap(), both(&output))
    };
    let (code, summary, told) = of("ci.toml", "errors > 0.1%\np99 > 1s\n", "p50 > +30%\n");
    assert_eq!(code, Some(0), "{told}");
    assert!(summary.contains("complete, 4 bounds kept"), "{summary}");
    assert!(summary.contains("**Passed: of 1 threshold, none crossed"), "{summary}");
    let (code, summary, told) = of("ci.toml", "p99 > 11ms", "");
    assert_eq!(code, Some(1), "{told}");
    assert!(summary.contains("**Failed: of 2 bounds, 1 crossed**"), "{summary}");
    let (code, summary, told) = of("ci.toml", "", "p50 > +5%");
    assert_eq!(code, Some(1), "{told}");
    assert!(summary.contains("**Failed: of 1 threshold, 1 crossed"), "{summary}");
    let (code, summary, told) = of("none.toml", "", "");
    assert_eq!((code, summary.as_str()), (Some(2), ""), "{told}");
}
