//! The checks over time on simulated trials whose truth is known: a queue that keeps up makes findings by chance in
//! at most one trial of a hundred; one that does not keep up, and a system that drifts, are found.

use std::collections::{BTreeMap, VecDeque};

use measure::{LatencyHistogram, OperationId, OperationKind};

use crate::draws::Draws;
use crate::level_change::level_change;
use crate::measured::{Measured, Offered, Slice};
use crate::summary::tests::{Trial, seconds_of};
use crate::trend::trend;
use crate::{check, summarize};

const TRIALS: usize = 1_000;
const FOUND_MAX: usize = TRIALS / 100;
const MS: f64 = 1e6;
/// The mean service time, ns.
const SERVICE: f64 = 10.0 * MS;

fn service(draws: &mut Draws, distribution: Service) -> f64 {
    match distribution {
        Service::Constant => 1.0,
        Service::Exponential => draws.exponential(),
        // A standard deviation of 1.5 means.
        Service::Lognormal => {
            let variance = 3.25_f64.ln();
            (variance.sqrt() * draws.normal() - variance / 2.0).exp()
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Service {
    Constant,
    Exponential,
    Lognormal,
}

#[derive(Clone, Copy, Debug)]
enum Load {
    /// Poisson arrivals at this part of the server's capacity.
    Poisson(f64),
    /// Even arrivals, the same.
    Even(f64),
    /// This many clients, with a think time in service times.
    Closed(usize, f64),
}

/// A transaction of the queue, times in ns.
struct Turn {
    client: usize,
    intended: f64,
    start: f64,
    end: f64,
}

/// One server and one queue, which go on from trial to trial, so that every trial but the first is in a steady
/// state.
struct Server {
    draws: Draws,
    service: Service,
    load: Load,
    free_at: f64,
    /// The next start of each client of a closed loop, or the next arrival.
    ready: Vec<f64>,
    /// Transactions that have arrived and not ended, in the order of their ends.
    in_system: VecDeque<Turn>,
    /// The end of the last trial.
    now: f64,
}

impl Server {
    fn new(service: Service, load: Load) -> Self {
        let clients = if let Load::Closed(clients, _) = load { clients } else { 1 };
        let (draws, ready, in_system) = (Draws(11), vec![0.0; clients], VecDeque::new());
        Self { draws, service, load, free_at: 0.0, ready, in_system, now: 0.0 }
    }

    /// Serves the next transaction that is ready before a time.
    fn serve(&mut self, before: f64) -> Option<f64> {
        let earliest = self.ready.iter().enumerate().min_by(|one, other| one.1.total_cmp(other.1));
        let (client, intended) = earliest.map(|(client, at)| (client, *at))?;
        if intended >= before {
            return None;
        }
        let start = intended.max(self.free_at);
        let end = start + SERVICE * service(&mut self.draws, self.service);
        self.free_at = end;
        self.ready[client] = match self.load {
            Load::Poisson(part) => intended + SERVICE / part * self.draws.exponential(),
            Load::Even(part) => intended + SERVICE / part,
            Load::Closed(_, think) => end + think * SERVICE,
        };
        self.in_system.push_back(Turn { client, intended, start, end });
        Some(intended)
    }

    /// A trial of so many intervals, each of so many mean service times. Returns the transactions of each client,
    /// too.
    fn trial(&mut self, intervals: usize, services: f64) -> (Trial, Vec<u64>) {
        let mut trial = seconds_of(&[]);
        let (from, length) = (self.now, services * SERVICE);
        self.now += intervals as f64 * length;
        let is_open = !matches!(self.load, Load::Closed(..));
        let arrivals = is_open.then_some(0);
        trial.slices =
            vec![Slice { seconds: length / 1e9, arrivals, ..Slice::default() }; intervals];
        let slice_of = |at: f64| (((at - from) / length) as usize).min(intervals - 1);
        while let Some(at) = self.serve(self.now) {
            if let Some(arrivals) = &mut trial.slices[slice_of(at)].arrivals {
                *arrivals += 1;
                trial.total.arrivals += 1;
            }
        }
        let mut clients = vec![0; self.ready.len()];
        let has_ended = self.in_system.partition_point(|turn| turn.end < self.now);
        for turn in self.in_system.drain(..has_ended) {
            let latency = (turn.end - turn.intended) as u64;
            trial.total.success(OperationId(0), OperationKind::Transaction, latency);
            if is_open {
                trial.total.service(OperationId(0), (turn.end - turn.start) as u64);
            }
            let slice = &mut trial.slices[slice_of(turn.end)];
            (slice.transactions, slice.ended) = (slice.transactions + 1, slice.ended + 1);
            slice.busy_ns += latency;
            clients[turn.client] += 1;
            trial.edges.busy_before_ns += (from - turn.intended).max(0.0) as u64;
        }
        let in_system = self.in_system.iter().map(|turn| self.now - turn.intended.max(from));
        trial.edges.busy_after_ns = in_system.sum::<f64>() as u64;
        (trial, clients)
    }

    /// The codes of the findings about the next trial.
    fn found(&mut self, intervals: usize, services: f64) -> Vec<&'static str> {
        let (trial, client_events) = self.trial(intervals, services);
        let lateness = LatencyHistogram::new();
        let offered = |part: f64, is_random| {
            let rate_per_s = part * 1e9 / SERVICE;
            Offered {
                rate_per_s,
                is_constant: true,
                is_random,
                lateness: &lateness,
                start_delays: &lateness,
            }
        };
        let (open, think_time) = match self.load {
            Load::Poisson(part) => (Some(offered(part, true)), 0.0),
            Load::Even(part) => (Some(offered(part, false)), 0.0),
            Load::Closed(_, think) => (None, think * SERVICE),
        };
        let input = Measured {
            clients: client_events.len(),
            client_events: &client_events,
            think_time_ns: think_time as u64,
            percentiles: &[50.0],
            open,
            ..trial.measured()
        };
        check(&input, &summarize(&input)).iter().map(|finding| finding.code.name()).collect()
    }
}

#[test]
fn no_check_warns_of_more_than_one_stationary_trial_in_a_hundred() {
    // The last two: one client and its think time, and more clients than the server needs to be busy.
    let loads = [
        (Load::Poisson(0.5), 15, 20.0),
        (Load::Poisson(0.95), 15, 20.0),
        (Load::Closed(1, 1.0), 6, 50.0),
        (Load::Closed(8, 0.0), 15, 20.0),
    ];
    for service in [Service::Exponential, Service::Lognormal] {
        for (load, intervals, services) in loads {
            let mut server = Server::new(service, load);
            server.trial(1, 10_000.0);
            let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
            for _ in 0..TRIALS {
                for code in server.found(intervals, services) {
                    *counts.entry(code).or_default() += 1;
                }
            }
            let is_rare = counts.values().all(|count| *count <= FOUND_MAX);
            assert!(is_rare, "{service:?} {load:?}: {counts:?}");
        }
    }
}

/// The number of trials that have a finding with this code.
fn times_found(code: &str, server: &mut Server, trials: usize, intervals: usize) -> usize {
    let mut found = || server.found(intervals, 100.0).contains(&code);
    (0..trials).filter(|_| found()).count()
}

#[test]
fn five_percent_too_much_for_ten_minutes_is_an_overload() {
    // 105 arrivals a second for a server of 100.
    for (service, load) in [
        (Service::Exponential, Load::Poisson(1.05)),
        (Service::Constant, Load::Poisson(1.05)),
        (Service::Constant, Load::Even(1.05)),
    ] {
        // Each from an empty queue.
        let found = |seed: u64| {
            let mut server = Server { draws: Draws(seed), ..Server::new(service, load) };
            times_found("rate-missed", &mut server, 1, 600)
        };
        let times: usize = (0..20).map(found).sum();
        assert_eq!(times, 20, "{service:?} {load:?}");
    }
}

#[test]
fn any_growth_is_an_overload_when_nothing_is_random() {
    // One arrival in 200 is too much: 30 wait after a minute.
    let mut server = Server::new(Service::Constant, Load::Even(1.005));
    assert_eq!(times_found("rate-missed", &mut server, 1, 60), 1);
    let mut server = Server::new(Service::Constant, Load::Even(1.0));
    assert_eq!(times_found("rate-missed", &mut server, 1, 60), 0);
}

#[test]
fn latencies_that_grow_with_the_time_measured_are_no_second_finding() {
    let mut server = Server::new(Service::Constant, Load::Even(1.05));
    assert_eq!(server.found(60, 100.0), ["rate-missed"]);
}

/// So many values around 1 with a drift, and noise that is the sum of white noise and of an autoregression.
fn drifting(
    draws: &mut Draws,
    values: usize,
    drift: f64,
    white: f64,
    kept: f64,
    slow: f64,
) -> Vec<f64> {
    let mut state = draws.normal();
    let mut value = |at: usize| {
        state = kept * state + (1.0 - kept * kept).sqrt() * draws.normal();
        let line = drift * at as f64 / (values - 1) as f64;
        1.0 + line + white * draws.normal() + slow * state
    };
    (0..values).map(&mut value).collect()
}

/// The number of series of a thousand in which a trend is significant.
fn significant(values: usize, drift: f64, white: f64, kept: f64, slow: f64) -> usize {
    let mut draws = Draws(5);
    let mut is_found = || {
        let series = drifting(&mut draws, values, drift, white, kept, slow);
        trend(&series).is_some_and(|trend| trend.is_significant)
    };
    (0..TRIALS).filter(|_| is_found()).count()
}

#[test]
fn noise_that_lasts_is_no_trend() {
    for values in [6, 10, 60] {
        for kept in [0.0, 0.5, 0.9, 0.99] {
            for white in [0.0, 0.05] {
                let found = significant(values, 0.0, white, kept, 0.05);
                assert!(found <= FOUND_MAX, "{values} {kept} {white}: {found}");
            }
        }
    }
}

#[test]
fn a_drift_of_a_fifth_is_found_in_noise() {
    // A minute with 1 % of white noise, 10 s with 0.5 %, and a minute in which half of 1 % lasts for 10 s.
    for (values, white, kept, slow) in
        [(60, 0.01, 0.0, 0.0), (10, 0.005, 0.0, 0.0), (60, 0.005, 0.9, 0.005)]
    {
        let found = significant(values, -0.2, white, kept, slow);
        assert!(found >= TRIALS * 9 / 10, "{values} {white} {kept} {slow}: {found}");
    }
}

/// In how many series of a thousand the level changes; `rise` is added to the second half.
fn changing(values: usize, rise: f64, white: f64, kept: f64, slow: f64) -> usize {
    let mut draws = Draws(7);
    let mut is_found = || {
        let mut series = drifting(&mut draws, values, 0.0, white, kept, slow);
        series[values / 2..].iter_mut().for_each(|value| *value += rise);
        level_change(&series).is_some()
    };
    (0..TRIALS).filter(|_| is_found()).count()
}

#[test]
fn noise_that_lasts_is_no_change_of_level() {
    for values in [10, 15, 60, 300] {
        for kept in [0.0, 0.5, 0.9, 0.99] {
            for white in [0.0, 0.05] {
                let found = changing(values, 0.0, white, kept, 0.05);
                assert!(found <= FOUND_MAX, "{values} {kept} {white}: {found}");
            }
        }
    }
}

#[test]
fn a_rise_of_a_fifth_is_found_in_noise() {
    // A minute with 4 % of white noise, 15 s with 2 %, and a minute in which half of 2 % lasts for 10 s.
    for (values, white, kept, slow) in
        [(60, 0.04, 0.0, 0.0), (15, 0.02, 0.0, 0.0), (60, 0.01, 0.9, 0.01)]
    {
        let found = changing(values, 0.2, white, kept, slow);
        assert!(found >= TRIALS * 9 / 10, "{values} {white} {kept} {slow}: {found}");
    }
}
