//! The panels of each kind of server: what each is made of. Names of metrics are those of the products;
//! source: the text that TiDB 8.5 tells at /metrics, and the dashboards that TiDB, TiKV and PD ship for
//! Grafana.

use analysis::Selection;

use super::by_instance;
use super::kind::ServerKind;
use crate::watch::figure::Quantity;

/// A panel and what it is made of.
#[derive(Debug)]
pub(crate) struct Panel {
    pub(crate) kind: ServerKind,
    pub(crate) title: &'static str,
    pub(crate) quantity: Quantity,
    pub(crate) lines: &'static [Line],
}

/// One line of a panel, or one for each value of a label.
#[derive(Debug)]
pub(crate) struct Line {
    /// Its name; empty when the value of the label says enough.
    pub(crate) name: &'static str,
    pub(crate) take: Take,
    pub(crate) selection: Selection<'static>,
}

/// What is made of the figures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Take {
    /// Growth of a counter in a second.
    Rate,
    /// A gauge.
    Level,
    /// Events of a histogram in a second.
    Count,
    /// Growth of the sum of a histogram in a second.
    Sum,
    /// The mean of a histogram.
    Mean,
    /// A quantile of a histogram.
    Quantile(f64),
}

const fn line(name: &'static str, take: Take, selection: Selection<'static>) -> Line {
    Line { name, take, selection }
}

/// TiDB's statements of its own, beside those of clients.
const INTERNAL: &[(&str, &str)] = &[("sql_type", "internal")];
const GENERAL: &[(&str, &str)] = &[("scope", "general")];

const QUERY: Selection<'static> =
    Selection::of("tidb_server_handle_query_duration_seconds").without(INTERNAL);
const COMMAND: Selection<'static> =
    Selection::of("tidb_tikvclient_txn_cmd_duration_seconds").with(GENERAL).by("type");
const REQUEST: Selection<'static> = Selection::of("tidb_tikvclient_request_seconds");
const PESSIMISTIC: Selection<'static> =
    Selection::of("tidb_session_statement_pessimistic_retry_count");
const LOCK: Selection<'static> = Selection::of("tidb_tikvclient_pessimistic_lock_keys_duration");
const GRPC: Selection<'static> = Selection::of("tikv_grpc_msg_duration_seconds");
const CPU: Selection<'static> = by_instance("process_cpu_seconds_total");
const RSS: Selection<'static> = by_instance("process_resident_memory_bytes");

const fn panel(
    kind: ServerKind,
    title: &'static str,
    quantity: Quantity,
    lines: &'static [Line],
) -> Panel {
    Panel { kind, title, quantity, lines }
}

const fn tidb(title: &'static str, quantity: Quantity, lines: &'static [Line]) -> Panel {
    panel(ServerKind::TiDb, title, quantity, lines)
}

/// Every panel, in the order of a page.
pub(crate) static PANELS: [Panel; 34] = [
    tidb(
        "statements by type",
        Quantity::PerSecond,
        &[line("", Take::Rate, Selection::of("tidb_executor_statement_total").by("type"))],
    ),
    tidb(
        "queries by instance",
        Quantity::PerSecond,
        &[line("", Take::Rate, by_instance("tidb_server_query_total"))],
    ),
    tidb(
        "query duration",
        Quantity::Seconds,
        &[
            line("p50", Take::Quantile(0.5), QUERY),
            line("p95", Take::Quantile(0.95), QUERY),
            line("p99", Take::Quantile(0.99), QUERY),
            line("mean", Take::Mean, QUERY),
        ],
    ),
    tidb(
        "failed queries",
        Quantity::PerSecond,
        &[line("", Take::Rate, Selection::of("tidb_server_execute_error_total").by("type"))],
    ),
    tidb("CPU by instance", Quantity::CpuThreads, &[line("", Take::Rate, CPU)]),
    tidb("memory by instance", Quantity::Bytes, &[line("", Take::Level, RSS)]),
    tidb(
        "connections by instance",
        Quantity::Count,
        &[line("", Take::Level, by_instance("tidb_server_connections"))],
    ),
    tidb("commands to the storage", Quantity::PerSecond, &[line("", Take::Count, COMMAND)]),
    tidb(
        "duration of commands to the storage, p99",
        Quantity::Seconds,
        &[line("", Take::Quantile(0.99), COMMAND)],
    ),
    tidb("requests by store", Quantity::PerSecond, &[line("", Take::Count, REQUEST.by("store"))]),
    tidb(
        "gRPC duration by type, p99",
        Quantity::Seconds,
        &[line("", Take::Quantile(0.99), REQUEST.by("type"))],
    ),
    tidb(
        "plan cache",
        Quantity::PerSecond,
        &[
            line("hits", Take::Rate, Selection::of("tidb_server_plan_cache_total")),
            line("misses", Take::Rate, Selection::of("tidb_server_plan_cache_miss_total")),
        ],
    ),
    tidb(
        "transactions tried again",
        Quantity::PerSecond,
        &[
            line("transactions", Take::Sum, Selection::of("tidb_session_retry_num").with(GENERAL)),
            line("pessimistic statements", Take::Count, PESSIMISTIC),
            line("gave up", Take::Rate, Selection::of("tidb_session_retry_error_total")),
        ],
    ),
    tidb(
        "waits before trying again, by reason",
        Quantity::PerSecond,
        &[line("", Take::Count, Selection::of("tidb_tikvclient_backoff_seconds").by("type"))],
    ),
    tidb(
        "waiting for pessimistic locks",
        Quantity::Seconds,
        &[line("p99", Take::Quantile(0.99), LOCK), line("mean", Take::Mean, LOCK)],
    ),
    tidb(
        "locks of others met",
        Quantity::PerSecond,
        &[line(
            "",
            Take::Rate,
            Selection::of("tidb_tikvclient_lock_resolver_actions_total").by("type"),
        )],
    ),
    tidb(
        "CPU in garbage collection by instance",
        Quantity::CpuThreads,
        &[line("", Take::Rate, by_instance("go_cpu_classes_gc_total_cpu_seconds_total"))],
    ),
    tidb(
        "garbage collections by instance",
        Quantity::PerSecond,
        &[line("", Take::Count, by_instance("go_gc_duration_seconds"))],
    ),
    tidb(
        "heap in use by instance",
        Quantity::Bytes,
        &[line("", Take::Level, by_instance("go_memstats_heap_inuse_bytes"))],
    ),
    tidb(
        "goroutines by instance",
        Quantity::Count,
        &[line("", Take::Level, by_instance("go_goroutines"))],
    ),
    panel(
        ServerKind::TiKv,
        "gRPC requests by type",
        Quantity::PerSecond,
        &[line("", Take::Count, GRPC.by("type"))],
    ),
    panel(
        ServerKind::TiKv,
        "gRPC duration by type, p99",
        Quantity::Seconds,
        &[line("", Take::Quantile(0.99), GRPC.by("type"))],
    ),
    panel(
        ServerKind::TiKv,
        "gRPC requests by instance",
        Quantity::PerSecond,
        &[line("", Take::Count, GRPC.by(analysis::INSTANCE))],
    ),
    panel(ServerKind::TiKv, "CPU by instance", Quantity::CpuThreads, &[line("", Take::Rate, CPU)]),
    panel(ServerKind::TiKv, "memory by instance", Quantity::Bytes, &[line("", Take::Level, RSS)]),
    panel(
        ServerKind::TiKv,
        "waiting for locks",
        Quantity::Seconds,
        &[line("mean", Take::Mean, Selection::of("tikv_lock_manager_waiter_lifetime_duration"))],
    ),
    panel(
        ServerKind::Pd,
        "leaders by store",
        Quantity::Count,
        &[line("", Take::Level, STORE_STATUS.with(&[("type", "leader_count")]))],
    ),
    panel(
        ServerKind::Pd,
        "regions by store",
        Quantity::Count,
        &[line("", Take::Level, STORE_STATUS.with(&[("type", "region_count")]))],
    ),
    panel(ServerKind::Pd, "CPU by instance", Quantity::CpuThreads, &[line("", Take::Rate, CPU)]),
    panel(ServerKind::Pd, "memory by instance", Quantity::Bytes, &[line("", Take::Level, RSS)]),
    panel(ServerKind::Other, "CPU by instance", Quantity::CpuThreads, &[line("", Take::Rate, CPU)]),
    panel(ServerKind::Other, "memory by instance", Quantity::Bytes, &[line("", Take::Level, RSS)]),
    panel(
        ServerKind::Other,
        "goroutines by instance",
        Quantity::Count,
        &[line("", Take::Level, by_instance("go_goroutines"))],
    ),
    panel(
        ServerKind::Other,
        "garbage collections by instance",
        Quantity::PerSecond,
        &[line("", Take::Count, by_instance("go_gc_duration_seconds"))],
    ),
];

/// PD's view of the stores.
pub(crate) const STORE_STATUS: Selection<'static> =
    Selection::of("pd_scheduler_store_status").by("address");
