//! The servers of a system whose CPU is known: processes that were read on this machine, and servers that publish it.

use measure::{Host, HostReading, MetricFunction, MetricQuery, Nanos, Server, Side, Watched};

use crate::members::is_local;
use crate::node::is_node;
use crate::{ProcessFigure, SampleWindow, evaluate};

/// The CPU time of a server's process, s: every client library of Prometheus exposes it.
const CPU: &str = "process_cpu_seconds_total";
/// A counter of CPU time and the kernel's own for the process may be rounded to ticks of 10 ms, twice.
const ROUNDING_S: f64 = 0.05;

/// The servers of a trial, each once.
#[derive(Clone, Debug, Default)]
pub struct KnownServers<'a> {
    /// Processes that were read on dyno's machine, by their host and their place in it.
    pub processes: Vec<(&'a Host, usize)>,
    /// Servers that publish their CPU time and are none of these processes.
    pub others: Vec<&'a Server>,
    /// Servers whose CPU is not known.
    pub unknown: Vec<&'a Server>,
}

/// Finds the servers of a trial. A server's page has no process id. But a process and a page that show the same CPU
/// time since their start, at each answer, are of one server: it is one counter of the kernel.
pub fn known_servers(watched: &Watched) -> KnownServers<'_> {
    let mut known = KnownServers::default();
    for host in &watched.hosts {
        let numbered = host.processes.iter().enumerate();
        let servers = numbered.filter(|(_, process)| process.side == Side::Server);
        known.processes.extend(servers.map(|(at, _)| (host, at)));
    }
    for server in watched.servers.iter().filter(|server| !is_node(server)) {
        let publishes = server.families.iter().any(|family| family == CPU)
            || server.series.iter().any(|series| series.name == CPU);
        if !publishes && is_database(server) && !known.processes.is_empty() {
            // A database that is asked by SQL tells no CPU, and its processes are found by its address.
        } else if !publishes {
            known.unknown.push(server);
        } else if !known.processes.iter().any(|(host, at)| is_process(server, host, *at)) {
            known.others.push(server);
        }
    }
    known
}

/// Whether its address is that of a database, in place of a page of metrics.
fn is_database(server: &Server) -> bool {
    server.url.contains("://") && !server.url.starts_with("http")
}

/// CPU that a server with metrics of its own kept busy, hardware threads; empty when it does not publish it.
pub fn cpu_of_server(server: &Server) -> Vec<SampleWindow> {
    let cpu = evaluate(&MetricQuery::new(MetricFunction::Rate, CPU), server);
    cpu.into_values().next().unwrap_or_default()
}

impl<'a> KnownServers<'a> {
    /// CPU over time of each server on a host of dyno's, hardware threads.
    pub(crate) fn cpu_on(&self, host: &Host) -> Vec<Vec<SampleWindow>> {
        let processes = self.processes.iter().filter(|(of, _)| of.name == host.name);
        let of_processes = processes.map(|(host, at)| ProcessFigure::Cpu.of(host, *at));
        let others = self.others.iter().filter(|server| is_local(server, host));
        of_processes.chain(others.map(|server| cpu_of_server(server))).collect()
    }

    /// Servers that may run on a host of dyno's and are not among [`Self::cpu_on`].
    pub(crate) fn maybe_on(&self, host: &Host) -> Vec<&'a Server> {
        let elsewhere = self.others.iter().filter(|server| !is_local(server, host));
        self.unknown.iter().chain(elsewhere).copied().collect()
    }
}

/// Whether a server is a process of a host, by the CPU time that both show.
fn is_process(server: &Server, host: &Host, process: usize) -> bool {
    let Some(cpu) = server.series.iter().find(|series| series.name == CPU) else { return false };
    let compared = server.answers_ns.iter().filter_map(|at_ns| {
        let (least, most) = cpu_around(host, process, *at_ns)?;
        let is_within = |seen| (least - ROUNDING_S..=most + ROUNDING_S).contains(&seen);
        Some(cpu.at(*at_ns).is_some_and(is_within))
    });
    let compared: Vec<bool> = compared.collect();
    !compared.is_empty() && compared.iter().all(|is_alike| *is_alike)
}

/// CPU time of a process at the second reading before and after a time, s, or at the first and the last reading: an
/// answer's time is that of its arrival.
fn cpu_around(host: &Host, process: usize, at_ns: Nanos) -> Option<(f64, f64)> {
    let cpu_s = |reading: &HostReading| {
        let process = (*reading.processes.get(process)?)?;
        Some(process.cpu_ns() as f64 / 1e9)
    };
    let (before, after) =
        host.readings.split_at(host.readings.partition_point(|reading| reading.at_ns <= at_ns));
    let least = before.iter().rev().take(2).next_back().and_then(cpu_s)?;
    let most = after.iter().take(2).next_back().or(before.last()).and_then(cpu_s)?;
    Some((least, most))
}
