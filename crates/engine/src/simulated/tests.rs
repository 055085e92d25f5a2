//! The whole engine on the simulated system: what it counts must be what arithmetic says.

use std::io;
use std::time::Duration;

use measure::{Interval, Phase};

use super::*;
use crate::{Ended, Limit, Observer, Offer, Outcome, Pacing, Stop, Workers, offer};

const MS: Nanos = 1_000_000;

#[derive(Default)]
struct Kept {
    intervals: Vec<Interval>,
    phases: Vec<Phase>,
}

impl Observer for Kept {
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

fn trial(clients: usize, think_time_ns: Nanos, limit: Limit, warm_up: Duration) -> (Outcome, Kept) {
    let load = Simulated::new(&SimulatedSystem { servers: 2, service_times_ns: vec![10 * MS] });
    let spec = Offer {
        clients,
        workers: Workers::Simulated,
        pacing: Pacing::Closed { think_time_ns },
        warm_up,
        limit,
        interval: Duration::from_secs(1),
        connect_timeout: Duration::from_secs(1),
        drain_timeout: Duration::from_secs(1),
    };
    let mut kept = Kept::default();
    let outcome = offer(&spec, &load, &Stop::new(), &mut kept).unwrap();
    (outcome, kept)
}

fn transactions(kept: &Kept, phase: Phase) -> u64 {
    let of_phase = kept.intervals.iter().filter(|interval| interval.phase == phase);
    of_phase.map(|interval| interval.tally.transactions).sum()
}

#[test]
fn two_servers_of_ten_milliseconds_serve_two_hundred_a_second() {
    let (outcome, kept) = trial(6, 0, Limit::Time(Duration::from_secs(3)), Duration::from_secs(2));
    assert_eq!(outcome.ended, Ended::Complete);
    assert_eq!(kept.phases, [Phase::WarmUp, Phase::Measure]);
    assert_eq!(kept.intervals.len(), 5);
    // The answers at exactly 5 s lie outside of [0 s, 5 s).
    assert_eq!(transactions(&kept, Phase::WarmUp), 398);
    assert_eq!(transactions(&kept, Phase::Measure), 600);
    // Six clients, two served: each waits for two rounds before its own.
    let latencies = &kept.intervals[4].tally.operations[0].succeeded;
    assert_eq!(latencies.count(), 200);
    assert!((latencies.mean_ns() / (30 * MS) as f64 - 1.0).abs() < 1e-3);
}

#[test]
fn think_time_lowers_the_rate_as_the_interactive_law_says() {
    // X = N / (R + Z) = 1 / (10 ms + 30 ms) = 25/s, the last answer of each second on its border.
    let limit = Limit::Time(Duration::from_secs(4));
    let (_, kept) = trial(1, 30 * MS, limit, Duration::ZERO);
    assert_eq!(transactions(&kept, Phase::Measure), 100);
}

#[test]
fn an_event_limit_is_met_exactly() {
    let (outcome, kept) = trial(3, 0, Limit::Events(101), Duration::from_millis(500));
    assert_eq!(outcome.clients.iter().map(|client| client.events).sum::<u64>(), 101);
    assert_eq!(transactions(&kept, Phase::Measure), 101);
    assert_eq!(outcome.unfinished.requests, 0);
}
