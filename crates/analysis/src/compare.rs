//! Whether one system differs from another, based on rounds that measured both or on independent trials.

use crate::contrast::{Contrast, Tests};
use crate::moments::mean;
use crate::over_time::TimedValue;
use crate::ratio::{
    Ratio, independent_ratio, paired_ratio, paired_ratio_in_order, ratio_over_time,
};
use crate::stopping::Stopping;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RoundFigure {
    pub round: u32,
    /// Its place in the order of measuring, from 0.
    pub place: u64,
    /// Its value, or the least that it can be; a value that is not positive counts as missing.
    pub value: f64,
    /// The most that it can be: its value where that is known exactly.
    pub most: f64,
}

impl RoundFigure {
    pub fn exact(round: u32, place: u64, value: f64) -> Self {
        Self { round, place, value, most: value }
    }

    pub fn is_exact(&self) -> bool {
        self.most == self.value
    }
}

/// The result of a comparison over rounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    /// The variant's figure divided by the baseline's.
    pub ratio: Ratio,
    /// The variant's figure, the geometric mean over the rounds or trials of the ratio. Where the ratio allows for a change
    /// of the machine over time, both figures are those at the same time.
    pub variant: f64,
    /// The baseline's figure, likewise: the quotient of the two is the ratio.
    pub baseline: f64,
    pub verdict: Significance,
}

/// With fewer rounds there is no interval, so no difference can be shown, however large.
pub const ROUNDS_MIN: usize = 2;

/// Whether a ratio differs from 1 by the least difference that matters, or more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Significance {
    /// The whole 95 % interval lies above 1, and the ratio reaches the least difference. With corrected tests the
    /// interval of the corrected level does.
    Higher,
    /// The whole 95 % interval lies below 1, and the ratio reaches the least difference; corrected as above.
    Lower,
    /// The whole 90 % interval is nearer to 1 than the least difference: two one-sided tests with 5 % each, or less.
    /// Source: D. J. Schuirmann, Journal of Pharmacokinetics and Biopharmaceutics 15 (1987).
    Equal,
    /// These rounds show neither a difference nor that there is none.
    Undecided,
    /// There are fewer rounds than [`ROUNDS_MIN`], or too few for an interval where the difference decides when they end.
    TooFewRounds,
}

/// The chance of a wrong verdict that is accepted.
pub const LEVEL: f64 = 0.05;

impl Significance {
    /// The verdict on a difference. `least` is the least one that matters; of ratios both are logarithms. `tests` are
    /// those of the contrast, corrected where several are made.
    pub fn judged(contrast: &Contrast, least: f64, tests: Tests) -> Self {
        if !contrast.has_interval() {
            return Self::TooFewRounds;
        }
        let is_different = tests.difference < LEVEL;
        if is_different && contrast.difference - contrast.slack >= least {
            Self::Higher
        } else if is_different && contrast.difference + contrast.slack <= -least {
            Self::Lower
        } else if tests.equality < LEVEL {
            Self::Equal
        } else {
            Self::Undecided
        }
    }
}

impl Comparison {
    /// With both figures: their geometric means, moved apart or together until their quotient is the ratio.
    fn with(
        ratio: Ratio,
        baseline: &[f64],
        variant: &[f64],
        least_difference: f64,
    ) -> Option<Self> {
        let [variant, baseline] = [geometric_mean(variant)?, geometric_mean(baseline)?];
        let by_time = (ratio.ratio * baseline / variant).sqrt();
        Some(Self {
            ratio,
            variant: variant * by_time,
            baseline: baseline / by_time,
            verdict: judged_alone(&ratio, least_difference),
        })
    }

    /// Of values that are known only within bounds: `low` is the comparison of those that make the ratio least, `high` of
    /// those that make it largest. The ratio is the middle of theirs, its intervals hold for every value within.
    #[must_use]
    pub fn between(low: Self, high: Self, least_difference: f64) -> Self {
        let ratio = Ratio::of(Contrast::between(low.ratio.logs, high.ratio.logs));
        Self {
            ratio,
            variant: (low.variant * high.variant).sqrt(),
            baseline: (low.baseline * high.baseline).sqrt(),
            verdict: judged_alone(&ratio, least_difference),
        }
    }

    /// The same when this decided how many rounds there are: interval and verdict allow for that.
    #[must_use]
    pub fn stopped_by(self, stopping: Stopping, least_difference: f64) -> Self {
        let ratio = Ratio::of(self.ratio.logs.stopped_by(stopping));
        Self { ratio, verdict: judged_alone(&ratio, least_difference), ..self }
    }
}

/// The verdict on one ratio alone. With a least difference of 0.01, ratios from 1 / 1.01 to 1.01 are as good as 1.
fn judged_alone(ratio: &Ratio, least_difference: f64) -> Significance {
    let least = least_difference.ln_1p();
    Significance::judged(&ratio.logs, least, ratio.logs.tests(least))
}

/// The ratio `variant / baseline` over the rounds that have both; `None` when none has.
///
/// Each round measured both within a short time and the order is balanced over rounds, so what the machine
/// did to one it did to the other about as much, and a drift cancels; from six rounds on it does not count as
/// spread either. Of many comparisons in one table, one in twenty shows a difference that is not there. Of figures
/// that are known only within bounds as [`Comparison::between`]; there a drift counts as spread.
pub fn compare(
    baseline: &[RoundFigure],
    variant: &[RoundFigure],
    least_difference: f64,
) -> Option<Comparison> {
    let (mut of_variant, mut of_baseline, mut apart) = (Vec::new(), Vec::new(), Vec::new());
    for theirs in variant {
        let base = baseline.iter().find(|base| base.round == theirs.round);
        if let Some(base) = base.filter(|base| base.value > 0.0 && theirs.value > 0.0) {
            of_variant.push(*theirs);
            of_baseline.push(*base);
            apart.push(theirs.place as f64 - base.place as f64);
        }
    }
    let sides = [&of_variant, &of_baseline];
    let all = |of: fn(&RoundFigure) -> f64| sides.map(|it| it.iter().map(of).collect::<Vec<f64>>());
    let [variant_least, baseline_least] = all(|it| it.value);
    let [variant_most, baseline_most] = all(|it| it.most);
    let of = |ratio: Option<Ratio>, baseline: &[f64], variant: &[f64]| {
        Comparison::with(ratio?, baseline, variant, least_difference)
    };
    if of_variant.iter().chain(&of_baseline).all(RoundFigure::is_exact) {
        let ratio = paired_ratio_in_order(&variant_least, &baseline_least, &apart);
        return of(ratio, &baseline_least, &variant_least);
    }
    let low = paired_ratio(&variant_least, &baseline_most);
    let high = paired_ratio(&variant_most, &baseline_least);
    Some(Comparison::between(
        of(low, &baseline_most, &variant_least)?,
        of(high, &baseline_least, &variant_most)?,
        least_difference,
    ))
}

/// The ratio `variant / baseline` over trials that were measured independently of each other; `None` when a side has
/// none, and when a value is not positive: to leave it out would leave out the slowest.
pub fn compare_independent(
    baseline: &[f64],
    variant: &[f64],
    least_difference: f64,
) -> Option<Comparison> {
    Comparison::with(independent_ratio(variant, baseline)?, baseline, variant, least_difference)
}

/// The ratio `variant / baseline` over trials that were measured one after the other, of which those near in time are alike;
/// `None` as with [`compare_independent`].
pub fn compare_over_time(
    baseline: &[TimedValue],
    variant: &[TimedValue],
    least_difference: f64,
) -> Option<Comparison> {
    let ratio = ratio_over_time(variant, baseline)?;
    let values = |of: &[TimedValue]| of.iter().map(|it| it.value).collect::<Vec<f64>>();
    Comparison::with(ratio, &values(baseline), &values(variant), least_difference)
}

/// Of positive values; `None` without any.
pub fn geometric_mean(values: &[f64]) -> Option<f64> {
    let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    mean(&logs).map(f64::exp)
}

/// One value for each round out of several points: their geometric mean, and the sum of their places. Only rounds with a
/// value for every point are included.
pub fn over_points(points: &[Vec<RoundFigure>]) -> Vec<RoundFigure> {
    let Some((first, others)) = points.split_first() else { return Vec::new() };
    let whole = |base: &RoundFigure| {
        let (mut logs, mut place) = ([base.value, base.most].map(f64::ln), base.place);
        for point in others {
            let figure = point.iter().find(|figure| figure.round == base.round)?;
            logs = [logs[0] + figure.value.ln(), logs[1] + figure.most.ln()];
            place += figure.place;
        }
        let [value, most] = logs.map(|logs| (logs / points.len() as f64).exp());
        let round = base.round;
        (value.is_finite() && most.is_finite()).then_some(RoundFigure { round, place, value, most })
    };
    first.iter().filter_map(whole).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With a least difference of 1 %.
    fn compared(baseline: &[RoundFigure], variant: &[RoundFigure]) -> Option<Comparison> {
        compare(baseline, variant, 0.01)
    }

    fn rounds(values: &[f64]) -> Vec<RoundFigure> {
        let numbered = values.iter().zip(0..);
        numbered.map(|(value, round)| RoundFigure::exact(round, 0, *value)).collect()
    }

    #[test]
    fn the_least_difference_decides_what_matters() {
        let rounds = |value: f64| {
            let noise = [0.999, 1.0, 1.001];
            let figure = |(round, noise): (usize, &f64)| {
                RoundFigure::exact(u32::try_from(round).unwrap(), 0, value * noise)
            };
            noise.iter().enumerate().map(figure).collect::<Vec<_>>()
        };
        let verdict = |least| compare(&rounds(100.0), &rounds(103.0), least).unwrap().verdict;
        assert_eq!(verdict(0.01), Significance::Higher);
        assert_eq!(verdict(0.05), Significance::Equal, "3 % do not matter");
    }

    #[test]
    fn paired_rounds_cancel_machine_drift() {
        let baseline = rounds(&[100.0, 50.0, 200.0, 80.0]);
        let variant = rounds(&[110.0, 56.0, 218.0, 88.0]);
        let found = compared(&baseline, &variant).unwrap();
        assert_eq!(found.verdict, Significance::Higher);
        assert!((found.ratio.ratio - 1.1024).abs() < 1e-3, "{found:?}");
        assert_eq!(compared(&variant, &baseline).unwrap().verdict, Significance::Lower);
    }

    #[test]
    fn the_figures_of_a_comparison_have_its_ratio() {
        // The last round has no partner.
        let found = compared(&rounds(&[275.0, 100.0, 80.0]), &rounds(&[261.0, 400.0, 120.0, 9.0]));
        let found = found.unwrap();
        assert!((found.variant / found.baseline / found.ratio.ratio - 1.0).abs() < 1e-12);
        assert!((found.variant - (261.0_f64 * 400.0 * 120.0).cbrt()).abs() < 1e-9, "{found:?}");
        assert!((found.baseline - 2_200_000_f64.cbrt()).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn differences_below_the_least_difference_are_equal_however_certain() {
        let baseline = rounds(&[1_000.0, 1_000.0, 1_000.0]);
        // The 95 % interval is 0.9985 to 0.9995.
        let found = compared(&baseline, &rounds(&[999.0, 998.8, 999.2])).unwrap();
        assert!(found.ratio.high < 1.0, "{found:?}");
        assert_eq!(found.verdict, Significance::Equal);
        assert_eq!(compared(&baseline, &baseline).unwrap().verdict, Significance::Equal);
        let least = compared(&baseline, &rounds(&[1_011.0, 1_010.9, 1_011.1])).unwrap();
        assert_eq!(least.verdict, Significance::Higher);
    }

    #[test]
    fn a_small_difference_whose_interval_passes_the_least_one_is_undecided() {
        // 0.7 % with a 95 % interval above 1 and a 90 % interval beyond 1.01.
        let variant = rounds(&[1_005.0, 1_006.0, 1_010.0]);
        let found = compared(&rounds(&[1_000.0, 1_000.0, 1_000.0]), &variant).unwrap();
        assert!(found.ratio.low > 1.0 && found.ratio.high_90 > 1.01, "{found:?}");
        assert_eq!(found.verdict, Significance::Undecided);
    }

    #[test]
    fn noise_is_undecided_and_one_round_is_too_few() {
        let noisy = compared(&rounds(&[100.0, 100.0, 100.0]), &rounds(&[120.0, 85.0, 101.0]));
        assert_eq!(noisy.unwrap().verdict, Significance::Undecided);
        let one = compared(&rounds(&[100.0]), &rounds(&[300.0])).unwrap();
        assert_eq!(one.verdict, Significance::TooFewRounds);
    }

    #[test]
    fn incomplete_rounds_are_left_out_of_comparisons() {
        let baseline = rounds(&[100.0, 0.0, 100.0]);
        let figure = |round, value| RoundFigure::exact(round, 0, value);
        let variant = [figure(2, 50.0), figure(7, 9.0)];
        let found = compared(&baseline, &variant).unwrap();
        assert_eq!((found.ratio.rounds, found.ratio.ratio), (1, 0.5));
        assert_eq!(compared(&baseline, &variant[1..]), None);
    }

    /// Rounds A B, B A and so on, each trial a tenth faster than the one before.
    fn drifting(rounds: u64) -> [Vec<RoundFigure>; 2] {
        let (mut figures, orders) = ([Vec::new(), Vec::new()], [[0, 1], [1, 0]]);
        for round in 0..rounds {
            for (at, variant) in (0..).zip(orders[round as usize % 2]) {
                let place = 2 * round + at;
                let value = 100.0 * 1.1_f64.powi(place as i32);
                figures[variant].push(RoundFigure::exact(round as u32, place, value));
            }
        }
        figures
    }

    #[test]
    fn a_steady_drift_is_no_spread_from_six_rounds_on() {
        let of = |rounds| {
            let [baseline, variant] = drifting(rounds);
            compared(&baseline, &variant).unwrap()
        };
        // Ratios of 1.1 and 1 / 1.1 in turn: with four rounds a deviation of ln 1.1 x sqrt (4 / 3), and t = 3.1824.
        let spread = (of(4).ratio.high.ln() - 3.1824 * 1.1_f64.ln() / 3.0_f64.sqrt()).abs();
        assert!(spread < 1e-4, "{:?}", of(4));
        assert_eq!(of(4).verdict, Significance::Undecided);
        let six = of(6);
        assert!(
            (six.ratio.ratio - 1.0).abs() < 1e-12 && six.ratio.high - six.ratio.low < 1e-9,
            "{six:?}"
        );
        assert_eq!(six.verdict, Significance::Equal);
        // In seven rounds the variant came later once more than it came earlier.
        let seven = of(7);
        assert!((seven.ratio.ratio - 1.0).abs() < 1e-12, "{seven:?}");
        assert!((seven.variant / seven.baseline - 1.0).abs() < 1e-12, "{seven:?}");
    }

    /// Known to a part in two thousand, as percentiles near which little was never answered.
    #[test]
    fn figures_within_bounds_are_compared_by_the_worst_of_them() {
        let within = |values: &[f64], width: f64| -> Vec<RoundFigure> {
            rounds(values).iter().map(|it| RoundFigure { most: it.value * width, ..*it }).collect()
        };
        let (base, other) = ([100.0, 101.0, 100.0, 99.0], [110.0, 111.5, 110.5, 109.0]);
        let exact = compared(&rounds(&base), &rounds(&other)).unwrap();
        let found = compared(&within(&base, 1.0005), &within(&other, 1.0005)).unwrap();
        assert_eq!(found.verdict, Significance::Higher);
        assert!((found.ratio.ratio / exact.ratio.ratio - 1.0).abs() < 1e-12, "{found:?}");
        let [wider, narrower] = [found, exact].map(|it| it.ratio.high / it.ratio.low);
        assert!((wider / narrower / 1.0005_f64.powi(2) - 1.0).abs() < 1e-12, "{found:?}");
        // What the bounds leave open is not shown: 10 % more, but perhaps 12 % less.
        let open = compared(&within(&base, 1.25), &rounds(&other)).unwrap();
        assert_eq!(open.verdict, Significance::Undecided);
        assert!(open.ratio.low < 1.0 / 1.12 && open.ratio.high > 1.09, "{open:?}");
        assert_eq!(open.ratio.logs.repetitions_needed(0.01, LEVEL), None, "more do not help");
        let of_points = over_points(&[within(&base, 1.21), rounds(&other)]);
        assert!((of_points[0].most / of_points[0].value - 1.1).abs() < 1e-12);
    }

    #[test]
    fn points_of_one_round_are_averaged() {
        let of = over_points(&[rounds(&[2.0, 3.0]), rounds(&[8.0])]);
        assert_eq!(of.len(), 1);
        assert!((of[0].value - 4.0).abs() < 1e-12);
        assert!(over_points(&[]).is_empty());
    }
}
