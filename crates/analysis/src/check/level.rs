//! Whether throughput changed from one level to another within the window, at its begin or later.

use super::{TREND_MAX, schedule};
use crate::level_change::{LevelChange, level_change};
use crate::summary::comparable;
use crate::{Code, Finding, Measured, Summary, Value, rules};

/// A difference of the two levels of up to this many standard deviations may be chance.
const CHANCE_DEVIATIONS: f64 = 3.0;
/// A change within the first part of the window, one of so many, is the end of a warm-up that was too short.
const WARM_UP_PARTS: usize = 3;

/// A change of level is a finding when it is as large as a trend has to be, and larger than chance makes it. Outages
/// explain themselves, a rate that changes changes throughput on purpose, and the queries of a set are not alike.
pub(super) fn check(measured: &Measured<'_>, summary: &Summary) -> Option<Finding> {
    if !measured.outages.is_empty() || rules::is_set_of_operations(measured.rules) {
        return None;
    }
    let intervals = comparable(measured.slices);
    let rates: Vec<f64> =
        intervals.iter().map(|slice| slice.transactions as f64 / slice.seconds).collect();
    let found = level_change(&rates).filter(|found| found.before > 0.0)?;
    let change = found.after / found.before - 1.0;
    let chance = CHANCE_DEVIATIONS * schedule::variation(measured, summary)? * deviation(&found);
    if change.abs() <= TREND_MAX.hypot(chance) {
        return None;
    }
    let is_early = found.at * WARM_UP_PARTS <= found.points;
    let code = if is_early { Code::WarmUpShort } else { Code::Step };
    let seconds: f64 = intervals[..found.at].iter().map(|slice| slice.seconds).sum();
    let finding = Finding::new(code)
        .with("at_ns", Value::At(measured.window.0 + (seconds * 1e9).round() as u64))
        .with("before_per_s", Value::Number(found.before))
        .with("after_per_s", Value::Number(found.after));
    Some(finding.with("change", Value::Change(change)))
}

/// The standard deviation of the difference of the two means, over that of one interval.
fn deviation(found: &LevelChange) -> f64 {
    let parts = [found.at, found.points - found.at];
    parts.map(|points| 1.0 / points as f64).iter().sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use measure::Outage;

    use super::*;
    use crate::summary::tests::seconds_of;
    use crate::{Offered, Subject, check, summarize};

    /// The findings of seconds with so many transactions each, one client after the other.
    fn found(change: impl Fn(&mut Measured<'_>), parts: &[(usize, u64)]) -> Vec<Finding> {
        let seconds: Vec<u64> =
            parts.iter().flat_map(|(count, each)| vec![*each; *count]).collect();
        let trial = seconds_of(&seconds);
        let mut measured = Measured {
            percentiles: &[50.0],
            clients: 1,
            client_events: &[],
            window: (5_000_000_000, 0),
            ..trial.measured()
        };
        change(&mut measured);
        let all = check(&measured, &summarize(&measured));
        all.into_iter().filter(|finding| finding.code != Code::LittlesLaw).collect()
    }

    fn of_level(code: Code, at_s: u64, before: f64, after: f64) -> Finding {
        let values = vec![
            ("at_ns", Value::At(at_s * 1_000_000_000)),
            ("before_per_s", Value::Number(before)),
            ("after_per_s", Value::Number(after)),
            ("change", Value::Change(after / before - 1.0)),
        ];
        Finding { code, subject: Subject::Trial, values }
    }

    #[test]
    fn a_level_that_changes_is_found_with_its_time_and_both_levels() {
        let seen = found(|_| {}, &[(8, 1_000), (7, 750)]);
        assert_eq!(seen, [of_level(Code::Step, 13, 1_000.0, 750.0)]);
    }

    #[test]
    fn a_level_that_is_reached_in_the_first_third_is_a_short_warm_up() {
        let seen = found(|_| {}, &[(3, 600), (9, 1_000)]);
        assert_eq!(seen, [of_level(Code::WarmUpShort, 8, 600.0, 1_000.0)]);
        let faster_at_first = found(|_| {}, &[(4, 1_500), (8, 1_000)]);
        assert_eq!(faster_at_first[0].code, Code::WarmUpShort);
    }

    #[test]
    fn a_small_change_and_one_that_chance_explains_are_not_findings() {
        assert_eq!(found(|_| {}, &[(8, 1_000), (7, 950)]), []);
        // Of three transactions a second one more or less is cut off at the edges of a second.
        let seen = found(|_| {}, &[(8, 3), (7, 2)]);
        assert!(seen.iter().all(|finding| finding.code != Code::Step), "{seen:?}");
    }

    #[test]
    fn outages_and_rates_that_change_explain_other_levels() {
        static OUTAGE: [Outage; 1] =
            [Outage { start_ns: 0, end_ns: Some(9), failures: 0, reconnects: 0 }];
        let seen = found(|measured| measured.outages = &OUTAGE, &[(8, 1_000), (7, 750)]);
        assert!(seen.iter().all(|finding| finding.code != Code::Step), "{seen:?}");
        let delays = measure::LatencyHistogram::new();
        let trial = seconds_of(&[[1_000; 8], [750; 8]].concat());
        let steps = Offered {
            rate_per_s: 883.0,
            is_constant: false,
            is_random: true,
            lateness: &delays,
            start_delays: &delays,
        };
        let measured = Measured { percentiles: &[50.0], open: Some(steps), ..trial.measured() };
        assert_eq!(super::check(&measured, &summarize(&measured)), None);
    }
}
