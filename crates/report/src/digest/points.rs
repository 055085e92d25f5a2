//! Trials grouped: the repetitions of each system under each load.

use super::{Point, Trial};

/// Every combination of system, workload, clients and rate of some trials.
pub(super) fn points<'a>(trials: &[Trial<'a>]) -> Vec<Point<'a>> {
    let mut points: Vec<Point<'a>> = Vec::new();
    let is_probe =
        |trial: &Trial<'_>| trial.record.header.probe.is_some_and(|probe| !probe.is_confirming);
    for (index, trial) in trials.iter().enumerate().filter(|(_, trial)| !is_probe(trial)) {
        let header = &trial.record.header;
        let rate = header.load.open.as_ref().map(|open| &open.rate);
        let known = points.iter_mut().find(|point| {
            point.system == header.system
                && point.workload == header.workload.name
                && point.clients == header.clients
                && point.rate == rate
        });
        match known {
            Some(point) => point.trials.push(index),
            None => points.push(Point {
                system: &header.system,
                variant: header.variant.as_ref(),
                identity: &header.identity,
                workload: &header.workload.name,
                clients: header.clients,
                rate,
                offered_per_s: header.load.open.as_ref().map_or(0.0, |open| open.rate_per_s),
                trials: vec![index],
                counted: Vec::new(),
            }),
        }
    }
    sort_variants(&mut points);
    for point in &mut points {
        point.counted = counted(trials, &point.trials);
    }
    points
}

/// Variants run in another order in each round; they are shown in the order of the plan.
fn sort_variants(points: &mut [Point<'_>]) {
    let are_of_one = |one: &Point<'_>, next: &Point<'_>| {
        one.variant.map(|variant| &variant.of) == next.variant.map(|variant| &variant.of)
    };
    for group in points.chunk_by_mut(are_of_one) {
        group.sort_by_key(|point| point.variant.map(|variant| variant.place));
    }
}

/// Trials that did not end as planned count only when the point has no complete trial.
fn counted(trials: &[Trial<'_>], of: &[usize]) -> Vec<usize> {
    let is_complete = |index: &&usize| trials[**index].is_complete();
    // Trials with nothing but time-outs have figures too: their percentiles are lower bounds of the wait.
    let has_figures = |index: &&usize| trials[**index].summary.latency.known().is_some();
    let complete: Vec<usize> = of.iter().filter(is_complete).copied().collect();
    if complete.is_empty() { of.iter().filter(has_figures).copied().collect() } else { complete }
}
