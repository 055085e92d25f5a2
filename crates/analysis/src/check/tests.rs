//! Trials with one weakness each, and the finding that reports it.

use measure::{Disposition, LatencyHistogram, Unfinished};

use super::*;
use crate::summary::tests::seconds_of;
use crate::{Usage, summarize};

fn finding(code: Code, values: &[(&'static str, Value)]) -> Finding {
    Finding { values: values.to_vec(), ..Finding::new(code) }
}

fn unanswered(requests: u64) -> Finding {
    let values = [("requests", Value::Count(requests)), ("oldest_ns", Value::Nanos(0))];
    finding(Code::Unfinished, &values)
}

fn findings_of(change: impl Fn(&mut Measured<'_>), transactions: &[u64]) -> Vec<Finding> {
    let trial = seconds_of(transactions);
    let mut input = trial.measured();
    input.percentiles = &[50.0];
    change(&mut input);
    check(&input, &summarize(&input))
}

#[test]
fn a_sound_trial_has_no_findings() {
    assert_eq!(findings_of(|_| {}, &[20, 20, 20]), []);
}

#[test]
fn each_weakness_is_found() {
    let level = [20, 20, 20];
    let found = findings_of(|input| input.status = Some(&TrialStatus::Interrupted), &level);
    assert_eq!(found, [Finding::new(Code::Interrupted)]);
    let found = findings_of(|input| input.clients_lost = 1, &level);
    let left = [("left", Value::Small(1)), ("clients", Value::Small(2))];
    assert_eq!(found, [finding(Code::ClientsLeft, &left)]);
    let three = Unfinished { latencies: LatencyHistogram::new(), unanswered: 3 };
    let trial = seconds_of(&level);
    let mut input = Measured { unfinished: &three, percentiles: &[50.0], ..trial.measured() };
    input.usage = None;
    let found = check(&input, &summarize(&input));
    assert_eq!(found, [unanswered(3)]);
    let found = findings_of(|input| input.client_events = &[10, 30], &level);
    assert_eq!(found, [finding(Code::Unfair, &[("variation", Value::Part(0.5))])]);
    let found = findings_of(|input| input.clients = 4, &level);
    assert_eq!((found.len(), found[0].code), (1, Code::LittlesLaw), "{found:?}");
    assert_eq!(found[0].value("mismatch"), Some(&Value::Change(-0.5)));
    let found = findings_of(|input| input.percentiles = &[50.0, 99.0, 99.9], &level);
    let few = [("percentile", Value::Percentile(99.0)), ("values", Value::Count(60))];
    assert_eq!(found, [finding(Code::FewValues, &few)]);
}

#[test]
fn a_trial_that_failed_has_its_reason_and_one_without_an_end_was_cut() {
    let failed = TrialStatus::Failed("no such table".to_owned());
    let trial = seconds_of(&[20, 20, 20]);
    let input = Measured { status: Some(&failed), percentiles: &[50.0], ..trial.measured() };
    let found = check(&input, &summarize(&input));
    let reason = Value::Text("no such table".to_owned());
    assert_eq!(found, [finding(Code::Failed, &[("reason", reason)])]);
    let found = findings_of(|input| input.status = None, &[20, 20, 20]);
    assert_eq!(found, [Finding::new(Code::Cut)]);
}

#[test]
fn losing_all_clients_is_distinguished_from_losing_some() {
    let found = findings_of(|input| input.clients_lost = 2, &[20, 20, 20]);
    assert_eq!((found.len(), found[0].code), (1, Code::EveryClientLeft), "{found:?}");
}

#[test]
fn an_outage_is_reported_and_explains_idle_clients() {
    let outages = [
        Outage { start_ns: 10, end_ns: Some(40), failures: 2, reconnects: 2 },
        Outage { start_ns: 90, end_ns: None, failures: 2, reconnects: 1 },
    ];
    let trial = seconds_of(&[20, 20, 20]);
    let input = Measured {
        outages: &outages,
        load_end_ns: 100,
        clients: 4,
        percentiles: &[50.0],
        ..trial.measured()
    };
    let told = finding(
        Code::Outages,
        &[
            ("outages", Value::Small(2)),
            ("total_ns", Value::Nanos(40)),
            ("reconnects", Value::Count(3)),
            ("longest_ns", Value::Nanos(30)),
        ],
    );
    assert_eq!(check(&input, &summarize(&input)), [told]);
}

#[test]
fn unexplained_server_statements_are_a_finding() {
    let level = [20, 20, 20];
    let found = findings_of(|input| input.server_difference = Some(0), &level);
    assert_eq!(found, []);
    for (difference, code) in [(1, Code::OtherStatements), (-1, Code::FewerStatements)] {
        let found = findings_of(|input| input.server_difference = Some(difference), &level);
        assert_eq!(found, [finding(code, &[("difference", Value::Difference(difference))])]);
    }
    let one = Unfinished { latencies: LatencyHistogram::new(), unanswered: 1 };
    let trial = seconds_of(&level);
    let input = Measured {
        unfinished: &one,
        percentiles: &[50.0],
        server_difference: Some(1),
        ..trial.measured()
    };
    let found = check(&input, &summarize(&input));
    assert_eq!(found, [unanswered(1)]);
}

#[test]
fn refused_statements_may_be_missing_from_server_counters() {
    let mut trial = seconds_of(&[20, 20, 20]);
    let refused = ErrorKey::new(ErrorClass::Server, "1290");
    (0..3).for_each(|_| trial.total.error(&refused, Disposition::Ignored));
    let of_difference = |difference| {
        let input = Measured {
            percentiles: &[50.0],
            server_difference: Some(difference),
            ..trial.measured()
        };
        check(&input, &summarize(&input))
    };
    assert_eq!(of_difference(-3), []);
    assert_eq!(
        of_difference(-4),
        [finding(Code::FewerStatements, &[("difference", Value::Difference(-4))])]
    );
    assert_eq!(
        of_difference(1),
        [finding(Code::OtherStatements, &[("difference", Value::Difference(1))])]
    );
}

#[test]
fn a_drift_is_reported_once() {
    let found = findings_of(|_| {}, &[10, 14, 18, 22, 26, 30]);
    assert_eq!(found, [finding(Code::Trend, &[("change", Value::Change(1.0))])]);
    let found = findings_of(|_| {}, &[10, 30, 10, 30, 10, 40]);
    assert!(found.iter().any(|finding| finding.code == Code::Unsteady));
}

#[test]
fn client_saturation_is_a_finding_unless_the_database_is_embedded() {
    let usage = Usage { user_ns: 2_000_000_000, system_ns: 800_000_000, switches: 1, threads: 1 };
    let found = findings_of(|input| input.usage = Some(usage), &[20, 20, 20]);
    assert_eq!((found.len(), found[0].code), (1, Code::ClientSaturated), "{found:?}");
    assert_eq!(found[0].value("usable_threads"), Some(&Value::Small(1)));
    let embedded =
        |input: &mut Measured<'_>| (input.usage, input.is_embedded) = (Some(usage), true);
    assert_eq!(findings_of(embedded, &[20, 20, 20]), []);
}

#[test]
fn nothing_measured_is_the_only_finding() {
    let found = findings_of(|input| input.client_events = &[], &[0, 0, 0]);
    assert_eq!(found, [Finding::new(Code::NothingMeasured)]);
}
