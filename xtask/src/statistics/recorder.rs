//! Records a real server that is restarted again and again: a run of dyno with two variants that are the same.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::{Args, ValueEnum};
use jiff::Timestamp;
use measure::{HostReading, Nanos, Phase, Side};
use record::{Run, TrialRecord};

use super::recording::{Recording, Window};
use crate::interrupt::Interrupt;
use crate::soak::process::run_folder;
use crate::{dist, needs, shell};

/// Length of a window, s.
const WINDOW_S: u64 = 2;
/// What a restart takes besides its windows, s: to start the server, to fill and verify the table, and to warm up.
const BETWEEN_S: u64 = 12;
/// The warm-up is a part of it.
const WARM_UP_S: u64 = 3;
const CLIENTS: usize = 8;

/// What `cargo xtask statistics record` takes.
#[derive(Args)]
pub(super) struct Arguments {
    /// The kind of server
    #[arg(long)]
    system: System,
    /// How long to record, with a restart for each minute
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=600))]
    minutes: u64,
    /// The file to write
    #[arg(long)]
    out: PathBuf,
    #[command(flatten)]
    binary: dist::Binary,
    #[command(flatten)]
    install: needs::Install,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum System {
    Mariadb,
    Tidb,
    Sqlite,
}

/// Records, and writes the file.
///
/// # Errors
/// When dyno does not build or leaves no trials, or a signal arrived.
pub(super) fn run(arguments: &Arguments, interrupt: &Interrupt) -> anyhow::Result<ExitCode> {
    if arguments.system == System::Mariadb {
        arguments.install.provide(&[needs::MARIADB], interrupt)?;
    }
    let dyno = arguments.binary.provide("release", interrupt)?;
    let folder = tempfile::tempdir().context("no folder for the run")?;
    let (plan, results) = (folder.path().join("plan.toml"), folder.path().join("results"));
    fs::write(&plan, plan_text(arguments.system, arguments.minutes))?;
    let [dyno, plan, out] = [&dyno, &plan, &results].map(|it| it.display().to_string());
    let status = shell::run(
        &mut shell::command(&dyno, &["run", &plan, "--quiet", "--out", &out]),
        interrupt,
    )?;
    let run = run_folder(&results).context("dyno left no record")?;
    let recording = recorded(&Run::open(&run)?);
    if recording.restarts.is_empty() {
        bail!("no trial ran to its end (dyno: {status})");
    }
    fs::write(&arguments.out, recording.text())?;
    println!("{}: {} restarts", arguments.out.display(), recording.restarts.len());
    Ok(ExitCode::SUCCESS)
}

/// Rounds of two variants without options of their own: a fresh server for each of their trials.
fn plan_text(system: System, minutes: u64) -> String {
    let kind = system.to_possible_value().map(|it| it.get_name().to_owned()).unwrap_or_default();
    // A restart for each minute, and at least four: two rounds.
    let restarts = (2 * minutes.div_ceil(2)).max(4);
    let windows = (60 * minutes / restarts).saturating_sub(BETWEEN_S) / WINDOW_S;
    format!(
        "name = \"recorded\"\nrepetitions = {}\npercentiles = [50, 95, 99]\n\
         workload = {{ kind = \"sysbench/oltp_read_only\", tables = 1, table_size = 10000 }}\n\
         [load]\nclients = {CLIENTS}\ntime = \"{}s\"\ninterval = \"{WINDOW_S}s\"\nwarm_up = \"{WARM_UP_S}s\"\n\
         [systems.recorded]\nkind = \"{kind}\"\n[systems.recorded.variants]\none = {{}}\nother = {{}}\n",
        restarts / 2,
        WINDOW_S * windows.max(1),
    )
}

/// The windows of the trials that ran to their end.
fn recorded(run: &Run) -> Recording {
    let done = || run.trials.iter().filter(|trial| trial.is_done());
    let first = done().next();
    let identity = first.map(|trial| &trial.header.identity);
    let product = identity.map_or(String::new(), |it| format!("{} {}, ", it.product, it.version));
    let cpu = &run.header.environment.cpu;
    let title = format!(
        "{product}oltp_read_only with {CLIENTS} clients, windows of {WINDOW_S} s, a fresh server for each restart; \
         {}, {} hardware threads; {}",
        cpu.model,
        cpu.usable_threads.or(cpu.threads).unwrap_or_default(),
        run.header.started.strftime("%Y-%m-%d %H:%M UTC"),
    );
    let windows = |trial| windows(trial, run.header.started);
    Recording { title, restarts: done().map(windows).filter(|it| !it.is_empty()).collect() }
}

fn windows(trial: &TrialRecord, started: Timestamp) -> Vec<Window> {
    let began = trial.end.as_ref().and_then(|end| end.measure_started);
    let began_s = began.map_or(0.0, |began| began.duration_since(started).as_secs_f64());
    let measured: Vec<_> = trial.intervals.iter().filter(|it| it.phase == Phase::Measure).collect();
    let from_ns = measured.first().map_or(0, |it| it.start_ns);
    let window = |it: &&record::IntervalRecord| Window {
        start_s: began_s + (it.start_ns - from_ns) as f64 / 1e9,
        throughput_per_s: it.tally.transactions as f64 / it.seconds(),
        p99_ms: it.latencies.percentile_ns(99.0) as f64 / 1e6,
        client_cpu: client_cpu(trial, it.start_ns, it.end_ns),
    };
    measured.iter().map(window).collect()
}

/// CPU time of dyno a second, between two times on the trial's clock; `None` when it was not read around them.
fn client_cpu(trial: &TrialRecord, from_ns: Nanos, to_ns: Nanos) -> Option<f64> {
    let host = trial.watched.hosts.first()?;
    let client = host.processes.iter().position(|process| process.side == Side::Client)?;
    let used = |at_ns| cpu_at(&host.readings, client, at_ns);
    Some((used(to_ns)? - used(from_ns)?) / (to_ns - from_ns) as f64)
}

/// CPU time of a process up to a time, ns: on the line between the readings before and after it.
fn cpu_at(readings: &[HostReading], process: usize, at_ns: Nanos) -> Option<f64> {
    let cpu = |reading: &HostReading| {
        let process = (*reading.processes.get(process)?)?;
        Some((reading.at_ns as f64, process.cpu_ns() as f64))
    };
    let after = readings.partition_point(|reading| reading.at_ns < at_ns);
    let (end_ns, end) = cpu(readings.get(after)?)?;
    let (start_ns, start) = cpu(readings.get(after.checked_sub(1)?)?)?;
    Some(start + (end - start) * (at_ns as f64 - start_ns) / (end_ns - start_ns))
}

#[cfg(test)]
mod tests {
    use measure::ProcessReading;

    use super::*;

    #[test]
    fn an_hour_has_thirty_rounds_of_fresh_servers() {
        let text = plan_text(System::Mariadb, 60);
        assert!(text.contains("repetitions = 30\n") && text.contains("time = \"48s\""), "{text}");
        assert!(text.contains("kind = \"mariadb\"\n"), "{text}");
        let minute = plan_text(System::Sqlite, 1);
        assert!(
            minute.contains("repetitions = 2\n") && minute.contains("time = \"2s\""),
            "{minute}"
        );
        for text in [text, minute] {
            let source = plan::Source { name: "x".to_owned(), text, folder: ".".into() };
            let plan = plan::Plan::parse(source).unwrap();
            let instances: Vec<_> = plan.trials().iter().map(|it| plan.instance(*it)).collect();
            assert!(instances.windows(2).all(|two| two[0] != two[1]), "a server for each trial");
        }
    }

    #[test]
    fn cpu_time_is_read_between_readings() {
        let reading = |at_ns, user_ns| HostReading {
            at_ns,
            processes: vec![None, Some(ProcessReading { user_ns, ..ProcessReading::default() })],
            ..HostReading::default()
        };
        let readings = [reading(0, 0), reading(100, 10), reading(200, 50)];
        assert_eq!(cpu_at(&readings, 1, 150), Some(30.0));
        assert_eq!(cpu_at(&readings, 1, 100), Some(10.0));
        assert_eq!((cpu_at(&readings, 1, 201), cpu_at(&readings, 1, 0)), (None, None));
        assert_eq!((cpu_at(&readings, 0, 150), cpu_at(&readings, 2, 150)), (None, None));
    }
}
