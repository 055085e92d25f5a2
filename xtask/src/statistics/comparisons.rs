//! Comparisons of two variants over balanced rounds, through the comparison that reports use.

use analysis::{RoundFigure, Significance, compare};
use plan::{Shuffle, balanced_rounds};

use super::noises::{Kind, Place, seed_of};
use super::percent;

/// Each measures both variants once.
const ROUNDS: usize = 6;

/// The head of the table.
pub(super) const HEAD: &str = "\
| noise | truth | faster % | slower % | equal % | undecided % | 95 % interval has the truth, % | its half width, % |
|---|---|---|---|---|---|---|---|";

/// Noise, and the true ratio of throughputs.
pub(super) struct Case {
    kind: Kind,
    truth: f64,
}

impl Case {
    /// The noise and the truth.
    pub(super) fn name(&self) -> String {
        format!("{}, truth {}", self.kind.name, self.truth)
    }
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
    let of = |truth| Kind::all().into_iter().map(move |kind| Case { kind, truth });
    [1.0, 1.05].into_iter().flat_map(of).collect()
}

/// Compares so many times.
///
/// # Errors
/// When a trial could not run.
pub(super) fn frequencies(case: &Case, comparisons: u64, seed: u64) -> anyhow::Result<Frequencies> {
    let mut all = Frequencies { comparisons, ..Frequencies::default() };
    for number in 0..comparisons {
        all.add(case, seed_of(seed, number))?;
    }
    Ok(all)
}

impl Frequencies {
    fn add(&mut self, case: &Case, seed: u64) -> anyhow::Result<()> {
        let mut figures = [Vec::new(), Vec::new()];
        for ((round, variant), place) in order(seed).into_iter().zip(0..) {
            let factor = if variant == 0 { 1.0 } else { case.truth };
            let value = case.kind.throughput(factor, Place { seed, trials: place })?;
            figures[variant].push(RoundFigure { round, place, value });
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
        let cut_off = if case.kind.is_constant() { 1e-3 } else { 0.0 };
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
            case.kind.name,
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

/// The trials in their order, each with its round and its variant, as in a plan.
fn order(seed: u64) -> Vec<(u32, usize)> {
    let rounds = balanced_rounds(&mut Shuffle::new(seed), &[0, 1], ROUNDS).into_iter().zip(0..);
    let of_round = |(variants, round): (Vec<usize>, u32)| {
        variants.into_iter().map(move |variant| (round, variant))
    };
    rounds.flat_map(of_round).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(name: &str, truth: f64) -> Frequencies {
        let cases = cases();
        let case = cases.iter().find(|case| case.kind.name == name && case.truth == truth).unwrap();
        frequencies(case, 30, 1).unwrap()
    }

    #[test]
    fn rounds_come_in_pairs_and_the_second_is_the_first_backwards() {
        let order = order(3);
        assert_eq!(order.len(), 2 * ROUNDS);
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
