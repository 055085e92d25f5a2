//! Coverage-guided search for inputs that break a reader of outside input. The properties are in the `fuzz` modules of
//! the rooms, next to the code; `cargo test` checks each of them on its corpus.

mod build;
mod figures;
mod planted;
mod search;
mod state;

use std::cmp::Reverse;
use std::fs;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

use anyhow::{Context, bail};
use clap::Args;
use net::Clock;

use crate::interrupt::Interrupt;
use crate::paths;
use build::Target;
use figures::{Figures, table};
use search::{Limits, search};
use state::State;

/// What `cargo xtask fuzz` takes.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Minutes of searching, shared out evenly [default: until every target has had enough]
    #[arg(long, conflicts_with = "planted")]
    minutes: Option<f64>,
    /// CPU-minutes without a new edge after which a target has had enough
    #[arg(long, default_value_t = 10.0)]
    quiet_minutes: f64,
    /// Inputs that each target gets at least
    #[arg(long, default_value_t = 1_000_000)]
    inputs: u64,
    /// How many targets are searched at the same time
    #[arg(long, default_value = "1", conflicts_with = "planted")]
    jobs: NonZero<u32>,
    /// Only targets whose names begin with this, such as `mysql_url`
    #[arg(long = "target", value_name = "NAME")]
    targets: Vec<String>,
    /// Only targets of this room, such as `plan`, so that no other room is built
    #[arg(long = "room", value_name = "ROOM")]
    rooms: Vec<String>,
    /// Plants a fault in each target and searches for it
    #[arg(long)]
    planted: bool,
    /// The file of the figures of all searches, to which this call adds its own [default: target/fuzz/figures.json]
    #[arg(long, value_name = "FILE", conflicts_with = "planted")]
    state: Option<PathBuf>,
    /// The file for the table of these figures [default: target/fuzz/figures.md]
    #[arg(long, value_name = "FILE", conflicts_with = "planted")]
    out: Option<PathBuf>,
}

/// Searches for each target in turn, and prints the figures.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let interrupt = Interrupt::watch()?;
    let time = |minutes: f64, option: &str| {
        let time = Duration::try_from_secs_f64(60.0 * minutes);
        time.with_context(|| format!("{option} is no time"))
    };
    let quiet = time(arguments.quiet_minutes, "--quiet-minutes")?;
    let wall = arguments.minutes.map(|minutes| time(minutes, "--minutes")).transpose()?;
    let limits = Limits { quiet, inputs: arguments.inputs, wall };
    let is_wanted = |name: &str| {
        let mut beginnings = arguments.targets.iter();
        arguments.targets.is_empty() || beginnings.any(|beginning| name.starts_with(beginning))
    };
    if arguments.planted {
        return planted::run((&arguments.rooms, is_wanted), &limits, &interrupt);
    }
    let mut targets = build::targets(paths::root(), &arguments.rooms, &interrupt)?;
    targets.retain(|target| is_wanted(&target.name));
    if targets.is_empty() {
        bail!("no target begins with {}", arguments.targets.join(" or "));
    }
    let or_default = |file: &Option<PathBuf>, name: &str| {
        file.clone().unwrap_or_else(|| build::folder().join(name))
    };
    let state = State::read(&or_default(&arguments.state, "figures.json"))?;
    let out = or_default(&arguments.out, "figures.md");
    let searches = Searches::new(targets, state, &out, limits);
    let has_fault = searches.run(arguments.jobs, &interrupt)?;
    print!("{}", table(&lock(&searches.state).all(), &limits));
    Ok(if has_fault { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// The targets that wait, and what all searches have done.
struct Searches<'o> {
    /// The next one is the last.
    waiting: Mutex<Vec<Target>>,
    state: Mutex<State>,
    /// The file for the table.
    out: &'o Path,
    limits: Limits,
}

impl<'o> Searches<'o> {
    /// Searches for those of these targets that have not had enough, that with the least CPU time first.
    fn new(mut targets: Vec<Target>, state: State, out: &'o Path, limits: Limits) -> Self {
        targets.retain(|target| !state.has_enough(&target.name, &limits));
        targets.sort_by_key(|target| Reverse(state.of(&target.name).cpu));
        Self { waiting: Mutex::new(targets), state: Mutex::new(state), out, limits }
    }

    /// Searches for so many targets at the same time. Returns whether a fault was found.
    fn run(&self, jobs: NonZero<u32>, interrupt: &Interrupt) -> anyhow::Result<bool> {
        thread::scope(|scope| {
            let job = || self.job(jobs, interrupt);
            let jobs: Vec<_> = (0..jobs.get()).map(|_| scope.spawn(job)).collect();
            let mut has_fault = false;
            for job in jobs {
                has_fault |= job.join().expect("a job panicked")?;
            }
            Ok(has_fault)
        })
    }

    /// Searches for one target after the other, and writes the figures after each of them.
    fn job(&self, jobs: NonZero<u32>, interrupt: &Interrupt) -> anyhow::Result<bool> {
        let clock = Clock::monotonic();
        let mut has_fault = false;
        while let Some((target, waiting)) = self.next() {
            let elapsed = Duration::from_nanos(clock.now());
            let left = self.limits.wall.map(|wall| wall.saturating_sub(elapsed));
            let limits =
                Limits { wall: left.map(|left| share(left, jobs, waiting)), ..self.limits };
            let earlier = lock(&self.state).of(&target.name);
            let figures = search(&target, earlier, &limits, interrupt);
            let figures = figures.inspect_err(|error| self.end_after(&target, error))?;
            if let Some(fault) = &figures.fault {
                eprintln!("xtask: {} has a fault:\n{fault}", target.name);
                has_fault = true;
            }
            self.keep(figures)?;
            interrupt.check()?;
        }
        Ok(has_fault)
    }

    /// After an error the other jobs end with their targets, which may take long: it is told now.
    fn end_after(&self, target: &Target, error: &anyhow::Error) {
        eprintln!("xtask: {}: {error:#}; the other searches end with their targets", target.name);
        lock(&self.waiting).clear();
    }

    /// The next target, and how many wait with it.
    fn next(&self) -> Option<(Target, usize)> {
        let mut waiting = lock(&self.waiting);
        let count = waiting.len();
        waiting.pop().map(|target| (target, count))
    }

    /// Writes the figures of a target.
    fn keep(&self, figures: Figures) -> anyhow::Result<()> {
        let mut state = lock(&self.state);
        state.keep(figures)?;
        fs::write(self.out, table(&state.all(), &self.limits))
            .with_context(|| format!("cannot write {}", self.out.display()))
    }
}

/// What only one job may use at a time.
fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().expect("a job panicked")
}

/// The time of one of so many targets that wait for so many jobs.
fn share(left: Duration, jobs: NonZero<u32>, waiting: usize) -> Duration {
    let waiting = u32::try_from(waiting).unwrap_or(u32::MAX).max(1);
    left.saturating_mul(jobs.get().min(waiting)) / waiting
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_share_the_time_that_is_left_with_all_jobs() {
        let minutes = |minutes: u64| Duration::from_secs(60 * minutes);
        let [one, two, four] = [1, 2, 4].map(|jobs| NonZero::new(jobs).unwrap());
        assert_eq!(share(minutes(30), one, 6), minutes(5));
        assert_eq!(share(minutes(30), two, 6), minutes(10));
        assert_eq!(share(minutes(30), four, 2), minutes(30), "two jobs have nothing to do");
        assert_eq!(share(Duration::MAX, four, 1), Duration::MAX);
    }
}
