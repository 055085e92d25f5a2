//! Summary of one trial.

use std::collections::BTreeMap;

use measure::{
    ErrorCounts, ErrorKey, LatencyHistogram, OperationKind, OperationTally, QueryCounts, Traffic,
    sum, transaction_latencies,
};

use crate::generator::{self, GeneratorFigures, GeneratorSummary};
use crate::latency::{Latency, bounded_latency, latency, per};
use crate::measured::{Measured, Slice, Usage};
use crate::moments::{mean, standard_deviation};
use crate::open_loop::{self, OpenSummary};
use crate::rules::{self, ScoreSummary, ShareSummary};
use crate::trend::{Trend, latency_trend, trend};
use crate::within::{OperationWithin, Within, operation_within, within};

/// An interval shorter than this part of the longest is a remainder at the end of a phase; its rate is too
/// coarse to compare.
const INTERVAL_SHARE_MIN: f64 = 0.5;

#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// Length of the measured load, s.
    pub seconds: f64,
    pub transactions: u64,
    pub failed_transactions: u64,
    pub queries: QueryCounts,
    pub transactions_per_s: f64,
    pub queries_per_s: f64,
    /// Transactions that failed for good, as a part of all that ended.
    pub failure_rate: f64,
    pub retries: u64,
    pub edges: EdgeSummary,
    /// Failures by class and code, those after the window included.
    pub errors: BTreeMap<ErrorKey, ErrorCounts>,
    /// Latency of the transactions that were due in the window: of those that succeeded, and of those that timed out
    /// at their time limit.
    pub latency: Latency,
    /// Time in the window that transactions took or waited, summed, ns.
    pub busy_ns: f64,
    /// Each operation, in the workload's order.
    pub operations: Vec<OperationSummary>,
    /// The workload's own figures; most have none.
    pub scores: Vec<ScoreSummary>,
    /// The mix that the workload must keep; most have none.
    pub shares: Vec<ShareSummary>,
    /// How evenly clients were served; `None` when not known or with one client.
    pub fairness: Option<Fairness>,
    /// Whether the figures are consistent. `None` when nothing was measured; in an open loop, where the number
    /// in the system is not known beforehand; and for workloads whose clients wait for times of their own.
    pub littles_law: Option<LittlesLaw>,
    /// Offered rate and service times; `None` in a closed loop.
    pub open: Option<OpenSummary>,
    /// Standard deviation of the intervals' throughput as a part of its mean; `None` for fewer than two
    /// intervals.
    pub throughput_variation: Option<f64>,
    /// Drift of the intervals' throughput; `None` for too few intervals.
    pub throughput_trend: Option<Trend>,
    /// Drift of the intervals' mean latency; `None` for too few intervals.
    pub latency_trend: Option<Trend>,
    /// The intervals of confidence of its figures.
    pub within: Within,
    /// Bytes in both directions.
    pub traffic: Traffic,
    /// CPU that the load generator kept busy on average, in hardware threads.
    pub client_cpu_threads: Option<f64>,
    /// Whether the load generator's own threads ran when they had work to do, those of all generators together;
    /// `None` when not known.
    pub generator: Option<GeneratorSummary>,
    /// Each generator by itself; one where a single process offered the load.
    pub generators: Vec<GeneratorFigures>,
    /// The load generator's cost of a transaction.
    pub cost_per_transaction: Option<Cost>,
    /// The load generator's cost of a statement.
    pub cost_per_query: Option<Cost>,
}

/// Transactions at the edges of the measured window. Throughput is of those that ended in it, latency of those that were
/// due in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EdgeSummary {
    /// Ended in the window and were due before it: they have no latency here.
    pub before: u64,
    pub succeeded_after: u64,
    pub failed_after: u64,
    /// Sent, and never answered.
    pub unanswered: u64,
    /// Due in the window, and never sent.
    pub unsent: u64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct OperationSummary {
    pub name: String,
    pub kind: OperationKind,
    pub per_s: f64,
    pub succeeded: u64,
    /// Number of operations without an answer within the time limit.
    pub timed_out: u64,
    pub failed: u64,
    /// Latency of those that succeeded, and of those that timed out at their time limit.
    pub latency: Latency,
    /// Service times of those that succeeded, from their actual start; `None` when that is the intended start.
    pub service: Option<Latency>,
    /// The intervals of confidence of these figures.
    pub within: OperationWithin,
}

/// How evenly clients were served, in transactions of one client.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fairness {
    pub mean: f64,
    /// Standard deviation over clients (divided by n, as sysbench does).
    pub standard_deviation: f64,
    /// Fewest transactions of a client.
    pub min: u64,
    /// Most transactions of a client.
    pub max: u64,
}

/// Little's law for a closed system: N = X (R + Z). Source: J. D. C. Little, A Proof for the Queuing
/// Formula L = λW, Operations Research 9 (1961); Jain, The Art of Computer Systems Performance
/// Analysis, chapter 33 (the interactive response time law).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LittlesLaw {
    pub clients: usize,
    /// Clients that throughput and latency account for, X (R + Z).
    pub accounted_for: f64,
    /// `accounted_for / clients - 1`.
    pub mismatch: f64,
}

/// The load generator's cost for one unit of work.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    /// CPU time in user mode, us; `None` when not known.
    pub user_us: Option<f64>,
    /// CPU time in the kernel, us; `None` when not known.
    pub system_us: Option<f64>,
    /// Context switches; `None` when not known.
    pub switches: Option<f64>,
    pub sent_bytes: f64,
    pub received_bytes: f64,
}

/// Computes the figures of a trial. If nothing was measured, they are zeros and `None`s.
pub fn summarize(measured: &Measured<'_>) -> Summary {
    summarize_due(measured, &measured.edges.due(measured.total))
}

/// The same with the operations that were due in the window, which take a while to compute.
pub fn summarize_due(measured: &Measured<'_>, due: &[OperationTally]) -> Summary {
    let total = measured.total;
    // The sum of an empty iterator of floats is -0.
    let seconds = measured.slices.iter().fold(0.0, |sum, slice| sum + slice.seconds);
    let comparable = comparable(measured.slices);
    let rates: Vec<f64> =
        comparable.iter().map(|slice| slice.transactions as f64 / slice.seconds).collect();
    let ended = total.transactions + total.failed_transactions;
    let edges = measured.edges;
    let latencies = transaction_latencies(measured.operations, due);
    let latency = bounded_latency(&latencies, &edges.ages(), measured.percentiles);
    let mut errors = total.errors.clone();
    for (key, counts) in &edges.drain.errors {
        errors.entry(key.clone()).or_default().add(*counts);
    }
    Summary {
        seconds,
        transactions: total.transactions,
        failed_transactions: total.failed_transactions,
        queries: total.queries,
        transactions_per_s: per(total.transactions as f64, seconds),
        queries_per_s: per(total.queries.total() as f64, seconds),
        failure_rate: per(total.failed_transactions as f64, ended as f64),
        retries: total.retries(),
        edges: edge_summary(measured),
        within: within(measured, &latencies, &latency),
        latency,
        busy_ns: measured.busy_ns(),
        operations: operations(measured, due, seconds),
        scores: rules::scores(measured, seconds),
        shares: rules::shares(measured),
        fairness: fairness(measured.client_events),
        littles_law: littles_law(measured, seconds),
        open: open_loop::summarize(measured, due, seconds),
        throughput_variation: variation(&rates),
        throughput_trend: trend(&rates),
        latency_trend: latency_trend(&comparable),
        traffic: total.traffic,
        client_cpu_threads: measured
            .usage
            .filter(|_| seconds > 0.0)
            .map(|usage| sum([usage.user_ns, usage.system_ns]) as f64 / 1e9 / seconds),
        generator: generator::pooled(measured),
        generators: generator::each(measured, seconds),
        cost_per_transaction: cost(measured.usage, total.traffic, ended),
        cost_per_query: cost(measured.usage, total.traffic, total.queries.total()),
        errors,
    }
}

/// The measured intervals without a short remainder at the end.
pub(crate) fn comparable(slices: &[Slice]) -> Vec<Slice> {
    let longest = slices.iter().map(|slice| slice.seconds).fold(0.0, f64::max);
    let is_long =
        |slice: &&Slice| slice.seconds > 0.0 && slice.seconds >= INTERVAL_SHARE_MIN * longest;
    slices.iter().filter(is_long).copied().collect()
}

fn variation(rates: &[f64]) -> Option<f64> {
    let mean = mean(rates).filter(|mean| *mean > 0.0)?;
    Some(standard_deviation(rates)? / mean)
}

fn edge_summary(measured: &Measured<'_>) -> EdgeSummary {
    let edges = measured.edges;
    EdgeSummary {
        before: edges.transactions_before(measured.operations),
        succeeded_after: edges.drain.transactions,
        failed_after: edges.drain.failed_transactions,
        unanswered: edges.unanswered.count(),
        unsent: edges.unsent.count(),
    }
}

/// The latencies of `due`, beside the counts of what ended in the window. A transaction that was never answered is in no
/// operation when there are several kinds, because the kind is known when it ends.
fn operations(
    measured: &Measured<'_>,
    due: &[OperationTally],
    seconds: f64,
) -> Vec<OperationSummary> {
    let transactions = |it: &&measure::Operation| it.kind == OperationKind::Transaction;
    let is_single = measured.operations.iter().filter(transactions).count() == 1;
    let (ages, none) = (measured.edges.ages(), LatencyHistogram::new());
    let of_ended = measured.operations.iter().zip(&measured.total.operations);
    let mut all = Vec::with_capacity(due.len());
    for (at, ((operation, tally), due)) in of_ended.zip(due).enumerate() {
        let has_ages = is_single && operation.kind == OperationKind::Transaction;
        let latencies = due.latencies();
        let ages = if has_ages { &ages } else { &none };
        let of_due = bounded_latency(&latencies, ages, measured.percentiles);
        all.push(OperationSummary {
            name: operation.name.clone(),
            kind: operation.kind,
            per_s: per(tally.succeeded.count() as f64, seconds),
            succeeded: tally.succeeded.count(),
            timed_out: tally.timed_out.count(),
            failed: tally.failed.count(),
            within: operation_within(measured, at, &latencies, &of_due),
            latency: of_due,
            service: (!due.service.is_empty()).then(|| latency(&due.service, measured.percentiles)),
        });
    }
    all
}

pub(crate) fn fairness(events: &[u64]) -> Option<Fairness> {
    if events.len() < 2 {
        return None;
    }
    let values: Vec<f64> = events.iter().map(|events| *events as f64).collect();
    let mean = mean(&values)?;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    Some(Fairness {
        mean,
        standard_deviation: (squares / values.len() as f64).sqrt(),
        min: *events.iter().min()?,
        max: *events.iter().max()?,
    })
}

/// Failed transactions count too, because they took clients' time. An open loop has no number of clients to
/// compare with: clients wait for arrivals and arrivals for clients.
fn littles_law(measured: &Measured<'_>, seconds: f64) -> Option<LittlesLaw> {
    let total = measured.total;
    let ended = total.transactions + total.failed_transactions;
    if seconds <= 0.0 || ended == 0 || measured.clients == 0 {
        return None;
    }
    if measured.open.is_some() || measured.rules.has_waits {
        return None;
    }
    let thinking_ns = ended as f64 * measured.think_time_ns as f64;
    let accounted_for = (measured.busy_ns() + thinking_ns) / 1e9 / seconds;
    let mismatch = accounted_for / measured.clients as f64 - 1.0;
    Some(LittlesLaw { clients: measured.clients, accounted_for, mismatch })
}

fn cost(usage: Option<Usage>, traffic: Traffic, units: u64) -> Option<Cost> {
    if units == 0 {
        return None;
    }
    let each = |count: u64| count as f64 / units as f64;
    Some(Cost {
        user_us: usage.map(|usage| each(usage.user_ns) / 1e3),
        system_us: usage.map(|usage| each(usage.system_ns) / 1e3),
        switches: usage.map(|usage| each(usage.switches)),
        sent_bytes: each(traffic.sent_bytes),
        received_bytes: each(traffic.received_bytes),
    })
}

impl Fairness {
    /// Standard deviation as a part of the mean.
    pub fn variation(&self) -> f64 {
        per(self.standard_deviation, self.mean)
    }
}

impl Cost {
    /// CPU time in user mode and in the kernel, us.
    pub fn cpu_us(&self) -> Option<f64> {
        Some(self.user_us? + self.system_us?)
    }
}

#[cfg(test)]
pub(crate) mod tests;
