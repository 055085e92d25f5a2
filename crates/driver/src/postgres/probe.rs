//! Asks a server for its product, version, settings and limits, before any load.

use std::time::Duration;

use measure::{Failure, Identity};
use net::Handle;

use super::codec::{AnswerLimit, shown};
use super::config::StatementProtocol;
use super::remarks::{first_executions, remarks};
use super::session::Session;
use crate::facts::{WHAT_IT_IS, asked_within};
use crate::{Datum, Facts, ServerLimit, ServerLimits};

/// Settings that affect performance or safety, whatever their value; of the others, those that somebody has set.
const SETTINGS: &str = "'autovacuum', 'autovacuum_analyze_scale_factor', 'autovacuum_analyze_threshold', 'autovacuum_naptime', \
     'autovacuum_vacuum_insert_scale_factor', 'autovacuum_vacuum_insert_threshold', \
     'autovacuum_vacuum_scale_factor', 'autovacuum_vacuum_threshold', 'block_size', 'checkpoint_completion_target', 'checkpoint_timeout', \
     'commit_delay', 'data_checksums', 'debug_assertions', 'default_transaction_isolation', \
     'effective_cache_size', 'effective_io_concurrency', 'fsync', 'full_page_writes', 'huge_pages', \
     'huge_pages_status', 'in_hot_standby', 'io_method', 'jit', 'jit_above_cost', 'log_min_duration_statement', 'log_statement', \
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

const COLLATION: &str = "SELECT datcollate FROM pg_database WHERE datname = current_database()";

/// Without the one that each database has.
const EXTENSIONS: &str = "SELECT string_agg(extname || ' ' || extversion, ', ' ORDER BY extname) \
     FROM pg_extension WHERE extname <> 'plpgsql'";

/// Services with settings or functions of their own.
const MAKER: &str = "SELECT CASE WHEN EXISTS (SELECT 1 FROM pg_settings WHERE name LIKE 'neon.%') THEN 'Neon' \
     WHEN EXISTS (SELECT 1 FROM pg_settings WHERE name LIKE 'alloydb.%') THEN 'AlloyDB' \
     WHEN EXISTS (SELECT 1 FROM pg_proc WHERE proname = 'aurora_version') THEN 'Aurora PostgreSQL' END";

const POSTGRESQL: &str = "PostgreSQL";
/// Parts of `version()` by which others are known.
const DESCRIPTIONS: [(&str, &str); 4] = [
    ("CockroachDB", "CockroachDB"),
    ("-YB-", "YugabyteDB"),
    ("Redshift", "Redshift"),
    ("Greenplum", "Greenplum"),
];

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
    let mut told = Told::default();
    let version = told.text(session, ("its version", "SELECT version()")).await?;
    let mut settings = Vec::new();
    let sql = format!(
        "SELECT name, current_setting(name, true) FROM pg_settings WHERE name IN ({SETTINGS}) \
         OR (source IN ({SOURCES}) AND NOT ({LEFT_OUT})) ORDER BY name"
    );
    for row in told.rows(session, ("its settings", &sql)).await? {
        let mut cells = row.iter().map(text);
        if let (Some(name), Some(value)) = (cells.next(), cells.next()) {
            settings.push((name, value));
        }
    }
    let of_database = [
        ("collation", ("its collation", COLLATION)),
        ("extensions", ("its extensions", EXTENSIONS)),
    ];
    for (name, question) in of_database {
        let value = told.text(session, question).await?;
        settings.extend((!value.is_empty()).then(|| (name.to_owned(), value)));
    }
    // Builds differ in it; that compatible servers have no such function is nothing to tell.
    let jit = Told::default().text(session, ("", "SELECT pg_jit_available()")).await?;
    if !jit.is_empty() {
        let told =
            if ["t", "1"].contains(&jit.as_str()) { "yes" } else { "no: built without LLVM" };
        settings.push(("jit_available".to_owned(), told.to_owned()));
    }
    let maker = told.text(session, ("whose service it is", MAKER)).await?;
    settings.push(("statements".to_owned(), statements(session.peer.protocol).to_owned()));
    settings.push(("encryption".to_owned(), session.encryption()));
    settings.extend(session.peer.facts());
    let limits = limits(session, &mut told).await?;
    let setting = |name: &str| session.peer.setting(name).unwrap_or_default();
    let extensions = settings.iter().find(|(name, _)| name == "extensions");
    let (product, own) = product(&Described {
        description: &version,
        maker: &maker,
        extensions: extensions.map_or("", |(_, all)| all),
        server_version: setting("server_version"),
        crdb_version: setting("crdb_version"),
    });
    let is_other = (product != POSTGRESQL).then(|| {
        format!("{product} takes PostgreSQL's protocol, and dyno is not tested with it: what it does not have is left out")
    });
    let mut all: Vec<String> = is_other.into_iter().chain(told.missing).collect();
    all.extend(remarks(&settings));
    let identity = Identity {
        product,
        version: own,
        storage: "heap".to_owned(),
        build: (!version.is_empty()).then_some(version),
        remarks: all,
        first_executions: first_executions(session.peer.protocol, &settings),
        settings,
    };
    Ok(Facts { identity, limits })
}

/// What a server has told, and what it refused to tell: other systems that take the protocol do not have all views.
#[derive(Default)]
struct Told {
    missing: Vec<String>,
}

impl Told {
    /// The rows of an answer; none where the server refuses the question.
    async fn rows(
        &mut self,
        session: &mut Session,
        (what, sql): (&str, &str),
    ) -> Result<Vec<Vec<Datum>>, Failure> {
        match session.rows_within(sql, AnswerLimit::Facts).await {
            Err(failure) if !failure.key.class.breaks_connection() => {
                self.missing.push(format!("the server does not tell {what}: {}", failure.message));
                Ok(Vec::new())
            }
            rows => rows,
        }
    }

    /// The first cell of an answer; empty where there is none.
    async fn text(
        &mut self,
        session: &mut Session,
        question: (&str, &str),
    ) -> Result<String, Failure> {
        let rows = self.rows(session, question).await?;
        Ok(rows.first().and_then(|row| row.first()).map(text).unwrap_or_default())
    }
}

fn statements(protocol: StatementProtocol) -> &'static str {
    match protocol {
        StatementProtocol::Named => "prepared by name",
        StatementProtocol::Unnamed => "parsed with each execution",
        StatementProtocol::Text => "as text",
    }
}

/// What a server says of itself.
#[derive(Clone, Copy, Debug, Default)]
struct Described<'a> {
    /// That of `version()`.
    description: &'a str,
    /// Whose service it is, by its settings and functions; empty for none that is known.
    maker: &'a str,
    extensions: &'a str,
    server_version: &'a str,
    /// Empty for any but a CockroachDB.
    crdb_version: &'a str,
}

/// The product and its version: those that are compatible with PostgreSQL say what they are.
fn product(it: &Described<'_>) -> (String, String) {
    let version = it.server_version;
    let of = |product: &str, version: &str| (product.to_owned(), version.to_owned());
    if !it.crdb_version.is_empty() {
        return of("CockroachDB", it.crdb_version);
    }
    let by_description =
        DESCRIPTIONS.iter().find(|(mark, _)| it.description.contains(mark)).map(|(_, name)| *name);
    if let Some(product) = by_description {
        return of(product, version);
    }
    if !it.maker.is_empty() {
        return of(it.maker, version);
    }
    let citus = it.extensions.split(", ").find_map(|extension| extension.strip_prefix("citus "));
    match citus {
        Some(own) => of("Citus", &format!("{own} on PostgreSQL {version}")),
        None => of(POSTGRESQL, version),
    }
}

/// Limits of the server, without the use by the session that asks: it is closed before the load.
async fn limits(session: &mut Session, told: &mut Told) -> Result<ServerLimits, Failure> {
    // Since PostgreSQL 16 some may be kept for members of a role as well.
    let sql = "SELECT current_setting('max_connections')::int - \
               current_setting('superuser_reserved_connections')::int - \
               coalesce(current_setting('reserved_connections', true), '0')::int, \
               (SELECT COUNT(*) FROM pg_stat_activity WHERE backend_type = 'client backend')";
    let rows = told.rows(session, ("how many connections it takes", sql)).await?;
    let row = rows.into_iter().next().unwrap_or_default();
    let number = |place: usize| row.get(place).and_then(|cell| text(cell).parse::<u64>().ok());
    let connections = number(0).map(|max| ServerLimit {
        resource: "connections",
        max,
        used: number(1).unwrap_or(1).saturating_sub(1),
        remedy: "set max_connections = {needed} (ALTER SYSTEM SET, and restart the server), or use fewer clients",
    });
    Ok(ServerLimits { connections, ..ServerLimits::default() })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compatible_servers_are_known_by_what_they_say() {
        let plain = Described {
            description: "PostgreSQL 15.2 on x86_64-pc-linux-gnu",
            server_version: "15.2",
            ..Described::default()
        };
        let cases = [
            (plain, ["PostgreSQL", "15.2"]),
            (Described { crdb_version: "v23.1.11", ..plain }, ["CockroachDB", "v23.1.11"]),
            (
                Described { description: "CockroachDB CCL v22.2.0", ..plain },
                ["CockroachDB", "15.2"],
            ),
            (
                Described { description: "PostgreSQL 11.2-YB-2.19.3.0-b0", ..plain },
                ["YugabyteDB", "15.2"],
            ),
            (Described { maker: "Neon", ..plain }, ["Neon", "15.2"]),
            (Described { maker: "Aurora PostgreSQL", ..plain }, ["Aurora PostgreSQL", "15.2"]),
            (
                Described { extensions: "citus 12.1-1, pg_stat_statements 1.10", ..plain },
                ["Citus", "12.1-1 on PostgreSQL 15.2"],
            ),
            (Described { extensions: "citus_columnar 11.3-1", ..plain }, ["PostgreSQL", "15.2"]),
        ];
        for (said, [name, version]) in cases {
            assert_eq!(product(&said), (name.to_owned(), version.to_owned()), "{said:?}");
        }
    }
}
