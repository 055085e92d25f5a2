//! The methods by which reports compare two systems, on the figures of trials in the order in which they ran. That one
//! of two is faster is made by a factor on its figures, so the truth is known of recorded trials too.

use analysis::{
    Comparison, RoundFigure, TimedValue, compare, compare_independent, compare_over_time,
    geometric_mean,
};
use plan::{Shuffle, balanced_rounds};

use super::noises::{Kind, Place, seed_of};

/// Trials in a stretch: enough for the longest comparison.
pub(super) const STRETCH: usize = 24;
/// Rounds of a comparison, and trials of a run that is compared with one other.
pub(super) const ROUNDS: usize = 6;
/// Trials of each of several runs, and runs of a side.
const TRIALS_OF_RUN: usize = 3;
const RUNS: usize = 4;

/// Figures of trials in stretches: those of one follow each other on one machine, those of two know nothing of each other.
#[derive(Debug)]
pub(super) struct Trials {
    stretches: Vec<Vec<f64>>,
}

/// How two systems are compared, and how their trials were made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    /// Variants in the rounds of a plan, by the ratio of each round.
    Rounds,
    /// The baseline of variants with itself, where the rounds measure a third variant too.
    NoiseFloor,
    /// Trials of each side that know nothing of each other.
    Trials,
    /// Several runs of each side at different times; a run counts once.
    Runs,
    /// A run of one side, and then one of the other: trials that are near in time are alike.
    RunAfterRun,
}

impl Method {
    pub(super) const ALL: [Self; 5] =
        [Self::Rounds, Self::NoiseFloor, Self::Trials, Self::Runs, Self::RunAfterRun];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Rounds => "variants in six rounds",
            Self::NoiseFloor => "the baseline measured twice, six rounds",
            Self::Trials => "six and six independent trials",
            Self::Runs => "four and four runs of three trials",
            Self::RunAfterRun => "a run of six trials after another",
        }
    }

    /// The least difference that matters: those of a plan and of `dyno compare`, where nothing else is set.
    pub(super) fn margin(self) -> f64 {
        match self {
            Self::Rounds | Self::NoiseFloor => plan::LEAST_DIFFERENCE,
            Self::Trials | Self::Runs | Self::RunAfterRun => 0.02,
        }
    }

    /// A comparison of two systems, of which the other is `factor` times as fast; `number` says which trials.
    pub(super) fn compare(self, trials: &Trials, number: usize, factor: f64) -> Option<Comparison> {
        let (stretch, margin) = (trials.stretch(number), self.margin());
        let sides = |all: Vec<f64>| {
            let (baseline, other) = all.split_at(all.len() / 2);
            compare_independent(baseline, &times(other, factor), margin)
        };
        match self {
            Self::Rounds => {
                let figures = in_rounds(&stretch[..2 * ROUNDS], &[1.0, factor], number as u64);
                compare(&figures[0], &figures[1], margin)
            }
            Self::NoiseFloor => {
                let figures = three_in_rounds(trials, number, factor);
                compare(&figures[0], &figures[2], margin)
            }
            Self::Trials => {
                sides((0..2 * ROUNDS).map(|at| trials.apart(number, at, 1)[0]).collect())
            }
            Self::Runs => {
                let mean = |at| geometric_mean(trials.apart(number, at, TRIALS_OF_RUN));
                sides((0..2 * RUNS).map(mean).collect::<Option<_>>()?)
            }
            Self::RunAfterRun => {
                let (baseline, other) = stretch[..2 * ROUNDS].split_at(ROUNDS);
                let timed = |values: &[f64], from: usize| -> Vec<TimedValue> {
                    let timed = values.iter().zip(from..);
                    timed
                        .map(|(value, at)| TimedValue { time_s: at as f64, value: *value })
                        .collect()
                };
                compare_over_time(
                    &timed(baseline, 0),
                    &timed(&times(other, factor), ROUNDS),
                    margin,
                )
            }
        }
    }
}

impl Trials {
    /// Simulated trials under a kind of noise.
    ///
    /// # Errors
    /// When a trial could not run.
    pub(super) fn simulated(kind: &Kind, stretches: u64, seed: u64) -> anyhow::Result<Self> {
        let stretch = |number| -> anyhow::Result<Vec<f64>> {
            let seed = seed_of(seed, number);
            let trials = 0..STRETCH as u64;
            trials.map(|trials| kind.throughput(1.0, Place { seed, trials })).collect()
        };
        Ok(Self { stretches: (0..stretches).map(stretch).collect::<anyhow::Result<_>>()? })
    }

    /// How many comparisons can be made, each of other trials.
    pub(super) fn comparisons(&self) -> usize {
        self.stretches.len()
    }

    fn stretch(&self, number: usize) -> &[f64] {
        &self.stretches[number % self.stretches.len()]
    }

    /// So many trials that follow each other, far from all others of the same comparison.
    fn apart(&self, number: usize, at: usize, length: usize) -> &[f64] {
        let chunks = STRETCH / length;
        // All of a comparison at the same place of their stretches: what changes along a stretch is the same for all.
        let start = number % chunks * length;
        &self.stretch(number / chunks * chunks + at)[start..start + length]
    }

    /// The trials after those of a comparison, those of stretches one after the other; `None` when there are not so many.
    pub(super) fn after(&self, number: usize, count: usize) -> Option<Vec<f64>> {
        let all = (1..self.stretches.len()).flat_map(|at| self.stretch(number + at));
        let found: Vec<f64> = all.take(count).copied().collect();
        (found.len() == count).then_some(found)
    }

    /// The first trials of a comparison.
    pub(super) fn first(&self, number: usize, count: usize) -> &[f64] {
        &self.stretch(number)[..count]
    }
}

/// A baseline, a variant that is `factor` times as fast, and the baseline again.
pub(super) fn three_in_rounds(
    trials: &Trials,
    number: usize,
    factor: f64,
) -> Vec<Vec<RoundFigure>> {
    in_rounds(trials.first(number, 3 * ROUNDS), &[1.0, factor, 1.0], number as u64)
}

/// Deals trials out to variants in the order of a plan with this seed, and multiplies each variant's figures by its
/// factor.
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

fn times(values: &[f64], factor: f64) -> Vec<f64> {
    values.iter().map(|value| value * factor).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each value tells its stretch and its place.
    fn numbered(stretches: usize) -> Trials {
        let stretch = |at: usize| (0..STRETCH).map(|place| (100 * at + place) as f64).collect();
        Trials { stretches: (1..=stretches).map(stretch).collect() }
    }

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
    fn trials_apart_are_of_different_stretches_and_each_is_taken_once() {
        for (per_comparison, length) in [(2 * ROUNDS, 1), (2 * RUNS, TRIALS_OF_RUN)] {
            let trials = numbered(48);
            let mut taken = Vec::new();
            for number in 0..48 {
                let of: Vec<&[f64]> =
                    (0..per_comparison).map(|at| trials.apart(number, at, length)).collect();
                let mut stretches: Vec<u64> = of.iter().map(|it| it[0] as u64 / 100).collect();
                stretches.sort_unstable();
                stretches.dedup();
                assert_eq!(stretches.len(), per_comparison);
                taken.extend(of.concat());
            }
            taken.sort_by(f64::total_cmp);
            taken.dedup();
            assert_eq!(taken.len(), 48 * per_comparison * length);
        }
    }

    #[test]
    fn a_factor_is_found_where_nothing_varies() {
        let trials = Trials { stretches: vec![vec![50.0; STRETCH]; 30] };
        for method in Method::ALL {
            let ratio = |factor| method.compare(&trials, 3, factor).unwrap().ratio.ratio;
            assert!((ratio(1.0) - 1.0).abs() < 1e-12, "{method:?}");
            let expected = if method == Method::NoiseFloor { 1.0 } else { 1.1 };
            assert!((ratio(1.1) - expected).abs() < 1e-12, "{method:?}");
        }
        assert_eq!(trials.after(29, 48).unwrap().len(), 48);
        assert_eq!(trials.after(0, 30 * STRETCH), None);
    }
}
