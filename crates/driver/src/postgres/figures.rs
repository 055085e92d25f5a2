//! Figures that a PostgreSQL tells of itself over time, as a page of metrics: its statistics views, one statement for
//! each, and samples of what its sessions wait for.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use measure::Failure;

use super::codec::AnswerLimit;
use super::counters::version;
use super::session::Session;
use crate::Datum;

/// A statement and the figures in its row, or in each of several rows that begin with a text.
struct Source {
    /// The view that it reads, for remarks.
    name: &'static str,
    /// The versions that have it: from the first on, and before the second.
    versions: (u32, u32),
    sql: &'static str,
    /// The figures in the order of the columns.
    figures: &'static [Figure],
}

/// A figure: the name of its family, whether that is a `counter`, a `gauge` or the sum and count of a `summary`, and the
/// rest of its name, in which the text before the numbers of a row stands for `$`.
type Figure = (&'static str, &'static str, &'static str);

const EVERY: (u32, u32) = (0, u32::MAX);
/// What takes longer to find out is asked for with each of so many readings.
const SLOW_EVERY: u64 = 15;

/// The first is asked for only from time to time.
const SIZE: Source = Source {
    name: "pg_database_size",
    versions: EVERY,
    sql: "SELECT pg_database_size(current_database()), \
          (SELECT setting::bigint FROM pg_settings WHERE name = 'shared_buffers') * \
          current_setting('block_size')::bigint",
    figures: &[
        ("postgresql_database_bytes", "gauge", ""),
        ("postgresql_shared_buffers_bytes", "gauge", ""),
    ],
};

/// What each kind of process has read from the operating system, and written to it.
const IO: &[Figure] = &[
    ("postgresql_io_read_bytes_total", "counter", "{by=\"$\"}"),
    ("postgresql_io_written_bytes_total", "counter", "{by=\"$\"}"),
];

const SOURCES: &[Source] = &[
    Source {
        name: "pg_stat_database",
        versions: EVERY,
        sql: "SELECT xact_commit, xact_rollback, numbackends, blks_hit, blks_hit + blks_read, temp_bytes, deadlocks, \
              tup_returned, tup_fetched, tup_inserted, tup_updated, tup_deleted, \
              extract(epoch FROM pg_postmaster_start_time())::float8 \
              FROM pg_stat_database WHERE datname = current_database()",
        figures: &[
            ("postgresql_transactions_total", "counter", "{end=\"committed\"}"),
            ("postgresql_transactions_total", "counter", "{end=\"rolled back\"}"),
            ("postgresql_sessions", "gauge", ""),
            ("postgresql_cache_hits", "summary", "_sum"),
            ("postgresql_cache_hits", "summary", "_count"),
            ("postgresql_temporary_bytes_total", "counter", ""),
            ("postgresql_deadlocks_total", "counter", ""),
            ("postgresql_rows_total", "counter", "{what=\"scanned\"}"),
            ("postgresql_rows_total", "counter", "{what=\"fetched\"}"),
            ("postgresql_rows_total", "counter", "{what=\"inserted\"}"),
            ("postgresql_rows_total", "counter", "{what=\"updated\"}"),
            ("postgresql_rows_total", "counter", "{what=\"deleted\"}"),
            ("process_start_time_seconds", "gauge", ""),
        ],
    },
    Source {
        name: "pg_stat_database.active_time",
        versions: (140_000, u32::MAX),
        sql: "SELECT active_time / 1000, idle_in_transaction_time / 1000 FROM pg_stat_database \
              WHERE datname = current_database()",
        figures: &[
            ("postgresql_session_seconds_total", "counter", "{state=\"at work\"}"),
            ("postgresql_session_seconds_total", "counter", "{state=\"idle in a transaction\"}"),
        ],
    },
    Source {
        name: "pg_stat_wal",
        versions: (140_000, u32::MAX),
        sql: "SELECT wal_bytes::bigint, wal_bytes::bigint, xact_commit, wal_fpi, xact_commit \
              FROM pg_stat_wal, pg_stat_database WHERE datname = current_database()",
        figures: &[
            ("postgresql_wal_bytes_total", "counter", ""),
            ("postgresql_wal_bytes_of_transaction", "summary", "_sum"),
            ("postgresql_wal_bytes_of_transaction", "summary", "_count"),
            ("postgresql_page_images_of_transaction", "summary", "_sum"),
            ("postgresql_page_images_of_transaction", "summary", "_count"),
        ],
    },
    Source {
        name: "pg_stat_bgwriter",
        versions: (0, 170_000),
        sql: "SELECT checkpoints_timed, checkpoints_req, buffers_checkpoint, buffers_clean, buffers_backend \
              FROM pg_stat_bgwriter",
        figures: &[
            ("postgresql_checkpoints_total", "counter", "{why=\"timed\"}"),
            ("postgresql_checkpoints_total", "counter", "{why=\"requested\"}"),
            ("postgresql_pages_written_total", "counter", "{by=\"checkpointer\"}"),
            ("postgresql_pages_written_total", "counter", "{by=\"background writer\"}"),
            ("postgresql_pages_written_total", "counter", "{by=\"sessions\"}"),
        ],
    },
    Source {
        name: "pg_stat_checkpointer",
        versions: (170_000, u32::MAX),
        sql: "SELECT num_timed, num_requested, c.buffers_written, b.buffers_clean \
              FROM pg_stat_checkpointer c, pg_stat_bgwriter b",
        figures: &[
            ("postgresql_checkpoints_total", "counter", "{why=\"timed\"}"),
            ("postgresql_checkpoints_total", "counter", "{why=\"requested\"}"),
            ("postgresql_pages_written_total", "counter", "{by=\"checkpointer\"}"),
            ("postgresql_pages_written_total", "counter", "{by=\"background writer\"}"),
        ],
    },
    // Up to 17 blocks are counted, and bytes from 18 on, where the log has rows of its own.
    Source {
        name: "pg_stat_io",
        versions: (160_000, 180_000),
        sql: "SELECT CASE backend_type WHEN 'client backend' THEN 'sessions' WHEN 'background worker' THEN 'parallel workers' \
              ELSE backend_type END, COALESCE(SUM(reads * op_bytes), 0)::bigint, \
              (COALESCE(SUM(writes * op_bytes), 0) + COALESCE(SUM(extends * op_bytes), 0))::bigint \
              FROM pg_stat_io GROUP BY 1",
        figures: IO,
    },
    Source {
        name: "pg_stat_io",
        versions: (180_000, u32::MAX),
        sql: "SELECT CASE backend_type WHEN 'client backend' THEN 'sessions' WHEN 'background worker' THEN 'parallel workers' \
              ELSE backend_type END, COALESCE(SUM(read_bytes), 0)::bigint, \
              (COALESCE(SUM(write_bytes), 0) + COALESCE(SUM(extend_bytes), 0))::bigint \
              FROM pg_stat_io WHERE object <> 'wal' GROUP BY 1",
        figures: IO,
    },
    Source {
        name: "pg_stat_user_tables",
        versions: EVERY,
        sql: "SELECT COALESCE(SUM(n_live_tup), 0)::bigint, COALESCE(SUM(n_dead_tup), 0)::bigint, \
              COALESCE(SUM(n_tup_hot_upd), 0)::bigint, COALESCE(SUM(n_tup_upd), 0)::bigint, \
              COALESCE(SUM(autovacuum_count), 0)::bigint, COALESCE(SUM(autoanalyze_count), 0)::bigint \
              FROM pg_stat_user_tables",
        figures: &[
            ("postgresql_live_rows", "gauge", ""),
            ("postgresql_dead_rows", "gauge", ""),
            ("postgresql_updates_in_page", "summary", "_sum"),
            ("postgresql_updates_in_page", "summary", "_count"),
            ("postgresql_autovacuum_total", "counter", "{what=\"vacuum\"}"),
            ("postgresql_autovacuum_total", "counter", "{what=\"analyze\"}"),
        ],
    },
];

/// What sessions with a statement are doing: working, or waiting for something of a class. A session that waits for its
/// client in the middle of an answer is of the class `Client`.
const CLASSES: [&str; 9] =
    ["CPU", "IO", "LWLock", "Lock", "IPC", "Client", "BufferPin", "Timeout", "other"];
const OPEN: &str = "idle in transaction";
/// Sessions whose state the login may not see.
const HIDDEN: &str = "hidden";

/// Counts what other sessions on the database do now. What waits for work, and dyno's own watch, are left out. It asks the
/// function below the view `pg_stat_activity`, which takes half of the view's time.
const SAMPLE: &str = "SELECT CASE WHEN state = 'active' THEN COALESCE(wait_event_type, 'CPU') \
     WHEN state LIKE 'idle in transaction%' THEN 'idle in transaction' \
     WHEN state IS NULL AND query = '<insufficient privilege>' THEN 'hidden' END, COUNT(*) \
     FROM pg_stat_get_activity(NULL) WHERE usesysid IS NOT NULL \
     AND COALESCE(backend_type, 'client backend') IN ('client backend', 'parallel worker') \
     AND datid = (SELECT oid FROM pg_database WHERE datname = current_database()) AND application_name <> 'dyno-watch' GROUP BY 1";

/// What is known of a server's figures.
#[derive(Debug, Default)]
pub(crate) struct Figures {
    /// How many sessions the samples found, by class.
    active: BTreeMap<&'static str, u64>,
    open: u64,
    samples: u64,
    readings: u64,
    /// The answer of the source that is asked for only from time to time.
    size: String,
    /// Sources that the server refuses, by name, and why.
    refused: BTreeMap<&'static str, String>,
}

impl Figures {
    /// Looks at what sessions wait for.
    pub(crate) async fn sample(&mut self, session: &mut Session) -> Result<(), Failure> {
        if self.refused.contains_key("pg_stat_activity") {
            return Ok(());
        }
        let rows = match session.rows_within(SAMPLE, AnswerLimit::Facts).await {
            Ok(rows) => rows,
            Err(failure) => return self.refuse("pg_stat_activity", failure),
        };
        self.samples += 1;
        for row in rows {
            let [Datum::Text(class), Datum::Int(count)] = row.as_slice() else { continue };
            let count = u64::try_from(*count).unwrap_or(0);
            match class.as_str() {
                OPEN => self.open += count,
                HIDDEN => {
                    let why = "it does not show the sessions of other users to this login: GRANT pg_monitor TO it";
                    self.refused.entry(HIDDEN).or_insert_with(|| why.to_owned());
                }
                class => {
                    let class = class.replace("Buffer", "BufferPin").replace("PinPin", "Pin");
                    let known = CLASSES.into_iter().find(|known| *known == class);
                    *self.active.entry(known.unwrap_or("other")).or_default() += count;
                }
            }
        }
        Ok(())
    }

    /// Reads all figures, as lines of a page.
    pub(crate) async fn read(&mut self, session: &mut Session) -> Result<String, Failure> {
        let version = version(&session.peer);
        let mut page = String::new();
        if self.readings.is_multiple_of(SLOW_EVERY) {
            self.size = self.ask(session, &SIZE).await?;
        }
        self.readings += 1;
        page.push_str(&self.size);
        for source in SOURCES {
            let (from, until) = source.versions;
            if (from..until).contains(&version) {
                let lines = self.ask(session, source).await?;
                page.push_str(&lines);
            }
        }
        self.write_samples(&mut page);
        Ok(page)
    }

    /// What is missing, and why.
    pub(crate) fn remarks(&self) -> Vec<String> {
        self.refused.iter().map(|(name, why)| format!("{name} is missing: {why}")).collect()
    }

    /// The figures of one source; none when the server refuses it.
    async fn ask(&mut self, session: &mut Session, source: &Source) -> Result<String, Failure> {
        let mut lines = String::new();
        if self.refused.contains_key(source.name) {
            return Ok(lines);
        }
        let rows = match session.rows_within(source.sql, AnswerLimit::Facts).await {
            Ok(rows) => rows,
            Err(failure) => return self.refuse(source.name, failure).map(|()| lines),
        };
        let mut family_before = "";
        for (at, (family, kind, rest)) in source.figures.iter().enumerate() {
            for row in &rows {
                let (text, values) = match row.split_first() {
                    Some((Datum::Text(text), values)) => (text.as_str(), values),
                    _ => ("", &row[..]),
                };
                let value = match values.get(at) {
                    Some(Datum::Int(value)) => value.to_string(),
                    Some(Datum::Float(value)) => value.to_string(),
                    Some(Datum::Null | Datum::Text(_)) | None => continue,
                };
                if *family != family_before {
                    let _ = writeln!(lines, "# TYPE {family} {kind}");
                }
                family_before = family;
                let _ = writeln!(lines, "{family}{} {value}", rest.replace('$', text));
            }
        }
        Ok(lines)
    }

    /// A source that the server refuses is left out from now on; a connection that breaks ends the reading.
    fn refuse(&mut self, source: &'static str, failure: Failure) -> Result<(), Failure> {
        if failure.key.class.breaks_connection() {
            return Err(failure);
        }
        self.refused.insert(source, failure.message.to_string());
        Ok(())
    }

    /// The sums over all samples and their number, whose quotient is a mean number of sessions.
    fn write_samples(&self, page: &mut String) {
        let samples = self.samples;
        let _ = writeln!(page, "# TYPE postgresql_active_sessions summary");
        for class in CLASSES {
            let sum = self.active.get(class).copied().unwrap_or(0);
            let _ = writeln!(page, "postgresql_active_sessions_sum{{class=\"{class}\"}} {sum}");
            let _ =
                writeln!(page, "postgresql_active_sessions_count{{class=\"{class}\"}} {samples}");
        }
        let _ = writeln!(page, "# TYPE postgresql_open_sessions summary");
        let _ = writeln!(page, "postgresql_open_sessions_sum {}", self.open);
        let _ = writeln!(page, "postgresql_open_sessions_count {samples}");
    }
}
