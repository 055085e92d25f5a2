//! Comparisons of two variants over balanced rounds, through the comparison that reports use.

use std::time::Duration;

use analysis::{RoundFigure, Significance, compare};
use engine::{Pacing, SimulatedChance};
use measure::nanos;
use plan::{Noise, ServiceDistribution, Shuffle, SimulatedSystem, split_mix};

use super::percent;
use super::trial::{SimulatedTrial, run};

const MS: u64 = 1_000_000;
const S: u64 = 1_000 * MS;
/// Each measures both variants once.
const ROUNDS: u32 = 6;
/// The measured time of a trial.
const TIME: Duration = Duration::from_secs(1);
/// From the start of one trial to that of the next: a variant is started and filled before.
const PERIOD: Duration = Duration::from_secs(2);

/// The head of the table.
pub(super) const HEAD: &str = "\
| noise | truth | faster % | slower % | equal % | undecided % | 95 % interval has the truth, % | its half width, % |
|---|---|---|---|---|---|---|---|";

/// Noise, and the true ratio of throughputs.
pub(super) struct Case {
    name: &'static str,
    noise: Vec<Noise>,
    distribution: ServiceDistribution,
    truth: f64,
}

/// Verdicts over comparisons.
#[derive(Debug, Default)]
pub(super) struct Frequencies {
    pub(super) comparisons: u64,
    pub(super) faster: u64,
    pub(super) slower: u64,
    pub(super) equal: u64,
    pub(super) undecided: u64,
    /// Comparisons whose 95 % interval contains the truth.
    pub(super) covered: u64,
    /// Half widths of the intervals of the logarithms, summed.
    half_widths: f64,
}

/// Each kind of noise without a difference, and with one of 5 %.
pub(super) fn cases() -> Vec<Case> {
    let lognormal = ServiceDistribution::Lognormal { variation: 0.5 };
    let slow_noise = |time_ns| Noise::Autocorrelated { deviation: 0.05, time_ns };
    let kinds = [
        ("none, constant services", vec![], ServiceDistribution::Constant),
        ("none", vec![], lognormal),
        ("heavy-tailed services", vec![], ServiceDistribution::Pareto { variation: 3.0 }),
        ("autocorrelated, 0.1 s", vec![slow_noise(S / 10)], lognormal),
        ("autocorrelated, 10 s", vec![slow_noise(10 * S)], lognormal),
        (
            "two states, 5 s each",
            vec![Noise::TwoStates { slow: 1.2, fast_ns: 5 * S, slow_ns: 5 * S }],
            lognormal,
        ),
        (
            "pauses, heavy-tailed",
            vec![Noise::Pauses { every_ns: S, length_ns: 20 * MS, shape: 1.5 }],
            lognormal,
        ),
        ("drift of 20 %", vec![Noise::Drift { change: 0.2, over_ns: 24 * S }], lognormal),
    ];
    let mut cases = Vec::new();
    for truth in [1.0, 1.05] {
        for (name, noise, distribution) in &kinds {
            let (noise, distribution) = (noise.clone(), *distribution);
            cases.push(Case { name, noise, distribution, truth });
        }
    }
    cases
}

/// Compares so many times.
///
/// # Errors
/// When a trial could not run.
pub(super) fn frequencies(case: &Case, comparisons: u64, seed: u64) -> anyhow::Result<Frequencies> {
    let mut all = Frequencies { comparisons, ..Frequencies::default() };
    for number in 0..comparisons {
        all.add(case, split_mix::mix(seed.wrapping_add(split_mix::mix(number + 1))))?;
    }
    Ok(all)
}

impl Frequencies {
    fn add(&mut self, case: &Case, seed: u64) -> anyhow::Result<()> {
        let mut figures = [Vec::new(), Vec::new()];
        for (place, (round, variant)) in order(seed).into_iter().enumerate() {
            let value = throughput(case, variant, seed, place as u64)?;
            figures[variant].push(RoundFigure { round, value });
        }
        let compared = compare(&figures[0], &figures[1], plan::LEAST_DIFFERENCE)
            .filter(|it| it.ratio.rounds > 1);
        let Some(compared) = compared else { anyhow::bail!("nothing to compare") };
        match compared.verdict {
            Significance::Higher => self.faster += 1,
            Significance::Lower => self.slower += 1,
            Significance::Equal => self.equal += 1,
            Significance::Undecided | Significance::TooFewRounds => self.undecided += 1,
        }
        let ratio = compared.ratio;
        // Services that do not vary make intervals without a width, and a transaction is cut off at the end.
        let cut_off = if case.distribution == ServiceDistribution::Constant { 1e-3 } else { 0.0 };
        let within = ratio.low * (1.0 - cut_off)..=ratio.high * (1.0 + cut_off);
        self.covered += u64::from(within.contains(&case.truth));
        self.half_widths += (ratio.high / ratio.low).ln() / 2.0;
        Ok(())
    }

    /// The row of the table.
    pub(super) fn row(&self, case: &Case) -> String {
        let part = |count| percent(count, self.comparisons);
        format!(
            "| {} | {} | {} | {} | {} | {} | {} | {:.1} |",
            case.name,
            case.truth,
            part(self.faster),
            part(self.slower),
            part(self.equal),
            part(self.undecided),
            part(self.covered),
            100.0 * self.half_widths / self.comparisons as f64,
        )
    }
}

/// The trials in their order, each with its round and its variant: pairs of rounds, the second of which is the first
/// backwards, as in a plan.
fn order(seed: u64) -> Vec<(u32, usize)> {
    let mut shuffle = Shuffle::new(seed);
    let mut trials = Vec::new();
    for pair in 0..ROUNDS / 2 {
        let mut variants = shuffle.of(&[0, 1]);
        for round in [2 * pair, 2 * pair + 1] {
            trials.extend(variants.iter().map(|variant| (round, *variant)));
            variants.reverse();
        }
    }
    trials
}

/// Transactions a second of one trial; `place` is its number in the comparison.
fn throughput(case: &Case, variant: usize, seed: u64, place: u64) -> anyhow::Result<f64> {
    let service = if variant == 0 { MS as f64 } else { MS as f64 / case.truth };
    let system = SimulatedSystem {
        servers: 2,
        operations: 1,
        service_times_ns: vec![service.round() as u64],
        distribution: case.distribution,
        stalls: Vec::new(),
        noise: case.noise.clone(),
    };
    let trial = SimulatedTrial {
        system,
        clients: 2,
        pacing: Pacing::Closed { think_time_ns: 0 },
        rate_per_s: None,
        warm_up: Duration::ZERO,
        time: TIME,
        interval: TIME / 5,
    };
    let services = split_mix::mix(seed ^ split_mix::mix(place + 1));
    let chance = SimulatedChance { services, noise: seed, origin_ns: place * nanos(PERIOD) };
    Ok(run(&trial, chance)?.0.transactions_per_s)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(name: &str, truth: f64) -> Frequencies {
        let cases = cases();
        let case = cases.iter().find(|case| case.name == name && case.truth == truth).unwrap();
        frequencies(case, 30, 1).unwrap()
    }

    #[test]
    fn rounds_come_in_pairs_and_the_second_is_the_first_backwards() {
        let order = order(3);
        assert_eq!(order.len(), 2 * ROUNDS as usize);
        for pair in order.chunks(4) {
            assert_eq!((pair[0].1, pair[1].1), (pair[3].1, pair[2].1));
            assert_ne!(pair[0].1, pair[1].1);
        }
    }

    #[test]
    fn a_variant_is_not_faster_than_itself() {
        // With a level of 5 %, more than 6 of 30 have a probability of 0.1 %.
        for noise in ["none", "autocorrelated, 10 s", "drift of 20 %"] {
            let found = counted(noise, 1.0);
            assert!(found.faster + found.slower <= 6, "{noise}: {found:?}");
            assert!(found.covered >= 24, "{noise}: {found:?}");
        }
    }

    #[test]
    fn equal_variants_that_do_not_vary_are_equal() {
        let found = counted("none, constant services", 1.0);
        assert_eq!((found.equal, found.covered), (30, 30), "{found:?}");
    }

    #[test]
    fn a_difference_of_five_percent_is_found_without_noise() {
        let found = counted("none", 1.05);
        assert!(found.faster >= 28, "{found:?}");
    }
}
