//! What was watched beside the load of a trial: hosts, and servers that tell figures of their own.

use crate::{Connections, HostReading, Nanos, ServerKind};

/// Everything that was watched in a trial.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Watched {
    /// Hosts whose kernel was read here.
    pub hosts: Vec<Host>,
    /// Servers that were asked for their figures.
    pub servers: Vec<Server>,
    /// The kinds of servers whose metrics are understood, in the order of a page. A server is of the first
    /// kind that takes it.
    pub kinds: Vec<ServerKind>,
    /// dyno's connections to the system.
    pub connections: Connections,
}

/// A host over the time of a trial.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Host {
    /// What it is called in reports.
    pub name: String,
    /// Hardware threads that are online.
    pub cpu_threads: u64,
    /// Main memory; `None` when not known.
    pub memory_bytes: Option<u64>,
    /// The processes that are watched, in the order of every reading.
    pub processes: Vec<Process>,
    /// In the order of time.
    pub readings: Vec<HostReading>,
}

/// A process that is watched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// What it is called in reports, such as `dyno` or what a server does.
    pub name: String,
    /// Its process id.
    pub pid: u32,
    /// What it is to the trial.
    pub side: Side,
}

/// On which side of the load something stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// It offers the load.
    Client,
    /// It is, or belongs to, the system under test.
    Server,
}

/// A server that was asked for its figures over the time of a trial, in the text format of Prometheus.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Server {
    /// What it is called in reports, such as `node 10.0.0.7`.
    pub name: String,
    /// Where it was asked, without a password.
    pub url: String,
    /// Names of everything that it told at the first answer.
    pub families: Vec<String>,
    /// When it answered, in order.
    pub answers_ns: Vec<Nanos>,
    /// When it did not.
    pub gaps: Vec<Gap>,
    /// What changed in the time of the trial, and every gauge.
    pub series: Vec<Series>,
}

/// A time at which a server did not tell its figures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    /// When it was asked, on the trial's clock.
    pub at_ns: Nanos,
    /// Why there was no answer, in words.
    pub reason: String,
}

/// One figure of a server over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// The name of its family, such as `go_goroutines`.
    pub name: String,
    /// Its labels by name.
    pub labels: Vec<(String, String)>,
    /// Its value where it changed, the first at the first answer. In between it holds.
    pub points: Vec<(Nanos, f64)>,
}

impl Series {
    /// The value of a label.
    pub fn label(&self, name: &str) -> Option<&str> {
        self.labels.iter().find(|(label, _)| label == name).map(|(_, value)| value.as_str())
    }

    /// Its value at a time; `None` before the first.
    pub fn at(&self, at_ns: Nanos) -> Option<f64> {
        let after = self.points.partition_point(|(when, _)| *when <= at_ns);
        Some(self.points[after.checked_sub(1)?].1)
    }
}
