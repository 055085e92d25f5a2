//! Where throughput stops growing with the clients, and up to which rate arrivals are answered.

use analysis::{Code as FindingCode, LoadLevel, Peak, Scaling, Value, growth};

use super::compared::times;
use super::trials::{behind, not_believed};
use super::words::Code;
use super::{Conclusion, Place, Values, latency, per_s, percentile, text};
use crate::digest::{Digest, Point};
use crate::run_comparison::Unit;
use crate::scaling::{self, Sweep};

/// One conclusion for each system under each workload with several numbers of clients, or several rates.
pub(super) fn all(digest: &Digest<'_>, sweeps: &[Sweep]) -> Vec<Conclusion> {
    if digest.run.header.seek.is_some() {
        return Vec::new();
    }
    let systems: Vec<&str> = digest.systems().into_iter().map(|(name, _)| name).collect();
    let workloads = digest.workloads().into_iter().enumerate();
    let pairs =
        workloads.flat_map(|(at, workload)| systems.iter().map(move |it| (at, workload, *it)));
    let of_pair = |(at, workload, system): (usize, &str, &str)| {
        let points = digest.points_of(system, workload);
        let names = vec![("system", text(system)), ("workload", text(workload))];
        let found =
            over_clients(digest, sweeps, &points).or_else(|| over_rates(digest, &points))?;
        let not_believed = not_believed(digest, &points, system, Some(workload));
        Some(not_believed.unwrap_or_else(|| {
            let (code, values) = found;
            let values = [names, values, behind(digest, &points)].concat();
            Conclusion::new(code, values, Some(Place::Workload(at)))
        }))
    };
    pairs.filter_map(of_pair).collect()
}

/// Whether a point is one of several whose throughput is told together.
pub(super) fn is_swept(digest: &Digest<'_>, sweeps: &[Sweep], point: &Point<'_>) -> bool {
    let points = digest.points_of(point.system, point.workload);
    over_clients(digest, sweeps, &points).or_else(|| over_rates(digest, &points)).is_some()
}

/// Where throughput stops growing over several numbers of clients of a closed loop.
fn over_clients(
    digest: &Digest<'_>,
    sweeps: &[Sweep],
    points: &[&Point<'_>],
) -> Option<(Code, Values)> {
    if points.len() < 2 || points.iter().any(|point| point.rate.is_some()) {
        return None;
    }
    let mut points = points.to_vec();
    points.sort_by_key(|point| point.clients);
    let level = |point: &&Point<'_>| {
        let trials: Vec<_> = point.counted.iter().map(|at| &digest.trials[*at].summary).collect();
        LoadLevel {
            per_s: trials.iter().map(|it| it.transactions_per_s).collect(),
            within: trials.last().and_then(|it| it.within.transactions_per_s),
        }
    };
    let levels: Vec<LoadLevel> = points.iter().map(level).collect();
    let least = digest.run.header.least_difference;
    let found = growth(&levels, least)?;
    let (at, last) = (points[found.stops_at], points[points.len() - 1]);
    let small = |clients: usize| Value::Small(clients as u64);
    let mut values = vec![
        ("clients", small(at.clients)),
        ("per_s", Value::Number(per_s(digest, at))),
        ("percentile", Value::Percentile(percentile(digest)?)),
    ];
    values.extend(latency(digest, at, ["latency_ns", "more"]));
    let relative = |one: &Point<'_>, other: &Point<'_>| {
        Value::Change(per_s(digest, one) / per_s(digest, other) - 1.0)
    };
    let of_law = scaling::of(sweeps, at.system, at.workload);
    if found.stops_at == points.len() - 1 {
        let before = points[found.stops_at - 1];
        values
            .extend([("change", relative(at, before)), ("before_clients", small(before.clients))]);
        values.extend(of_law.map(|it| gain_of_twice(it, at.clients)).unwrap_or_default());
        return Some((Code::ThroughputGrows, values));
    }
    values.push(("most_clients", small(last.clients)));
    values.extend(latency(digest, last, ["most_ns", "most_more"]));
    values.extend(of_law.map(peak).unwrap_or_default());
    if let Some((higher, ratio)) = found.undecided {
        let change = |ratio: f64| Value::Change(ratio - 1.0);
        values.extend([
            ("more_clients", small(points[higher].clients)),
            ("change", change(ratio.ratio)),
            ("trials", small(ratio.rounds)),
            ("repeated", text(times(Unit::Trial, &[ratio.logs.counts]))),
        ]);
        let is_known = ratio.low < ratio.high || ratio.logs.has_interval();
        let ends = [("low", change(ratio.low)), ("high", change(ratio.high))];
        values.extend(ends.into_iter().filter(|_| is_known));
        return Some((Code::ThroughputUndecided, values));
    }
    if found.highest != found.stops_at {
        let highest = points[found.highest];
        values.extend([
            ("highest_clients", small(highest.clients)),
            ("highest_per_s", Value::Number(per_s(digest, highest))),
            ("least", Value::Part(least)),
        ]);
    }
    if per_s(digest, last) * (1.0 + least) < per_s(digest, at) {
        values.push(("drop", relative(last, at)));
    }
    Some((Code::ThroughputStops, values))
}

/// Where the law has its peak; empty when that is not within the sweep.
fn peak(found: &Scaling) -> Values {
    let Peak::Within { clients, per_s } = found.peak else { return Vec::new() };
    let whole = |clients: f64| Value::Small(clients.round() as u64);
    let mut values = vec![
        ("law", text(scaling::LAW)),
        ("peak_clients", whole(clients.value)),
        ("peak_low", whole(clients.low)),
        ("peak_per_s", Value::Number(per_s.value)),
    ];
    values.extend(clients.high.map(|high| ("peak_high", whole(high))));
    values
}

/// What twice as many clients as the most would change by the law.
fn gain_of_twice(found: &Scaling, clients: usize) -> Values {
    let twice = scaling::gain_of_twice(found, clients);
    let mut values = vec![
        ("law", text(scaling::LAW)),
        ("twice_clients", Value::Small(2 * clients as u64)),
        ("twice", Value::Change(twice.value)),
        ("twice_low", Value::Change(twice.low)),
    ];
    values.extend(twice.high.map(|high| ("twice_high", Value::Change(high))));
    values
}

/// Up to which of several constant rates arrivals are answered; of several numbers of clients, with the most.
fn over_rates(digest: &Digest<'_>, points: &[&Point<'_>]) -> Option<(Code, Values)> {
    let most = points.iter().map(|point| point.clients).max()?;
    let is_constant = |point: &&&Point<'_>| point.rate.is_some_and(plan::Rate::is_constant);
    let mut points: Vec<&Point<'_>> = points.iter().filter(is_constant).copied().collect();
    points.retain(|point| point.clients == most);
    points.sort_by(|one, other| one.offered_per_s.total_cmp(&other.offered_per_s));
    if points.len() < 2 {
        return None;
    }
    let missed = points.iter().position(|point| is_missed(digest, point));
    let kept = match missed {
        None => points.last(),
        Some(at) => at.checked_sub(1).map(|before| &points[before]),
    };
    let mut values = Vec::new();
    if let Some(kept) = kept {
        values.push(("kept_per_s", Value::Number(kept.offered_per_s)));
        values.push(("percentile", Value::Percentile(percentile(digest)?)));
        values.extend(latency(digest, kept, ["latency_ns", "more"]));
    }
    if let Some(missed) = missed.map(|at| points[at]) {
        values.push(("missed_per_s", Value::Number(missed.offered_per_s)));
        values.push(("achieved_per_s", Value::Number(per_s(digest, missed))));
    }
    let code = match (kept, missed) {
        (Some(_), Some(_)) => Code::RateKept,
        (Some(_), None) => Code::EveryRateKept,
        (None, _) => Code::NoRateKept,
    };
    Some((code, values))
}

/// Whether a trial of a point did not run to its end, or answered less than was offered.
fn is_missed(digest: &Digest<'_>, point: &Point<'_>) -> bool {
    point.trials.iter().map(|at| &digest.trials[*at]).any(|trial| {
        let codes = trial.findings.iter().map(|finding| finding.code);
        !trial.is_complete() || codes.into_iter().any(|code| code == FindingCode::RateMissed)
    })
}
