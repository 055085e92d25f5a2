//! What the path to a trial's system carries at the sizes of the trial's messages, measured after its load.

use std::path::Path;

use anyhow::{Context, Result, bail};
use engine::Stop;
use measure::{Ceiling, Interval, Nanos, Phase, QueryCounts, Traffic};
use net::{Endpoint, FixedSizes};
use plan::{CeilingPlan, LoadPlan, Place, Trial};
use system::ProgressEvent;

use crate::ceiling::{CeilingProbe, start_echo};
use crate::event_loops::{self, is_on_this_machine};
use crate::test_bed::TestBed;
use crate::{Event, Experiment, RunListener, progress_listener};

/// The measured queries of a trial and their bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Messages {
    queries: QueryCounts,
    traffic: Traffic,
    transactions: u64,
    length_ns: Nanos,
}

impl Messages {
    pub(crate) fn add(&mut self, interval: &Interval) {
        if interval.phase == Phase::Measure {
            self.transactions += interval.tally.transactions;
            self.length_ns += interval.end_ns.saturating_sub(interval.start_ns);
            self.queries.add(interval.tally.queries);
            self.traffic.sent_bytes += interval.tally.traffic.sent_bytes;
            self.traffic.received_bytes += interval.tally.traffic.received_bytes;
        }
    }

    /// The time for each transaction, ns; `None` without any.
    pub(crate) fn ns_per_transaction(&self) -> Option<f64> {
        (self.transactions > 0).then(|| self.length_ns as f64 / self.transactions as f64)
    }

    /// Their mean sizes; `None` when nothing went over a network.
    fn sizes(&self) -> Option<FixedSizes> {
        let mean = |bytes: u64| {
            let rounded = (bytes + self.queries.total() / 2).checked_div(self.queries.total())?;
            u32::try_from(rounded).ok().filter(|size| *size > 0)
        };
        let Traffic { sent_bytes, received_bytes } = self.traffic;
        Some(FixedSizes { request: mean(sent_bytes)?, answer: mean(received_bytes)? })
    }
}

/// Measures the ceiling for a trial that has ended; the system is idle meanwhile.
///
/// # Errors
/// Why there is no ceiling.
pub(crate) fn measure(
    experiment: &Experiment,
    (trial, plan): (Trial, &CeilingPlan),
    (test_bed, messages): (&TestBed<'_>, &Messages),
    scratch: &Path,
    stop: &Stop,
    listener: &mut dyn RunListener,
) -> Result<Ceiling> {
    let sizes = messages.sizes().context("the trial's messages did not go over a network")?;
    let stage = ProgressEvent::stage("measuring the ceiling of the path");
    listener.on_event(Event::Progress(stage));
    let load = &experiment.plan.load;
    demand_same_path(load)?;
    let (workers, cpus) = (all_workers(load), event_loops::cpus(load));
    let (echo, address) = match &plan.to {
        Some(address) => (None, address.clone()),
        None => {
            demand_local(&test_bed.access().endpoints())?;
            let echo = start_echo(workers, scratch, &mut progress_listener(stop, listener))?;
            let address = format!("127.0.0.1:{}", echo.port());
            (Some(echo), address)
        }
    };
    let server = echo.as_ref().map(system::Daemon::pid);
    let connections = experiment.connections(trial);
    let probe = CeilingProbe { plan, address, server, sizes, connections, workers, cpus };
    let ceiling = probe.measure(stop)?;
    echo.map_or(Ok(()), system::Daemon::stop)?;
    Ok(ceiling)
}

/// Makes sure that the load has come from this machine, as the probe does.
fn demand_same_path(load: &LoadPlan) -> Result<()> {
    match load.generators.iter().find(|place| **place != Place::Local) {
        None => Ok(()),
        Some(place) => bail!(
            "the load comes from {place}, which has another path to the system than this machine: measure it with \
             `dyno ceiling` there"
        ),
    }
}

/// The event loops of the load, of all generators on this machine together.
fn all_workers(load: &LoadPlan) -> usize {
    match event_loops::by_plan(load) {
        Some(workers) => workers.saturating_mul(load.generators.len().max(1)),
        None => event_loops::beside_a_service(),
    }
}

/// Makes sure that an echo server on this machine is where the system is.
fn demand_local(endpoints: &[Endpoint]) -> Result<()> {
    for endpoint in endpoints {
        match endpoint {
            Endpoint::Tcp(_) if is_on_this_machine(endpoint) => {}
            Endpoint::Tcp(address) => bail!(
                "{address} is another machine, or another way to this one: start `dyno echo --listen \
                 ADDRESS:PORT` there, and set `ceiling.to`"
            ),
            Endpoint::Unix(_) => bail!("clients use a unix socket, and the ceiling is one of TCP"),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use driver::Address;
    use driver::rpc::{Protocol, Service};
    use measure::Tally;

    use super::*;

    fn interval(phase: Phase, read: u64, (sent_bytes, received_bytes): (u64, u64)) -> Interval {
        let tally = Tally {
            queries: QueryCounts { read, ..QueryCounts::default() },
            traffic: Traffic { sent_bytes, received_bytes },
            ..Tally::new(0)
        };
        Interval { phase, start_ns: 0, end_ns: 1, tally }
    }

    #[test]
    fn sizes_are_means_of_the_measured_queries_rounded() {
        let mut messages = Messages::default();
        assert_eq!(messages.sizes(), None);
        messages.add(&interval(Phase::WarmUp, 1_000, (1, 1)));
        messages.add(&interval(Phase::Measure, 2, (244, 55)));
        messages.add(&interval(Phase::Measure, 2, (246, 55)));
        // 490 and 110 bytes in four queries: 122.5 and 27.5.
        assert_eq!(messages.sizes(), Some(FixedSizes { request: 123, answer: 28 }));
    }

    #[test]
    fn queries_without_bytes_have_no_sizes() {
        let mut messages = Messages::default();
        messages.add(&interval(Phase::Measure, 5, (0, 0)));
        assert_eq!(messages.sizes(), None);
    }

    fn load(lines: &str) -> LoadPlan {
        let text = format!("system = \"a\"\nworkload = \"b\"\n[load]\n{lines}\n");
        let folder = std::path::PathBuf::new();
        plan::Plan::parse(plan::Source { name: "x".to_owned(), text, folder }).unwrap().load
    }

    #[test]
    fn the_path_of_generators_elsewhere_is_not_measured_from_here() {
        for here in ["", "generators = [\"local\", \"local\"]"] {
            assert!(demand_same_path(&load(here)).is_ok());
        }
        let elsewhere = load("generators = [\"local\", \"ssh://bench1\"]");
        let why = demand_same_path(&elsewhere).unwrap_err().to_string();
        assert!(why.starts_with("the load comes from ssh://bench1, which has another"), "{why}");
    }

    #[test]
    fn generators_on_this_machine_are_measured_with_all_their_event_loops() {
        let three = "generators = [\"local\", \"local\", \"local\"]\n";
        assert_eq!(all_workers(&load("workers = 2")), 2);
        assert_eq!(all_workers(&load(&format!("{three}workers = 2"))), 6);
        assert_eq!(all_workers(&load(three)), event_loops::beside_a_service());
    }

    #[test]
    fn an_echo_server_on_this_machine_stands_only_for_systems_on_loopback() {
        let told = |endpoint: Endpoint| {
            let addresses = vec![Address { name: String::new(), endpoint }];
            let service = Service::resolve(Protocol::Trpc, "trpc://127.0.0.1:7").unwrap();
            let service = Service { addresses, ..service };
            demand_local(&service.endpoints()).map_err(|error| error.to_string())
        };
        let tcp = |address: &str| told(Endpoint::Tcp(address.parse().unwrap()));
        assert_eq!(tcp("127.0.0.1:7"), Ok(()));
        assert_eq!(tcp("[::1]:7"), Ok(()));
        assert!(tcp("10.0.0.7:7").unwrap_err().contains("set `ceiling.to`"));
        assert!(told(Endpoint::Unix("/tmp/x".into())).unwrap_err().contains("unix socket"));
    }
}
