//! Runs dyno for half an hour on servers that pause, are killed, restart, close connections and refuse writes, and
//! then verifies every count. A seed determines the disturbances.
//!
//! Two runs take place at the same time, a closed loop and an open loop. Each is one dyno with its own MariaDB behind
//! a proxy. The checks are in [`verifier`].

mod memory;
mod process;
mod proxy;
mod schedule;
mod soak_plan;
mod soak_run;
mod soak_server;
mod verifier;

use std::fs;
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use anyhow::{Context, anyhow};
use clap::Args;

use crate::bench::seed_of_now;
use crate::interrupt::Interrupt;
use crate::{dist, needs, paths};

use self::soak_plan::Loop;
use self::soak_run::SoakRun;

/// What `cargo xtask soak` takes.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Length of the run, minutes
    #[arg(long, default_value_t = 30)]
    minutes: u64,
    /// Seed of the disturbances [default: from the clock]
    #[arg(long)]
    seed: Option<u64>,
    /// Keep the records even when no check failed
    #[arg(long)]
    keep: bool,
    #[command(flatten)]
    binary: dist::Binary,
    #[command(flatten)]
    install: needs::Install,
}

/// Runs both loops, verifies them, and prints the results.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
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
    let results = thread::scope(|scope| {
        let soak_runs = Loop::ALL.map(|offered| {
            let (folder, dyno, interrupt) = (folder.join(offered.name()), &dyno, &interrupt);
            scope.spawn(move || {
                fs::create_dir_all(&folder)?;
                SoakRun { offered, folder, length, seed }.run(dyno, interrupt)
            })
        });
        let failed = |_| Err(anyhow!("the soak itself failed"));
        let joined = soak_runs.into_iter().map(|soak_run| soak_run.join().unwrap_or_else(failed));
        joined.collect::<anyhow::Result<Vec<_>>>()
    });
    let results = results.with_context(|| format!("look into {}", folder.display()))?;
    for result in &results {
        print!("{result}");
    }
    if results.iter().any(|result| !result.verification.violations.is_empty()) {
        println!("soak: failed; what was done, seen and recorded is in {}", folder.display());
        return Ok(ExitCode::FAILURE);
    }
    println!("soak: everything is accounted for");
    if !arguments.keep {
        fs::remove_dir_all(folder)?;
    }
    Ok(ExitCode::SUCCESS)
}
