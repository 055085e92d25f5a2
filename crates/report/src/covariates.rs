//! Covariates of comparisons: the machine's speed before each window and dyno's own CPU time, what they explain of
//! the noise, and the ratios with and without that.

mod cost;
mod tables;
#[cfg(test)]
pub(crate) mod tests;

use std::collections::BTreeMap;

use analysis::{
    Adjustment, Comparison, CovariateRole, MeasuredVariant, Previous, RoundFigure, Terms, Timing,
    WindowFigure, adjust, compare_by, over_points,
};
use measure::RoundsRule;
use record::{TrialHeader, TrialRecord};
use serde_json::{Value, json};

use crate::compared_figure::Figure;
use crate::digest::{Digest, Point, Trial};
use cost::Cost;
pub(crate) use tables::{COVARIATES, RATIOS, covariates, note, ratios};

/// A covariate of the windows of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Covariate {
    /// CPU time of fixed arithmetic before the load.
    Arithmetic,
    /// CPU time of round trips over the loopback interface before the load.
    RoundTrips,
    /// CPU time of dyno for a transaction.
    OwnCpu,
}

impl Covariate {
    const ALL: [Self; 3] = [Self::Arithmetic, Self::RoundTrips, Self::OwnCpu];

    fn timing(self) -> Timing {
        match self {
            Self::Arithmetic | Self::RoundTrips => Timing::BeforeLoad,
            Self::OwnCpu => Timing::DuringLoad,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Arithmetic => "arithmetic",
            Self::RoundTrips => "loopback round trip",
            Self::OwnCpu => "dyno's CPU for a transaction",
        }
    }

    fn key(self) -> &'static str {
        match self {
            Self::Arithmetic => "arithmetic",
            Self::RoundTrips => "round_trip",
            Self::OwnCpu => "own_cpu",
        }
    }

    /// Its value for a window, in any unit; `None` when it is not known, or means something else.
    fn of(self, window: &TrialRecord) -> Option<f64> {
        match self {
            Self::Arithmetic => Some(window.speed?.arithmetic_ns),
            Self::RoundTrips => Some(window.speed?.round_trip_ns),
            // In virtual time it is that of the simulation, and with an embedded system that of the system.
            Self::OwnCpu if window.header.is_embedded => None,
            Self::OwnCpu => {
                let end = window.end.as_ref().filter(|end| !end.generators.is_empty())?;
                let used = end.usage?;
                Some(used.cpu_ns() as f64 / window.total.transactions as f64)
            }
        }
    }
}

/// A comparison of a variant with the baseline, with the figures of the rounds that it is made of, the baseline's
/// first.
#[derive(Clone, Debug)]
struct Rounds {
    found: Comparison,
    rounds: [Vec<RoundFigure>; 2],
}

/// A comparison, and what covariates make of it.
#[derive(Clone, Debug)]
pub(crate) struct Controlled {
    measured: Rounds,
    /// What the covariates explain; `None` where none were measured, and over several loads.
    control: Option<Control>,
    /// Without what they explain; `None` where that is not worth what they cost.
    adjusted: Option<Rounds>,
}

/// The covariates of a comparison.
#[derive(Clone, Debug)]
struct Control {
    covariates: Vec<Covariate>,
    /// The part of the time of the windows that measuring them took.
    cost: f64,
    adjustment: Adjustment,
}

impl Controlled {
    /// The comparison that counts: the adjusted one where there is one.
    pub(crate) fn answer(&self) -> Comparison {
        self.counted().found
    }

    /// Whether it is the adjusted one.
    pub(crate) fn is_adjusted(&self) -> bool {
        self.adjusted.is_some()
    }

    fn counted(&self) -> &Rounds {
        self.adjusted.as_ref().unwrap_or(&self.measured)
    }

    /// For programs; `None` without covariates.
    pub(crate) fn json(&self) -> Option<Value> {
        let Control { covariates, cost, adjustment } = self.control.as_ref()?;
        let ratio = |found: &Comparison| {
            let ratio = found.ratio;
            json!({
                "ratio": ratio.ratio,
                "low_95": ratio.low,
                "high_95": ratio.high,
                "low_90": ratio.low_90,
                "high_90": ratio.high_90,
            })
        };
        let figures = covariates.iter().zip(&adjustment.covariates);
        let figures = figures.map(|(covariate, figure)| {
            json!({
                "covariate": covariate.key(),
                "during_load": covariate.timing() == Timing::DuringLoad,
                "coefficient": figure.coefficient,
                "effect": ratio(&figure.effect),
                "role": role_key(figure.role),
            })
        });
        Some(json!({
            "measured": ratio(&self.measured.found),
            "adjusted": self.adjusted.as_ref().map(|it| ratio(&it.found)),
            "explained": adjustment.explained,
            "explained_by_all": adjustment.explained_by_all,
            "cost": cost,
            "covariates": figures.collect::<Vec<_>>(),
        }))
    }
}

fn role_key(role: CovariateRole) -> &'static str {
    match role {
        CovariateRole::Used => "used",
        CovariateRole::MayBeMoved => "may-be-moved",
        CovariateRole::Redundant => "redundant",
        CovariateRole::TooFewWindows => "too-few-windows",
        CovariateRole::ExplainsNothing => "explains-nothing",
        CovariateRole::NotWorthIt => "not-worth-it",
    }
}

/// Compares a variant's point with the baseline's by a figure; `None` when there is nothing to compare.
pub(crate) fn compared(
    digest: &Digest<'_>,
    [baseline, variant]: [&Point<'_>; 2],
    figure: Figure,
    least_difference: f64,
) -> Option<Controlled> {
    let rounds = [figure.in_rounds(digest, baseline)?, figure.in_rounds(digest, variant)?];
    let rule = digest.run.header.rounds.as_ref();
    let found = compare_by(rule, &rounds[0], &rounds[1], least_difference)?;
    // Rounds that end by themselves have looked at the ratios as measured.
    let has_control = rule.is_none();
    let control = has_control
        .then(|| control(digest, [baseline, variant], figure, &rounds, least_difference))
        .flatten();
    let adjusted = control.as_ref().and_then(|control| {
        let adjusted = control.adjustment.adjusted.as_ref()?;
        Some(Rounds { found: adjusted.comparison, rounds: adjusted.rounds.clone() })
    });
    Some(Controlled { measured: Rounds { found, rounds }, control, adjusted })
}

/// Compares over several points of a variant: each round has the geometric mean of its points. It is adjusted as far
/// as the points are.
pub(crate) fn over_all(
    rule: Option<&RoundsRule>,
    points: &[Controlled],
    least_difference: f64,
) -> Option<Controlled> {
    let over = |of: fn(&Controlled) -> &Rounds| {
        let side = |side: usize| {
            over_points(&points.iter().map(|it| of(it).rounds[side].clone()).collect::<Vec<_>>())
        };
        let rounds = [side(0), side(1)];
        let found = compare_by(rule, &rounds[0], &rounds[1], least_difference)?;
        Some(Rounds { found, rounds })
    };
    let is_adjusted = points.iter().any(|point| point.adjusted.is_some());
    Some(Controlled {
        measured: over(|point| &point.measured)?,
        control: None,
        adjusted: is_adjusted.then(|| over(Controlled::counted)).flatten(),
    })
}

/// What the covariates that half of the windows of each round have, or more, make of a comparison; `None` without windows or
/// covariates.
fn control(
    digest: &Digest<'_>,
    points: [&Point<'_>; 2],
    figure: Figure,
    rounds: &[Vec<RoundFigure>; 2],
    least_difference: f64,
) -> Option<Control> {
    let records = || {
        let of_points = points.iter().flat_map(|point| windows(digest, point));
        of_points.map(|(_, window)| window.record)
    };
    // Dyno's own CPU time alone would be a covariate that the variant can move.
    records().next().filter(|_| records().all(|window| window.speed.is_some()))?;
    // A window without it is left out; each round has others.
    let is_known = |covariate: &Covariate| {
        let mut rounds = points.iter().flat_map(|point| digest.complete(point));
        rounds.all(|trial| {
            let known = trial.windows.iter().filter(|it| covariate.of(it.record).is_some());
            known.count() * 2 >= trial.windows.len()
        })
    };
    let covariates: Vec<Covariate> = Covariate::ALL.into_iter().filter(is_known).collect();
    let turns = turns(digest, points[0]);
    let figures = |point: &Point<'_>| -> Option<Vec<WindowFigure>> {
        let of = |(round, window): (u32, &Trial<'_>)| {
            let of = |covariate: &Covariate| covariate.of(window.record).unwrap_or(f64::NAN);
            let covariates = covariates.iter().map(of).collect();
            let TrialHeader { index, window: turn, .. } = window.record.header;
            let previous = index.checked_sub(1).and_then(|index| turns.get(&(round, index)));
            // Coefficients have to be near, not exact: no bias comes of them.
            let value = figure.least(window)?;
            Some(WindowFigure {
                round,
                turn: turn?,
                value,
                covariates,
                previous: previous.copied(),
            })
        };
        windows(digest, point).map(of).collect()
    };
    let [baseline, variant] = [figures(points[0])?, figures(points[1])?];
    let timings: Vec<Timing> = covariates.iter().map(|covariate| covariate.timing()).collect();
    let baseline = MeasuredVariant { rounds: &rounds[0], windows: &baseline };
    let variant = MeasuredVariant { rounds: &rounds[1], windows: &variant };
    let cost = Cost::of(records()).part();
    let adjustment = adjust(&timings, baseline, variant, Terms { least_difference, cost })?;
    Some(Control { covariates, cost, adjustment })
}

/// Which of the variants of a point had the load of the point, by round and place in the run.
fn turns(digest: &Digest<'_>, point: &Point<'_>) -> BTreeMap<(u32, usize), Previous> {
    let is_beside = |other: &&Point<'_>| {
        let group = [*other, point].map(|it| it.variant.map(|variant| &variant.of));
        other.load() == point.load() && group[0] == group[1]
    };
    let trials = digest.points.iter().filter(is_beside).flat_map(|other| &other.trials);
    let windows = trials.flat_map(|at| &digest.trials[*at].windows);
    let of = |window: &Trial<'_>| {
        let TrialHeader { repetition, index, variant, window, .. } = &window.record.header;
        let variant = u32::try_from(variant.as_ref()?.place).ok()?;
        Some(((*repetition, *index), Previous { variant, turn: (*window)? }))
    };
    windows.filter_map(of).collect()
}

/// The windows of the complete rounds of a point, each with its round.
fn windows<'d, 'a>(
    digest: &'d Digest<'a>,
    point: &'d Point<'_>,
) -> impl Iterator<Item = (u32, &'d Trial<'a>)> {
    digest.complete(point).flat_map(|trial| {
        let round = trial.record.header.repetition;
        trial.windows.iter().map(move |window| (round, window))
    })
}
