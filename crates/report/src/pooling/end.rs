//! The end of the windows of one trial.

use measure::{DecidedEnds, Edges, LatencyHistogram, QueryCounts, SessionStatements, sum};
use record::{
    ClientRecord, Counted, CrossCheck, RunStatus, TrialEnd, TrialHeader, TrialRecord, TrialStatus,
};

use super::generators::{self, usage};
use super::slot::Slot;

/// Whether windows are missing, and how the run ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Missing<'a> {
    pub(super) is_whole: bool,
    pub(super) status: &'a RunStatus,
}

/// The ends of all windows as one; `None` when the record of the run ends before its last window.
pub(super) fn pooled(
    header: &TrialHeader,
    windows: &[(&TrialRecord, Slot)],
    missing: Missing<'_>,
) -> Option<TrialEnd> {
    let ends: Option<Vec<(&TrialEnd, Slot)>> =
        windows.iter().map(|(window, slot)| Some((window.end.as_ref()?, *slot))).collect();
    let ends = ends?;
    let status = status(&ends, missing)?;
    let each = || ends.iter().map(|(end, _)| *end);
    let merged = |of: fn(&TrialEnd) -> &LatencyHistogram| LatencyHistogram::sum(each().map(of));
    let turns = ends.iter().flat_map(|(end, slot)| {
        end.turns.iter().map(|turn| measure::TimedTurn {
            start_ns: slot.shifted(turn.start_ns),
            end_ns: slot.shifted(turn.end_ns),
            ..*turn
        })
    });
    Some(TrialEnd {
        status,
        measure_started: each().find_map(|end| end.measure_started),
        measure_ended: each().filter_map(|end| end.measure_ended).next_back(),
        clients: clients(each()),
        failures: each().flat_map(|end| end.failures.iter()).collect(),
        turns: turns.collect(),
        edges: edges(header.operations.len(), each()),
        lateness: merged(|end| &end.lateness),
        start_delays: merged(|end| &end.start_delays),
        idle_round_trips: merged(|end| &end.idle_round_trips),
        cross_check: cross_check(each()),
        usage: usage(each().filter(|end| end.measure_started.is_some()).map(|end| end.usage)),
        generators: generators::pooled(&ends),
        decided_ends: each().next().map_or(DecidedEnds::default(), |end| end.decided_ends),
        failed_phase: each().find_map(|end| end.failed_phase),
    })
}

/// The most serious end of a window; `None` for a run that was cut short.
fn status(ends: &[(&TrialEnd, Slot)], missing: Missing<'_>) -> Option<TrialStatus> {
    let find = |is: fn(&TrialStatus) -> bool| {
        ends.iter().map(|(end, _)| &end.status).find(|status| is(status)).cloned()
    };
    let worst = find(|it| matches!(it, TrialStatus::Crashed(_)))
        .or_else(|| find(|it| matches!(it, TrialStatus::Failed(_))))
        .or_else(|| find(|it| *it == TrialStatus::Interrupted));
    match (worst, missing) {
        (Some(worst), _) => Some(worst),
        (None, Missing { is_whole: true, .. }) => Some(TrialStatus::Complete),
        (None, Missing { status: RunStatus::Interrupted, .. }) => Some(TrialStatus::Interrupted),
        (None, _) => None,
    }
}

/// A client of each window is one client, which failed where it failed in one of them.
fn clients<'a>(ends: impl Iterator<Item = &'a TrialEnd>) -> Vec<ClientRecord> {
    let mut all: Vec<ClientRecord> = Vec::new();
    for end in ends {
        all.resize(all.len().max(end.clients.len()), ClientRecord::default());
        for (client, more) in all.iter_mut().zip(&end.clients) {
            client.events = sum([client.events, more.events]);
            client.failure = client.failure.take().or_else(|| more.failure.clone());
        }
    }
    all
}

/// A window whose load did not begin has no edges.
fn edges<'a>(operations: usize, ends: impl Iterator<Item = &'a TrialEnd>) -> Edges {
    let mut all = Edges::new(operations);
    for edges in ends.map(|end| &end.edges) {
        if edges.before.len() == operations && edges.drain.operations.len() == operations {
            all.merge(edges);
        }
    }
    all
}

/// Missing where it is missing of one window; a window whose load did not begin has none.
fn cross_check<'a>(ends: impl Iterator<Item = &'a TrialEnd>) -> Option<CrossCheck> {
    let mut all: Option<CrossCheck> = None;
    for check in ends.filter_map(|end| end.cross_check.as_ref()) {
        all = Some(match all {
            None => check.clone(),
            Some(before) => both(before, check),
        });
    }
    all
}

fn both(before: CrossCheck, check: &CrossCheck) -> CrossCheck {
    let added = |mut one: QueryCounts, other: QueryCounts| {
        one.add(other);
        one
    };
    match (before, check) {
        (CrossCheck::Counted(mut all), CrossCheck::Counted(more)) => {
            all.by_dyno.add(more.by_dyno);
            all.by_server.add(more.by_server);
            let (some, others) = (all.session_statements.take(), more.session_statements.clone());
            all.session_statements = SessionStatements::joined(some, others);
            add_counters(&mut all, more);
            CrossCheck::Counted(all)
        }
        (CrossCheck::Missing { reason, by_dyno }, check) => {
            CrossCheck::Missing { reason, by_dyno: added(by_dyno, sent(check)) }
        }
        (CrossCheck::Counted(all), CrossCheck::Missing { reason, by_dyno }) => {
            CrossCheck::Missing { reason: reason.clone(), by_dyno: added(all.by_dyno, *by_dyno) }
        }
    }
}

fn sent(check: &CrossCheck) -> QueryCounts {
    match check {
        CrossCheck::Counted(counted) => counted.by_dyno,
        CrossCheck::Missing { by_dyno, .. } => *by_dyno,
    }
}

fn add_counters(all: &mut Counted, more: &Counted) {
    for (name, count) in &more.counters {
        match all.counters.iter_mut().find(|(known, _)| known == name) {
            Some((_, known)) => *known = sum([*known, *count]),
            None => all.counters.push((name.clone(), *count)),
        }
    }
}
