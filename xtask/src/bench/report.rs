//! The report of a large run: how long `dyno report` takes, and how much memory.
//!
//! The record is one of a simulated system in virtual time, so that it is made in minutes and is the same each time.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Context, ensure};
use net::Clock;

use super::contestant::Contestant::Dyno;
use super::prepare::children_cpu_s;
use super::process::peak_bytes;
use super::results::{Case, Quantity};
use super::window::{Client, End};
use super::{Bench, Part};
use crate::{paths, shell};

/// The plan of the record.
const PLAN: &str = "benchmarks/large-run.toml";
/// Its trials: the number of connections of this part stands for them.
pub(super) const TRIALS: usize = 500;
/// Time between two looks at its memory. The peak is the kernel's, so that only a peak at the very end is missed.
const POLL_PERIOD: Duration = Duration::from_millis(5);

/// Makes the record, and a report of it in each round.
pub(super) fn measure(bench: &mut Bench) -> anyhow::Result<()> {
    let folder = paths::target().join("bench");
    let scratch = tempfile::tempdir_in(&folder)
        .with_context(|| format!("cannot make a folder in {}", folder.display()))?;
    let mut run = Command::new(&bench.programs.dyno);
    run.args(["run", PLAN, "--quiet", "--out"]).arg(scratch.path());
    run.current_dir(paths::root()).stdout(Stdio::null());
    shell::must(&mut run, &bench.interrupt)?;
    let record = fs::read_dir(scratch.path())?.next().context("dyno left no record")??.path();
    let trials = fs::read_dir(record.join("trials"))?.count();
    ensure!(trials == TRIALS, "{PLAN} has {trials} trials, not {TRIALS}");
    for round in 0..bench.rounds {
        let values = once(bench, &record)?;
        eprintln!("xtask: report round {} of {}: {values:?}", round + 1, bench.rounds);
        let case = Case { part: Part::Report, contestant: Dyno, connections: TRIALS, round };
        bench.results.add(case, values);
    }
    Ok(())
}

fn once(bench: &Bench, record: &Path) -> anyhow::Result<[(Quantity, f64); 4]> {
    let mut report = Command::new(&bench.programs.dyno);
    report.arg("report").arg(record);
    let cpu_before = children_cpu_s()?;
    let clock = Clock::monotonic();
    let mut client = Client::start(&mut report, None)?;
    let mut peak = 0;
    while client.ended()?.is_none() {
        bench.interrupt.check()?;
        // A process that has just ended has no memory.
        peak = peak_bytes(client.pid()).unwrap_or(peak);
        thread::sleep(POLL_PERIOD);
    }
    let seconds = clock.now() as f64 / 1e9;
    client.finish(End::Own)?;
    Ok([
        (Quantity::Seconds, seconds),
        (Quantity::ClientCpuS, children_cpu_s()? - cpu_before),
        (Quantity::PeakBytes, peak as f64),
        (Quantity::PageBytes, fs::metadata(record.join("report.html"))?.len() as f64),
    ])
}
