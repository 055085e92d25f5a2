//! Whether one variant of a system differs from another, from rounds that measured both.

use crate::ratio::{Ratio, paired_ratio};

/// A figure of one round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RoundFigure {
    /// Which round.
    pub round: u32,
    /// Its figure; one that is not positive counts as missing.
    pub value: f64,
}

/// The result of a comparison over rounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    /// How many times the baseline's figure the variant's is.
    pub ratio: Ratio,
    /// What may be said of it.
    pub verdict: Significance,
}

/// Whether a ratio differs from 1 with 95 % confidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Significance {
    /// The whole interval lies above 1.
    Higher,
    /// The whole interval lies below 1.
    Lower,
    /// The interval holds 1: a difference, if there is one, is smaller than these rounds can show.
    NoDifferenceShown,
    /// One round has no spread to judge by.
    TooFewRounds,
}

/// The ratio `variant / baseline` over the rounds that have both; `None` when none has.
///
/// Each round measured both within a short time and the order is balanced over rounds, so what the machine
/// did to one it did to the other about as much, and a drift cancels. Of many comparisons in one table, one in
/// twenty shows a difference that is not there.
pub fn compare(baseline: &[RoundFigure], variant: &[RoundFigure]) -> Option<Comparison> {
    let (mut numerators, mut denominators) = (Vec::new(), Vec::new());
    for theirs in variant {
        let base = baseline.iter().find(|base| base.round == theirs.round);
        if let Some(base) = base.filter(|base| base.value > 0.0 && theirs.value > 0.0) {
            numerators.push(theirs.value);
            denominators.push(base.value);
        }
    }
    let ratio = paired_ratio(&numerators, &denominators)?;
    let verdict = match ratio {
        Ratio { rounds: 1, .. } => Significance::TooFewRounds,
        Ratio { low, .. } if low > 1.0 => Significance::Higher,
        Ratio { high, .. } if high < 1.0 => Significance::Lower,
        _ => Significance::NoDifferenceShown,
    };
    Some(Comparison { ratio, verdict })
}

/// One figure for each round out of several that were measured in it: the geometric mean, of rounds in
/// which every one of them is there.
pub fn over_points(points: &[Vec<RoundFigure>]) -> Vec<RoundFigure> {
    let Some((first, others)) = points.split_first() else { return Vec::new() };
    let whole = |base: &RoundFigure| {
        let mut logs = base.value.ln();
        for point in others {
            logs += point.iter().find(|figure| figure.round == base.round)?.value.ln();
        }
        let value = (logs / points.len() as f64).exp();
        value.is_finite().then_some(RoundFigure { round: base.round, value })
    };
    first.iter().filter_map(whole).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rounds(values: &[f64]) -> Vec<RoundFigure> {
        let numbered = values.iter().zip(0..);
        numbered.map(|(value, round)| RoundFigure { round, value: *value }).collect()
    }

    #[test]
    fn paired_rounds_cancel_machine_drift() {
        let baseline = rounds(&[100.0, 50.0, 200.0, 80.0]);
        let variant = rounds(&[110.0, 56.0, 218.0, 88.0]);
        let found = compare(&baseline, &variant).unwrap();
        assert_eq!(found.verdict, Significance::Higher);
        assert!((found.ratio.ratio - 1.1024).abs() < 1e-3, "{found:?}");
        assert_eq!(compare(&variant, &baseline).unwrap().verdict, Significance::Lower);
    }

    #[test]
    fn noise_shows_no_difference_and_one_round_is_too_few() {
        let noisy = compare(&rounds(&[100.0, 100.0, 100.0]), &rounds(&[120.0, 85.0, 101.0]));
        assert_eq!(noisy.unwrap().verdict, Significance::NoDifferenceShown);
        let one = compare(&rounds(&[100.0]), &rounds(&[300.0])).unwrap();
        assert_eq!(one.verdict, Significance::TooFewRounds);
    }

    #[test]
    fn incomplete_rounds_are_left_out_of_comparisons() {
        let baseline = rounds(&[100.0, 0.0, 100.0]);
        let variant = [RoundFigure { round: 2, value: 50.0 }, RoundFigure { round: 7, value: 9.0 }];
        let found = compare(&baseline, &variant).unwrap();
        assert_eq!((found.ratio.rounds, found.ratio.ratio), (1, 0.5));
        assert_eq!(compare(&baseline, &variant[1..]), None);
    }

    #[test]
    fn points_of_one_round_are_averaged() {
        let of = over_points(&[rounds(&[2.0, 3.0]), rounds(&[8.0])]);
        assert_eq!(of.len(), 1);
        assert!((of[0].value - 4.0).abs() < 1e-12);
        assert!(over_points(&[]).is_empty());
    }
}
