//! Command lines, and the messages for wrong ones.

use std::fs;
use std::process::Stdio;

use crate::own_server::{Background, OwnServer};
use crate::sandbox::{Sandbox, both, json};

#[test]
fn a_misspelt_key_is_shown_in_its_place_with_the_right_spelling() {
    let sandbox = Sandbox::new();
    sandbox.file(
        "plan.toml",
        "[systems.simulated]\n[workloads.simulated]\n[load]\nclient = 4\ntime = \"1s\"\n",
    );
    let message = sandbox.fail(2, ["run", "plan.toml"]);
    assert!(message.contains("plan.toml:4"), "{message}");
    assert!(message.contains("`clients`"), "{message}");
    assert!(!sandbox.path().join("results").exists(), "nothing starts before the plan is right");
}

#[test]
fn an_override_is_checked_like_the_plan_itself() {
    let sandbox = Sandbox::new();
    sandbox.file("plan.toml", "[systems.simulated]\n[workloads.simulated]\n");
    let message = sandbox.fail(2, ["run", "plan.toml", "--set", "load.tine=5s"]);
    assert!(message.contains("time"), "{message}");
    let output =
        sandbox.succeed(["run", "plan.toml", "--set", "load.clients=[1,2,3]", "--dry-run"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("3 trials"), "{text}");
}

#[test]
fn an_unknown_workload_suggests_the_nearest_name() {
    let sandbox = Sandbox::new();
    let message = sandbox.fail(2, ["bench", "sysbench/oltp_point_selct", "--system", "sqlite"]);
    assert!(message.contains("oltp_point_select"), "{message}");
}

#[test]
fn a_missing_plan_file_is_named() {
    let sandbox = Sandbox::new();
    let message = sandbox.fail(2, ["run", "nowhere.toml"]);
    assert!(message.contains("nowhere.toml"), "{message}");
}

/// The load begins, and then every transaction fails for longer than clients try to reconnect.
#[test]
fn a_run_that_failed_is_listed_and_reported_as_failed() {
    let sandbox = Sandbox::new();
    let own = OwnServer::start(&[]);
    let mut command = sandbox.dyno(["bench", "sysbench/oltp_point_select", "--time=60s"]);
    command.args(["--repetitions=1", "--reconnect-limit=off", "--system", &own.url()]);
    let mut run = Background::start(&sandbox, &mut command);
    run.wait_for("0000", "measure", 1);
    own.kill();
    let output = run.finish();
    assert_eq!(output.status.code(), Some(1), "{}", both(&output));
    let listed = String::from_utf8(sandbox.succeed(["list"]).stdout).unwrap();
    let row: Vec<&str> = listed.lines().nth(1).unwrap().split_whitespace().skip(4).collect();
    assert_eq!(row[..6], ["failed", "0", "of", "1", "1", "invalid"], "{listed}");
    let run = sandbox.runs().remove(0);
    for (format, status) in
        [("json", "\"status\": \"failed\""), ("text", "\nfailed, 0 of 1 trial, 1 failed")]
    {
        let output = sandbox.dyno(["report", "--format", format]).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{}", both(&output));
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains(status) && !text.contains("complete"), "{text}");
    }
    let page = crate::sandbox::whole_page(&run);
    assert!(page.contains("<span class=\"status failed\">failed</span>"));
    assert!(!page.contains(">complete<"), "nothing of it is complete");
}

const TWO_TRIALS: &str = "[systems.simulated]\nservice_times = [\"2ms\"]\nstalls = [{ at = \"500ms\", for = \"500ms\" }]\n[workloads.simulated]\n\
                          [load]\nclients = [1, 2]\ntime = \"3500ms\"\nwarm_up = 0\n";

/// The figures of each trial in the progress, without the separators of thousands.
fn progress_of(stderr: &[u8]) -> Vec<String> {
    let text = String::from_utf8(stderr.to_vec()).unwrap().replace(',', "");
    let lines = text.lines().filter(|line| line.contains(" tx/s "));
    lines.map(|line| line.split_once(": ").unwrap().1.to_owned()).collect()
}

#[test]
fn the_progress_ends_with_the_figures_of_the_whole_trial() {
    let sandbox = Sandbox::new();
    sandbox.file("plan.toml", TWO_TRIALS);
    let output = sandbox.succeed(["run", "plan.toml", "--format=json"]);
    let report = json(&output);
    let told = progress_of(&output.stderr);
    assert_eq!(told.len(), 2, "{told:?}");
    for (trial, told) in report["trials"].as_array().unwrap().iter().zip(told) {
        let figure = trial["transactions_per_s"].as_f64().unwrap();
        assert!(told.starts_with(&format!("{figure:.0} tx/s ")), "{told}: {trial}");
    }
    let listed = String::from_utf8(sandbox.succeed(["list"]).stdout).unwrap();
    let best = report["trials"].as_array().unwrap().iter();
    let best = best.map(|trial| trial["transactions_per_s"].as_f64().unwrap()).fold(0.0, f64::max);
    let row = listed.lines().nth(1).unwrap();
    assert!(row.contains(" complete  2 of 2  "), "{listed}");
    assert!(row.contains(&format!("  {best:.0} ")), "{listed}");
}

#[test]
fn one_trial_is_reported_by_its_number() {
    let sandbox = Sandbox::new();
    sandbox.file("plan.toml", TWO_TRIALS);
    let all = json(&sandbox.succeed(["run", "plan.toml", "--format=json"]));
    let run = sandbox.runs().remove(0);
    let files = || fs::read_to_string(run.join("report.json")).unwrap();
    let before = files();
    let one = json(&sandbox.succeed(["report", "--trial=2", "--format=json"]));
    assert_eq!(one["trials"].as_array().unwrap()[..], all["trials"].as_array().unwrap()[1..]);
    assert_eq!(files(), before, "the reports of the run have all of its trials");
    let output = sandbox.succeed(["report", "--trial=2", "--out=second"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.starts_with("plan, trial 2\nsimulated system") && text.contains(" tx/s"),
        "{text}"
    );
    assert!(text.contains("\nreport  second/report.html\n"), "{text}");
    assert!(sandbox.path().join("second/report.csv").exists());
    let message = sandbox.fail(2, ["report", "--trial=3"]);
    assert!(message.contains("there is no trial 3: the record has 2, from 1"), "{message}");
}

#[test]
fn a_folder_of_results_that_is_not_there_is_an_error() {
    let sandbox = Sandbox::new();
    let message = sandbox.fail(2, ["list", "nowhere"]);
    assert!(message.contains("nowhere does not exist"), "{message}");
    sandbox.succeed(["list"]);
}

#[test]
fn a_wrong_value_of_an_option_is_told_at_the_option() {
    let sandbox = Sandbox::new();
    let place = |arguments: [&str; 2]| {
        let told =
            sandbox.fail(2, ["bench", "sysbench/oltp_read_write", arguments[0], arguments[1]]);
        assert!(!told.contains("command line"), "nobody has written its lines: {told}");
        let line = told.lines().find_map(|line| line.trim_start().strip_prefix("--> "));
        line.unwrap_or_else(|| panic!("{told}")).to_owned()
    };
    for (arguments, option) in [
        (["--clients", "0"], "--clients"),
        (["--warm-up", "soon"], "--warm-up"),
        (["--table-size", "many"], "--table-size"),
        (["--option", "range_size=x"], "--option range_size"),
        (["--option", "rnage_size=1"], "--option rnage_size"),
        (["--system-option", "journal=off"], "--system-option journal"),
        (["--system", "sqlit"], "--system sqlit"),
        (["--set", "load.interval=0s"], "--set load.interval=0s"),
        (["--seek", "p99 < many"], "--seek"),
    ] {
        assert_eq!(place(arguments), option);
    }
    let told = sandbox.fail(2, ["bench", "sysbench/oltp_reed"]);
    assert!(told.contains("--> sysbench/oltp_reed\n"), "{told}");
    sandbox.file("plan.toml", TWO_TRIALS);
    let told = sandbox.fail(2, ["run", "plan.toml", "--set", "load.clients=0"]);
    assert!(told.contains("--> --set load.clients=0\n"), "{told}");
}

#[test]
fn what_is_wrong_with_a_system_to_start_or_data_to_generate_is_told_at_its_argument() {
    let sandbox = Sandbox::new();
    let place = |arguments: [&str; 4]| {
        let told = sandbox.fail(2, arguments);
        assert!(!told.contains("command line"), "nobody has written its lines: {told}");
        let line = told.lines().find_map(|line| line.trim_start().strip_prefix("--> "));
        line.unwrap_or_else(|| panic!("{told}")).to_owned()
    };
    for (arguments, named) in [
        (["up", "tidb:/nope", "--option", "source=path"], "tidb:/nope"),
        (["up", "tydb", "--option", "source=path"], "tydb"),
        (["up", "tidb", "--option", "sorce=path"], "--option sorce"),
        (["up", "tidb", "--option", "cpus=x"], "--option cpus"),
        (["generate", "tpcc", "--out=files", "--option=warehouses=x"], "--option warehouses"),
        (["generate", "tpzz", "--out=files", "--option=warehouses=1"], "tpzz"),
    ] {
        assert_eq!(place(arguments), named);
    }
}

#[test]
fn options_of_other_load_generators_and_numbers_with_units_are_understood() {
    let sandbox = Sandbox::new();
    let told = |arguments: [&str; 2]| {
        sandbox.fail(2, ["bench", "sysbench/oltp_read_write", arguments[0], arguments[1]])
    };
    let threads = told(["--threads", "4"]);
    assert!(threads.contains("give --clients") && !threads.contains("-- --threads"), "{threads}");
    let size = told(["--table-size", "100kb"]);
    assert!(size.contains("did you mean `100k`?"), "{size}");
    let clients = told(["--clients", "1..8"]);
    assert!(clients.contains("a list has each number: `1,2,4,8`"), "{clients}");
    let system = told(["--system", "127.0.0.1:3306"]);
    assert!(system.contains("mysql://USER@127.0.0.1:3306/DATABASE"), "{system}");
    let program = told(["--system", "tidb:/nope"]);
    assert!(program.contains("there is no program /nope"), "{program}");
}

#[test]
fn a_dry_run_has_the_format_that_is_asked_for() {
    let sandbox = Sandbox::new();
    sandbox.file("plan.toml", TWO_TRIALS);
    let dry = |format: &str| sandbox.succeed(["run", "plan.toml", "--dry-run", "--format", format]);
    let planned = json(&dry("json"));
    let clients: Vec<_> =
        planned["trials"].as_array().unwrap().iter().map(|trial| &trial["clients"]).collect();
    assert_eq!((clients, &planned["load_s"]), (vec![&1.into(), &2.into()], &7.0.into()));
    let table = String::from_utf8(dry("csv").stdout).unwrap();
    assert_eq!(table.lines().nth(2), Some("2,simulated,simulated,2,,1"), "{table}");
    let markdown = String::from_utf8(dry("markdown").stdout).unwrap();
    assert!(markdown.starts_with("| trial | system"), "{markdown}");
    assert!(!sandbox.path().join("results").exists());
}

#[test]
fn completions_list_the_subcommands() {
    let sandbox = Sandbox::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = sandbox.succeed(["completions", shell]).stdout;
        let script = String::from_utf8(script).unwrap();
        for command in ["bench", "prepare", "check", "cleanup", "report"] {
            assert!(script.contains(command), "{shell}: {command}");
        }
    }
}

#[test]
fn workloads_and_systems_explain_themselves() {
    let sandbox = Sandbox::new();
    for (what, name, option) in [
        ("workloads", "sysbench/oltp_read_write", "range_size"),
        ("systems", "sqlite", "synchronous"),
    ] {
        let all = String::from_utf8(sandbox.succeed([what]).stdout).unwrap();
        assert!(all.contains(name), "{all}");
        let one = String::from_utf8(sandbox.succeed([what, name]).stdout).unwrap();
        assert!(one.contains(option), "{one}");
    }
    let message = sandbox.fail(2, ["systems", "sqlit"]);
    assert!(message.contains("did you mean \"sqlite\"?"), "{message}");
    let message = sandbox.fail(2, ["workloads", "oltp"]);
    let expected = "did you mean one of sysbench/oltp_point_select, sysbench/oltp_read_only, ";
    assert!(message.contains(expected) && !message.contains("ycsb"), "{message}");
}

/// A short load without a server.
const QUICK: [&str; 7] = [
    "bench",
    "sysbench/oltp_point_select",
    "--table-size=10",
    "--time=200ms",
    "--interval=100ms",
    "--warm-up=0s",
    "--system=sqlite",
];

#[test]
fn an_option_without_a_value_is_a_usage_error() {
    let sandbox = Sandbox::new();
    for flag in ["--option", "--system-option"] {
        let message = sandbox.fail(2, ["bench", "sysbench/oltp_point_select", flag, "range_size"]);
        assert!(message.contains("has no `=`") && message.contains(flag), "{message}");
    }
}

#[test]
fn closing_stderr_does_not_end_a_run() {
    let sandbox = Sandbox::new();
    let mut run =
        sandbox.dyno(QUICK).stderr(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    drop(run.stderr.take());
    let output = run.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", both(&output));
    assert!(String::from_utf8_lossy(&output.stdout).contains("report.html"), "{}", both(&output));
}

#[test]
fn a_failing_standard_output_is_reported() {
    let sandbox = Sandbox::new();
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let output = sandbox.dyno(["workloads"]).stdout(full).stderr(Stdio::piped()).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", both(&output));
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("cannot write to standard output"), "{text}");
}

#[test]
fn list_names_runs_that_it_cannot_read() {
    let sandbox = Sandbox::new();
    for _ in 0..2 {
        sandbox.succeed(QUICK);
    }
    let [broken, whole] = [0, 1].map(|at| sandbox.runs().remove(at));
    fs::write(broken.join("run.json"), "{").unwrap();
    let name =
        |folder: &std::path::Path| folder.file_name().unwrap().to_string_lossy().into_owned();
    for command in ["list", "report"] {
        let output = sandbox.succeed([command]);
        let (shown, told) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(shown.contains(&name(&whole)), "{shown}");
        assert!(told.contains(&name(&broken)) && told.contains("damaged at line 1"), "{told}");
    }
    let output = sandbox.succeed(["list", whole.to_str().unwrap()]);
    assert!(String::from_utf8_lossy(&output.stdout).contains(" is a run: `dyno report "));
    fs::remove_dir_all(whole).unwrap();
    let output = sandbox.succeed(["list"]);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "no runs yet below results\n");
}

#[test]
fn system_messages_are_printed_once() {
    let sandbox = Sandbox::new();
    sandbox.file("taken", "");
    let message = sandbox.fail(1, ["list", "taken"]);
    assert_eq!(message.matches("os error").count(), 1, "{message}");
}

#[test]
fn numbers_are_written_and_refused_on_the_command_line_as_in_a_plan() {
    let sandbox = Sandbox::new();
    let dry = ["bench", "sysbench/oltp_point_select", "--dry-run", "--clients"];
    let run = |clients| sandbox.dyno(dry).arg(clients).output().unwrap();
    let shown = String::from_utf8(run("8,1k").stdout).unwrap();
    assert!(shown.contains(" 1000 ") && shown.contains("6 trials, 25.8s of load"), "{shown}");
    let told = String::from_utf8(run("1..4").stderr).unwrap();
    assert!(told.contains("`clients` is \"1..4\", not a whole number"), "{told}");
    assert!(told.contains("allowed: 1 to 1000000"), "{told}");
}

/// No TiDB is on the path or in the cache, so a run would build it.
#[test]
fn a_dry_run_tells_of_the_build_to_come() {
    let sandbox = Sandbox::new();
    let planned = |more: &[&str]| {
        let mut command = sandbox.dyno(["bench", "oltp_read_write", "--dry-run", "--system=tidb"]);
        command.args(more).env("DYNO_CACHE", sandbox.path().join("cache"));
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", both(&output));
        String::from_utf8(output.stdout).unwrap()
    };
    let build = "tidb: building TiDB from its Go module, once: 8 to 9 minutes";
    let told = planned(&["--system-option=source=build"]);
    let (build_at, load_at) = (told.find(build), told.find(" of load"));
    assert!(build_at.is_some() && build_at < load_at, "{told}");
    let binary = sandbox.program("tidb-server", "#!/bin/sh\n");
    let told = planned(&[&format!("--system-option=binary={}", binary.display())]);
    assert!(!told.contains("building"), "{told}");
}

#[test]
fn plans_are_written_by_init_and_run_by_name() {
    let sandbox = Sandbox::new();
    let told = String::from_utf8(sandbox.succeed(["init", "oltp_insert"]).stdout).unwrap();
    assert_eq!(told, "plan.toml is written; `dyno run plan.toml` runs it\n");
    let once = ["run", "plan.toml", "--set=load.events=5", "--set=repetitions=1", "--quiet"];
    sandbox.succeed(once);
    let before = fs::read_to_string(sandbox.path().join("plan.toml")).unwrap();
    let refused = sandbox.fail(2, ["init", "tpcc"]);
    assert!(refused.contains("plan.toml already exists"), "{refused}");
    assert_eq!(fs::read_to_string(sandbox.path().join("plan.toml")).unwrap(), before);
    let wrong = sandbox.fail(2, ["init", "oltp_reed", "--out=other.toml"]);
    assert!(wrong.contains("unknown workload `oltp_reed`"), "{wrong}");
    assert!(!sandbox.path().join("other.toml").exists());
    let planned =
        |name| String::from_utf8(sandbox.succeed(["run", name, "--dry-run"]).stdout).unwrap();
    assert_eq!(planned("quickstart"), planned("quickstart.toml"));
    sandbox.file("quickstart", "system = \"sqlite\"\nworkload = \"oltp_delete\"\n");
    assert!(planned("quickstart").contains("oltp_delete"), "a file precedes");
}
