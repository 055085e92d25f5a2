//! Whether an open loop reached its offered rate, and how much its schedule varies by itself.

use std::f64::consts::FRAC_1_SQRT_2;

use measure::{Nanos, TrialStatus};

use crate::latency::per;
use crate::{Code, Finding, Measured, Summary, Value};

/// An open loop misses its rate when the achieved rate is lower than the offered one by more than this part.
const MISSED_MAX: f64 = 0.1;
/// A shortfall of up to this many standard deviations of a Poisson process may be chance.
const CHANCE_DEVIATIONS: f64 = 3.0;
/// A load generator that starts one in a hundred transactions later than this distorts the latencies.
const LATENESS_MAX_NS: Nanos = 2_000_000;

/// Fewer transactions ended than were offered. Failed ones count as ended here; they have a finding of their
/// own.
pub(super) fn rate_missed(measured: &Measured<'_>, summary: &Summary) -> Option<Finding> {
    let offered_per_s = summary.open.as_ref()?.offered_per_s;
    let expected = offered_per_s * summary.seconds;
    let ended = (summary.transactions + summary.failed_transactions) as f64;
    let is_random = measured.open.is_some_and(|offered| offered.is_random);
    let chance = if is_random { CHANCE_DEVIATIONS * expected.sqrt() } else { 0.0 };
    let is_missed = ended < expected * (1.0 - MISSED_MAX) && ended < expected - chance;
    // The mean rate of a trial that was ended early differs from the planned one.
    let is_known = measured.status == Some(&TrialStatus::Complete);
    let achieved_per_s = per(ended, summary.seconds);
    (is_missed && is_known).then(|| {
        Finding::new(Code::RateMissed)
            .with("offered_per_s", Value::Number(offered_per_s))
            .with("achieved_per_s", Value::Number(achieved_per_s))
            .with("missed", Value::Change(achieved_per_s / offered_per_s - 1.0))
    })
}

pub(super) fn lateness(summary: &Summary) -> Option<Finding> {
    let p99_ns = summary.open.as_ref()?.lateness.percentile_ns(99.0)?;
    (p99_ns > LATENESS_MAX_NS)
        .then(|| Finding::new(Code::GeneratorLate).with("p99_ns", Value::Nanos(p99_ns)))
}

/// The relative variation between intervals that the schedule causes. A rate that changes explains any
/// variation. For a Poisson process it is one over the root of the mean count. With even arrivals, counts
/// differ by one at most, which gives a standard deviation of at most the root of a half (with two intervals).
pub(super) fn variation(measured: &Measured<'_>) -> f64 {
    let Some(offered) = measured.open else { return 0.0 };
    if !offered.is_constant {
        return f64::INFINITY;
    }
    let longest = measured.slices.iter().map(|slice| slice.seconds).fold(0.0, f64::max);
    let count = offered.rate_per_s * longest;
    if count <= 0.0 {
        return 0.0;
    }
    if offered.is_random { count.sqrt().recip() } else { FRAC_1_SQRT_2 / count }
}
