//! The windows of each variant in each round, and how they vary around their mean.

use std::collections::{BTreeMap, BTreeSet};

use super::WindowFigure;
use crate::compare::RoundFigure;
use crate::least_squares::least_squares;
use crate::moments::mean;

/// So many windows more than cells are needed for each coefficient. Coefficients of fewer are so uncertain that they
/// widen the interval by more than a tenth.
const WINDOWS_FOR_EACH: usize = 5;

/// Logarithms that are nearer to each other than this differ by rounding alone.
const ROUNDING: f64 = 1e-12;

/// A coefficient for each covariate; `None` for those that are not used, or not determined.
pub(super) type Coefficients = Vec<Option<f64>>;

/// The windows that one round has of one variant: logarithms.
#[derive(Clone, Debug)]
struct Cell {
    round: u32,
    /// The mean of each covariate.
    means: Vec<f64>,
    /// Of each window the deviation of its figure and those of its covariates from the means.
    deviations: Vec<(f64, Vec<f64>)>,
}

/// The cells of one variant, or of two.
#[derive(Clone, Debug)]
pub(super) struct Cells {
    covariates: usize,
    cells: Vec<Cell>,
}

impl Cells {
    /// Of the windows of one variant.
    pub(super) fn of(windows: &[WindowFigure], covariates: usize) -> Self {
        let mut rounds: BTreeMap<u32, Vec<(f64, Vec<f64>)>> = BTreeMap::new();
        for window in windows.iter().filter(|it| it.covariates.len() == covariates) {
            let logs: Vec<f64> = window.covariates.iter().map(|value| value.ln()).collect();
            let value = window.value.ln();
            if value.is_finite() && logs.iter().all(|log| log.is_finite()) {
                rounds.entry(window.round).or_default().push((value, logs));
            }
        }
        let cells = rounds.into_iter().map(|(round, windows)| Cell::of(round, windows));
        Self { covariates, cells: cells.collect() }
    }

    /// Of the windows of both variants.
    pub(super) fn joined(&self, other: &Self) -> Self {
        let cells = self.cells.iter().chain(&other.cells).cloned().collect();
        Self { covariates: self.covariates, cells }
    }

    /// The mean of each covariate over the cells.
    pub(super) fn centre(&self) -> Vec<f64> {
        let of = |at: usize| {
            let means: Vec<f64> = self.cells.iter().map(|cell| cell.means[at]).collect();
            mean(&means).unwrap_or(0.0)
        };
        (0..self.covariates).map(of).collect()
    }

    fn cell(&self, round: u32) -> Option<&Cell> {
        self.cells.iter().find(|cell| cell.round == round)
    }

    /// A covariate of one variant in each of these rounds, the geometric mean over the windows; `None` where it is
    /// not known in one of them.
    pub(super) fn in_rounds(
        &self,
        rounds: &[RoundFigure],
        covariate: usize,
    ) -> Option<Vec<RoundFigure>> {
        let of = |figure: &RoundFigure| {
            let value = self.cell(figure.round)?.means[covariate].exp();
            Some(RoundFigure::exact(figure.round, figure.place, value))
        };
        rounds.iter().map(of).collect()
    }

    /// The figures that one variant would have if the covariates were at `centre` in each round; `None` where they
    /// are not known in one of the rounds.
    pub(super) fn moved(
        &self,
        rounds: &[RoundFigure],
        coefficients: &Coefficients,
        centre: &[f64],
    ) -> Option<Vec<RoundFigure>> {
        let of = |figure: &RoundFigure| {
            let means = &self.cell(figure.round)?.means;
            let apart: Vec<f64> =
                means.iter().zip(centre).map(|(mean, centre)| mean - centre).collect();
            let by = (-predicted(&apart, coefficients)).exp();
            Some(RoundFigure { value: figure.value * by, most: figure.most * by, ..*figure })
        };
        rounds.iter().map(of).collect()
    }

    /// The coefficients of these covariates, from the deviations within the cells.
    pub(super) fn fit(&self, used: &[usize]) -> Coefficients {
        fit(self.cells.iter(), used, self.covariates)
    }

    /// Whether there are enough windows to tell what these covariates explain, beside each round that is predicted.
    pub(super) fn are_enough_for(&self, used: &[usize]) -> bool {
        let needed = WINDOWS_FOR_EACH * used.len();
        let freedom = |round: u32| -> usize {
            let others = self.cells.iter().filter(|cell| cell.round != round);
            others.map(|cell| cell.deviations.len() - 1).sum()
        };
        self.cells.iter().all(|cell| freedom(cell.round) >= needed)
    }

    /// The part of the variance within cells that these covariates explain. The windows of each round are predicted
    /// by the coefficients of the other rounds, so that what a fit makes of chance does not count. `None` without
    /// covariates, with too few windows, and when nothing varies.
    ///
    /// Source: M. Stone, Cross-validatory choice and assessment of statistical predictions, Journal of the Royal
    /// Statistical Society B 36 (1974).
    pub(super) fn explained(&self, used: &[usize]) -> Option<f64> {
        let rounds: BTreeSet<u32> = self.cells.iter().map(|cell| cell.round).collect();
        if used.is_empty() || !self.are_enough_for(used) {
            return None;
        }
        let (mut left, mut whole) = (0.0, 0.0);
        for round in rounds {
            let others = self.cells.iter().filter(|cell| cell.round != round);
            let coefficients = fit(others, used, self.covariates);
            let out = self.cells.iter().filter(|cell| cell.round == round);
            for (value, covariates) in out.flat_map(|cell| &cell.deviations) {
                left += (value - predicted(covariates, &coefficients)).powi(2);
                whole += value * value;
            }
        }
        (whole > 0.0).then(|| 1.0 - left / whole)
    }
}

impl Cell {
    /// Of one window or more: the logarithms of its figure and of its covariates.
    fn of(round: u32, windows: Vec<(f64, Vec<f64>)>) -> Self {
        let count = windows.len() as f64;
        let centre = windows.iter().map(|(value, _)| value).sum::<f64>() / count;
        let covariates = windows.first().map_or(0, |(_, logs)| logs.len());
        let of = |at: usize| windows.iter().map(|(_, logs)| logs[at]).sum::<f64>() / count;
        let means: Vec<f64> = (0..covariates).map(of).collect();
        let of_window = |(value, logs): (f64, Vec<f64>)| {
            let of_covariates = logs.iter().zip(&means).map(|(log, mean)| deviation(*log, *mean));
            (deviation(value, centre), of_covariates.collect())
        };
        let deviations = windows.into_iter().map(of_window).collect();
        Self { round, means, deviations }
    }
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

fn fit<'a>(
    cells: impl Iterator<Item = &'a Cell>,
    used: &[usize],
    covariates: usize,
) -> Coefficients {
    let rows: Vec<&(f64, Vec<f64>)> = cells.flat_map(|cell| &cell.deviations).collect();
    let column = |at: &usize| rows.iter().map(|(_, covariates)| covariates[*at]).collect();
    let columns = used.iter().map(column).collect();
    let found = least_squares(columns, rows.iter().map(|(value, _)| *value).collect());
    let mut coefficients = vec![None; covariates];
    used.iter().zip(found).for_each(|(at, found)| coefficients[*at] = found);
    coefficients
}
