//! Comparisons of two variants over balanced rounds, through the comparison that reports use.

use analysis::{Comparison, RoundFigure, Significance, compare};
use anyhow::Context;
use plan::{Shuffle, balanced_rounds};

use super::goals::{Goals, Seen};
use super::noises::{Kind, Place};
use super::percent;
use super::share::Share;
use super::table::{Case, repeated};

/// Each measures both variants once.
const ROUNDS: usize = 6;

/// Two variants under noise, and the true ratio of their throughputs.
pub(super) struct Variants {
    kind: Kind,
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

impl Case for Variants {
    const TITLE: &'static str = "Comparisons of variants";
    const HEAD: &'static str = "\
| noise | truth | faster % | slower % | equal % | undecided % | 95 % interval has the truth, % | its half width, % |
|---|---|---|---|---|---|---|---|";
    type Found = Frequencies;

    /// Each kind of noise without a difference, and with one of 5 %.
    fn all() -> Vec<Self> {
        let of = |truth| Kind::all().into_iter().map(move |kind| Self { kind, truth });
        [1.0, 1.05].into_iter().flat_map(of).collect()
    }

    fn found(&self, comparisons: u64, seed: u64) -> anyhow::Result<Frequencies> {
        let mut all = Frequencies { comparisons, ..Frequencies::default() };
        for compared in repeated(comparisons, seed, |seed| self.compared(seed))? {
            all.add(self, &compared);
        }
        Ok(all)
    }

    fn row(&self, found: &Frequencies) -> String {
        found.row(self)
    }

    fn goals(found: &[(Self, Frequencies)], goals: &mut Goals) {
        let covered = |(case, found): &(Self, Frequencies)| {
            let name = format!("{}, truth {}", case.kind.name, case.truth);
            (name, Share { count: found.covered, of: found.comparisons })
        };
        let covered: Seen = found.iter().map(covered).collect();
        goals.at_least("the 95 % interval has the truth", 93.0, &covered);
    }
}

impl Variants {
    fn compared(&self, seed: u64) -> anyhow::Result<Comparison> {
        let mut figures = [Vec::new(), Vec::new()];
        for ((round, variant), place) in order(seed).into_iter().zip(0..) {
            let factor = if variant == 0 { 1.0 } else { self.truth };
            let value = self.kind.throughput(factor, Place { seed, trials: place })?;
            figures[variant].push(RoundFigure::exact(round, place, value));
        }
        let compared = compare(&figures[0], &figures[1], plan::LEAST_DIFFERENCE);
        compared.filter(|it| it.ratio.rounds > 1).context("nothing to compare")
    }
}

impl Frequencies {
    fn add(&mut self, case: &Variants, compared: &Comparison) {
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
    }

    fn row(&self, case: &Variants) -> String {
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
        let cases = Variants::all();
        let case = cases.iter().find(|case| case.kind.name == name && case.truth == truth).unwrap();
        case.found(30, 1).unwrap()
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
