//! The panels for metrics of the echo servers, and the counters that dyno compares its own with.

use measure::MetricFunction::Rate;
use measure::Quantity::PerSecond;
use measure::{MetricQuery, ServerKind};

use crate::watch::StatementCounter;
use crate::watch::panels::{cpu, garbage_collections, goroutines, line, marks, memory, panel};

/// Requests that a server received, and its answers.
const REQUESTS: &str = "rpc_requests_total";
const RESPONSES: &str = "rpc_responses_total";

pub(crate) const COUNTED_BY_TRPC: StatementCounter = counted("trpc-echo");
pub(crate) const COUNTED_BY_GRPC: StatementCounter = counted("grpc-echo");

const fn counted(role: &'static str) -> StatementCounter {
    StatementCounter { beside: &[RESPONSES], ..StatementCounter::plain(role, REQUESTS) }
}

pub(crate) fn server_kinds() -> Vec<ServerKind> {
    let rate = |name: &str, counter: &str| line(name, MetricQuery::new(Rate, counter));
    let requests = vec![rate("received", REQUESTS), rate("answered", RESPONSES)];
    vec![ServerKind {
        name: "echo server".to_owned(),
        marks: marks(&["dyno_echo_"]),
        panels: vec![
            panel("requests", PerSecond, requests),
            cpu(),
            memory(),
            goroutines(),
            garbage_collections(),
        ],
        ..ServerKind::default()
    }]
}
