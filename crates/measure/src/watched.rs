//! Figures that were collected beside the load of a trial: of hosts, and of servers that publish metrics.

use serde::{Deserialize, Serialize};

use crate::{Connections, HostReading, Nanos, ServerKind};

/// All figures that were collected in a trial.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Watched {
    /// Hosts whose kernel counters dyno read: its own machine, then those that it reached.
    pub hosts: Vec<Host>,
    pub servers: Vec<Server>,
    /// The kinds of servers whose metrics are understood, in the order of a page. A server is of the first
    /// kind that takes it.
    pub kinds: Vec<ServerKind>,
    /// dyno's connections to the system.
    pub connections: Connections,
}

/// A host over the time of a trial.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Host {
    pub name: String,
    /// How it was reached, as a plan says it; `None` for the machine of dyno.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    pub cpu_threads: u64,
    /// Main memory; `None` when not known.
    pub memory_bytes: Option<u64>,
    /// The processes that are watched, in the order of every reading.
    pub processes: Vec<Process>,
    /// The readings in the order of time.
    #[serde(skip)]
    pub readings: Vec<HostReading>,
    /// Times of readings that begin anew, ascending: nothing is known of the time between such a reading and the one
    /// before. Empty but where windows were put together.
    #[serde(skip)]
    pub joints_ns: Vec<Nanos>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    /// Its name in reports, such as `dyno` or the role of a server.
    pub name: String,
    pub pid: u32,
    pub side: Side,
}

/// A process by what is the same in all namespaces of its machine: the process knows it of itself, and a watcher
/// finds the process by it, also from outside of its container.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessIdentity {
    /// Identifies the kernel that runs it; empty when not known.
    pub boot: String,
    /// Its process id as the process itself sees it.
    pub pid: u32,
    /// When it began, in the kernel's ticks since the boot.
    pub started_ticks: u64,
}

/// The side of a trial that a process belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    Client,
    /// The system under test.
    Server,
}

/// A server whose metrics were polled during a trial, in the text format of Prometheus.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Server {
    /// Its name in reports, such as `node 10.0.0.7`.
    pub name: String,
    /// The address of its metrics, without a password.
    pub url: String,
    /// Names of all metrics in its first answer.
    #[serde(skip)]
    pub families: Vec<String>,
    /// The times of its answers, in order.
    #[serde(skip)]
    pub answers_ns: Vec<Nanos>,
    /// The times without an answer.
    #[serde(skip)]
    pub gaps: Vec<Gap>,
    /// All gauges, and the other metrics that changed during the trial.
    #[serde(skip)]
    pub series: Vec<Series>,
    /// As [`Host::joints_ns`], of answers.
    #[serde(skip)]
    pub joints_ns: Vec<Nanos>,
}

/// A request for metrics that was not answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gap {
    /// When it was sent, on the trial's clock.
    pub at_ns: Nanos,
    /// Why there was no answer, in words.
    pub reason: String,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// The name of its family, such as `go_goroutines`.
    pub name: String,
    pub labels: Vec<(String, String)>,
    /// Its value at the first answer and at each change. Between two entries it is constant.
    pub points: Vec<(Nanos, f64)>,
}

impl Series {
    pub fn label(&self, name: &str) -> Option<&str> {
        self.labels.iter().find(|(label, _)| label == name).map(|(_, value)| value.as_str())
    }

    /// Its value at a time; `None` before the first entry.
    pub fn at(&self, at_ns: Nanos) -> Option<f64> {
        let after = self.points.partition_point(|(when, _)| *when <= at_ns);
        Some(self.points[after.checked_sub(1)?].1)
    }
}
