//! Coverage-guided search for inputs that break a reader of outside input. The properties are in the `fuzz` modules of
//! the rooms, next to the code; `cargo test` checks each of them on its corpus.

mod build;
mod figures;
mod planted;
mod search;

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, bail};
use clap::Args;

use crate::interrupt::Interrupt;
use crate::paths;
use build::Target;
use figures::{Figures, table};
use search::{Limits, search};

/// What `cargo xtask fuzz` takes.
#[derive(Args)]
pub(crate) struct Arguments {
    /// CPU-minutes without a new edge after which the search for a target ends
    #[arg(long, default_value_t = 10.0)]
    minutes: f64,
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
    /// The file for the table of figures
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Searches for each target in turn, and prints the figures.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let interrupt = Interrupt::watch()?;
    let quiet = Duration::try_from_secs_f64(60.0 * arguments.minutes);
    let limits = Limits { quiet: quiet.context("--minutes is no time")?, inputs: arguments.inputs };
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
    let out = arguments.out.clone().unwrap_or_else(|| build::folder().join("figures.md"));
    let figures = search_all(&targets, &limits, (&out, &interrupt))?;
    print!("{}", table(&figures));
    let has_fault = figures.iter().any(|figures| figures.fault.is_some());
    Ok(if has_fault { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Searches for each target, and writes the table after each of them.
fn search_all(
    targets: &[Target],
    limits: &Limits,
    (out, interrupt): (&PathBuf, &Interrupt),
) -> anyhow::Result<Vec<Figures>> {
    let mut all = Vec::new();
    for target in targets {
        let figures = search(target, limits, interrupt)?;
        if let Some(fault) = &figures.fault {
            eprintln!("xtask: {} has a fault:\n{fault}", target.name);
        }
        all.push(figures);
        fs::write(out, table(&all)).with_context(|| format!("cannot write {}", out.display()))?;
    }
    Ok(all)
}
