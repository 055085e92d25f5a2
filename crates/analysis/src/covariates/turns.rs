//! How the windows of the baseline and of a variant differ, turn by turn.

use std::collections::BTreeMap;

use super::WindowFigure;
use crate::compare::RoundFigure;
use crate::least_squares::least_squares;
use crate::moments::mean;

/// So many turns more than rounds are needed for each coefficient. Coefficients of fewer are so uncertain that they
/// widen the interval by more than a tenth.
const TURNS_FOR_EACH: usize = 5;

/// Logarithms that are nearer to each other than this differ by rounding alone.
const ROUNDING: f64 = 1e-12;

/// A coefficient for each covariate; `None` for those that are not used, or not determined.
pub(super) type Coefficients = Vec<Option<f64>>;

/// A figure and its covariates: logarithms, or differences of them.
pub(super) type Row = (f64, Vec<f64>);

/// The turns of a round.
#[derive(Clone, Debug)]
struct Round {
    number: u32,
    /// The mean of each covariate, the baseline's first.
    means: [Vec<f64>; 2],
    /// Of each turn the variant's window less the baseline's, and of that what is beyond the mean of the round.
    differences: Vec<Row>,
}

/// The turns of all rounds.
#[derive(Clone, Debug)]
pub(super) struct Turns {
    covariates: usize,
    rounds: Vec<Round>,
}

impl Turns {
    /// Those in which everything is known of both variants, the baseline being the first.
    pub(super) fn of(sides: [&[WindowFigure]; 2], covariates: usize) -> Self {
        let [baseline, mut variant] = sides.map(|windows| by_turn(windows, covariates));
        let mut rounds: BTreeMap<u32, Vec<[Row; 2]>> = BTreeMap::new();
        for ((round, turn), row) in baseline {
            if let Some(other) = variant.remove(&(round, turn)) {
                rounds.entry(round).or_default().push([row, other]);
            }
        }
        let rounds = rounds.into_iter().map(|(number, turns)| Round::of(number, &turns));
        Self { covariates, rounds: rounds.collect() }
    }

    /// The mean of each covariate over rounds and variants.
    pub(super) fn centre(&self) -> Vec<f64> {
        let of = |at: usize| {
            let means = self.rounds.iter().flat_map(|round| &round.means);
            mean(&means.map(|means| means[at]).collect::<Vec<_>>()).unwrap_or(0.0)
        };
        (0..self.covariates).map(of).collect()
    }

    fn means(&self, side: usize, round: u32) -> Option<&Vec<f64>> {
        let found = self.rounds.iter().find(|it| it.number == round)?;
        Some(&found.means[side])
    }

    /// A covariate of one variant in each of these rounds, the geometric mean over the windows; `None` where it is
    /// not known in one of them.
    pub(super) fn in_rounds(
        &self,
        side: usize,
        rounds: &[RoundFigure],
        covariate: usize,
    ) -> Option<Vec<RoundFigure>> {
        let of = |figure: &RoundFigure| {
            let value = self.means(side, figure.round)?[covariate].exp();
            Some(RoundFigure::exact(figure.round, figure.place, value))
        };
        rounds.iter().map(of).collect()
    }

    /// The figures that one variant would have if the covariates were at `centre` in each round; `None` where they
    /// are not known in one of the rounds.
    pub(super) fn moved(
        &self,
        side: usize,
        rounds: &[RoundFigure],
        coefficients: &Coefficients,
        centre: &[f64],
    ) -> Option<Vec<RoundFigure>> {
        let of = |figure: &RoundFigure| {
            let means = self.means(side, figure.round)?;
            let apart: Vec<f64> =
                means.iter().zip(centre).map(|(mean, centre)| mean - centre).collect();
            let by = (-predicted(&apart, coefficients)).exp();
            Some(RoundFigure { value: figure.value * by, most: figure.most * by, ..*figure })
        };
        rounds.iter().map(of).collect()
    }

    /// The coefficients of these covariates, from the differences within the rounds.
    pub(super) fn fit(&self, used: &[usize]) -> Coefficients {
        fit(self.rounds.iter().flat_map(|it| &it.differences), used, self.covariates)
    }

    /// Whether there are enough turns to tell what these covariates explain, beside each round that is predicted.
    pub(super) fn are_enough_for(&self, used: &[usize]) -> bool {
        let needed = TURNS_FOR_EACH * used.len();
        let freedom = |round: &Round| round.differences.len() - 1;
        let all: usize = self.rounds.iter().map(freedom).sum();
        self.rounds.iter().all(|round| all - freedom(round) >= needed)
    }

    /// The part of the variance of the differences within rounds that these covariates explain. The turns of each round
    /// are predicted by the coefficients of the other rounds, so that what a fit makes of chance does not count. `None`
    /// without covariates, with too few turns, and when nothing varies.
    ///
    /// Source: M. Stone, Cross-validatory choice and assessment of statistical predictions, Journal of the Royal
    /// Statistical Society B 36 (1974).
    pub(super) fn explained(&self, used: &[usize]) -> Option<f64> {
        if used.is_empty() || !self.are_enough_for(used) {
            return None;
        }
        let (mut left, mut whole) = (0.0, 0.0);
        for round in &self.rounds {
            let others = self.rounds.iter().filter(|it| it.number != round.number);
            let others = others.flat_map(|it| &it.differences);
            let coefficients = fit(others, used, self.covariates);
            for (value, covariates) in &round.differences {
                left += (value - predicted(covariates, &coefficients)).powi(2);
                whole += value * value;
            }
        }
        (whole > 0.0).then(|| 1.0 - left / whole)
    }
}

impl Round {
    /// Of one turn or more.
    fn of(number: u32, turns: &[[Row; 2]]) -> Self {
        let means = [0, 1].map(|side| {
            let rows: Vec<&Row> = turns.iter().map(|turn| &turn[side]).collect();
            mean_of(&rows).1
        });
        let difference = |[(value, covariates), (other, others)]: &[Row; 2]| {
            (other - value, others.iter().zip(covariates).map(|(other, it)| other - it).collect())
        };
        let differences = without_mean(turns.iter().map(difference).collect());
        Self { number, means, differences }
    }
}

/// The logarithms of the windows of a variant of which everything is known.
fn by_turn(windows: &[WindowFigure], covariates: usize) -> BTreeMap<(u32, u32), Row> {
    let of = |window: &WindowFigure| {
        let logs: Vec<f64> = window.covariates.iter().map(|value| value.ln()).collect();
        let value = window.value.ln();
        let is_known = value.is_finite() && logs.iter().all(|log| log.is_finite());
        let is_known = is_known && logs.len() == covariates;
        is_known.then_some(((window.round, window.turn), (value, logs)))
    };
    windows.iter().filter_map(of).collect()
}

/// What of each row is beyond their mean.
pub(super) fn without_mean(rows: Vec<Row>) -> Vec<Row> {
    let (value, covariates) = mean_of(&rows.iter().collect::<Vec<_>>());
    let of_row = |(of_value, of_covariates): Row| {
        let of_covariates = of_covariates.iter().zip(&covariates);
        let of_covariates = of_covariates.map(|(log, mean)| deviation(*log, *mean)).collect();
        (deviation(of_value, value), of_covariates)
    };
    rows.into_iter().map(of_row).collect()
}

/// The mean of one row or more.
fn mean_of(rows: &[&Row]) -> Row {
    let count = rows.len() as f64;
    let covariates = rows.first().map_or(0, |(_, covariates)| covariates.len());
    let of = |at: usize| rows.iter().map(|(_, covariates)| covariates[at]).sum::<f64>() / count;
    let value = rows.iter().map(|(value, _)| value).sum::<f64>() / count;
    (value, (0..covariates).map(of).collect())
}

fn deviation(log: f64, mean: f64) -> f64 {
    let deviation = log - mean;
    if deviation.abs() < ROUNDING { 0.0 } else { deviation }
}

/// What the coefficients make of these deviations of the covariates.
fn predicted(covariates: &[f64], coefficients: &Coefficients) -> f64 {
    let parts = covariates.iter().zip(coefficients);
    parts.map(|(value, coefficient)| coefficient.map_or(0.0, |it| it * value)).sum()
}

/// The coefficients of those that are used among so many covariates.
pub(super) fn fit<'a>(
    rows: impl Iterator<Item = &'a Row>,
    used: &[usize],
    covariates: usize,
) -> Coefficients {
    let rows: Vec<&Row> = rows.collect();
    let column = |at: &usize| rows.iter().map(|(_, covariates)| covariates[*at]).collect();
    let columns = used.iter().map(column).collect();
    let found = least_squares(columns, rows.iter().map(|(value, _)| *value).collect());
    let mut coefficients = vec![None; covariates];
    used.iter().zip(found).for_each(|(at, found)| coefficients[*at] = found);
    coefficients
}
