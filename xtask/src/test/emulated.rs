//! The tests on another processor, under an emulator: unit tests, and with the program that is handed out the
//! quickstart, a load on a MariaDB of this machine, calls of a service, and a load that it shares with a dyno of this
//! machine. The figures say that dyno works there, and nothing about the processor's speed.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::Path;
use std::process::Command;

use anyhow::{Context, ensure};
use clap::Args;
use serde_json::Value;
use system::Daemon;
use system::mariadb::{self, DATABASE, Settings, USER};

use super::SERVER_VARIABLE;
use crate::dist::{Program, Source, Sources, Target, Tools};
use crate::interrupt::Interrupt;
use crate::{dist, needs, paths, servers, shell};

/// All unit tests, but those of the repository's tasks, which are for this machine.
const UNIT_TESTS: [&str; 6] =
    ["test", "--workspace", "--exclude=xtask", "--lib", "--bins", "--no-fail-fast"];
/// Parts of the names of tests that cannot work under an emulator, and why.
const IMPOSSIBLE: [(&str, &str); 3] = [
    (
        "mariadb::server mariadb::managed tidb::server go_echo::managed go::tests",
        "servers and Go are programs of this machine",
    ),
    ("tests::script", "the shell there names this machine's processor"),
    (
        "tcp_info::tests trial_watch::connections the_place_of_the_environment_is_read \
         a_request_gets_its_own_answer a_number_that_another_process_has_got",
        "the emulator has no sockets that tell of connections, and its /proc/self/stat lacks times and addresses",
    ),
];
/// The loads, by name, without the options that all have.
const LOADS: [(&str, &str); 3] = [
    ("quickstart", "run plans/quickstart.toml"),
    (
        "calls",
        "bench rpc --system echo --option connections=4 --clients 1,16 --time 5s --warm-up 1s",
    ),
    (
        SQL,
        "bench sysbench/oltp_read_write --tables 2 --table-size 1000 --clients 1,8 --time 5s \
         --warm-up 1s",
    ),
];
/// The load on the server of this machine.
const SQL: &str = "MariaDB";
/// The load of generators on two kinds of processors, without its last line.
const SHARED: &str = "\
[systems.echo]
kind = \"echo\"
[workloads.call]
kind = \"rpc\"
connections = 4
[load]
clients = 8
warm_up = \"1s\"
time = \"4s\"
";

/// The choice of another processor.
#[derive(Args)]
pub(super) struct Emulated {
    /// Run unit tests, the quickstart and three loads on this processor (riscv64 or aarch64), under an emulator
    #[arg(long, conflicts_with = "cargo_test")]
    pub(super) target: Option<Target>,
    #[command(flatten)]
    source: Source,
}

impl Emulated {
    /// Runs all of it for a processor, prints the figures, and returns what failed.
    pub(super) fn run(
        &self,
        target: Target,
        install: &needs::Install,
        interrupt: &Interrupt,
    ) -> anyhow::Result<Vec<&'static str>> {
        ensure!(target.is_emulated(), "{} is this machine's processor", target.name);
        install.provide(&[&dist::NEEDS[..], &[needs::MARIADB]].concat(), interrupt)?;
        let tools = Tools::provide(&self.source, interrupt)?;
        let sources = Sources::check_out(&tools, dist::FOLDER, interrupt)?;
        let program = sources.compile(&[target], interrupt)?.remove(0);
        let scratch = tempfile::tempdir().context("no folder for the server's data")?;
        let server = mariadb::start(Settings::default(), scratch.path())?;
        let mut outcomes = Vec::new();
        for (name, words) in LOADS {
            let mut dyno = shell::with(tools.command(target, &program.path), words);
            if name == SQL {
                let url = format!("mysql://{USER}@127.0.0.1:{}/{DATABASE}", server.port());
                dyno.args(["--system", &url]).env("DYNO_PASSWORD", servers::password(&server));
            }
            let report = report(&mut dyno, scratch.path(), interrupt);
            outcomes.push((name, report.and_then(|report| rows(&report, Some(target)))));
        }
        let shared = shared_load(&sources, &program, scratch.path(), interrupt);
        outcomes.push(("generators", shared));
        let tests = unit_tests(&sources, target, &server, interrupt);
        outcomes.push(("unit tests", tests.map(|()| Vec::new())));
        server.stop()?;
        interrupt.check()?;
        println!(
            "| load | workload | clients | transactions per second | p99, ms |\n|---|---|---|---|---|"
        );
        let mut failed = Vec::new();
        for (name, outcome) in outcomes {
            match outcome {
                Ok(rows) => rows.iter().for_each(|row| println!("| {name} | {row} |")),
                Err(error) => {
                    eprintln!("xtask: {name}: {error:#}");
                    failed.push(name);
                }
            }
        }
        Ok(failed)
    }
}

/// Runs the unit tests, and says first which are left out.
fn unit_tests(
    sources: &Sources<'_>,
    target: Target,
    server: &Daemon,
    interrupt: &Interrupt,
) -> anyhow::Result<()> {
    let cargo = sources.tools.cargo_tool("cargo-zigbuild");
    let mut test = sources.tools.command(target, &cargo);
    sources.for_targets(test.args(UNIT_TESTS), &[target]).arg("--");
    for (names, why) in IMPOSSIBLE {
        println!("without the unit tests {names}: {why}");
        test.args(names.split_whitespace().map(|name| format!("--skip={name}")));
    }
    test.env(SERVER_VARIABLE, server.url()).env("INSTA_UPDATE", "no");
    shell::must(&mut test, interrupt)
}

/// Runs a load that a dyno of this machine shares with the program, which it brings to a shell where an emulator runs
/// it.
fn shared_load(
    sources: &Sources<'_>,
    program: &Program,
    scratch: &Path,
    interrupt: &Interrupt,
) -> anyhow::Result<Vec<String>> {
    let target = program.target;
    shell::must(&mut shell::cargo(&["build", "--workspace", "--bin", "dyno"]), interrupt)?;
    let dyno = scratch.join("dyno");
    fs::copy(paths::target().join("debug/dyno"), &dyno).context("no dyno of this machine")?;
    fs::copy(&program.path, scratch.join(format!("dyno-{}", target.name)))?;
    // The shell there is one of this machine, and so is its `uname`.
    let stand_in = scratch.join("stand-in");
    fs::create_dir(&stand_in)?;
    let uname = "case $1 in -m) echo \"$PROCESSOR\" ;; *) exec /usr/bin/uname \"$@\" ;; esac";
    fs::write(stand_in.join("uname"), format!("#!/bin/sh\n{uname}\n"))?;
    shell::must(shell::command("chmod", &["+x"]).arg(stand_in.join("uname")), interrupt)?;
    let mut place = sources.tools.command(target, Path::new("env"));
    place.arg(format!("PROCESSOR={}", target.name));
    place.arg(format!("PATH={}:/usr/sbin:/usr/bin:/sbin:/bin", stand_in.display()));
    let plan = scratch.join("plan.toml");
    fs::write(&plan, plan_text(&place))?;
    let mut run = shell::command(&dyno.to_string_lossy(), &["run"]);
    let report = report(run.arg(&plan), scratch, interrupt)?;
    check_parts(&report, target)?;
    // The coordinator runs on this machine's processor.
    rows(&report, None)
}

/// The plan of the shared load; `place` is the command that starts commands on the other processor.
fn plan_text(place: &Command) -> String {
    let quoted = |word: &OsStr| format!("'{}'", word.to_string_lossy());
    let words: Vec<String> =
        std::iter::once(place.get_program()).chain(place.get_args()).map(quoted).collect();
    let place = toml::Value::String(format!("command:{}", words.join(" ")));
    format!("{SHARED}generators = [\"local\", {place}]\n")
}

/// Runs a load in the repository's root, and returns its report.
fn report(dyno: &mut Command, scratch: &Path, interrupt: &Interrupt) -> anyhow::Result<Value> {
    let written = scratch.join("report.json");
    dyno.args(["--format=json", "--quiet", "--out"]).arg(scratch.join("results"));
    shell::must(dyno.stdout(File::create(&written)?), interrupt)?;
    Ok(serde_json::from_slice(&fs::read(&written)?)?)
}

/// A row for each trial of a report: workload, clients, throughput, p99. The report has to name the emulated processor.
fn rows(report: &Value, emulated: Option<Target>) -> anyhow::Result<Vec<String>> {
    let environment = &report["environment"];
    let sign = environment["virtualization"].as_str().unwrap_or_default();
    ensure!(
        emulated.is_none_or(|it| sign.starts_with(&format!("emulation of {} by ", it.name))),
        "the record does not say that the processor is emulated, but {environment}"
    );
    let trials = report["trials"].as_array().context("a report without trials")?;
    ensure!(!trials.is_empty(), "a report without a trial");
    trials.iter().map(row).collect()
}

fn row(trial: &Value) -> anyhow::Result<String> {
    let count = |name: &str| trial[name].as_u64().with_context(|| format!("no {name}: {trial}"));
    let (workload, status) = (&trial["workload"], &trial["status"]);
    ensure!(status == "complete", "{workload}: {status}, {}", trial["reason"]);
    ensure!(count("transactions")? > 0, "{workload}: no transaction succeeded");
    ensure!(count("failed_transactions")? == 0, "{workload}: {}", trial["errors"]);
    let per_s = trial["transactions_per_s"].as_f64().context("no throughput")?;
    let p99_ns = trial["latency"]["percentiles"]["p99_ns"].as_f64().context("no p99")?;
    let workload = workload.as_str().unwrap_or_default();
    Ok(format!("{workload} | {} | {per_s:.0} | {:.2}", count("clients")?, p99_ns / 1e6))
}

/// Refuses a report in which the load is not the sum of both generators, each on its processor.
fn check_parts(report: &Value, target: Target) -> anyhow::Result<()> {
    let trial = &report["trials"][0];
    let generators = trial["generators"].as_array().context("a trial without generators")?;
    let processors: Vec<&str> =
        generators.iter().filter_map(|it| it["host"]["processor"].as_str()).collect();
    let expected = [Target::X86_64.name, target.name];
    ensure!(processors == expected, "the generators ran on {processors:?}, not {expected:?}");
    let parts: Vec<u64> = generators.iter().filter_map(|it| it["transactions"].as_u64()).collect();
    ensure!(parts.len() == expected.len() && !parts.contains(&0), "their transactions: {parts:?}");
    let all = trial["transactions"].as_u64();
    let sum = parts.iter().sum();
    ensure!(all == Some(sum), "the trial has {all:?} transactions, and its generators {sum}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_report_of_an_emulated_processor_has_a_row_for_each_trial_and_no_failure() {
        let rows_of = |virtualization: &str, failed: u64| {
            let report = json!({
                "environment": { "virtualization": virtualization },
                "trials": [{
                    "workload": "call", "clients": 4, "status": "complete",
                    "transactions": 1000, "failed_transactions": failed, "transactions_per_s": 499.6,
                    "latency": { "percentiles": { "p99_ns": 12_345_678 } },
                }],
            });
            rows(&report, Some(Target::RISCV64)).map_err(|error| error.to_string())
        };
        let emulated = "emulation of riscv64 by qemu-riscv64 on x86_64";
        assert_eq!(rows_of(emulated, 0).unwrap(), ["call | 4 | 500 | 12.35"]);
        assert!(rows_of("KVM virtual machine", 0).unwrap_err().contains("does not say"));
        assert!(rows_of(emulated, 1).unwrap_err().starts_with("\"call\": "));
        assert!(rows(&json!({}), None).unwrap_err().to_string().contains("without trials"));
    }

    #[test]
    fn the_load_is_the_sum_of_generators_on_two_processors() {
        let check = |processor: &str, [own, other]: [u64; 2], all: u64| {
            let generators = [
                json!({ "host": { "processor": "x86_64" }, "transactions": own }),
                json!({ "host": { "processor": processor }, "transactions": other }),
            ];
            let trial = json!({ "transactions": all, "generators": generators });
            check_parts(&json!({ "trials": [trial] }), Target::RISCV64)
                .map_err(|error| error.to_string())
        };
        check("riscv64", [600, 400], 1_000).unwrap();
        assert_eq!(
            check("x86_64", [600, 400], 1_000).unwrap_err(),
            r#"the generators ran on ["x86_64", "x86_64"], not ["x86_64", "riscv64"]"#
        );
        assert!(check("riscv64", [1_000, 0], 1_000).unwrap_err().contains("[1000, 0]"));
        assert!(check("riscv64", [600, 400], 999).unwrap_err().contains("its generators 1000"));
    }

    #[test]
    fn quoted_words_of_a_place_are_one_text_of_a_plan() {
        let mut place = Command::new("unshare");
        place.arg("exec \"$@\"");
        let plan: toml::Table = toml::from_str(&plan_text(&place)).unwrap();
        let generators = plan["load"]["generators"].as_array().unwrap();
        assert_eq!(generators[1].as_str(), Some("command:'unshare' 'exec \"$@\"'"));
    }
}
