//! Coverage-guided search for inputs that break a reader of outside input. The properties are in the `fuzz` modules of
//! the rooms, next to the code; `cargo test` checks each of them on its corpus.

mod build;
mod figures;
mod planted;
mod search;
mod state;

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, bail};
use clap::Args;
use net::Clock;

use crate::interrupt::Interrupt;
use crate::paths;
use build::Target;
use figures::table;
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
    let mut state = State::read(&or_default(&arguments.state, "figures.json"))?;
    let out = or_default(&arguments.out, "figures.md");
    let has_fault = search_all(targets, &limits, (&mut state, &out), &interrupt)?;
    print!("{}", table(&state.all(), &limits));
    Ok(if has_fault { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Searches for each target that has not had enough, that with the least CPU time first, and writes the figures after
/// each of them. Of the time that is left, each gets an equal share. Returns whether a fault was found.
fn search_all(
    mut targets: Vec<Target>,
    limits: &Limits,
    (state, out): (&mut State, &PathBuf),
    interrupt: &Interrupt,
) -> anyhow::Result<bool> {
    targets.retain(|target| !state.has_enough(&target.name, limits));
    targets.sort_by_key(|target| state.of(&target.name).cpu);
    let clock = Clock::monotonic();
    let mut has_fault = false;
    for (waiting, target) in (1..=targets.len()).rev().zip(&targets) {
        let elapsed = Duration::from_nanos(clock.now());
        let wall = limits.wall.map(|wall| share(wall.saturating_sub(elapsed), waiting));
        let figures =
            search(target, state.of(&target.name), &Limits { wall, ..*limits }, interrupt)?;
        if let Some(fault) = &figures.fault {
            eprintln!("xtask: {} has a fault:\n{fault}", target.name);
            has_fault = true;
        }
        state.keep(figures)?;
        let text = table(&state.all(), limits);
        fs::write(out, text).with_context(|| format!("cannot write {}", out.display()))?;
        interrupt.check()?;
    }
    Ok(has_fault)
}

/// The time of one of so many targets that wait.
fn share(left: Duration, waiting: usize) -> Duration {
    left / u32::try_from(waiting).unwrap_or(u32::MAX).max(1)
}
