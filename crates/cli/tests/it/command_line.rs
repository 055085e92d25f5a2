//! Command lines, and the messages for wrong ones.

use std::fs;
use std::process::Stdio;

use crate::sandbox::{Sandbox, both};

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

#[test]
fn an_unreachable_server_fails_the_run_with_a_remedy() {
    let sandbox = Sandbox::new();
    // Port 1 of loopback: no process listens there, and only root could.
    let args = ["bench", "sysbench/oltp_point_select", "--system", "mysql://root@127.0.0.1:1/test"];
    let message = sandbox.fail(1, args);
    assert!(message.contains("127.0.0.1:1"), "{message}");
    assert!(message.contains("nothing listens there"), "{message}");
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
    let message = sandbox.fail(1, ["systems", "sqlit"]);
    assert!(message.contains("sqlite"), "{message}");
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
    assert!(shown.contains(" 1000 ") && shown.contains("2 trials, 22s of load"), "{shown}");
    let told = String::from_utf8(run("1..4").stderr).unwrap();
    assert!(told.contains("`clients` is \"1..4\", not a whole number"), "{told}");
    assert!(told.contains("allowed: 1 to 1000000"), "{told}");
}
