//! Phases that end because the observer has seen enough, in virtual and in real time.

use super::*;

const S: Nanos = 1_000 * MS;

/// Two servers of 10 ms for six clients: 200 a second. A warm-up of 2 s to 10 s, and 4 s to measure.
fn closed(ends: Vec<Nanos>) -> (Outcome, RecordingObserver) {
    let offered = OfferedLoad {
        warm_up: Duration::from_secs(10),
        limit: Limit::time(Duration::from_secs(4)),
        ends: PhaseEnds { warm_up_from: Some(Duration::from_secs(2)), measured: true },
        ..offered(6, Pacing::Closed { think_time_ns: 0 })
    };
    let load = Simulated::new(system(2, vec![10 * MS], Vec::new()), SimulatedChance::default());
    run_until(&load, &offered, ends)
}

fn window(kept: &RecordingObserver) -> (Nanos, Nanos) {
    let measured = || kept.intervals.iter().filter(|it| it.phase == Phase::Measure);
    (measured().next().unwrap().start_ns, measured().next_back().unwrap().end_ns)
}

fn assert_without_gaps(kept: &RecordingObserver) {
    let mut at = 0;
    for interval in &kept.intervals {
        assert_eq!(interval.start_ns, at);
        at = interval.end_ns;
    }
    assert!(kept.intervals.is_sorted_by_key(|interval| interval.phase));
}

#[test]
fn a_warm_up_ends_with_the_interval_that_was_enough() {
    let (outcome, kept) = closed(vec![3 * S]);
    assert_without_gaps(&kept);
    assert_eq!(window(&kept), (3 * S, 7 * S));
    assert_eq!(kept.phases, [Phase::WarmUp, Phase::Measure]);
    assert_eq!(outcome.ended, LoadEnd::Complete);
    // Two answers each 10 ms from 10 ms on: those at 3 s are in the window, those at 7 s are not.
    assert_eq!(transactions(&kept, Phase::WarmUp), 598);
    assert_eq!(transactions(&kept, Phase::Measure), 800);
    assert_eq!(outcome.clients.iter().map(|client| client.events).sum::<u64>(), 800);
    // Six were due before the window and ended in it, and six were due in it and ended after it.
    assert_eq!(outcome.edges.before[0].succeeded.count(), 6);
    assert_eq!(outcome.edges.drain.transactions, 6);
    assert_eq!(outcome.edges.due(&measured(&kept))[0].succeeded.count(), 800);
    // Little's law: six are in the system at any time.
    let Edges { busy_before_ns, busy_after_ns, .. } = outcome.edges;
    assert_eq!(measured(&kept).busy_ns + busy_after_ns - busy_before_ns, 6 * 4 * S);
}

#[test]
fn a_warm_up_is_as_long_as_it_must_be_and_not_longer_than_it_may_be() {
    assert_eq!(window(&closed(vec![S]).1), (2 * S, 6 * S), "not before 2 s");
    let (outcome, kept) = closed(Vec::new());
    assert_eq!((window(&kept), outcome.ended), ((10 * S, 14 * S), LoadEnd::Complete));
}

#[test]
fn measuring_ends_with_the_interval_that_was_enough() {
    let (outcome, kept) = closed(vec![3 * S, 5 * S]);
    assert_without_gaps(&kept);
    assert_eq!((window(&kept), outcome.ended), ((3 * S, 5 * S), LoadEnd::Complete));
    assert_eq!(transactions(&kept, Phase::Measure), 400);
    assert_eq!(outcome.edges.drain.transactions, 6);
    assert_eq!(outcome.edges.due(&measured(&kept))[0].succeeded.count(), 400);
}

#[test]
fn phases_of_a_planned_length_do_not_end_early() {
    let warm_up = Duration::from_secs(2);
    let offered = OfferedLoad { warm_up, ..offered(1, Pacing::Closed { think_time_ns: 0 }) };
    let load = Simulated::new(system(1, vec![MS], Vec::new()), SimulatedChance::default());
    let (_, kept) = run_until(&load, &offered, vec![S, 5 * S]);
    assert_eq!(window(&kept), (2 * S, 12 * S));
}

#[test]
fn arrivals_do_not_move_when_phases_end_early() {
    // One arrival each millisecond, 0.1 ms of service; some arrive just when an interval ends.
    let offered = OfferedLoad {
        warm_up: Duration::from_secs(10),
        ends: PhaseEnds { warm_up_from: Some(Duration::ZERO), measured: true },
        ..offered(10, open_loop(1000.0, 1_000))
    };
    let load = Simulated::new(system(10, vec![MS / 10], Vec::new()), SimulatedChance::default());
    let (outcome, kept) = run_until(&load, &offered, vec![3 * S, 5 * S]);
    assert_without_gaps(&kept);
    assert_eq!(window(&kept), (3 * S, 5 * S));
    assert!(kept.intervals.iter().all(|interval| interval.tally.arrivals == 1_000));
    assert_eq!(transactions(&kept, Phase::Measure), 2_000);
    let Edges { drain, unanswered, unsent, .. } = &outcome.edges;
    assert_eq!((drain.transactions, unanswered.count(), unsent.count()), (0, 0, 0));
    assert_eq!(outcome.start_delays.count(), 2_000);
}

#[test]
fn a_number_of_events_counts_from_the_end_of_the_warm_up() {
    let offered = OfferedLoad {
        warm_up: Duration::from_secs(10),
        limit: Limit::events(100),
        ends: PhaseEnds { warm_up_from: Some(Duration::ZERO), measured: false },
        ..offered(2, Pacing::Closed { think_time_ns: 0 })
    };
    let load = Simulated::new(system(2, vec![10 * MS], Vec::new()), SimulatedChance::default());
    let (outcome, kept) = run_until(&load, &offered, vec![2 * S]);
    assert_eq!(transactions(&kept, Phase::Measure), 100);
    // Two answers each 10 ms, the first ones at 2 s.
    assert_eq!((window(&kept), outcome.ended), ((2 * S, 2_490 * MS), LoadEnd::Complete));
}

#[test]
fn event_loops_agree_on_when_phases_end() {
    let offered = OfferedLoad {
        workers: Workers::EventLoops(3),
        warm_up: Duration::from_secs(20),
        limit: Limit::time(Duration::from_secs(20)),
        interval: Duration::from_millis(10),
        ends: PhaseEnds { warm_up_from: Some(Duration::from_millis(25)), measured: true },
        ..offered(6, Pacing::Closed { think_time_ns: 0 })
    };
    let load = Simulated::new(system(6, vec![MS], Vec::new()), SimulatedChance::default());
    let (outcome, kept) = run_until(&load, &offered, (5..2_000).map(|at| at * 40 * MS).collect());
    assert_without_gaps(&kept);
    let (start, end) = window(&kept);
    assert!(start > 200 * MS && end > start, "{start} to {end}");
    assert!(kept.intervals.iter().all(|it| it.end_ns - it.start_ns == 10 * MS));
    let events: u64 = outcome.clients.iter().map(|client| client.events).sum();
    assert_eq!((events, outcome.ended), (transactions(&kept, Phase::Measure), LoadEnd::Complete));
}
