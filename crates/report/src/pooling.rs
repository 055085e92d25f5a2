//! The windows of one variant, round and load as one trial.
//!
//! Windows that share a start of the system are parts of one measurement, so that a round has one value for each
//! variant. Counts, times and histograms are added up, which is exact.

mod end;
mod generators;
mod slot;
mod watched;

use std::collections::HashMap;
use std::path::Path;

use measure::{Nanos, Outage};
use record::{IntervalRecord, RecordError, Run, RunStatus, TrialHeader, TrialRecord};
use slot::Slot;

/// Reads a run as views show it: the windows of one variant, round and load are one trial, in place of the first of
/// them.
///
/// # Errors
/// As [`Run::open`].
pub fn open(folder: &Path) -> Result<Run, RecordError> {
    Run::open(folder).map(in_views)
}

/// Reads a run as views show it, without what was watched of hosts and servers.
///
/// # Errors
/// As [`Run::open_unwatched`].
pub fn open_unwatched(folder: &Path) -> Result<Run, RecordError> {
    Run::open_unwatched(folder).map(in_views)
}

fn in_views(mut run: Run) -> Run {
    if run.status == RunStatus::Running {
        // The trial that is being measured is not cut: it has no figures yet.
        run.trials.retain(|trial| trial.end.is_some() || trial.damage.is_some());
    }
    if let Some(windows) = run.header.windows {
        run.trials = pooled(run.trials, windows, &run.status);
    }
    run
}

/// The trials of a run, in order, with windows put together; each variant has so many under each load in a round.
/// `status` is how the run has ended: it says what became of windows that are missing.
fn pooled(trials: Vec<TrialRecord>, planned: u32, status: &RunStatus) -> Vec<TrialRecord> {
    let mut places = HashMap::new();
    let mut groups: Vec<Vec<TrialRecord>> = Vec::new();
    for trial in trials {
        let place = match trial.header.window {
            Some(_) => *places.entry(key(&trial.header)).or_insert(groups.len()),
            None => groups.len(),
        };
        match groups.get_mut(place) {
            Some(group) => group.push(trial),
            None => groups.push(vec![trial]),
        }
    }
    let of_group = |mut group: Vec<TrialRecord>| match group.as_slice() {
        [only] if only.header.window.is_none() => group.pop(),
        _ => Some(pool(group, planned, status)),
    };
    groups.into_iter().filter_map(of_group).collect()
}

/// What the windows of one trial have in common: system, workload, clients, rate and round.
fn key(header: &TrialHeader) -> (String, String, usize, String, u32) {
    let rate = header.load.open.as_ref().map(|open| format!("{:?}", open.rate));
    let TrialHeader { system, workload, clients, repetition, .. } = header;
    (system.clone(), workload.name.clone(), *clients, rate.unwrap_or_default(), *repetition)
}

fn pool(windows: Vec<TrialRecord>, planned: u32, status: &RunStatus) -> TrialRecord {
    let mut pooled = TrialRecord::new(header(&windows));
    let mut slots = Vec::with_capacity(windows.len());
    let mut at_ns = 0;
    for window in &windows {
        let slot = Slot::of(window, at_ns);
        at_ns = slot.until_ns();
        slots.push(slot);
        add(&mut pooled, window, slot);
    }
    pooled.total.pack();
    let placed: Vec<(&TrialRecord, Slot)> = windows.iter().zip(slots).collect();
    pooled.watched = watched::pooled(&placed);
    let is_whole = windows.len() >= planned as usize;
    pooled.end = end::pooled(&pooled.header, &placed, end::Missing { is_whole, status });
    pooled.windows = windows;
    pooled
}

/// The facts that all windows share. What the system reports is not known of a window whose load did not begin.
fn header(windows: &[TrialRecord]) -> TrialHeader {
    let first = &windows[0].header;
    let mut begun = windows.iter().map(|it| &it.header).filter(|it| !it.operations.is_empty());
    let known = begun.next().unwrap_or(first);
    // The warm-up of the first window differs from that of the others.
    let last = begun.next_back().unwrap_or(known);
    let mut header = TrialHeader { index: first.index, window: None, ..known.clone() };
    header.load.description = format!("{} windows of {}", windows.len(), last.load.description);
    for name in windows.iter().flat_map(|it| &it.header.beside) {
        if !header.beside.contains(name) {
            header.beside.push(name.clone());
        }
    }
    header
}

/// Adds the counts of a window. One whose load did not begin, or whose record is damaged, may have no operations.
fn add(pooled: &mut TrialRecord, window: &TrialRecord, slot: Slot) {
    pooled.phases.extend(window.phases.iter().cloned());
    pooled.outages.extend(window.outages.iter().filter_map(|outage| in_window(outage, slot)));
    let exits = window.member_exits.iter().cloned();
    pooled.member_exits.extend(exits.map(|mut exit| {
        exit.at_ns = exit.at_ns.map(|at_ns| slot.within(at_ns));
        exit
    }));
    // The data and its queries are the same: the last check is that of all windows.
    if !window.conditions.is_empty() {
        pooled.conditions.clone_from(&window.conditions);
    }
    if !window.plans.is_empty() {
        pooled.plans.clone_from(&window.plans);
    }
    pooled.ceiling = window.ceiling.clone().or(pooled.ceiling.take());
    pooled.damage = pooled.damage.take().or(window.damage.clone());
    if window.header.operations != pooled.header.operations {
        return;
    }
    pooled.total.merge(&window.total);
    pooled.intervals.extend(window.measured().map(|interval| IntervalRecord {
        start_ns: slot.shifted(interval.start_ns),
        end_ns: slot.shifted(interval.end_ns),
        ..interval.clone()
    }));
}

/// The part of an outage in the measured time of a window.
fn in_window(outage: &Outage, slot: Slot) -> Option<Outage> {
    let end_ns = outage.end_ns.unwrap_or(Nanos::MAX);
    slot.overlaps(outage.start_ns, end_ns).then(|| Outage {
        start_ns: slot.within(outage.start_ns),
        end_ns: Some(slot.within(end_ns)),
        ..*outage
    })
}

#[cfg(test)]
mod tests;
