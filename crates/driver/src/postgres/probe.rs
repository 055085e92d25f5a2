//! Asks a server for its product, version, settings and limits, before any load.

use std::time::Duration;

use measure::{Failure, Identity};
use net::Handle;

use super::codec::{AnswerLimit, shown};
use super::config::StatementProtocol;
use super::remarks::remarks;
use super::session::Session;
use crate::facts::{WHAT_IT_IS, asked_within};
use crate::{Datum, Facts, ServerLimit, ServerLimits};

/// Settings that affect performance or safety, whatever their value; of the others, those that somebody has set.
const SETTINGS: &str = "'autovacuum', 'autovacuum_analyze_scale_factor', 'autovacuum_naptime', \
     'autovacuum_vacuum_scale_factor', 'autovacuum_vacuum_threshold', 'block_size', 'checkpoint_completion_target', 'checkpoint_timeout', \
     'commit_delay', 'data_checksums', 'debug_assertions', 'default_transaction_isolation', \
     'effective_cache_size', 'effective_io_concurrency', 'fsync', 'full_page_writes', 'huge_pages', \
     'huge_pages_status', 'io_method', 'jit', 'log_min_duration_statement', 'log_statement', \
     'maintenance_work_mem', 'max_connections', 'max_parallel_workers_per_gather', 'max_wal_size', \
     'plan_cache_mode', 'random_page_cost', 'server_encoding', 'shared_buffers', \
     'shared_preload_libraries', 'ssl', 'synchronous_commit', 'track_io_timing', 'wal_compression', \
     'wal_level', 'wal_sync_method', 'work_mem'";

/// Sources of settings that somebody has made, rather than a session or a build.
const SOURCES: &str =
    "'configuration file', 'command line', 'global', 'database', 'user', 'database user'";

/// Settings that say nothing of how fast a server is: names of files, ports, languages. What may hold a secret is among
/// them: addresses with logins, and commands.
const LEFT_OUT: &str = "name ~ '(conninfo|command|passphrase|password|secret|token|_key|_file|directory|path|_url)' \
     OR name ~ '^(lc_|unix_socket_|log_line_|syslog_|bonjour|krb_)' OR name IN ('application_name', 'cluster_name', \
     'DateStyle', 'default_text_search_config', 'listen_addresses', 'log_destination', 'log_timezone', 'port', \
     'TimeZone')";

/// The longest value that is kept. Those that are asked for have some ten characters.
const VALUE_CHARACTERS_MAX: usize = 1_024;

/// Asks a server for its facts. The questions are small, so all answers must arrive within `bound`.
pub(crate) async fn probe(
    handle: &Handle,
    session: &mut Session,
    bound: Duration,
) -> Result<Facts, Failure> {
    let address = session.peer.address.name.clone();
    asked_within((handle, bound), address, WHAT_IT_IS, ask(session)).await
}

async fn ask(session: &mut Session) -> Result<Facts, Failure> {
    let described = first_row(session, "SELECT version()").await?.unwrap_or_default();
    let version = described.first().cloned().unwrap_or_default();
    let mut settings = Vec::new();
    let sql = format!(
        "SELECT name, current_setting(name, true) FROM pg_settings WHERE name IN ({SETTINGS}) \
         OR (source IN ({SOURCES}) AND NOT ({LEFT_OUT})) ORDER BY name"
    );
    for row in session.rows_within(&sql, AnswerLimit::Facts).await? {
        let mut cells = row.iter().map(text);
        if let (Some(name), Some(value)) = (cells.next(), cells.next()) {
            settings.push((name, value));
        }
    }
    let collation = "SELECT datcollate FROM pg_database WHERE datname = current_database()";
    let collation = first_row(session, collation).await?.and_then(|row| row.into_iter().next());
    settings.extend(collation.map(|collation| ("collation".to_owned(), collation)));
    settings.push(("statements".to_owned(), statements(session.peer.protocol).to_owned()));
    settings.push(("encryption".to_owned(), session.encryption()));
    settings.extend(session.peer.facts());
    let (product, own) = product(&version, session);
    let identity = Identity {
        product: product.to_owned(),
        version: own,
        storage: "heap".to_owned(),
        build: (!version.is_empty()).then_some(version),
        remarks: remarks(&settings),
        settings,
    };
    Ok(Facts { identity, limits: limits(session).await? })
}

fn statements(protocol: StatementProtocol) -> &'static str {
    match protocol {
        StatementProtocol::Named => "prepared by name",
        StatementProtocol::Unnamed => "parsed with each execution",
        StatementProtocol::Text => "as text",
    }
}

/// The product and its version: those that are compatible with PostgreSQL say what they are in their descriptions.
fn product(description: &str, session: &Session) -> (&'static str, String) {
    let version = session.peer.setting("server_version").unwrap_or_default().to_owned();
    if let Some(version) = session.peer.setting("crdb_version") {
        return ("CockroachDB", version.to_owned());
    }
    match description {
        other if other.contains("-YB-") => ("YugabyteDB", version),
        _ => ("PostgreSQL", version),
    }
}

/// Limits of the server, without the use by the session that asks: it is closed before the load.
async fn limits(session: &mut Session) -> Result<ServerLimits, Failure> {
    let sql = "SELECT current_setting('max_connections')::int - \
               current_setting('superuser_reserved_connections')::int, \
               (SELECT COUNT(*) FROM pg_stat_activity WHERE backend_type = 'client backend')";
    let row = first_row(session, sql).await?.unwrap_or_default();
    let number = |place: usize| row.get(place).and_then(|text| text.parse::<u64>().ok());
    let connections = number(0).map(|max| ServerLimit {
        resource: "connections",
        max,
        used: number(1).unwrap_or(1).saturating_sub(1),
        remedy: "set max_connections = {needed} (ALTER SYSTEM SET, and restart the server), or use fewer clients",
    });
    Ok(ServerLimits { connections, ..ServerLimits::default() })
}

/// The first row of an answer, in texts.
async fn first_row(session: &mut Session, sql: &str) -> Result<Option<Vec<String>>, Failure> {
    let rows = session.rows_within(sql, AnswerLimit::Facts).await?;
    Ok(rows.first().map(|row| row.iter().map(text).collect()))
}

/// A server's value as the record keeps it.
fn text(datum: &Datum) -> String {
    let text = match datum {
        Datum::Null => String::new(),
        Datum::Int(number) => number.to_string(),
        Datum::Float(number) => number.to_string(),
        Datum::Text(text) => text.clone(),
    };
    shown(text.as_bytes(), VALUE_CHARACTERS_MAX)
}
