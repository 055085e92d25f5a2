//! The panels for metrics of TiDB, TiKV and PD. Metrics have the products' names; source: the text that TiDB 8.5
//! serves at /metrics, and the dashboards for Grafana that TiDB, TiKV and PD ship.

use measure::MetricFunction::{CountRate, Gauge, Mean, Quantile, Rate, SumRate};
use measure::Quantity::{Bytes, Count, CpuThreads, PerSecond, Seconds};
use measure::{INSTANCE, MemberList, MetricFunction, MetricQuery, NoteWithout, Panel, ServerKind};

use crate::watch::StatementCounter;
use crate::watch::panels::{
    any, cpu, cpu_by_instance, garbage_collections, goroutines, line, marks, memory, panel, shared,
};
use crate::watch::stores::STORES;

const QUERY: &str = "tidb_server_handle_query_duration_seconds";
const COMMAND: &str = "tidb_tikvclient_txn_cmd_duration_seconds";
const REQUEST: &str = "tidb_tikvclient_request_seconds";
const BACK_OFF: &str = "tidb_tikvclient_backoff_seconds";
const LOCK: &str = "tidb_tikvclient_pessimistic_lock_keys_duration";
/// How long transactions waited for their timestamps.
const TIMESTAMP: &str = "tidb_tikvclient_ts_future_wait_seconds";
const GRPC: &str = "tikv_grpc_msg_duration_seconds";
/// Below this load, its distribution over servers does not matter: requests in a second, and hardware threads.
const REQUESTS_MIN: f64 = 10.0;
const CPU_MIN: f64 = 0.1;
/// The same of bytes in a second.
const BYTES_MIN: f64 = 10_000.0;

/// TiDB has no `Com_*` counters; its page has one for each kind of statement, over both protocols, without those that
/// TiDB runs for itself. Found out by experiment on 8.5. `Use` is counted when a session begins with a database, though
/// the client sent no such statement.
pub(crate) const COUNTED_BY_TIDB: StatementCounter = StatementCounter {
    label: "type",
    reads: &["Select"],
    writes: &["Delete", "Insert", "LoadData", "Replace", "Update"],
    ignored: &["Use"],
    ..StatementCounter::plain("tidb", "tidb_executor_statement_total")
};

/// The kinds of servers in a TiDB cluster. TiDB also has metrics of its clients of TiKV and of PD, which begin with
/// its own name, so TiDB comes first.
pub(crate) fn server_kinds() -> Vec<ServerKind> {
    vec![tidb(), tikv(), pd()]
}

fn tidb() -> ServerKind {
    let mut panels = statements();
    panels.extend(storage());
    panels.extend(transactions());
    panels.extend(runtime());
    let queries = MetricQuery::new(Rate, "tidb_server_query_total").by(INSTANCE);
    ServerKind {
        name: "TiDB".to_owned(),
        marks: marks(&["tidb_server_"]),
        panels,
        shared: vec![shared("queries", queries, REQUESTS_MIN)],
        members: None,
        note_without: Some(NoteWithout {
            kind: "TiKV".to_owned(),
            text: "No store reports metrics of its own here (unistore has none), so gRPC durations by type as \
                   the stores see them are absent; TiDB's own commands to its storage stand for them."
                .to_owned(),
        }),
        remarks: Vec::new(),
        // The sum of the seconds of all waits in a second is how many last at a time.
        waits: vec![
            line("storage:", MetricQuery::new(SumRate, COMMAND).with("scope", "general").by("type")),
            line("back-off:", MetricQuery::new(SumRate, BACK_OFF).by("type")),
            line("a timestamp of PD", MetricQuery::new(SumRate, TIMESTAMP)),
        ],
        moments: Vec::new(),
    }
}

/// Statements of clients, and what TiDB needs to answer them.
fn statements() -> Vec<Panel> {
    // TiDB runs its own statements at the same time as those of clients.
    let query = |function| MetricQuery::new(function, QUERY).without("sql_type", "internal");
    vec![
        panel("statements by type", PerSecond, any(Rate, "tidb_executor_statement_total", "type")),
        panel("queries by instance", PerSecond, any(Rate, "tidb_server_query_total", INSTANCE)),
        panel(
            "query duration",
            Seconds,
            vec![
                line("p50", query(Quantile(0.5))),
                line("p95", query(Quantile(0.95))),
                line("p99", query(Quantile(0.99))),
                line("mean", query(Mean)),
            ],
        ),
        panel("failed queries", PerSecond, any(Rate, "tidb_server_execute_error_total", "type")),
        cpu(),
        memory(),
        panel("connections by instance", Count, any(Gauge, "tidb_server_connections", INSTANCE)),
    ]
}

fn storage() -> Vec<Panel> {
    let command = |function: MetricFunction| {
        vec![line("", MetricQuery::new(function, COMMAND).with("scope", "general").by("type"))]
    };
    vec![
        panel("commands to the storage", PerSecond, command(CountRate)),
        panel("duration of commands to the storage, p99", Seconds, command(Quantile(0.99))),
        panel("requests by store", PerSecond, any(CountRate, REQUEST, "store")),
        panel("gRPC duration by type, p99", Seconds, any(Quantile(0.99), REQUEST, "type")),
    ]
}

fn transactions() -> Vec<Panel> {
    let of = MetricQuery::new;
    vec![
        panel(
            "plan cache",
            PerSecond,
            vec![
                line("hits", of(Rate, "tidb_server_plan_cache_total")),
                line("misses", of(Rate, "tidb_server_plan_cache_miss_total")),
            ],
        ),
        panel(
            "transactions tried again",
            PerSecond,
            vec![
                line(
                    "transactions",
                    of(SumRate, "tidb_session_retry_num").with("scope", "general"),
                ),
                line(
                    "pessimistic statements",
                    of(CountRate, "tidb_session_statement_pessimistic_retry_count"),
                ),
                line("gave up", of(Rate, "tidb_session_retry_error_total")),
            ],
        ),
        panel("waits before trying again, by reason", PerSecond, any(CountRate, BACK_OFF, "type")),
        panel(
            "waiting for pessimistic locks",
            Seconds,
            vec![line("p99", of(Quantile(0.99), LOCK)), line("mean", of(Mean, LOCK))],
        ),
        panel(
            "locks of others met",
            PerSecond,
            any(Rate, "tidb_tikvclient_lock_resolver_actions_total", "type"),
        ),
    ]
}

fn runtime() -> Vec<Panel> {
    vec![
        panel(
            "CPU in garbage collection by instance",
            CpuThreads,
            any(Rate, "go_cpu_classes_gc_total_cpu_seconds_total", INSTANCE),
        ),
        garbage_collections(),
        panel(
            "heap in use by instance",
            Bytes,
            any(Gauge, "go_memstats_heap_inuse_bytes", INSTANCE),
        ),
        goroutines(),
    ]
}

fn tikv() -> ServerKind {
    let waits = MetricQuery::new(Mean, "tikv_lock_manager_waiter_lifetime_duration");
    let requests = MetricQuery::new(CountRate, GRPC).by(INSTANCE);
    ServerKind {
        name: "TiKV".to_owned(),
        marks: marks(&["tikv_grpc_", "tikv_engine_"]),
        panels: vec![
            panel("gRPC requests by type", PerSecond, any(CountRate, GRPC, "type")),
            panel("gRPC duration by type, p99", Seconds, any(Quantile(0.99), GRPC, "type")),
            panel("gRPC requests by instance", PerSecond, any(CountRate, GRPC, INSTANCE)),
            cpu(),
            memory(),
            panel("waiting for locks", Seconds, vec![line("mean", waits)]),
        ],
        shared: vec![
            shared("requests", requests, REQUESTS_MIN),
            shared("CPU of stores", cpu_by_instance(), CPU_MIN),
        ],
        ..ServerKind::default()
    }
}

fn pd() -> ServerKind {
    // PD's view of the stores.
    let status = |kind: &str| {
        MetricQuery::new(Gauge, "pd_scheduler_store_status").with("type", kind).by("address")
    };
    // What the stores tell it with their heartbeats: the same figures as at /pd/api/v1/hotspot/stores. Source: PD's
    // pkg/statistics/store_collection.go.
    let flow = |kind: &str| {
        MetricQuery::new(Gauge, "pd_scheduler_store_status").with("type", kind).by("store")
    };
    let panel_of = |title, kind| panel(title, Count, vec![line("", status(kind))]);
    let requests = MetricQuery::new(CountRate, REQUEST).by("store");
    ServerKind {
        name: "PD".to_owned(),
        marks: marks(&["pd_server_", "pd_cluster_"]),
        panels: vec![
            panel_of("leaders by store", "leader_count"),
            panel_of("regions by store", "region_count"),
            cpu(),
            memory(),
        ],
        members: Some(MemberList {
            family: STORES.to_owned(),
            member: "store".to_owned(),
            kind: "TiKV".to_owned(),
            placed: status("leader_count"),
            placed_unit: "regions".to_owned(),
            load: shared("requests to stores", requests, REQUESTS_MIN),
            load_reported_by: "TiDB".to_owned(),
            counted: vec![
                shared("bytes read, by PD's count", flow("store_read_rate_bytes"), BYTES_MIN),
                shared("bytes written, by PD's count", flow("store_write_rate_bytes"), BYTES_MIN),
            ],
        }),
        ..ServerKind::default()
    }
}
