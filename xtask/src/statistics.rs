//! How often dyno's statistics err, counted on simulated systems whose truth is known: comparisons of equal systems and of
//! others, rounds and phases that end by what is measured, the checks and intervals of single trials, seeks for a
//! capacity, and sweeps over clients.
//!
//! A new case is an entry in `cases` of its study; a new study is one more in [`STUDIES`].

mod checks;
mod comparisons;
mod intervals;
mod noises;
mod rounds;
mod seeks;
mod simulated;
mod simulation;
mod sweeps;
mod warm_ups;
mod windows;

use std::process::ExitCode;

use clap::Args;
use clap::builder::PossibleValuesParser;
use plan::split_mix;

use self::simulation::Study;
use crate::interrupt::Interrupt;

/// Every table, in the order of the page.
static STUDIES: [&Study; 12] = [
    &comparisons::STUDY,
    &windows::STUDY,
    &rounds::STUDY,
    &checks::STUDY,
    &intervals::SERIES,
    &intervals::QUEUES,
    &warm_ups::STUDY,
    &intervals::UNTIL,
    &seeks::STUDY,
    &sweeps::ON_THE_LAW,
    &sweeps::QUEUES,
    &sweeps::GROWTH,
];

/// What `cargo xtask statistics` takes.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Simulations of each case
    #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u64).range(1..))]
    simulations: u64,
    /// Where arrivals, services and noise come from
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Only these tables
    #[arg(long, value_delimiter = ',',
        value_parser = PossibleValuesParser::new(STUDIES.map(|study| study.name)))]
    only: Vec<String>,
}

/// Prints the tables in Markdown.
///
/// # Errors
/// When a simulation fails, or a signal arrives.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let interrupt = Interrupt::watch()?;
    let is_asked = |study: &&&Study| {
        arguments.only.is_empty() || arguments.only.iter().any(|name| name == study.name)
    };
    for study in STUDIES.iter().filter(is_asked) {
        println!("{}", study.section(arguments.simulations, arguments.seed, &interrupt)?);
    }
    Ok(ExitCode::SUCCESS)
}

/// A normally distributed number. Source: Box and Muller, Annals of Mathematical Statistics 29 (1958).
fn normal(draws: &mut u64) -> f64 {
    let mut uniform = || ((split_mix::next(draws) >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
    (-2.0 * uniform().ln()).sqrt() * (std::f64::consts::TAU * uniform()).cos()
}
