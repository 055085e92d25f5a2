//! Summaries of trials that are small enough to check by hand.

use measure::{
    DecidedEnds, Disposition, Edges, ErrorClass, Operation, OperationId, Rules, Tally, TrialStatus,
    Watched,
};

use super::*;

const EVENT: OperationId = OperationId(0);
const READ: OperationId = OperationId(1);

/// Owns the data that [`Measured`] borrows.
pub(crate) struct Trial {
    operations: Vec<Operation>,
    pub(crate) total: Tally,
    pub(crate) slices: Vec<Slice>,
    pub(crate) edges: Edges,
    rules: Rules,
    watched: Watched,
}

/// One second for each number of transactions, which take 100 ms each, with two reads of 40 ms.
pub(crate) fn seconds_of(transactions: &[u64]) -> Trial {
    let mut total = Tally::new(2);
    for _ in 0..transactions.iter().sum() {
        total.success(READ, OperationKind::Read, 40_000_000);
        total.success(READ, OperationKind::Read, 40_000_000);
        total.success(EVENT, OperationKind::Transaction, 100_000_000);
        total.traffic.sent_bytes += 60;
        total.traffic.received_bytes += 600;
    }
    let slices = transactions.iter().map(|count| Slice {
        seconds: 1.0,
        transactions: *count,
        queries: 2 * *count,
        ended: *count,
        busy_ns: *count * 100_000_000,
        arrivals: None,
    });
    let operations = vec![
        Operation::new("transaction", OperationKind::Transaction),
        Operation::new("select", OperationKind::Read),
    ];
    Trial {
        operations,
        total,
        slices: slices.collect(),
        edges: Edges::new(2),
        rules: Rules::default(),
        watched: Watched::default(),
    }
}

impl Trial {
    pub(crate) fn measured(&self) -> Measured<'_> {
        Measured {
            operations: &self.operations,
            total: &self.total,
            slices: &self.slices,
            latencies: None,
            operation_slices: &[],
            percentiles: &[50.0, 99.0],
            clients: 2,
            client_events: &[20, 20],
            clients_lost: 0,
            think_time_ns: 0,
            rules: &self.rules,
            conditions: &[],
            edges: &self.edges,
            outages: &[],
            member_exits: &[],
            statements: None,
            transactions: None,
            system_remarks: &[],
            data_remarks: &[],
            first_executions: None,
            warm_up: &[],
            plans: &[],
            load_end_ns: 0,
            usage: None,
            generator: None,
            generators: &[],
            interval_ns: 1_000_000_000,
            open: None,
            is_embedded: false,
            watched: &self.watched,
            window: (0, 0),
            status: Some(&TrialStatus::Complete),
            failed_phase: None,
            decided_ends: DecidedEnds::default(),
            damage: None,
        }
    }
}

fn near(seen: f64, expected: f64) -> bool {
    (seen - expected).abs() < 1e-9 * expected.abs().max(1.0)
}

#[test]
fn rates_are_counts_over_the_measured_time() {
    let trial = seconds_of(&[18, 22]);
    let summary = summarize(&trial.measured());
    assert_eq!((summary.transactions, summary.queries.read), (40, 80));
    assert!(near(summary.transactions_per_s, 20.0) && near(summary.queries_per_s, 40.0));
    assert!(near(summary.operations[1].per_s, 40.0));
    assert_eq!(summary.latency.count, 40);
    let p99 = summary.latency.percentile_ns(99.0).unwrap() as f64;
    assert!((p99 / 1e8 - 1.0).abs() < 0.001, "{p99}");
    // 18 and 22 around 20: a deviation of sqrt 8.
    assert!(near(summary.throughput_variation.unwrap(), 8.0_f64.sqrt() / 20.0));
}

#[test]
fn littles_law_accounts_for_every_client() {
    let trial = seconds_of(&[20]);
    // 20 per second x 100 ms = 2 clients.
    let law = summarize(&trial.measured()).littles_law.unwrap();
    assert!(near(law.accounted_for, 2.0) && law.mismatch.abs() < 1e-9, "{law:?}");
    // With a think time of 50 ms, 3 clients.
    let thinking = Measured { think_time_ns: 50_000_000, ..trial.measured() };
    let law = summarize(&thinking).littles_law.unwrap();
    assert!(near(law.accounted_for, 3.0) && near(law.mismatch, 0.5), "{law:?}");
}

#[test]
fn a_failed_transaction_keeps_a_client_busy_and_counts_as_failure() {
    let mut trial = seconds_of(&[15]);
    for _ in 0..5 {
        trial.total.failure(EVENT, OperationKind::Transaction, 100_000_000);
        trial.total.error(&ErrorKey::new(ErrorClass::Deadlock, "1213"), Disposition::Ignored);
    }
    trial.total.error(&ErrorKey::new(ErrorClass::Busy, ""), Disposition::Retried);
    let summary = summarize(&trial.measured());
    assert!(near(summary.transactions_per_s, 15.0) && near(summary.failure_rate, 0.25));
    assert_eq!((summary.failed_transactions, summary.retries), (5, 1));
    assert_eq!(summary.latency.count, 15);
    assert!(near(summary.littles_law.unwrap().accounted_for, 2.0));
}

#[test]
fn a_time_out_is_a_failure_that_percentiles_know() {
    let mut trial = seconds_of(&[9]);
    trial.total.timeout(EVENT, OperationKind::Transaction, 500_000_000);
    let summary = summarize(&trial.measured());
    assert!(near(summary.failure_rate, 0.1) && near(summary.transactions_per_s, 9.0));
    let event = &summary.operations[0];
    assert_eq!((event.succeeded, event.timed_out, event.failed), (9, 1, 0));
    assert!(summary.latency.percentile_ns(99.0).unwrap() >= 500_000_000);
    assert!(event.latency.percentile_ns(99.0).unwrap() >= 500_000_000);
}

#[test]
fn fairness_is_mean_and_population_deviation_over_clients() {
    let fairness = fairness(&[8, 12]).unwrap();
    assert!(near(fairness.mean, 10.0) && near(fairness.standard_deviation, 2.0));
    assert!(near(fairness.variation(), 0.2));
    assert_eq!((fairness.min, fairness.max), (8, 12));
    assert_eq!(super::fairness(&[8]), None);
}

#[test]
fn costs_are_per_unit_of_work() {
    let trial = seconds_of(&[20, 20]);
    let usage = Usage { user_ns: 600_000_000, system_ns: 400_000_000, switches: 80, threads: 2 };
    let summary = summarize(&Measured { usage: Some(usage), ..trial.measured() });
    assert!(near(summary.client_cpu_threads.unwrap(), 0.5));
    let transaction = summary.cost_per_transaction.unwrap();
    assert!(near(transaction.cpu_us().unwrap(), 25_000.0));
    assert!(near(transaction.switches.unwrap(), 2.0));
    let query = summary.cost_per_query.unwrap();
    assert!(near(query.sent_bytes, 30.0) && near(query.received_bytes, 300.0));
    assert!(near(query.user_us.unwrap(), 7_500.0));
}

#[test]
fn a_short_last_interval_has_no_rate() {
    let mut trial = seconds_of(&[20, 20, 0]);
    trial.slices[2].seconds = 0.1;
    let summary = summarize(&trial.measured());
    assert_eq!(summary.throughput_variation, Some(0.0));
    assert!(near(summary.transactions_per_s, 40.0 / 2.1));
}

#[test]
fn a_trial_without_load_has_zero_figures() {
    let trial = seconds_of(&[]);
    let summary = summarize(&Measured { client_events: &[], ..trial.measured() });
    assert_eq!(
        (summary.seconds, summary.transactions_per_s, summary.failure_rate),
        (0.0, 0.0, 0.0)
    );
    assert!(summary.seconds.is_sign_positive(), "shown, -0 s would be wrong");
    assert_eq!(summary.latency.known(), None);
    assert_eq!((summary.littles_law, summary.cost_per_query), (None, None));
    assert_eq!((summary.fairness, summary.throughput_variation), (None, None));
}

#[test]
fn latencies_are_of_what_was_due_and_rates_of_what_ended() {
    let mut trial = seconds_of(&[20]);
    // One transaction had been due 900 ms before the window and ended in it, another one ended after it.
    trial.total.success(EVENT, OperationKind::Transaction, 1_000_000_000);
    trial.edges.before[0].succeeded.record(1_000_000_000);
    trial.edges.busy_before_ns = 900_000_000;
    trial.edges.drain.success(EVENT, OperationKind::Transaction, 300_000_000);
    trial.edges.drain.failure(EVENT, OperationKind::Transaction, 1);
    trial.edges.drain.error(&ErrorKey::new(ErrorClass::Deadlock, "1213"), Disposition::Ignored);
    trial.edges.busy_after_ns = 100_000_000;
    let summary = summarize(&trial.measured());
    assert_eq!((summary.transactions, summary.latency.count), (21, 21));
    assert!((summary.latency.max_ns as f64 / 3e8 - 1.0).abs() < 1e-3, "the second is not due here");
    assert_eq!(summary.operations[0].succeeded, 21);
    assert_eq!(summary.operations[0].latency, summary.latency);
    let edges =
        EdgeSummary { before: 1, succeeded_after: 1, failed_after: 1, ..Default::default() };
    assert_eq!(summary.edges, edges);
    // What failed after the window is in no rate, and still among the errors.
    assert_eq!((summary.failed_transactions, summary.errors.len()), (0, 1));
    // 20 x 100 ms, and 100 ms of either of the two.
    assert!(near(summary.littles_law.unwrap().accounted_for, 2.2));
}

#[test]
fn what_was_never_answered_makes_lower_bounds() {
    let mut trial = seconds_of(&[20]);
    (0..10).for_each(|_| trial.edges.unanswered.record(50_000_000));
    let summary = summarize(&trial.measured());
    let latency = &summary.latency;
    assert_eq!((latency.count, latency.unanswered), (30, 10));
    assert!(latency.percentile(99.0).1 && latency.max().1 && latency.mean().1);
    let half = latency.bounds(50.0).unwrap();
    assert!(half.is_exact(), "the 15th of 30 is one of 20 x 100 ms either way: {half:?}");
    assert_eq!(summary.operations[0].latency.unanswered, 10);
    assert_eq!(summary.operations[1].latency.unanswered, 0);
}
