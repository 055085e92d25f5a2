//! One figure of both sides at one point: the change, and how sure it is.

use std::path::Path;

use analysis::{
    Comparison, Contrast, RoundFigure, Stopping, TimedValue, compare, compare_independent,
    compare_over_time, geometric_mean,
};

use super::sides::{Matched, RunPoint, SIDES};
use crate::figure::Figure;
use crate::number::several;

/// A figure of both sides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Found {
    /// The difference: of logarithms, or of parts.
    pub(super) contrast: Contrast,
    /// The figure of the baseline and that of the candidate: geometric means; of parts, arithmetic ones.
    pub(super) values: [f64; 2],
    pub(super) is_part: bool,
    pub(super) unit: Unit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// A round that measured both sides.
    Round,
    Trial,
    /// A run, with the mean of its trials: trials of one run share its data, its server and its machine's state.
    Run,
}

impl Unit {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Round => "rounds",
            Self::Trial => "trials",
            Self::Run => "runs",
        }
    }

    pub(crate) fn count(self, count: usize) -> String {
        let one = self.name().trim_end_matches('s');
        several(count as u64, one, self.name())
    }
}

impl Found {
    /// The change of the candidate: relative, or a difference of parts.
    pub(super) fn change(&self) -> f64 {
        self.as_change(self.contrast.difference)
    }

    pub(super) fn interval(&self, confidence: f64) -> [f64; 2] {
        self.contrast.interval(confidence).map(|end| self.as_change(end))
    }

    fn as_change(&self, difference: f64) -> f64 {
        if self.is_part { difference } else { difference.exp_m1() }
    }

    /// The size of the change, whichever way round its ratio is taken.
    pub(super) fn size(&self) -> f64 {
        self.as_change(self.contrast.difference.abs())
    }

    /// Of a baseline that was measured twice: the largest change that cannot be told from none.
    pub(super) fn noise_floor(&self) -> Option<f64> {
        Some(self.as_change(self.contrast.noise_floor()?))
    }

    /// The larger end of the 90 % interval, in size.
    pub(super) fn largest(&self) -> f64 {
        let [low, high] = self.interval(0.90);
        low.abs().max(high.abs())
    }
}

/// A figure of one side: the values of each run, in its rounds.
type RunValues<'d> = Vec<(&'d Path, Vec<RoundFigure>)>;

/// The figure of both sides; an error says why it is not compared, `None` that neither side has it.
pub(super) fn found(matched: &Matched<'_, '_>, figure: Figure) -> Option<Result<Found, String>> {
    let [baseline, candidate] = [0, 1].map(|side| values(&matched.points[side], figure));
    let unknown = |side: usize| format!("{} of the {} is not known", figure.name(), SIDES[side]);
    let from_below = |side: usize| {
        format!(
            "{} of the {} is known only from below: transactions were never answered",
            figure.name(),
            SIDES[side]
        )
    };
    let missing = match (baseline, candidate) {
        (Some(baseline), Some(candidate)) => {
            return of_values(matched, figure, &[baseline, candidate]);
        }
        (None, None) if figure.is_optional() => return None,
        (None, _) => 0,
        (_, None) => 1,
    };
    Some(Err(if figure.is_optional() { unknown(missing) } else { from_below(missing) }))
}

fn values<'d>(points: &[RunPoint<'d, '_>], figure: Figure) -> Option<RunValues<'d>> {
    let of = |it: &RunPoint<'d, '_>| {
        let rounds = figure.in_rounds(it.digest, it.point)?;
        Some((it.digest.run.folder.as_path(), rounds))
    };
    let all: RunValues<'d> = points.iter().map(of).collect::<Option<_>>()?;
    Some(all.into_iter().filter(|(_, rounds)| !rounds.is_empty()).collect())
}

fn of_values(
    matched: &Matched<'_, '_>,
    figure: Figure,
    sides: &[RunValues<'_>; 2],
) -> Option<Result<Found, String>> {
    for (side, values) in sides.iter().enumerate() {
        if values.is_empty() {
            return Some(Err(format!("no trial of the {} ran to its end", SIDES[side])));
        }
    }
    let is_zero = |values: &RunValues<'_>| {
        values.iter().flat_map(|(_, rounds)| rounds).all(|figure| figure.value == 0.0)
    };
    if !figure.is_part() && sides.iter().all(is_zero) {
        return None;
    }
    let found = if matched.is_interleaved() {
        let points = matched.points[0].iter();
        let folders: Vec<&Path> = points.map(|it| it.digest.run.folder.as_path()).collect();
        let rounds = sides.each_ref().map(|values| numbered(values, &folders));
        let values = if figure.is_part() { differences(&rounds) } else { ratios(&rounds) };
        let stopping = stopping(matched);
        values.map(|found| {
            let contrast = found.contrast.stopped_by(stopping);
            Found { contrast, unit: Unit::Round, ..found }
        })
    } else {
        independent(matched, figure, sides)
    };
    let is_bounded = sides.iter().any(has_bounds);
    let reason = || match matched.is_interleaved() {
        true => "there is no round in which both ran to their end".to_owned(),
        false if is_bounded => format!(
            "{} is known only within wide bounds in a trial, because transactions were never answered; trials of a single \
             run are not compared by those",
            figure.name()
        ),
        false => "it is zero in a trial, and a ratio to zero is none".to_owned(),
    };
    Some(found.ok_or_else(reason))
}

/// What decided how many rounds there are: of several runs, what asks for more.
fn stopping(matched: &Matched<'_, '_>) -> Stopping {
    let runs = matched.points.iter().flatten().map(|it| it.digest.run);
    runs.map(|run| Stopping::of(run.header.rounds.as_ref())).max().unwrap_or_default()
}

/// The values of all runs, with round numbers that differ between runs and agree between sides. `folders` are those
/// of all runs.
fn numbered(values: &RunValues<'_>, folders: &[&Path]) -> Vec<RoundFigure> {
    let runs = folders.len() as u32;
    let of_run = |(folder, rounds): &(&Path, Vec<RoundFigure>)| -> Vec<RoundFigure> {
        let run = folders.iter().zip(0..).find(|(known, _)| *known == folder).map_or(0, |it| it.1);
        let rounds = rounds.iter();
        rounds.map(|it| RoundFigure { round: it.round * runs + run, ..*it }).collect()
    };
    values.iter().flat_map(of_run).collect()
}

fn ratios([baseline, candidate]: &[Vec<RoundFigure>; 2]) -> Option<Found> {
    compare(baseline, candidate, 0.0).map(from_ratio)
}

fn from_ratio(found: Comparison) -> Found {
    Found {
        contrast: found.ratio.logs,
        values: [found.baseline, found.variant],
        is_part: false,
        unit: Unit::Trial,
    }
}

/// Differences of parts over the rounds that both sides have.
fn differences([baseline, candidate]: &[Vec<RoundFigure>; 2]) -> Option<Found> {
    let pair = |theirs: &RoundFigure| {
        let base = baseline.iter().find(|base| base.round == theirs.round)?;
        Some([*base, *theirs])
    };
    let pairs: Vec<[RoundFigure; 2]> = candidate.iter().filter_map(pair).collect();
    let apart = pairs.iter().map(|[base, theirs]| theirs.place as f64 - base.place as f64);
    let differences = pairs.iter().map(|[base, theirs]| theirs.value - base.value);
    let contrast =
        Contrast::paired_in_order(&differences.collect::<Vec<_>>(), &apart.collect::<Vec<_>>())?;
    let side = |side: usize| pairs.iter().map(|pair| pair[side].value).collect::<Vec<_>>();
    let values = [arithmetic_mean(&side(0)), arithmetic_mean(&side(1))];
    Some(Found { contrast, values, is_part: true, unit: Unit::Round })
}

/// Runs are the repetitions when both sides have several, otherwise trials.
fn independent(
    matched: &Matched<'_, '_>,
    figure: Figure,
    sides: &[RunValues<'_>; 2],
) -> Option<Found> {
    if sides.iter().all(|runs| runs.len() > 1) {
        let means = |side: usize, of: fn(&RoundFigure) -> f64| -> Option<Vec<f64>> {
            sides[side].iter().map(|(_, rounds)| mean_of_run(figure, rounds, of)).collect()
        };
        let least = [means(0, |it| it.value)?, means(1, |it| it.value)?];
        let found = if figure.is_part() {
            of_parts(&least[0], &least[1])?
        } else if sides.iter().any(has_bounds) {
            let most = [means(0, |it| it.most)?, means(1, |it| it.most)?];
            let low = compare_independent(&most[0], &least[1], 0.0)?;
            let high = compare_independent(&least[0], &most[1], 0.0)?;
            from_ratio(Comparison::between(low, high, 0.0))
        } else {
            from_ratio(compare_independent(&least[0], &least[1], 0.0)?)
        };
        return Some(Found { unit: Unit::Run, ..found });
    }
    if figure.is_part() {
        let values = |runs: &RunValues<'_>| -> Vec<f64> {
            runs.iter().flat_map(|(_, rounds)| rounds).map(|it| it.value).collect()
        };
        return of_parts(&values(&sides[0]), &values(&sides[1]));
    }
    let timed = |points: &[RunPoint<'_, '_>]| -> Option<[Vec<TimedValue>; 2]> {
        let runs = points.iter().map(|it| figure.in_time(it.digest, it.point));
        let all = runs.collect::<Option<Vec<_>>>()?.concat();
        Some([0, 1].map(|end| all.iter().map(|ends| ends[end]).collect()))
    };
    let [baseline, candidate] = [&matched.points[0], &matched.points[1]].map(|it| timed(it));
    let (baseline, candidate) = (baseline?, candidate?);
    let low = compare_over_time(&baseline[1], &candidate[0], 0.0)?;
    if !sides.iter().any(has_bounds) {
        return Some(from_ratio(low));
    }
    let high = compare_over_time(&baseline[0], &candidate[1], 0.0)?;
    Some(from_ratio(Comparison::between(low, high, 0.0)))
}

/// Whether a figure of a side is known only within bounds.
fn has_bounds(values: &RunValues<'_>) -> bool {
    values.iter().flat_map(|(_, rounds)| rounds).any(|it| !it.is_exact())
}

/// The mean of a run's trials; `None` when there is no ratio to it.
fn mean_of_run(figure: Figure, rounds: &[RoundFigure], of: fn(&RoundFigure) -> f64) -> Option<f64> {
    let values: Vec<f64> = rounds.iter().map(of).collect();
    match figure.is_part() {
        true => Some(arithmetic_mean(&values)),
        false => geometric_mean(&values).filter(|_| values.iter().all(|value| *value > 0.0)),
    }
}

fn of_parts(baseline: &[f64], candidate: &[f64]) -> Option<Found> {
    let contrast = Contrast::independent(baseline, candidate)?;
    let values = [arithmetic_mean(baseline), arithmetic_mean(candidate)];
    Some(Found { contrast, values, is_part: true, unit: Unit::Trial })
}

fn arithmetic_mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}
