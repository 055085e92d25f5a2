//! Runs dyno for half an hour on servers that pause, are killed, restart, close connections and refuse writes, and
//! then verifies every count. A seed determines the disturbances.
//!
//! Two runs take place at the same time, a closed loop and an open loop. Each is one dyno with its own MariaDB behind
//! a proxy. The checks are in [`verify`] and its modules. Beside them, short runs of dyno are themselves disturbed, as
//! [`own_faults`] says.

mod memory;
mod meter;
mod own_faults;
mod parts;
pub(crate) mod process;
mod proxy;
mod requests;
mod schedule;
mod soak_plan;
mod soak_run;
mod soak_server;
mod verifier;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use anyhow::{Context, anyhow};
use clap::{Args, ValueEnum};
use jiff::Timestamp;

use crate::bench::page::first_line;
use crate::bench::seed_of_now;
use crate::interrupt::Interrupt;
use crate::{dist, needs, paths};

use self::own_faults::{OwnFaults, OwnFaultsResult};
use self::soak_plan::Loop;
use self::soak_run::{SoakResult, SoakRun};

/// What `cargo xtask soak` takes.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Length of the run, minutes
    #[arg(long, default_value_t = 30)]
    minutes: u64,
    /// Seed of the disturbances [default: from the clock]
    #[arg(long)]
    seed: Option<u64>,
    /// Disturb only these [default: both]
    #[arg(long)]
    only: Option<Subject>,
    /// Adds the figures to this file, a line of JSON for each part of a soak
    #[arg(long, value_name = "FILE")]
    append: Option<PathBuf>,
    /// Prints the page of the parts in this file, and runs nothing
    #[arg(long, value_name = "FILE", conflicts_with_all = ["append", "minutes", "seed", "only", "keep"])]
    page: Option<PathBuf>,
    /// Keep the records even when no check failed
    #[arg(long)]
    keep: bool,
    #[command(flatten)]
    binary: dist::Binary,
    #[command(flatten)]
    install: needs::Install,
}

/// What is disturbed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Subject {
    /// The servers of two long runs
    Servers,
    /// dyno itself, its disk and its records, in short runs
    Dyno,
}

/// Runs both loops and the short runs, verifies them, and prints the results.
///
/// # Errors
/// When something is missing or does not build, a server does not come back, or a signal arrived.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    if let Some(file) = &arguments.page {
        print!("{}", parts::page(&parts::read(file)?));
        return Ok(ExitCode::SUCCESS);
    }
    let interrupt = Interrupt::watch()?;
    arguments.install.provide(&[needs::MARIADB], &interrupt)?;
    let seed = arguments.seed.unwrap_or_else(seed_of_now);
    let dyno = arguments.binary.provide("release", &interrupt)?;
    let folder = paths::target().join("soak").join(seed.to_string());
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    let length = Duration::from_secs(60 * arguments.minutes);
    println!("soak: {} minutes, --seed {seed}, in {}", arguments.minutes, folder.display());
    let is_asked = |subject| arguments.only.is_none_or(|only| only == subject);
    let loops: &[Loop] = if is_asked(Subject::Servers) { &Loop::ALL } else { &[] };
    let own = OwnFaults { folder: folder.join("own-faults"), length, seed };
    let (results, own) = thread::scope(|scope| {
        let own = is_asked(Subject::Dyno).then(|| scope.spawn(|| own.run(&dyno, &interrupt)));
        let soak_runs = loops.iter().map(|&offered| {
            let (folder, dyno) = (folder.join(offered.name()), dyno.as_path());
            let interrupt = &interrupt;
            scope.spawn(move || {
                fs::create_dir_all(&folder)?;
                SoakRun { offered, folder, length, seed }.run(dyno, interrupt)
            })
        });
        let soak_runs: Vec<_> = soak_runs.collect();
        let results = soak_runs.into_iter().map(|soak_run| soak_run.join().unwrap_or_else(failed));
        (
            results.collect::<anyhow::Result<Vec<_>>>(),
            own.map(|own| own.join().unwrap_or_else(failed)),
        )
    });
    let look = || format!("look into {}", folder.display());
    let (own, results) = (own.transpose().with_context(look)?, results.with_context(look)?);
    if let Some(file) = &arguments.append {
        let part = parts::Part {
            ended: Timestamp::now().to_string(),
            dyno: first_line(&dyno.to_string_lossy(), &["--version"]),
            seed,
            minutes: arguments.minutes,
            loops: results.iter().map(SoakResult::part).collect(),
            own: own.clone(),
        };
        parts::append(file, &part)?;
    }
    print_results(&results, own.as_ref(), &folder, arguments.keep)
}

fn failed<T>(_: Box<dyn std::any::Any + Send>) -> anyhow::Result<T> {
    Err(anyhow!("the soak itself failed"))
}

fn print_results(
    results: &[SoakResult],
    own: Option<&OwnFaultsResult>,
    folder: &Path,
    keep: bool,
) -> anyhow::Result<ExitCode> {
    for result in results {
        print!("{result}");
    }
    if let Some(own) = own {
        print!("{own}");
    }
    let is_violated = results.iter().any(|result| !result.verification.violations.is_empty());
    if is_violated || own.is_some_and(|own| !own.violations.is_empty()) {
        println!("soak: failed; what was done, seen and recorded is in {}", folder.display());
        return Ok(ExitCode::FAILURE);
    }
    println!("soak: everything is accounted for");
    if !keep {
        fs::remove_dir_all(folder)?;
    }
    Ok(ExitCode::SUCCESS)
}
