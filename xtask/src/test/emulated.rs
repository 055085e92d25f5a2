//! The tests on another processor, under an emulator: unit tests, and with the program that is handed out the
//! quickstart, a load on a MariaDB of this machine, calls of a service, and a load that it shares with a dyno of this
//! machine. The figures say that dyno works there, and nothing about the processor's speed.

mod generators;

use std::fs::{self, File};

use anyhow::{Context, ensure};
use clap::Args;
use serde_json::Value;
use system::Daemon;
use system::mariadb::{self, DATABASE, Settings, USER};

use super::SERVER_VARIABLE;
use crate::dist::{BuildRoot, CrossBuild, Program, Sources, Target};
use crate::interrupt::Interrupt;
use crate::{dist, needs, servers, shell};

/// All unit tests, but those of the repository's tasks, which are for this machine.
const UNIT_TESTS: [&str; 7] =
    ["test", "--workspace", "--exclude=xtask", "--lib", "--bins", "--no-fail-fast", "--"];
/// Parts of the names of tests that cannot work under an emulator in the build root, and why.
const IMPOSSIBLE: [(&str, &str); 4] = [
    (
        "mariadb::server mariadb::managed tidb::server go_echo::managed go::tests",
        "servers and Go are programs of this machine",
    ),
    ("tests::script", "the shell there names this machine's processor"),
    (
        "tcp_info::tests trial_watch::connections the_place_of_the_environment_is_read \
         a_request_gets_its_own_answer",
        "the emulator has no sockets that tell of connections, and its /proc/self/stat lacks times and addresses",
    ),
    ("a_number_that_another_process_has_got", "within the root no further one can be made"),
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
/// The load of generators on two kinds of processors.
const GENERATORS: &str = "generators";

/// The choice of another processor.
#[derive(Args)]
pub(super) struct Emulated {
    /// Run unit tests, the quickstart and three loads on this processor, under an emulator
    #[arg(long, value_enum, conflicts_with = "cargo_test")]
    pub(super) target: Option<Target>,
    #[command(flatten)]
    build: CrossBuild,
}

impl Emulated {
    /// Runs all of it for a processor, prints the figures, and returns what failed.
    pub(super) fn run(
        &self,
        target: Target,
        install: &needs::Install,
        interrupt: &Interrupt,
    ) -> anyhow::Result<Vec<String>> {
        install.provide(&[&dist::NEEDS[..], &[needs::MARIADB]].concat(), interrupt)?;
        let root = BuildRoot::provide(&self.build.source, interrupt)?;
        let sources = Sources::unpack(&root, dist::FOLDER, self.build.jobs, interrupt)?;
        let program = sources.compile(target, interrupt)?;
        root.output(&[&program.path_inside, "--version"]).context(
            "the kernel starts no emulator for a program in a namespace; Linux 6.7 does",
        )?;
        let scratch = tempfile::tempdir().context("no folder for the server's data")?;
        let server = mariadb::start(Settings::default(), scratch.path())?;
        let mut failed = Vec::new();
        let mut note = |name: &str, result: anyhow::Result<()>| {
            if let Err(error) = result {
                interrupt.check()?;
                eprintln!("xtask: {name}: {error:#}");
                failed.push(name.to_owned());
            }
            anyhow::Ok(())
        };
        println!(
            "| load | workload | clients | transactions per second | p99, ms |\n|---|---|---|---|---|"
        );
        for (name, words) in LOADS {
            let rows = load(&sources, &program, name, words, &server, interrupt);
            note(name, rows.map(|rows| print(name, &rows)))?;
        }
        if target.emulator().is_some() {
            let rows = generators::run(&sources, &program, interrupt);
            note(GENERATORS, rows.map(|rows| print(GENERATORS, &rows)))?;
        }
        note("unit tests", unit_tests(&sources, target, &server, interrupt))?;
        server.stop()?;
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
    let variable = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let environment = [
        variable(SERVER_VARIABLE, &server.url()),
        variable("INSTA_UPDATE", "no"),
        // Cargo, which would be asked for it, does not run without its libraries.
        variable("INSTA_WORKSPACE_ROOT", &sources.inside()),
    ];
    let mut skipped = Vec::new();
    for (names, why) in IMPOSSIBLE {
        println!("without the unit tests {names}: {why}");
        skipped.extend(names.split_whitespace().map(|name| format!("--skip={name}")));
    }
    let skipped = skipped.iter().map(String::as_str);
    let words: Vec<&str> = UNIT_TESTS.into_iter().chain(skipped).collect();
    sources.cargo(target, &words, &environment, interrupt)
}

/// Prints the rows of a load.
fn print(name: &str, rows: &[String]) {
    for row in rows {
        println!("| {name} | {row} |");
    }
}

/// Runs one load, checks its report, and returns a row for each trial.
fn load(
    sources: &Sources<'_>,
    program: &Program,
    name: &str,
    words: &str,
    server: &Daemon,
    interrupt: &Interrupt,
) -> anyhow::Result<Vec<String>> {
    let results = format!("{}/results", sources.folder());
    let mut arguments: Vec<&str> = vec![&program.path_inside];
    arguments.extend(words.split_whitespace());
    arguments.extend(["--format=json", "--quiet", "--out", &results]);
    let url = format!("mysql://{USER}@127.0.0.1:{}/{DATABASE}", server.port());
    let mut environment = Vec::new();
    if name == SQL {
        arguments.extend(["--system", &url]);
        environment.push(("DYNO_PASSWORD".to_owned(), servers::password(server)));
    }
    let mut dyno = sources.root.command(&sources.inside(), &environment, &arguments)?;
    let written = sources.root.path(&format!("{}/{name}.json", sources.folder()));
    dyno.stdout(File::create(&written)?);
    shell::must(&mut dyno, interrupt)?;
    let report: Value = serde_json::from_slice(&fs::read(&written)?)?;
    rows(&report, program.target)
}

/// A row for each trial of a report: workload, clients, throughput, p99.
fn rows(report: &Value, target: Target) -> anyhow::Result<Vec<String>> {
    let environment = &report["environment"];
    let sign = environment["virtualization"].as_str().unwrap_or_default();
    let expected = format!("emulation of {} by ", target.name());
    ensure!(
        target.emulator().is_none() || sign.starts_with(&expected),
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn report(virtualization: &str, failed: u64) -> Value {
        json!({
            "environment": { "virtualization": virtualization },
            "trials": [{
                "workload": "call", "clients": 4, "status": "complete",
                "transactions": 1000, "failed_transactions": failed, "transactions_per_s": 499.6,
                "latency": { "percentiles": { "p99_ns": 12_345_678 } },
            }],
        })
    }

    #[test]
    fn a_report_of_an_emulated_processor_has_a_row_for_each_trial() {
        let emulated = "emulation of riscv64 by qemu-riscv64 on x86_64";
        let rows = rows(&report(emulated, 0), Target::Riscv64).unwrap();
        assert_eq!(rows, ["call | 4 | 500 | 12.35"]);
    }

    #[test]
    fn a_report_that_hides_the_emulation_or_has_failures_is_refused() {
        let emulated = "emulation of riscv64 by qemu-riscv64 on x86_64";
        let error = |report: &Value| rows(report, Target::Riscv64).unwrap_err().to_string();
        assert!(error(&report("KVM virtual machine", 0)).contains("does not say"));
        assert!(error(&report(emulated, 1)).starts_with("\"call\": "));
        assert!(
            error(&json!({ "environment": { "virtualization": emulated } })).contains("trials")
        );
    }
}
