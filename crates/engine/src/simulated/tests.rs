//! Tests of the whole engine on the simulated system: its counts must equal those that arithmetic gives.

mod shared_connection;

use std::io;
use std::time::Duration;

use measure::{ErrorClass, Failure, Interval, OperationTally, Phase, Tally};
use plan::{Arrivals, Limit, Rate, Stall};

use super::*;
use crate::{LoadEnd, OfferedLoad, Outcome, Pacing, Schedule, Stop, TrialObserver, Workers, offer};

const MS: Nanos = 1_000_000;

#[derive(Default)]
struct RecordingObserver {
    intervals: Vec<Interval>,
    phases: Vec<Phase>,
}

impl TrialObserver for RecordingObserver {
    fn begins(&mut self, phase: Phase) -> io::Result<()> {
        self.phases.push(phase);
        Ok(())
    }

    fn interval(&mut self, interval: &Interval) -> io::Result<()> {
        self.intervals.push(interval.clone());
        Ok(())
    }

    fn ends(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn trial(
    clients: usize,
    think_time_ns: Nanos,
    limit: Limit,
    warm_up: Duration,
) -> (Outcome, RecordingObserver) {
    let system =
        SimulatedSystem { servers: 2, service_times_ns: vec![10 * MS], stalls: Vec::new() };
    let offered =
        OfferedLoad { warm_up, limit, ..offered(clients, Pacing::Closed { think_time_ns }) };
    run(&system, &offered)
}

fn offered(clients: usize, pacing: Pacing) -> OfferedLoad {
    OfferedLoad {
        clients,
        workers: Workers::Simulated,
        pacing,
        warm_up: Duration::ZERO,
        limit: Limit::Time(Duration::from_secs(10)),
        interval: Duration::from_secs(1),
        connect_timeout: Duration::from_secs(1),
        reconnect_limit: None,
        drain_timeout: Duration::from_secs(2),
    }
}

fn run(system: &SimulatedSystem, offered: &OfferedLoad) -> (Outcome, RecordingObserver) {
    run_load(&Simulated::new(system.clone()), offered)
}

fn run_load(load: &dyn Load, offered: &OfferedLoad) -> (Outcome, RecordingObserver) {
    let mut kept = RecordingObserver::default();
    let outcome = offer(offered, load, &Stop::new(), &mut kept).unwrap();
    (outcome, kept)
}

fn open_loop(rate_per_s: f64, backlog_max: u64) -> Pacing {
    let schedule = Schedule::new(&Rate::constant(rate_per_s), Duration::ZERO);
    Pacing::Open { schedule, spread: Arrivals::Constant, seed: 1, backlog_max }
}

/// All measured intervals as one.
fn total(kept: &RecordingObserver) -> OperationTally {
    let mut total = Tally::new(1);
    let measured = kept.intervals.iter().filter(|interval| interval.phase == Phase::Measure);
    measured.for_each(|interval| total.merge(&interval.tally));
    total.operations.remove(0)
}

fn assert_near(seen_ns: Nanos, exact_ns: Nanos) {
    // The histogram keeps three digits.
    let difference = (seen_ns as f64 / exact_ns as f64 - 1.0).abs();
    assert!(difference < 1e-3, "{seen_ns} ns against {exact_ns} ns");
}

fn transactions(kept: &RecordingObserver, phase: Phase) -> u64 {
    let of_phase = kept.intervals.iter().filter(|interval| interval.phase == phase);
    of_phase.map(|interval| interval.tally.transactions).sum()
}

#[test]
fn two_servers_of_ten_milliseconds_serve_two_hundred_a_second() {
    let (outcome, kept) = trial(6, 0, Limit::Time(Duration::from_secs(3)), Duration::from_secs(2));
    assert_eq!(outcome.ended, LoadEnd::Complete);
    assert_eq!(kept.phases, [Phase::WarmUp, Phase::Measure]);
    assert_eq!(kept.intervals.len(), 5);
    // The answers at exactly 5 s lie outside of [0 s, 5 s).
    assert_eq!(transactions(&kept, Phase::WarmUp), 398);
    assert_eq!(transactions(&kept, Phase::Measure), 600);
    // Six clients and two servers: each request waits for two rounds of service before its own.
    let latencies = &kept.intervals[4].tally.operations[0].succeeded;
    assert_eq!(latencies.count(), 200);
    assert!((latencies.mean_ns() / (30 * MS) as f64 - 1.0).abs() < 1e-3);
}

#[test]
fn think_time_lowers_the_rate_as_the_interactive_law_says() {
    // X = N / (R + Z) = 1 / (10 ms + 30 ms) = 25/s; the last answer of each second is at its end.
    let limit = Limit::Time(Duration::from_secs(4));
    let (_, kept) = trial(1, 30 * MS, limit, Duration::ZERO);
    assert_eq!(transactions(&kept, Phase::Measure), 100);
}

#[test]
fn an_event_limit_is_met_exactly() {
    let (outcome, kept) = trial(3, 0, Limit::Events(101), Duration::from_millis(500));
    assert_eq!(outcome.clients.iter().map(|client| client.events).sum::<u64>(), 101);
    assert_eq!(transactions(&kept, Phase::Measure), 101);
    assert_eq!(outcome.unfinished.latencies.count(), 0);
}

/// A stall of one second, 5 s into 10 s at 1,000 requests a second, each of 0.1 ms. The request that arrives k ms
/// into the stall is answered 1,000 - k + 0.1 ms later: 1,000 of 10,000 requests have latencies that are evenly
/// spread from 1.1 ms to 1,000.1 ms, all others 0.1 ms.
fn stalled(clients: usize) -> (Outcome, RecordingObserver) {
    let stall = Stall { at_ns: 5_000 * MS, length_ns: 1_000 * MS };
    let system =
        SimulatedSystem { servers: 10_000, service_times_ns: vec![MS / 10], stalls: vec![stall] };
    run(&system, &offered(clients, open_loop(1000.0, 100_000)))
}

#[test]
fn a_stall_shows_in_the_percentiles_as_computed() {
    let (outcome, kept) = stalled(2_000);
    let total = total(&kept);
    assert_eq!(outcome.ended, LoadEnd::Complete);
    assert_eq!(total.succeeded.count(), 10_000);
    assert_near(total.succeeded.percentile_ns(90.0), MS / 10);
    // After the 9,000 fast ones: the 500th, the 900th and the 990th of the requests in the stall, ascending.
    assert_near(total.succeeded.percentile_ns(95.0), 500 * MS + MS / 10);
    assert_near(total.succeeded.percentile_ns(99.0), 900 * MS + MS / 10);
    assert_near(total.succeeded.percentile_ns(99.9), 990 * MS + MS / 10);
    assert_near(total.succeeded.max_ns(), 1_000 * MS + MS / 10);
}

#[test]
fn response_times_include_a_stall_that_service_times_hide() {
    // With ten clients, only ten requests are in the stall; the others wait for a client.
    let (_, kept) = stalled(10);
    let total = total(&kept);
    assert_eq!(total.succeeded.count(), 10_000);
    assert_eq!(total.service.count(), 10_000);
    assert!(total.succeeded.percentile_ns(95.0) > 450 * MS);
    assert_near(total.service.percentile_ns(99.0), MS / 10);
    assert_near(total.service.max_ns(), 1_000 * MS + MS / 10);
}

#[test]
fn lateness_counts_only_transactions_with_a_waiting_client() {
    // A virtual clock is never late; turns for which no client was free during the stall do not count.
    let (outcome, _) = stalled(10);
    assert_eq!(outcome.lateness.max_ns(), 0);
    assert!((8_000..=9_010).contains(&outcome.lateness.count()), "{}", outcome.lateness.count());
    let (closed, _) = trial(3, MS, Limit::Events(50), Duration::ZERO);
    assert!(closed.lateness.is_empty());
}

#[test]
fn a_stall_at_the_end_is_not_lost() {
    let stall = Stall { at_ns: 9_500 * MS, length_ns: 1_000 * MS };
    let system =
        SimulatedSystem { servers: 100, service_times_ns: vec![MS / 10], stalls: vec![stall] };
    let (outcome, kept) = run(&system, &offered(20, open_loop(100.0, 1_000)));
    // 50 requests arrive in the last half second: 20 are in flight, 30 find no client.
    assert_eq!(transactions(&kept, Phase::Measure), 950);
    assert_eq!(outcome.unfinished.latencies.count(), 50);
    assert_eq!(outcome.unfinished.unanswered, 30);
    assert_near(outcome.unfinished.latencies.max_ns(), 1_000 * MS + MS / 10);
}

#[test]
fn an_overload_ends_the_trial_with_the_backlog() {
    // 100/s arrive and 50/s are served: after 4 s, 200 wait.
    let system =
        SimulatedSystem { servers: 1, service_times_ns: vec![20 * MS], stalls: Vec::new() };
    let (outcome, kept) = run(&system, &offered(10, open_loop(100.0, 200)));
    assert_eq!(outcome.ended, LoadEnd::Overloaded { backlog: 201 });
    assert!(kept.intervals.len() < 7, "it ends soon after 4 s, not after 10 s");
}

#[test]
fn the_backlog_of_an_overload_is_that_of_all_workers() {
    // No request is answered, on two event loops that share 20,000/s and a limit of 1,000.
    let system =
        SimulatedSystem { servers: 1, service_times_ns: vec![900_000 * MS], stalls: Vec::new() };
    let workers = Workers::EventLoops(2);
    let drain_timeout = Duration::ZERO;
    let offered = OfferedLoad { workers, drain_timeout, ..offered(2, open_loop(20_000.0, 1_000)) };
    let (outcome, _) = run(&system, &offered);
    let LoadEnd::Overloaded { backlog } = outcome.ended else { panic!("{:?}", outcome.ended) };
    // Each loop has half of them; the second to reach the limit has as many, or more.
    assert!(backlog > 950, "{backlog}");
}
