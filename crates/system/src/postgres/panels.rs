//! The panels for the figures that a PostgreSQL tells of itself, and what it did beside a load that a reader must know.
//! The names are those of `driver`'s figures; source: PostgreSQL's manual, "The Cumulative Statistics System".

use measure::MetricFunction::{CountRate, Gauge, Mean, Rate};
use measure::Quantity::{Bytes, BytesPerSecond, Count, Part, PerSecond};
use measure::{MetricQuery, Panel, RemarkTest, ServerKind, ServerMoment, ServerRemark};

use crate::watch::panels::{any, line, marks, panel};

/// Samples of sessions that have a statement, by what they wait for; `CPU` are those that wait for nothing.
const ACTIVE: &str = "postgresql_active_sessions";
/// Dead rows that come in the measured time are told from this part of all rows on: autovacuum comes at a fifth.
const DEAD_PART: f64 = 0.05;

pub(crate) fn server_kinds() -> Vec<ServerKind> {
    vec![ServerKind {
        name: "PostgreSQL".to_owned(),
        marks: marks(&["postgresql_"]),
        panels: panels(),
        remarks: remarks(),
        waits: vec![line("", MetricQuery::new(Mean, ACTIVE).by("class").without("class", "CPU"))],
        moments: moments(),
        ..ServerKind::default()
    }]
}

fn panels() -> Vec<Panel> {
    let of = MetricQuery::new;
    let one = |function, family: &str| vec![line("", of(function, family))];
    vec![
        panel("transactions", PerSecond, any(Rate, "postgresql_transactions_total", "end")),
        panel(
            "sessions by the server's clock",
            Count,
            any(Rate, "postgresql_session_seconds_total", "state"),
        ),
        panel("sessions at work by what they wait for", Count, any(Mean, ACTIVE, "class")),
        panel("sessions idle in a transaction", Count, one(Mean, "postgresql_open_sessions")),
        panel("samples of sessions", PerSecond, one(CountRate, "postgresql_open_sessions")),
        panel("sessions", Count, one(Gauge, "postgresql_sessions")),
        panel("rows", PerSecond, any(Rate, "postgresql_rows_total", "what")),
        panel("pages found in the cache", Part, one(Mean, "postgresql_cache_hits")),
        panel(
            "read by kind of process",
            BytesPerSecond,
            any(Rate, "postgresql_io_read_bytes_total", "by"),
        ),
        panel(
            "written by kind of process",
            BytesPerSecond,
            any(Rate, "postgresql_io_written_bytes_total", "by"),
        ),
        panel("write-ahead log", BytesPerSecond, one(Rate, "postgresql_wal_bytes_total")),
        panel(
            "write-ahead log of a transaction",
            Bytes,
            one(Mean, "postgresql_wal_bytes_of_transaction"),
        ),
        panel(
            "full pages in the log of a transaction",
            Count,
            one(Mean, "postgresql_page_images_of_transaction"),
        ),
        panel("checkpoints", PerSecond, any(Rate, "postgresql_checkpoints_total", "why")),
        panel("pages written", PerSecond, any(Rate, "postgresql_pages_written_total", "by")),
        panel(
            "tables done by autovacuum",
            PerSecond,
            any(Rate, "postgresql_autovacuum_total", "what"),
        ),
        panel("dead rows", Count, one(Gauge, "postgresql_dead_rows")),
        panel("updates that stay in their page", Part, one(Mean, "postgresql_updates_in_page")),
        panel("temporary files", BytesPerSecond, one(Rate, "postgresql_temporary_bytes_total")),
        panel("deadlocks", PerSecond, one(Rate, "postgresql_deadlocks_total")),
    ]
}

fn counter(family: &str, label: &str, value: &str) -> MetricQuery {
    MetricQuery::new(Rate, family).with(label, value)
}

/// What the plots over time mark. A checkpoint is counted when it begins, a table of autovacuum when it is done.
fn moments() -> Vec<ServerMoment> {
    let moment = |text: &str, counter| ServerMoment { text: text.to_owned(), counter };
    let checkpoints = "postgresql_checkpoints_total";
    let autovacuum = "postgresql_autovacuum_total";
    vec![
        moment("timed checkpoint", counter(checkpoints, "why", "timed")),
        moment("requested checkpoint", counter(checkpoints, "why", "requested")),
        moment("autovacuum", counter(autovacuum, "what", "vacuum")),
        moment("autoanalyze", counter(autovacuum, "what", "analyze")),
    ]
}

fn remarks() -> Vec<ServerRemark> {
    let gauge = |family: &str| MetricQuery::new(Gauge, family);
    let remark = |text: &str, test| ServerRemark { text: text.to_owned(), test };
    vec![
        remark(
            "checkpoints that were due by checkpoint_timeout: after each, the first change of a page writes all of it to the \
             log, and a shorter run may have none",
            RemarkTest::Grew(counter("postgresql_checkpoints_total", "why", "timed")),
        ),
        remark(
            "checkpoints that were requested, as when the log has reached max_wal_size: raise it until they come by time alone",
            RemarkTest::Grew(counter("postgresql_checkpoints_total", "why", "requested")),
        ),
        remark(
            "tables that autovacuum has vacuumed: its work is in the figures, and may be in another trial's instead",
            RemarkTest::Grew(counter("postgresql_autovacuum_total", "what", "vacuum")),
        ),
        remark(
            "tables that autovacuum has analyzed: plans may have changed then",
            RemarkTest::Grew(counter("postgresql_autovacuum_total", "what", "analyze")),
        ),
        remark(
            "the database is larger than shared_buffers, so the operating system's cache or the disk has a part in reads",
            RemarkTest::IsMore {
                gauge: gauge("postgresql_database_bytes"),
                than: gauge("postgresql_shared_buffers_bytes"),
            },
        ),
        remark(
            "dead rows became more, as a part of the living ones: tables and indexes grow, and the next trial begins with them",
            RemarkTest::GrewByPart {
                gauge: gauge("postgresql_dead_rows"),
                of: gauge("postgresql_live_rows"),
                part: DEAD_PART,
            },
        ),
    ]
}
