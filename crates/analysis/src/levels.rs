//! Where the variance of a figure lies: within a trial or between trials, and which of the two is worth repeating.

use crate::moments::{mean, standard_deviation};

/// With fewer trials their spread is hardly known.
const TRIALS_MIN: usize = 3;
/// Trials are called too long or too short when the best length is so many times theirs.
const FACTOR: f64 = 1.5;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrialFigure {
    pub value: f64,
    /// The part of its variance that the noise within the trial explains, as a part of the squared figure.
    pub variance_within: f64,
}

impl TrialFigure {
    /// The ratio of a round in which the load alternated between two variants, from a figure of each window: of each turn the
    /// windows of both are a pair. What the machine did to both cancels. `None` with fewer than two pairs, and with a figure
    /// that is not positive.
    pub fn of_windows(baseline: &[f64], variant: &[f64]) -> Option<Self> {
        let logs: Vec<f64> =
            baseline.iter().zip(variant).map(|(base, theirs)| (theirs / base).ln()).collect();
        if !logs.iter().all(|log| log.is_finite()) {
            return None;
        }
        let variance_within = standard_deviation(&logs)?.powi(2) / logs.len() as f64;
        Some(Self { value: mean(&logs)?.exp(), variance_within })
    }
}

/// The variance of a figure of one trial, by its causes, as parts of the squared figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Levels {
    /// Noise within trials: it falls as trials last longer.
    pub within: f64,
    /// What differs from trial to trial, however long they last; an estimate that may be below zero, where noise
    /// within trials explains more than all of the spread.
    pub between: f64,
    pub trials: usize,
}

/// What a trial costs, s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrialCost {
    pub measured_s: f64,
    /// Everything else: the data, the warm-up, checks.
    pub other_s: f64,
}

/// Which repetition makes the interval of the mean over trials narrower by most, for the same time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Purchase {
    /// Longer trials, best of so many seconds; `None`: the longer the better.
    LongerTrials(Option<f64>),
    /// More trials, best of this many seconds, which is less than now.
    MoreTrials(f64),
    /// Either: trials are about as long as they should be.
    Either,
}

impl Levels {
    /// Of the trials of one load; `None` for fewer than three, and when a figure is not positive.
    ///
    /// Source: T. Kalibera and R. Jones, Rigorous benchmarking in reasonable time, ISMM 2013, section 7: the variance
    /// of the means at a level, less the variance that the levels below explain, is an unbiased estimate.
    pub fn of(trials: &[TrialFigure]) -> Option<Self> {
        let values: Vec<f64> = trials.iter().map(|trial| trial.value).collect();
        let mean_value = mean(&values).filter(|mean| *mean > 0.0)?;
        let spread = standard_deviation(&values).filter(|_| values.len() >= TRIALS_MIN)?;
        let all = (spread / mean_value).powi(2);
        let within: Vec<f64> = trials.iter().map(|trial| trial.variance_within).collect();
        let within = mean(&within)?;
        Some(Self { within, between: all - within, trials: trials.len() })
    }

    /// The part of the variance of a trial's figure that lies between trials, 0 to 1; 0 when there is no variance.
    pub fn share_between(&self) -> f64 {
        let between = self.between.max(0.0);
        if between > 0.0 { between / (between + self.within) } else { 0.0 }
    }

    /// Source: Kalibera and Jones, as above, section 7: the best number of repetitions at the lower level is the root
    /// of the quotient of the costs of the levels times the quotient of their variances, whatever the number above.
    pub fn worth_repeating(&self, cost: TrialCost) -> Purchase {
        if self.between <= 0.0 {
            return Purchase::LongerTrials(None);
        }
        // The variance of a trial of one second is `within` times its length, and a second of it costs one.
        let best_s = (cost.other_s * self.within * cost.measured_s / self.between).sqrt();
        if best_s > FACTOR * cost.measured_s {
            Purchase::LongerTrials(Some(best_s))
        } else if best_s < cost.measured_s / FACTOR {
            Purchase::MoreTrials(best_s)
        } else {
            Purchase::Either
        }
    }
}

/// The variance of a figure of one trial over several runs, by its causes, as parts of the squared figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunLevels {
    /// Within trials and between the trials of a run.
    pub of_trials: Levels,
    /// What differs from run to run, however many trials they have; an estimate that may be below zero.
    pub between_runs: f64,
    pub runs: usize,
}

/// Which repetition makes the interval over runs narrower by most, for the same time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RunPurchase {
    /// More runs, best with so many trials of each load, which are fewer than now.
    MoreRuns(f64),
    WithinRuns(Purchase),
    /// Either: runs have about as many trials as they should.
    Either,
}

impl RunLevels {
    /// Of the trials of one load in each of several runs, which share what a run does once: a start of the system, a
    /// load of its data. `None` for fewer than three runs, when none has two trials, and when a figure is not positive.
    ///
    /// Source: S. R. Searle, G. Casella and C. E. McCulloch, Variance Components, 1992, section 3.6: the analysis of
    /// variance with one random factor and unequal numbers; Kalibera and Jones, as above, for its use.
    pub fn of(runs: &[Vec<TrialFigure>]) -> Option<Self> {
        let all: Vec<TrialFigure> = runs.iter().flatten().copied().collect();
        let values = |of: &[TrialFigure]| of.iter().map(|it| it.value).collect::<Vec<f64>>();
        let total = mean(&values(&all)).filter(|mean| *mean > 0.0)?;
        let means: Option<Vec<f64>> = runs.iter().map(|run| mean(&values(run))).collect();
        let (means, groups, count) = (means?, runs.len() as f64, all.len() as f64);
        if runs.len() < TRIALS_MIN || all.len() == runs.len() {
            return None;
        }
        let of_runs = || runs.iter().zip(&means);
        let inner: f64 = of_runs()
            .flat_map(|(run, mean)| run.iter().map(move |it| (it.value - mean).powi(2)))
            .sum();
        let outer: f64 =
            of_runs().map(|(run, mean)| run.len() as f64 * (mean - total).powi(2)).sum();
        let squares: f64 = runs.iter().map(|run| (run.len() as f64).powi(2)).sum();
        let size = (count - squares / count) / (groups - 1.0);
        let within_runs = inner / (count - groups);
        let between_runs = (outer / (groups - 1.0) - within_runs) / size / total.powi(2);
        let within: Vec<f64> = all.iter().map(|trial| trial.variance_within).collect();
        let within = mean(&within)?;
        let between = within_runs / total.powi(2) - within;
        let of_trials = Levels { within, between, trials: all.len() };
        Some(Self { of_trials, between_runs, runs: runs.len() })
    }

    /// What to repeat, when a run takes `other_s` beside its trials of this load. As [`Levels::worth_repeating`].
    pub fn worth_repeating(&self, trial: TrialCost, other_s: f64) -> RunPurchase {
        let within_runs = RunPurchase::WithinRuns(self.of_trials.worth_repeating(trial));
        if self.between_runs <= 0.0 {
            return within_runs;
        }
        let of_trial = self.of_trials.between.max(0.0) + self.of_trials.within;
        let cost = other_s / (trial.measured_s + trial.other_s);
        let best = (cost * of_trial / self.between_runs).sqrt().max(1.0);
        let now = self.of_trials.trials as f64 / self.runs as f64;
        if best < now / FACTOR {
            RunPurchase::MoreRuns(best)
        } else if best > FACTOR * now {
            within_runs
        } else {
            RunPurchase::Either
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draws::Draws;

    fn figures(values: &[f64], variance_within: f64) -> Vec<TrialFigure> {
        values.iter().map(|value| TrialFigure { value: *value, variance_within }).collect()
    }

    #[test]
    fn what_noise_within_trials_does_not_explain_lies_between_them() {
        // Around 100 with a deviation of 10: a variance of 0.01, of which 0.0036 are explained.
        let levels = Levels::of(&figures(&[90.0, 100.0, 110.0], 0.0036)).unwrap();
        assert!((levels.between - 0.0064).abs() < 1e-12, "{levels:?}");
        assert!((levels.share_between() - 0.64).abs() < 1e-12);
        assert_eq!(Levels::of(&figures(&[90.0, 110.0], 0.0)), None);
        assert_eq!(Levels::of(&figures(&[0.0; 5], 0.0)), None);
    }

    #[test]
    fn the_best_length_of_a_trial_is_that_of_kalibera_and_jones() {
        let levels = Levels { within: 0.0004, between: 0.0001, trials: 5 };
        let cost = |measured_s, other_s| TrialCost { measured_s, other_s };
        // sqrt (40 x 0.0004 x 10 / 0.0001) = sqrt 1,600.
        assert_eq!(levels.worth_repeating(cost(10.0, 40.0)), Purchase::LongerTrials(Some(40.0)));
        // sqrt (2.5 x 0.0004 x 10 / 0.0001) = 10.
        assert_eq!(levels.worth_repeating(cost(10.0, 2.5)), Purchase::Either);
        // sqrt (0.1 x 0.0004 x 10 / 0.0001) = 2.
        assert_eq!(levels.worth_repeating(cost(10.0, 0.1)), Purchase::MoreTrials(2.0));
        let alike = Levels { between: -0.0001, ..levels };
        assert_eq!(alike.worth_repeating(cost(10.0, 40.0)), Purchase::LongerTrials(None));
        assert_eq!(alike.share_between(), 0.0);
    }

    #[test]
    fn windows_of_a_round_are_pairs() {
        // Ratios of 1.1, 1.1 and 1.1 e^0.3 on a machine that became twice as fast: a mean of ln 1.1 + 0.1, and a variance of
        // 0.03 over three.
        let figure =
            TrialFigure::of_windows(&[100.0, 200.0, 200.0], &[110.0, 220.0, 220.0 * 0.3_f64.exp()]);
        let figure = figure.unwrap();
        assert!((figure.value - 1.1 * 0.1_f64.exp()).abs() < 1e-12, "{figure:?}");
        assert!((figure.variance_within - 0.01).abs() < 1e-12, "{figure:?}");
        assert_eq!(TrialFigure::of_windows(&[100.0], &[110.0]), None);
        assert_eq!(TrialFigure::of_windows(&[100.0, 0.0], &[110.0, 1.0]), None);
    }

    /// Means of 25 intervals with a deviation of 5 each, of trials that differ by 2: variances of 1 and 4.
    #[test]
    fn the_variances_of_simulated_trials_are_found_on_average() {
        let mut draws = Draws(9);
        let mut sums = (0.0, 0.0);
        const RUNS: usize = 400;
        for _ in 0..RUNS {
            let mut trial = || {
                let level = 100.0 + 2.0 * draws.normal();
                let figures: Vec<f64> = (0..25).map(|_| level + 5.0 * draws.normal()).collect();
                let value = mean(&figures).unwrap();
                let variance_within = crate::within::variance_of_mean(&figures).unwrap();
                TrialFigure { value, variance_within }
            };
            let levels = Levels::of(&[(); 6].map(|()| trial())).unwrap();
            sums = (sums.0 + levels.within * 1e4, sums.1 + levels.between * 1e4);
        }
        let (within, between) = (sums.0 / RUNS as f64, sums.1 / RUNS as f64);
        assert!((within - 1.0).abs() < 0.1 && (between - 4.0).abs() < 0.5, "{within} {between}");
    }

    #[test]
    fn what_trials_of_a_run_do_not_explain_lies_between_runs() {
        // Deviations within runs of 3 from their means: 18 for each, with one degree of freedom each.
        let runs = [[87.0, 93.0], [97.0, 103.0], [107.0, 113.0]];
        let runs = runs.map(|values| figures(&values, 0.0010));
        let levels = RunLevels::of(&runs).unwrap();
        // Means of 90, 100 and 110: 2 x 200 / 2 = 200, less 18, over two trials each: 91.
        assert!((levels.between_runs - 0.0091).abs() < 1e-12, "{levels:?}");
        assert!((levels.of_trials.between - 0.0008).abs() < 1e-12, "{levels:?}");
        assert_eq!((levels.runs, levels.of_trials.trials), (3, 6));
        assert_eq!(RunLevels::of(&runs[..2]), None);
        let single = [90.0, 100.0, 110.0].map(|value| figures(&[value], 0.0));
        assert_eq!(
            RunLevels::of(&single),
            None,
            "trials of a run are needed to tell them from runs"
        );
    }

    #[test]
    fn what_to_repeat_follows_from_costs_and_variances() {
        let of_trials = Levels { within: 0.0001, between: 0.0003, trials: 15 };
        let levels = RunLevels { of_trials, between_runs: 0.0004, runs: 3 };
        let trial = TrialCost { measured_s: 8.0, other_s: 2.0 };
        // Five trials a run; sqrt (40 / 10 x 0.0004 / 0.0004) = 2.
        let RunPurchase::MoreRuns(best) = levels.worth_repeating(trial, 40.0) else {
            panic!("more runs")
        };
        assert!((best - 2.0).abs() < 1e-9, "{best}");
        // sqrt (250 / 10) = 5.
        assert_eq!(levels.worth_repeating(trial, 250.0), RunPurchase::Either);
        // sqrt (1,000 / 10) = 10 trials; a trial is best with sqrt (2 x 0.0001 x 8 / 0.0003) = 2.3 s.
        let RunPurchase::WithinRuns(Purchase::MoreTrials(best_s)) =
            levels.worth_repeating(trial, 1_000.0)
        else {
            panic!("more trials")
        };
        assert!((best_s - (16.0_f64 / 3.0).sqrt()).abs() < 1e-9, "{best_s}");
    }
}
