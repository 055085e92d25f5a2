//! Whether an open loop kept up with its arrivals, and how much its counts vary by themselves.

use std::f64::consts::FRAC_1_SQRT_2;

use measure::{Nanos, TrialStatus};

use super::subject;
use crate::chance::{dispersion, squares_max};
use crate::latency::per;
use crate::measured::Slice;
use crate::moments::{mean, standard_deviation};
use crate::student::critical_t;
use crate::summary::comparable;
use crate::{Code, Finding, GeneratorFigures, GeneratorPart, Measured, Summary, Value};

/// An open loop misses its rate when fewer transactions ended than arrived by more than this part, whatever the
/// number of intervals.
const MISSED_MAX: f64 = 0.1;
/// A shortfall of up to this many standard deviations may be chance.
const CHANCE_DEVIATIONS: f64 = 3.0;
/// The test of growth joins intervals to at most this many groups, so that what lasts for a few intervals does not
/// count several times.
const GROUPS_MAX: usize = 20;
/// Growth over fewer groups is not tested.
const GROUPS_MIN: usize = 5;
/// How often chance may show growth where there is none.
const GROWTH_LEVEL: f64 = 0.001;
/// A load generator that starts one in a hundred transactions later than this distorts the latencies.
const LATENESS_MAX_NS: Nanos = 2_000_000;

/// Fewer transactions ended than arrived, so that the number in the system grew. Failed ones count as ended here;
/// they have a finding of their own.
pub(super) fn rate_missed(measured: &Measured<'_>, summary: &Summary) -> Option<Finding> {
    let open = summary.open.as_ref()?;
    let offered_per_s = open.arrived_per_s.unwrap_or(open.offered_per_s);
    let expected = offered_per_s * summary.seconds;
    let ended = (summary.transactions + summary.failed_transactions) as f64;
    // What arrived is exact when it was counted, and services vary; a planned mean leaves out the chance of arrivals.
    let is_random = measured.open.is_some_and(|offered| offered.is_random);
    let is_by_chance = open.arrived_per_s.is_some() || is_random;
    let variance = || if is_by_chance { dispersion(measured) } else { 0.0 };
    let is_far = ended < expected * (1.0 - MISSED_MAX)
        && ended < expected - CHANCE_DEVIATIONS * (variance() * expected).sqrt();
    // The mean rate of a trial that was ended early differs from the planned one.
    let is_known = measured.status == Some(&TrialStatus::Complete);
    let achieved_per_s = per(ended, summary.seconds);
    (is_known && (is_far || grows(measured.slices))).then(|| {
        Finding::new(Code::RateMissed)
            .with("offered_per_s", Value::Number(offered_per_s))
            .with("achieved_per_s", Value::Number(achieved_per_s))
            .with("missed", Value::Change(achieved_per_s / offered_per_s - 1.0))
    })
}

/// Whether the number in the system grew by more than chance explains, however little: Student's t-test of the
/// growth of each group of intervals, on one side.
///
/// The growths of a queue that keeps up cancel each other sooner or later: their sum is the difference of two
/// lengths. Just at the limit they are independent. Either way the test finds growth too rarely rather than too
/// often. Source: Law and Kelton, Simulation Modeling and Analysis, section 9.5.3 (batch means).
fn grows(slices: &[Slice]) -> bool {
    let growth = |slice: &Slice| Some(slice.arrivals? as f64 - slice.ended as f64);
    let growths: Option<Vec<f64>> = comparable(slices).iter().map(growth).collect();
    let Some(growths) = growths else { return false };
    let size = growths.len().div_ceil(GROUPS_MAX).max(1);
    let groups: Vec<f64> = growths.chunks_exact(size).map(|group| group.iter().sum()).collect();
    let (Some(mean), Some(deviation)) = (mean(&groups), standard_deviation(&groups)) else {
        return false;
    };
    let error = deviation / (groups.len() as f64).sqrt();
    let critical = critical_t(1.0 - 2.0 * GROWTH_LEVEL, groups.len() - 1);
    groups.len() >= GROUPS_MIN && mean > 0.0 && critical.is_some_and(|t| mean > t * error)
}

/// A finding for each generator whose 99th percentile of lateness is above [`LATENESS_MAX_NS`].
pub(super) fn lateness(measured: &Measured<'_>, summary: &Summary) -> Vec<Finding> {
    let find_late = |generator: &GeneratorPart<'_>, figures: &GeneratorFigures| {
        let p99_ns = figures.lateness.percentile_ns(99.0)?;
        (p99_ns > LATENESS_MAX_NS).then(|| {
            Finding::about(subject(generator), Code::GeneratorLate)
                .with("p99_ns", Value::Nanos(p99_ns))
        })
    };
    let each = measured.each_generator();
    each.iter()
        .zip(&summary.generators)
        .filter_map(|(generator, figures)| find_late(generator, figures))
        .collect()
}

/// The relative variation between intervals that is no fault of the system: a rate that changes explains any. Else it
/// is chance, and the transactions that are cut off at an interval's edges: those of even arrivals, or of each client
/// of a closed loop. Either makes counts that differ by one, with a standard deviation of at most the root of a half
/// (with two intervals). `None` for a trial without transactions.
pub(super) fn variation(measured: &Measured<'_>, summary: &Summary) -> Option<f64> {
    let intervals = comparable(measured.slices);
    let longest = intervals.iter().map(|slice| slice.seconds).fold(0.0, f64::max);
    let count = summary.transactions_per_s * longest;
    if count <= 0.0 {
        return None;
    }
    let cut_off = match measured.open {
        Some(offered) if !offered.is_constant => return Some(f64::INFINITY),
        Some(offered) if offered.is_random => 0.0,
        Some(_) => FRAC_1_SQRT_2,
        None => FRAC_1_SQRT_2 * measured.clients as f64,
    };
    let freedom = intervals.len().saturating_sub(1).max(1) as f64;
    let chance = dispersion(measured) / count * squares_max(intervals.len()) / freedom;
    Some((cut_off / count).hypot(chance.sqrt()))
}
