//! What a path carries: the load generator against an echo server, with one request in flight on each connection and
//! with several.

use std::fs;
use std::io;
use std::num::NonZero;
use std::path::Path;

use anyhow::{Context, Result, bail};
use driver::Timeouts;
use driver::rpc::{Protocol, Service};
use engine::{LoadEnd, OfferedLoad, Outcome, Pacing, PhaseEnds, Stop, TrialObserver, Workers};
use measure::{
    Ceiling, CeilingLoad, CeilingRound, Interval, LatencyHistogram, Nanos, Phase, RoundTrips, Tally,
};
use net::FixedSizes;
use plan::{CeilingPlan, Limit};
use system::{Daemon, EchoProcess, ProgressListener};
use workload::{LoadKey, Rpc};

use crate::offer::{CONNECT_TIMEOUT, DRAIN_TIMEOUT};
use crate::usage::UsageMark;

/// A path whose ceiling is measured, and the messages on it.
#[derive(Clone, Debug)]
pub struct CeilingProbe<'a> {
    /// How often and how long; its `to` is not used.
    pub plan: &'a CeilingPlan,
    /// Host and port of the echo server.
    pub address: String,
    /// The process of the echo server, if it runs on this machine.
    pub server: Option<u32>,
    pub sizes: FixedSizes,
    /// Number of connections, at least 1.
    pub connections: usize,
    /// Event loops of the load generator.
    pub workers: usize,
    /// CPUs that these may use; empty for all.
    pub cpus: Vec<usize>,
}

/// Starts an echo server on this machine; it should have as many threads as the load generator has event loops.
///
/// # Errors
/// When it does not start, or a stop was requested.
pub fn start_echo(
    threads: usize,
    scratch: &Path,
    listener: &mut ProgressListener<'_>,
) -> Result<Daemon> {
    let threads = NonZero::new(threads).unwrap_or(NonZero::<usize>::MIN);
    EchoProcess { threads, cpus: None }.start(scratch, listener)
}

impl CeilingProbe<'_> {
    /// Measures in rounds. Each has one measurement with one request in flight on a connection and one with several;
    /// which comes first changes from round to round, so that a machine that drifts favours neither.
    ///
    /// # Errors
    /// When the server cannot be reached or does not answer every request, or a stop was requested.
    pub fn measure(&self, stop: &Stop) -> Result<Ceiling> {
        let protocol = Protocol::Tcp { announces: true };
        let service = Service::resolve(protocol, &format!("tcp://{}", self.address))?;
        if let Some(shortage) = service.shortages(self.connections).first() {
            bail!("{shortage}");
        }
        let mut loads = [1, self.plan.in_flight].map(LoadRounds::new);
        for round in 0..self.plan.rounds {
            for place in if round % 2 == 0 { [0, 1] } else { [1, 0] } {
                self.round(&service, &mut loads[place], stop)?;
            }
        }
        Ok(Ceiling {
            address: self.address.clone(),
            request_bytes: self.sizes.request,
            response_bytes: self.sizes.answer,
            connections: self.connections,
            loads: loads.into_iter().map(LoadRounds::finish).collect(),
        })
    }

    fn round(&self, service: &Service, load: &mut LoadRounds, stop: &Stop) -> Result<()> {
        let clients = self.connections.saturating_mul(load.in_flight);
        let timeouts = Timeouts { query: Some(DRAIN_TIMEOUT), ..Timeouts::default() };
        // Nothing is drawn: the seed is not used.
        let key = (0, LoadKey { clients, ..LoadKey::default() });
        let calls = Rpc::of_sizes(self.sizes, self.connections);
        let calls = calls.load(service, timeouts, key, stop)?;
        let offer = OfferedLoad {
            clients,
            workers: Workers::EventLoops(self.workers.min(self.connections)),
            cpus: self.cpus.clone(),
            pacing: Pacing::Closed { think_time_ns: 0 },
            warm_up: self.plan.warm_up(),
            limit: Limit::time(self.plan.time),
            ends: PhaseEnds::default(),
            runs_once: false,
            interval: self.plan.time,
            connect_timeout: CONNECT_TIMEOUT,
            reconnect_limit: None,
            drain_timeout: DRAIN_TIMEOUT,
            levers: None,
        };
        let mut counter = Counter::new(calls.operations().len(), self.server);
        let unanswered =
            || format!("requests to {0} fail: is there a `dyno echo` at {0}?", self.address);
        let outcome =
            engine::offer(&offer, calls.as_ref(), stop, &mut counter).with_context(unanswered)?;
        match outcome.ended {
            // A busy machine may stop both sides for a while; what counts is that every request was answered.
            LoadEnd::Complete | LoadEnd::Stalled { .. } if counter.is_all_answered(&outcome) => {}
            LoadEnd::Interrupted => bail!("interrupted while the ceiling was measured"),
            LoadEnd::AllClientsFailed(failure) | LoadEnd::Disconnected(failure) => {
                return Err(failure).with_context(unanswered);
            }
            _ => bail!(unanswered()),
        }
        load.add(&counter);
        Ok(())
    }
}

/// The measurements so far with one number of requests in flight.
struct LoadRounds {
    in_flight: usize,
    rounds: Vec<CeilingRound>,
    round_trips: LatencyHistogram,
}

impl LoadRounds {
    fn new(in_flight: usize) -> Self {
        Self { in_flight, rounds: Vec::new(), round_trips: LatencyHistogram::new() }
    }

    fn add(&mut self, counter: &Counter) {
        for operation in &counter.tally.operations {
            self.round_trips.merge(&operation.succeeded);
        }
        self.rounds.push(CeilingRound {
            requests: counter.tally.transactions,
            traffic: counter.tally.traffic,
            ..counter.round
        });
    }

    fn finish(self) -> CeilingLoad {
        let has_any = self.round_trips.count() > 0;
        let round_trips = has_any.then(|| RoundTrips {
            p50_ns: self.round_trips.percentile_ns(50.0),
            p99_ns: self.round_trips.percentile_ns(99.0),
            p99_9_ns: self.round_trips.percentile_ns(99.9),
        });
        CeilingLoad { in_flight: self.in_flight, rounds: self.rounds, round_trips }
    }
}

struct Counter {
    tally: Tally,
    round: CeilingRound,
    server: Option<u32>,
    client_mark: Option<UsageMark>,
    server_mark: Option<Nanos>,
}

impl Counter {
    fn new(operations: usize, server: Option<u32>) -> Self {
        Self {
            tally: Tally::new(operations),
            round: CeilingRound::default(),
            server,
            client_mark: None,
            server_mark: None,
        }
    }
}

impl Counter {
    /// Whether requests were answered, and none failed or got no answer.
    fn is_all_answered(&self, outcome: &Outcome) -> bool {
        let failed = self.tally.failed_transactions + outcome.edges.drain.failed_transactions;
        self.tally.transactions > 0 && failed == 0 && outcome.edges.unanswered.count() == 0
    }
}

impl TrialObserver for Counter {
    fn begins(&mut self, phase: Phase, late_ns: Nanos) -> io::Result<()> {
        if phase == Phase::Measure {
            self.server_mark = self.server.and_then(cpu_of);
            self.client_mark = Some(UsageMark::at_begin(late_ns));
        }
        Ok(())
    }

    fn interval(&mut self, interval: &Interval) -> io::Result<()> {
        if interval.phase == Phase::Measure {
            self.tally.merge(&interval.tally);
            self.round.length_ns += interval.end_ns - interval.start_ns;
        }
        Ok(())
    }

    fn ends(&mut self, late_ns: Nanos) -> io::Result<()> {
        let used = self.client_mark.take().and_then(|mark| mark.until_end(late_ns));
        self.round.client_cpu_ns = used.map(|used| used.cpu_ns());
        let server = self.server.and_then(cpu_of).zip(self.server_mark);
        self.round.server_cpu_ns = server.map(|(after, before)| after.saturating_sub(before));
        Ok(())
    }
}

/// CPU time of all threads of a process so far, ns. Source: Linux, Documentation/scheduler/sched-stats.rst: the first
/// number of `schedstat` is the time on a CPU.
fn cpu_of(process: u32) -> Option<Nanos> {
    let threads = fs::read_dir(format!("/proc/{process}/task")).ok()?;
    let of_thread = |folder: &Path| -> Option<Nanos> {
        let text = fs::read_to_string(folder.join("schedstat")).ok()?;
        text.split_ascii_whitespace().next()?.parse().ok()
    };
    let all = threads.flatten().map(|thread| of_thread(&thread.path())).sum::<Option<Nanos>>()?;
    // A kernel that does not count them writes zeros.
    (all > 0).then_some(all)
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::thread;
    use std::time::Duration;

    use system::{EchoOptions, EchoServer};

    use super::*;

    const SIZES: FixedSizes = FixedSizes { request: 122, answer: 27 };

    fn measure(address: String) -> Result<Ceiling> {
        let time = Duration::from_millis(250);
        let plan = CeilingPlan { in_flight: 4, rounds: 2, time, ..CeilingPlan::default() };
        let probe = CeilingProbe {
            plan: &plan,
            address,
            server: Some(std::process::id()),
            sizes: SIZES,
            connections: 3,
            workers: 2,
            cpus: Vec::new(),
        };
        probe.measure(&Stop::new())
    }

    #[test]
    fn requests_are_counted_with_their_bytes_in_every_round_of_both_loads() {
        let listen = "127.0.0.1:0".parse().unwrap();
        let threads = NonZero::new(2).unwrap();
        let server = EchoServer::start(&EchoOptions { listen, threads, sizes: None }).unwrap();
        let ceiling = measure(server.address().to_string()).unwrap();
        assert_eq!(
            (ceiling.request_bytes, ceiling.response_bytes, ceiling.connections),
            (122, 27, 3)
        );
        assert_eq!(ceiling.loads.iter().map(|load| load.in_flight).collect::<Vec<_>>(), [1, 4]);
        for load in &ceiling.loads {
            assert_eq!(load.rounds.len(), 2);
            let trips = load.round_trips.unwrap();
            assert!(0 < trips.p50_ns && trips.p50_ns <= trips.p99_ns, "{trips:?}");
            assert!(trips.p99_ns <= trips.p99_9_ns, "{trips:?}");
            for round in &load.rounds {
                assert!(round.requests > 0 && round.length_ns >= 250_000_000, "{round:?}");
                // A client's bytes count with its requests; those of others may be in flight at both edges.
                let in_flight = 3 * load.in_flight as u64;
                let most = (round.requests + in_flight) * 27;
                assert!(round.traffic.received_bytes <= most, "{round:?}");
                assert!(round.traffic.received_bytes + in_flight * 27 >= round.requests * 27);
                assert!(round.client_cpu_ns.is_some_and(|cpu| cpu > 0), "{round:?}");
            }
        }
    }

    #[test]
    fn a_server_of_another_protocol_is_named_with_what_is_needed() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        // Closes every connection at once.
        thread::spawn(move || listener.incoming().for_each(drop));
        let told = format!("{:#}", measure(address.clone()).unwrap_err());
        assert!(told.contains(&format!("is there a `dyno echo` at {address}?")), "{told}");
    }
}
