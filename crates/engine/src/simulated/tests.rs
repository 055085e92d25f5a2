//! Tests of the whole engine on the simulated system: its counts must equal those that arithmetic gives.

mod blocking;
mod bound_threads;
mod generators;
mod phase_ends;
mod shared_connection;
mod stuck;

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use measure::{
    Edges, ErrorClass, Failure, Interval, OperationId, OperationTally, Outage, Phase, Tally,
    TimedTurn,
};
use plan::{Arrivals, Limit, Rate, ServiceDistribution, Stall};

use super::*;
use crate::{
    LoadEnd, OfferedLoad, Outcome, Pacing, PhaseEnds, Schedule, Stop, TrialObserver, Workers, offer,
};

const MS: Nanos = 1_000_000;

#[derive(Default)]
struct RecordingObserver {
    outages: Vec<Outage>,
    intervals: Vec<Interval>,
    phases: Vec<Phase>,
    /// The ends of intervals after which it has seen enough.
    ends: Vec<Nanos>,
    /// The workers that were missing in each interval that was passed on without some.
    missing: Vec<Vec<usize>>,
    lost: Vec<(usize, String)>,
    /// For each generator, how many transactions it has reported.
    of_generators: BTreeMap<usize, u64>,
    /// Stopped after so many intervals.
    stops: Option<(usize, Stop)>,
}

impl TrialObserver for RecordingObserver {
    fn begins(&mut self, phase: Phase, _late_ns: Nanos) -> io::Result<()> {
        self.phases.push(phase);
        Ok(())
    }

    fn interval(&mut self, interval: &Interval) -> io::Result<()> {
        self.intervals.push(interval.clone());
        if let Some((_, stop)) = self.stops.take_if(|(after, _)| *after <= self.intervals.len()) {
            stop.ask();
        }
        Ok(())
    }

    fn part(&mut self, part: &Interval, missing: &[usize]) -> io::Result<()> {
        if !missing.is_empty() {
            self.missing.push(missing.to_vec());
        }
        self.interval(part)
    }

    fn generator_lost(&mut self, generator: usize, _at: Nanos, reason: &str) {
        self.lost.push((generator, reason.to_owned()));
    }

    fn generator_interval(&mut self, generator: usize, part: &Interval) {
        *self.of_generators.entry(generator).or_default() += part.tally.transactions;
    }

    fn has_enough(&mut self) -> bool {
        self.intervals.last().is_some_and(|interval| self.ends.contains(&interval.end_ns))
    }

    fn outages(&mut self, outages: &[Outage]) -> io::Result<()> {
        self.outages = outages.to_vec();
        Ok(())
    }

    fn ends(&mut self, _late_ns: Nanos) -> io::Result<()> {
        Ok(())
    }
}

fn trial(
    clients: usize,
    think_time_ns: Nanos,
    limit: Limit,
    warm_up: Duration,
) -> (Outcome, RecordingObserver) {
    let system = system(2, vec![10 * MS], Vec::new());
    let offered =
        OfferedLoad { warm_up, limit, ..offered(clients, Pacing::Closed { think_time_ns }) };
    run(&system, &offered)
}

fn system(servers: usize, service_times_ns: Vec<Nanos>, stalls: Vec<Stall>) -> SimulatedSystem {
    let distribution = ServiceDistribution::Constant;
    let (operations, noise) = (1, Vec::new());
    SimulatedSystem { servers, operations, service_times_ns, distribution, stalls, noise }
}

fn offered(clients: usize, pacing: Pacing) -> OfferedLoad {
    OfferedLoad { clients, pacing, ..OfferedLoad::example() }
}

fn run(system: &SimulatedSystem, offered: &OfferedLoad) -> (Outcome, RecordingObserver) {
    run_load(&Simulated::new(system.clone(), SimulatedChance::default()), offered)
}

fn run_load(load: &dyn Load, offered: &OfferedLoad) -> (Outcome, RecordingObserver) {
    run_until(load, offered, Vec::new())
}

/// Runs a load whose observer has seen enough of a phase with the intervals that end then.
fn run_until(
    load: &dyn Load,
    offered: &OfferedLoad,
    ends: Vec<Nanos>,
) -> (Outcome, RecordingObserver) {
    let mut kept = RecordingObserver { ends, ..RecordingObserver::default() };
    let outcome = offer(offered, load, &Stop::new(), &mut kept).unwrap();
    (outcome, kept)
}

fn open_loop(rate_per_s: f64, backlog_max: u64) -> Pacing {
    let schedule = Schedule::new(&Rate::constant(rate_per_s), Duration::ZERO);
    Pacing::Open { schedule, spread: Arrivals::Constant, seed: 1, backlog_max }
}

fn measured(kept: &RecordingObserver) -> Tally {
    let mut total = Tally::new(1);
    let measured = kept.intervals.iter().filter(|interval| interval.phase == Phase::Measure);
    measured.for_each(|interval| total.merge(&interval.tally));
    total
}

fn total(kept: &RecordingObserver) -> OperationTally {
    measured(kept).operations.remove(0)
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
fn requests_are_of_each_kind_in_turn() {
    let one = system(1, vec![10 * MS, 30 * MS], Vec::new());
    let load = Simulated::new(SimulatedSystem { operations: 2, ..one }, SimulatedChance::default());
    let names: Vec<&str> = load.operations().iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["request 1", "request 2"]);
    let offered = OfferedLoad {
        limit: Limit::time(Duration::from_millis(401)),
        ..offered(1, Pacing::Closed { think_time_ns: 0 })
    };
    let (_, kept) = run_load(&load, &offered);
    let mut total = Tally::new(2);
    kept.intervals.iter().for_each(|interval| total.merge(&interval.tally));
    for (operation, exact_ns) in total.operations.iter().zip([10 * MS, 30 * MS]) {
        assert_eq!(operation.succeeded.count(), 10);
        assert_near(operation.succeeded.min_ns(), exact_ns);
        assert_near(operation.succeeded.max_ns(), exact_ns);
    }
}

#[test]
fn two_servers_of_ten_milliseconds_serve_two_hundred_a_second() {
    let (outcome, kept) = trial(6, 0, Limit::time(Duration::from_secs(3)), Duration::from_secs(2));
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
    let limit = Limit::time(Duration::from_secs(4));
    let (_, kept) = trial(1, 30 * MS, limit, Duration::ZERO);
    assert_eq!(transactions(&kept, Phase::Measure), 100);
}

#[test]
fn so_many_transactions_end_in_the_window_as_the_limit_says() {
    let (outcome, kept) = trial(3, 0, Limit::events(101), Duration::from_millis(505));
    assert_eq!(transactions(&kept, Phase::Measure), 101);
    assert_eq!(outcome.clients.iter().map(|client| client.events).sum::<u64>(), 101);
    // Three clients were in a transaction when the window began. When the last of 101 ends, two others are in one.
    assert_eq!(outcome.edges.before[0].succeeded.count(), 3);
    assert_eq!(outcome.edges.drain.transactions, 2);
    assert_eq!(outcome.edges.due(&measured(&kept))[0].succeeded.count(), 101 - 3 + 2);
    // Two servers answer every 10 ms: 101 answers take 51 rounds, the first one at 510 ms.
    assert_eq!(kept.intervals.last().unwrap().end_ns, 510 * MS + 50 * 10 * MS);
}

#[test]
fn the_limit_that_is_reached_first_ends_the_window() {
    let by_time = Limit { time: Some(Duration::from_secs(1)), events: Some(1_000) };
    let (_, kept) = trial(2, 0, by_time, Duration::ZERO);
    assert_eq!(kept.intervals.last().unwrap().end_ns, 1_000 * MS);
    let by_events = Limit { events: Some(100), ..by_time };
    let (outcome, kept) = trial(2, 0, by_events, Duration::ZERO);
    assert_eq!(kept.intervals.last().unwrap().end_ns, 500 * MS);
    assert_eq!(outcome.ended, LoadEnd::Complete);
}

/// A stall of one second, 5 s into 10 s at 1,000 requests a second, each of 0.1 ms. The request that arrives k ms
/// into the stall is answered 1,000 - k + 0.1 ms later: 1,000 of 10,000 requests have latencies that are evenly
/// spread from 1.1 ms to 1,000.1 ms, all others 0.1 ms.
fn stalled(clients: usize) -> (Outcome, RecordingObserver) {
    let stall = Stall { at_ns: 5_000 * MS, length_ns: 1_000 * MS };
    let system = system(10_000, vec![MS / 10], vec![stall]);
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
    let (closed, _) = trial(3, MS, Limit::events(50), Duration::ZERO);
    assert!(closed.lateness.is_empty());
}

#[test]
fn start_delays_are_those_of_all_transactions() {
    // 990 of 10,000 arrive in the stall and find no client; it lasts 1 s, and arrivals are 1 ms apart.
    let (outcome, _) = stalled(10);
    let delays = &outcome.start_delays;
    assert_eq!(delays.count(), 10_000);
    assert_near(delays.max_ns(), 990 * MS);
    assert_eq!(delays.percentile_ns(89.0), 0);
    let (closed, _) = trial(3, MS, Limit::events(50), Duration::ZERO);
    assert!(closed.start_delays.is_empty());
}

#[test]
fn a_stall_at_the_end_is_not_lost() {
    let stall = Stall { at_ns: 9_500 * MS, length_ns: 1_000 * MS };
    let system = system(100, vec![MS / 10], vec![stall]);
    let (outcome, kept) = run(&system, &offered(20, open_loop(100.0, 1_000)));
    // 50 requests arrive in the last half second: 20 are in flight, 30 find no client.
    assert_eq!(transactions(&kept, Phase::Measure), 950);
    let Edges { drain, unanswered, unsent, .. } = outcome.edges;
    assert_eq!((drain.transactions, unanswered.count(), unsent.count()), (20, 0, 30));
    // The first one came at 9.5 s and is answered with the end of the stall; the first without a client came at 9.7 s.
    assert_near(drain.operations[0].succeeded.max_ns(), 1_000 * MS + MS / 10);
    assert_near(unsent.max_ns(), 300 * MS);
    assert_eq!(outcome.ended, LoadEnd::Complete);
}

#[test]
fn an_overload_leaves_ages_and_an_area_without_the_drain() {
    // 20/s against 10/s for 10 s: the request k is due at k / 20 s and answered at (k + 1) / 10 s.
    let system = system(1, vec![100 * MS], Vec::new());
    let (outcome, kept) = run(&system, &offered(1, open_loop(20.0, 1_000)));
    let measured = measured(&kept);
    let edges = &outcome.edges;
    // The hundredth answer is at the end, outside of the window.
    assert_eq!((measured.transactions, edges.drain.transactions), (99, 1));
    assert_eq!((edges.unsent.count(), edges.unanswered.count()), (100, 0));
    assert_near(edges.unsent.max_ns(), 5_000 * MS);
    assert_near(edges.unsent.min_ns(), 50 * MS);
    // Half of what came is in the system: 10/s x t on average, from 0 to 100, and half a step of the arrivals.
    let busy_ns = measured.busy_ns + edges.busy_after_ns - edges.busy_before_ns;
    let exact: u64 = (0..200).map(|k| ((k + 1) * 100).min(10_000) - (k * 50)).sum();
    assert_eq!(busy_ns, exact * MS);
    assert_eq!(measured.arrivals, 200);
    assert!(kept.intervals.iter().all(|interval| interval.tally.arrivals == 20));
}

#[test]
fn what_straddles_the_begin_of_the_window_has_no_latency_in_it() {
    // One client and 1 s of service: the window from 1.5 to 4.5 s holds the begins at 2, 3 and 4 s, and the ends at 2, 3
    // and 4 s.
    let system = system(1, vec![1_000 * MS], Vec::new());
    let limit = Limit::time(Duration::from_secs(3));
    let warm_up = Duration::from_millis(1_500);
    let pacing = Pacing::Closed { think_time_ns: 0 };
    let (outcome, kept) = run(&system, &OfferedLoad { limit, warm_up, ..offered(1, pacing) });
    let measured = measured(&kept);
    assert_eq!(measured.transactions, 3);
    let edges = &outcome.edges;
    assert_eq!(edges.before[0].succeeded.count(), 1);
    assert_eq!(edges.due(&measured)[0].succeeded.count(), 3);
    assert_eq!((edges.busy_before_ns, edges.busy_after_ns), (500 * MS, 500 * MS));
    assert_eq!(measured.busy_ns + edges.busy_after_ns - edges.busy_before_ns, 3_000 * MS);
}

#[test]
fn a_system_that_stands_still_is_a_stall_and_not_a_complete_trial() {
    let stall = |at_s: Nanos, length_s: Nanos| Stall {
        at_ns: at_s * 1_000 * MS,
        length_ns: length_s * 1_000 * MS,
    };
    let system = |stalls| self::system(4, vec![MS], stalls);
    let closed = || offered(4, Pacing::Closed { think_time_ns: 0 });
    let (outcome, kept) = run(&system(vec![stall(2, 3)]), &closed());
    assert_eq!(outcome.ended, LoadEnd::Complete);
    // The answers at 2 s were due; the next ones come a millisecond after the stall.
    let [outage] = kept.outages[..] else { panic!("{:?}", kept.outages) };
    assert_eq!((outage.start_ns, outage.end_ns), (2_000 * MS, Some(5_001 * MS)));
    assert_eq!((outage.failures, outage.reconnects), (0, 0));
    let (outcome, _) = run(&system(vec![stall(2, 6)]), &closed());
    let (stalled_ns, window_ns) = (6_001 * MS, 10_000 * MS);
    assert_eq!(outcome.ended, LoadEnd::Stalled { stalled_ns, window_ns, since_ns: None });
    // To the end and beyond what is waited for answers.
    let (outcome, kept) = run(&system(vec![stall(8, 100)]), &closed());
    let (stalled_ns, since_ns) = (2_000 * MS, Some(8_000 * MS));
    assert_eq!(outcome.ended, LoadEnd::Stalled { stalled_ns, window_ns, since_ns });
    assert_eq!(kept.outages[0].end_ns, None);
    assert_eq!(outcome.edges.unanswered.count(), 4);
    let open = offered(4, open_loop(100.0, 10_000));
    let (_, kept) = run(&system(vec![stall(2, 3)]), &open);
    assert_eq!(kept.outages[0].start_ns, 2_000 * MS, "the request that came then waited");
}

#[test]
fn a_trial_in_which_nothing_succeeded_is_not_complete() {
    let system = system(1, vec![900_000 * MS], Vec::new());
    let (outcome, _) = run(&system, &offered(1, Pacing::Closed { think_time_ns: 0 }));
    assert_eq!(outcome.ended, LoadEnd::NoSuccess { failed: 0, most: None });
}

#[test]
fn a_number_of_events_that_are_never_answered_ends() {
    let system = system(1, vec![MS, 900_000 * MS], Vec::new());
    let limit = Limit::events(3);
    let (outcome, kept) =
        run(&system, &OfferedLoad { limit, ..offered(2, Pacing::Closed { think_time_ns: 0 }) });
    // The first of three is answered after 1 ms, and nothing after it: there the window ends, not seconds later.
    assert_eq!(transactions(&kept, Phase::Measure), 1);
    assert_eq!(kept.intervals.last().unwrap().end_ns, MS);
    assert_eq!(outcome.edges.unanswered.count(), 2);
}

#[test]
fn the_last_of_uneven_transactions_is_waited_for_and_the_times_of_each_are_kept() {
    // One server: 1 s, and then 5 s, which is longer than the wait for answers at the end of a window.
    let system = system(1, vec![1_000 * MS, 5_000 * MS], Vec::new());
    let offered = OfferedLoad {
        limit: Limit::events(2),
        runs_once: true,
        ..offered(1, Pacing::Closed { think_time_ns: 0 })
    };
    let (outcome, kept) = run(&system, &offered);
    assert_eq!(outcome.ended, LoadEnd::Complete);
    assert_eq!(transactions(&kept, Phase::Measure), 2);
    assert_eq!(outcome.edges.unanswered.count(), 0);
    let turn = |start_ns, end_ns| TimedTurn {
        client: 0,
        operation: OperationId(0),
        start_ns,
        end_ns,
        is_failed: false,
    };
    assert_eq!(outcome.turns, [turn(0, 1_000 * MS), turn(1_000 * MS, 6_000 * MS)]);
    let (outcome, _) = run(&system, &OfferedLoad { runs_once: false, ..offered });
    assert_eq!(outcome.turns, []);
}

#[test]
fn an_overload_ends_the_trial_with_the_backlog() {
    // 100/s arrive and 50/s are served: after 4 s, 200 wait.
    let system = system(1, vec![20 * MS], Vec::new());
    let (outcome, kept) = run(&system, &offered(10, open_loop(100.0, 200)));
    assert_eq!(outcome.ended, LoadEnd::Overloaded { backlog: 201 });
    assert!(kept.intervals.len() < 7, "it ends soon after 4 s, not after 10 s");
}

#[test]
fn the_backlog_of_an_overload_is_that_of_all_workers() {
    // No request is answered, on two event loops that share 20,000/s and a limit of 1,000.
    let system = system(1, vec![900_000 * MS], Vec::new());
    let workers = Workers::EventLoops(2);
    let drain_timeout = Duration::ZERO;
    let offered = OfferedLoad { workers, drain_timeout, ..offered(2, open_loop(20_000.0, 1_000)) };
    let (outcome, _) = run(&system, &offered);
    let LoadEnd::Overloaded { backlog } = outcome.ended else { panic!("{:?}", outcome.ended) };
    // Each loop has half of them; the second to reach the limit has as many, or more.
    assert!(backlog > 950, "{backlog}");
}
