//! How often dyno's statistics err, counted on simulated systems whose truth is known: comparisons of a variant with
//! its equal (A/A) and with one that differs (A/B) under noise of several kinds, the checks and the intervals of single
//! trials, and seeks for a capacity.

mod checks;
mod comparisons;
mod intervals;
mod seeks;
mod trial;

use std::process::ExitCode;

use clap::Args;
use plan::split_mix;

use crate::interrupt::Interrupt;

/// What `cargo xtask statistics` takes.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Comparisons for each kind of noise and difference, trials for each load, and seeks for each kind of noise
    #[arg(long, default_value_t = 1_000)]
    comparisons: u64,
    /// Where arrivals, services and noise come from
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Only this table
    #[arg(long, value_parser = ["comparisons", "checks", "intervals", "seeks"])]
    only: Option<String>,
}

/// Prints the tables in Markdown.
///
/// # Errors
/// When a trial could not run, or a signal arrived.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let interrupt = Interrupt::watch()?;
    let Arguments { comparisons, seed, ref only } = *arguments;
    let is_asked = |name: &str| only.as_ref().is_none_or(|only| only == name);
    if is_asked("comparisons") {
        println!("{}", comparisons::HEAD);
        for case in comparisons::cases() {
            interrupt.check()?;
            println!("{}", comparisons::frequencies(&case, comparisons, seed)?.row(&case));
        }
    }
    if is_asked("checks") {
        println!("\n{}", checks::HEAD);
        for case in checks::cases() {
            interrupt.check()?;
            println!("{}", checks::frequencies(&case, comparisons, seed)?.row(&case));
        }
    }
    if is_asked("intervals") {
        println!("\n{}", intervals::SERIES_HEAD);
        for case in intervals::series() {
            interrupt.check()?;
            println!("{}", case.row(intervals::of_series(&case, comparisons, seed)));
        }
        println!("\n{}", intervals::QUEUES_HEAD);
        for case in intervals::queues() {
            interrupt.check()?;
            println!("{}", case.row(intervals::of_queue(&case, comparisons, seed)?));
        }
    }
    if is_asked("seeks") {
        println!("\n{}", seeks::HEAD);
        for case in seeks::cases() {
            interrupt.check()?;
            println!("{}", seeks::results(&case, comparisons, seed)?.row(&case));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// A frequency with its 95 % interval, in per cent. Source: E. B. Wilson, Probable inference, the law of succession, and
/// statistical inference, Journal of the American Statistical Association 22 (1927).
fn percent(count: u64, of: u64) -> String {
    const Z: f64 = 1.96;
    let n = of as f64;
    let part = count as f64 / n;
    let centre = (part + Z * Z / (2.0 * n)) / (1.0 + Z * Z / n);
    let half = Z / (1.0 + Z * Z / n) * (part * (1.0 - part) / n + Z * Z / (4.0 * n * n)).sqrt();
    let [part, low, high] = [part, centre - half, centre + half].map(|it| 100.0 * it);
    format!("{part:.1} ({:.1} to {high:.1})", low.max(0.0))
}

/// A normally distributed number. Source: Box and Muller, Annals of Mathematical Statistics 29 (1958).
fn normal(draws: &mut u64) -> f64 {
    let mut uniform = || ((split_mix::next(draws) >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
    (-2.0 * uniform().ln()).sqrt() * (std::f64::consts::TAU * uniform()).cos()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Source: Wilson's formula with n = 100: the centre is (0.05 + 0.0192) / 1.0384.
    #[test]
    fn a_frequency_has_wilsons_interval() {
        assert_eq!(percent(5, 100), "5.0 (2.2 to 11.2)");
        assert_eq!(percent(0, 1_000), "0.0 (0.0 to 0.4)");
    }
}
