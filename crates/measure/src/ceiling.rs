//! What a network path and both kernels carry: requests and responses to and from an echo server.

use serde::{Deserialize, Serialize};

use crate::{Nanos, Traffic};

/// The measured ceiling of a path at one size of requests and responses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ceiling {
    /// Host and port of the echo server.
    pub address: String,
    pub request_bytes: u32,
    pub response_bytes: u32,
    pub connections: usize,
    /// The measurements with one request in flight on a connection, and with several.
    pub loads: Vec<CeilingLoad>,
}

/// The measurements with one number of requests in flight.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CeilingLoad {
    /// Requests in flight on each connection; with more than 1, requests are pipelined.
    pub in_flight: usize,
    /// The rounds in order.
    pub rounds: Vec<CeilingRound>,
    /// Percentiles of all round trips together; `None` without any.
    pub round_trips: Option<RoundTrips>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CeilingRound {
    pub length_ns: Nanos,
    pub requests: u64,
    /// Bytes both ways.
    pub traffic: Traffic,
    /// CPU time of dyno, ns; `None` when not known.
    pub client_cpu_ns: Option<Nanos>,
    /// CPU time of the echo server, ns; `None` on another machine, and when not known.
    pub server_cpu_ns: Option<Nanos>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoundTrips {
    pub p50_ns: Nanos,
    pub p99_ns: Nanos,
    /// The 99.9th percentile.
    pub p99_9_ns: Nanos,
}
