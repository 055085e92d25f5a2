//! Comparisons of two systems by every method of the reports, on simulated trials in the order in which they ran. The second
//! system is made faster by a factor on its figures, so that the truth is known.

use analysis::{
    Comparison, RoundFigure, Significance, TimedValue, compare, compare_independent,
    compare_over_time, geometric_mean,
};
use anyhow::Context;
use plan::{Shuffle, balanced_rounds};

use super::noises::{KINDS, Kind};
use super::simulation::{Case, Goal, Seen, Study, seed_of};

/// Rounds of a comparison, and trials of a run that is compared with one other.
const ROUNDS: usize = 6;
/// Trials of each of several runs, and runs of a side.
const TRIALS_OF_RUN: usize = 3;
const RUNS: usize = 4;
/// The true ratio where there is a difference.
const FASTER: f64 = 1.05;

const ALARM: &str = "alarm for equal systems";
/// An interval that is too wide is wrong too.
const ALARM_IN_ROUNDS: &str = "alarm for equal systems, in rounds";
const EQUAL_AT_MARGIN: &str = "a difference of the margin is called equal";
const GOALS: &[Goal] =
    &[(ALARM_IN_ROUNDS, 3.0..=7.0), (ALARM, 0.0..=7.0), (EQUAL_AT_MARGIN, 0.0..=7.0)];

pub(super) static STUDY: Study =
    Study { name: "comparisons", title: "Comparisons of two systems", goals: GOALS, cases };

/// How two systems are compared, and how their trials were made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Method {
    /// Variants in the rounds of a plan, by the ratio of each round.
    Rounds,
    /// The baseline of variants with itself, where the rounds measure a third variant too.
    NoiseFloor,
    /// Trials of each side on machines of their own.
    Trials,
    /// Several runs of each side at different times; a run counts once.
    Runs,
    /// A run of one side, and then one of the other: trials that are near in time are alike.
    RunAfterRun,
}

const METHODS: [(Method, &str); 5] = [
    (Method::Rounds, "variants in six rounds"),
    (Method::NoiseFloor, "the baseline measured twice, six rounds"),
    (Method::Trials, "six and six independent trials"),
    (Method::Runs, "four and four runs of three trials"),
    (Method::RunAfterRun, "a run of six trials after another"),
];

fn cases() -> Vec<Case> {
    let of = |(method, name)| {
        // Methods that expect trials to vary say nothing of those that do not.
        let is_asked = move |kind: &Kind| method == Method::Rounds || !kind.is_constant();
        KINDS.into_iter().filter(is_asked).map(move |kind| {
            Case::new(format!("{name}: {}", kind.name), move |seed| once(method, kind, seed))
        })
    };
    METHODS.into_iter().flat_map(of).collect()
}

fn once(method: Method, kind: Kind, seed: u64) -> anyhow::Result<Seen> {
    let values = method.values(kind, seed)?;
    let compared = |factor| method.compare(&values, factor, seed).context("nothing to compare");
    let (equal, mut seen) = (compared(1.0)?, Seen::default());
    let is_in_rounds = matches!(method, Method::Rounds | Method::NoiseFloor) && !kind.is_constant();
    seen.is(if is_in_rounds { ALARM_IN_ROUNDS } else { ALARM }, is_alarm(&equal));
    seen.is("equal systems are called equal", equal.verdict == Significance::Equal);
    if method == Method::NoiseFloor {
        let figures = in_rounds(&values, &[1.0; 3], seed);
        let other = compare(&figures[0], &figures[1], method.margin());
        let floor = equal.ratio.logs.noise_floor();
        if let (Some(other), Some(floor)) = (other, floor) {
            seen.is(
                "an equal variant is beyond the noise floor",
                other.ratio.logs.difference.abs() > floor,
            );
            seen.size("noise floor, %", 100.0 * floor.exp_m1());
        }
    } else {
        let at_margin = compared(1.0 + method.margin())?.verdict;
        seen.is(EQUAL_AT_MARGIN, at_margin == Significance::Equal);
        seen.is("a true 5 % is found", compared(FASTER)?.verdict == Significance::Higher);
    }
    seen.size("half width of the 95 % interval, %", half_width(&equal));
    Ok(seen)
}

/// Whether the 95 % interval of equal systems excludes 1. The logarithm of a ratio only moves with the factor, so as many
/// intervals do not have the truth of systems that differ.
pub(super) fn is_alarm(of_equal: &Comparison) -> bool {
    of_equal.ratio.low > 1.0 || of_equal.ratio.high < 1.0
}

/// Of the logarithm, in per cent.
pub(super) fn half_width(of: &Comparison) -> f64 {
    100.0 * (of.ratio.high / of.ratio.low).ln() / 2.0
}

impl Method {
    /// The least difference that matters: those of a plan and of `dyno compare`, where nothing else is set.
    fn margin(self) -> f64 {
        match self {
            Self::Rounds | Self::NoiseFloor => plan::LEAST_DIFFERENCE,
            Self::Trials | Self::Runs | Self::RunAfterRun => 0.02,
        }
    }

    /// The figures of a comparison, in the order in which they were measured.
    fn values(self, kind: Kind, seed: u64) -> anyhow::Result<Vec<f64>> {
        // All on machines of their own: what changes over time is the same for all.
        let apart = |machines: usize, length: usize| {
            let run = |at| kind.throughputs(seed_of(seed, at), length);
            let runs = (0..machines as u64).map(run);
            runs.map(|run| geometric_mean(&run?).context("a run without trials")).collect()
        };
        match self {
            Self::Rounds | Self::RunAfterRun => kind.throughputs(seed, 2 * ROUNDS),
            Self::NoiseFloor => kind.throughputs(seed, 3 * ROUNDS),
            Self::Trials => apart(2 * ROUNDS, 1),
            Self::Runs => apart(2 * RUNS, TRIALS_OF_RUN),
        }
    }

    /// Compares two systems, of which the second is `factor` times as fast.
    fn compare(self, values: &[f64], factor: f64, seed: u64) -> Option<Comparison> {
        let margin = self.margin();
        let (baseline, other) = values.split_at(values.len() / 2);
        let other: Vec<f64> = other.iter().map(|value| value * factor).collect();
        match self {
            Self::Rounds => {
                let figures = in_rounds(values, &[1.0, factor], seed);
                compare(&figures[0], &figures[1], margin)
            }
            Self::NoiseFloor => {
                let figures = in_rounds(values, &[1.0, factor, 1.0], seed);
                compare(&figures[0], &figures[2], margin)
            }
            Self::Trials | Self::Runs => compare_independent(baseline, &other, margin),
            Self::RunAfterRun => {
                let timed = |values: &[f64], from: usize| -> Vec<TimedValue> {
                    let timed = values.iter().zip(from..);
                    timed
                        .map(|(value, at)| TimedValue { time_s: at as f64, value: *value })
                        .collect()
                };
                compare_over_time(&timed(baseline, 0), &timed(&other, ROUNDS), margin)
            }
        }
    }
}

/// Deals figures out to variants in the order of a plan with this seed, and multiplies each variant's by its factor.
pub(super) fn in_rounds(values: &[f64], factors: &[f64], seed: u64) -> Vec<Vec<RoundFigure>> {
    let variants: Vec<usize> = (0..factors.len()).collect();
    let orders = balanced_rounds(&mut Shuffle::new(seed), &variants, values.len() / factors.len());
    let mut figures = vec![Vec::new(); factors.len()];
    let mut trials = values.iter().zip(0..);
    for (order, round) in orders.into_iter().zip(0..) {
        for (variant, (value, place)) in order.into_iter().zip(trials.by_ref()) {
            figures[variant].push(RoundFigure::exact(round, place, value * factors[variant]));
        }
    }
    figures
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trials_are_dealt_out_in_pairs_of_rounds() {
        let values: Vec<f64> = (1..=8).map(f64::from).collect();
        for seed in 0..20 {
            let figures = in_rounds(&values, &[1.0, 10.0], seed);
            assert_eq!(figures.iter().map(Vec::len).collect::<Vec<_>>(), [4, 4]);
            let sum = |at: usize| figures[at].iter().map(|it| it.value).sum::<f64>();
            // Of 1 to 4 each has 1 and 4, or 2 and 3; so with 5 to 8.
            assert_eq!((sum(0), sum(1)), (18.0, 180.0), "seed {seed}");
            assert!(figures.iter().flatten().all(|it| it.place / 2 == u64::from(it.round)));
        }
    }

    #[test]
    fn a_factor_is_found_where_nothing_varies() {
        for (method, name) in METHODS {
            let values = vec![50.0; if method == Method::NoiseFloor { 18 } else { 12 }];
            let ratio = |factor| method.compare(&values, factor, 3).unwrap().ratio.ratio;
            assert!((ratio(1.0) - 1.0).abs() < 1e-12, "{name}");
            let expected = if method == Method::NoiseFloor { 1.0 } else { 1.1 };
            assert!((ratio(1.1) - expected).abs() < 1e-12, "{name}");
        }
    }
}
