//! Runs of plans on simulated systems: all of dyno but its command line works on them, from the plan's text to the report
//! as JSON. Time is virtual, so that hours take seconds.

use std::path::{Path, PathBuf};

use engine::Stop;
use plan::Source;
use record::{Dyno, Run};
use report::Reading;
use runner::{Event, Experiment, RunListener, RunOptions};
use serde_json::Value;

/// A record is written durably, which takes no time in memory.
const MEMORY: &str = "/dev/shm";

/// One server with exponential services: with Poisson arrivals a queue of which everything is known (M/M/1).
pub(super) fn exponential(service_ns: f64) -> String {
    format!(
        "[systems.simulated]\ndistribution = \"exponential\"\nservice_times = [\"{service_ns:.0}ns\"]\n"
    )
}

/// A load of Poisson arrivals, with more clients than it ever needs.
pub(super) fn open(rate_per_s: f64, warm_up_s: u64) -> String {
    format!("[load]\nclients = 2000\nrate = {rate_per_s:.3}\nwarm_up = \"{warm_up_s}s\"\n")
}

/// Runs a plan, which has the tables of the system `simulated` and of the load.
///
/// # Errors
/// When the plan is wrong, or its record cannot be written.
pub(super) fn run(plan: &str, seed: u64) -> anyhow::Result<Run> {
    // A whole number in TOML has a sign.
    let seed = seed >> 1;
    let text = format!(
        "seed = {seed}\nwatch = \"off\"\npercentiles = [50, 95, 99]\nworkload = \"simulated\"\n{plan}"
    );
    let source = Source { name: "statistics".to_owned(), text, folder: PathBuf::new() };
    let experiment = Experiment::read(source)?;
    let folder = match Path::new(MEMORY) {
        memory if memory.is_dir() => tempfile::tempdir_in(memory)?,
        _ => tempfile::tempdir()?,
    };
    let (out, command, dyno) = (folder.path().to_owned(), String::new(), Dyno::default());
    let options = RunOptions { out, command, dyno };
    let outcome = experiment.run(&options, None, &Stop::new(), &mut Unheard)?;
    Ok(report::open(&outcome.folder)?)
}

/// Runs a plan, and returns its report.
///
/// # Errors
/// As [`run`].
pub(super) fn report_of(plan: &str, seed: u64) -> anyhow::Result<Value> {
    Ok(serde_json::from_str(&report::json(&Reading::new(&run(plan, seed)?)))?)
}

/// An interval of confidence in a report, endless where it has no upper end; `None` where there is none.
pub(super) fn interval(of: &Value, [low, high]: [&str; 2]) -> Option<[f64; 2]> {
    Some([of[low].as_f64()?, of[high].as_f64().unwrap_or(f64::INFINITY)])
}

pub(super) fn has([low, high]: [f64; 2], truth: f64) -> bool {
    low <= truth && truth <= high
}

/// Nobody follows the progress of a simulation.
struct Unheard;

impl RunListener for Unheard {
    fn on_event(&mut self, _event: Event<'_>) {}
}
