//! Asks a server for its product, version, settings and limits, before any load.

use std::time::Duration;

use measure::{ErrorClass, Failure, Identity};
use net::Handle;

use super::codec::{AnswerLimit, command, shown};
use super::session::Session;
use crate::facts::{WHAT_IT_IS, asked_within};
use crate::{Datum, Facts, ServerLimit, ServerLimits};

/// Settings of all products that affect performance; a server lists those that it has.
const SETTINGS: &[&str] = &[
    "autocommit",
    "binlog_format",
    "innodb_adaptive_hash_index",
    "innodb_buffer_pool_size",
    "innodb_doublewrite",
    "innodb_flush_log_at_trx_commit",
    "innodb_flush_method",
    "innodb_io_capacity",
    "innodb_log_file_size",
    "innodb_page_size",
    "innodb_redo_log_capacity",
    "log_bin",
    "performance_schema",
    "query_cache_type",
    "sync_binlog",
    "table_open_cache",
    "thread_cache_size",
    "thread_handling",
    "tidb_analyze_version",
    "tidb_distsql_scan_concurrency",
    "tidb_enable_async_commit",
    "tidb_enable_1pc",
    "tidb_enable_prepared_plan_cache",
    "tidb_guarantee_linearizability",
    "tidb_mem_quota_query",
    "tidb_txn_mode",
    "transaction_isolation",
    "tx_isolation",
];

/// Other variables that are queried.
const QUESTIONS: &[&str] = &[
    "default_storage_engine",
    "init_connect",
    "max_allowed_packet",
    "max_connections",
    "max_prepared_stmt_count",
    "version",
    "version_comment",
    "version_source_revision",
];

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
    let variables =
        NamedValues::ask(session, "GLOBAL VARIABLES", &[SETTINGS, QUESTIONS].concat()).await?;
    refuse_without_autocommit(session, &variables).await?;
    let uses =
        NamedValues::ask(session, "GLOBAL STATUS", &["Threads_connected", "Prepared_stmt_count"]);
    let uses = uses.await?;
    let version = variables.text("version").unwrap_or_default().to_owned();
    let product = Product::of(&version);
    let build = match product {
        // Only this function reports which storage TiDB uses.
        Product::TiDb => {
            let rows = session.rows_within("SELECT tidb_version()", AnswerLimit::Facts).await?;
            first_text(&rows)
        }
        _ => None,
    };
    let mut settings = settings(product, &variables);
    settings.push(("encryption".to_owned(), session.encryption()));
    settings.extend(session.peer.settings());
    let identity = Identity {
        product: product.name().into(),
        version: product.version(&version),
        storage: storage(product, &variables, build.as_deref()),
        build: build_of(product, &variables, build.as_deref()),
        settings,
        remarks: Vec::new(),
        first_executions: None,
    };
    Ok(Facts { identity, limits: limits(product, &variables, &uses) })
}

/// The server runs `init_connect` after it has accepted a login, so a session does not see at its start that this turns
/// autocommit off.
async fn refuse_without_autocommit(
    session: &mut Session,
    variables: &NamedValues,
) -> Result<(), Failure> {
    if variables.text("init_connect").is_none_or(str::is_empty) {
        return Ok(());
    }
    session.build(command::QUERY, "DO 0");
    session.ask().await?;
    if session.commits_by_itself() {
        return Ok(());
    }
    let message = format!(
        "{}: init_connect turns autocommit off for this user, so nothing would be committed; take \
         `autocommit=0` out of init_connect, or use a user whom it does not concern (one with the \
         privilege CONNECTION ADMIN or SUPER)",
        session.peer.address.name
    );
    Err(Failure::new(ErrorClass::Server, "", message))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Product {
    MySql,
    MariaDb,
    TiDb,
}

impl Product {
    /// The product, by the server's version string, such as `8.0.11-TiDB-v8.5.0` or `10.11.6-MariaDB`.
    fn of(version: &str) -> Self {
        if version.contains("TiDB") {
            Self::TiDb
        } else if version.contains("MariaDB") {
            Self::MariaDb
        } else {
            Self::MySql
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::MySql => "MySQL",
            Self::MariaDb => "MariaDB",
            Self::TiDb => "TiDB",
        }
    }

    /// The product's own version. TiDB puts the version of MySQL with which it is compatible before it; MariaDB
    /// appends its name and its package.
    fn version(self, full: &str) -> String {
        let own = match self {
            Self::MySql => full,
            Self::MariaDb => full.split("-MariaDB").next().unwrap_or(full),
            Self::TiDb => full.split("TiDB-").nth(1).unwrap_or(full),
        };
        own.trim_start_matches("5.5.5-").to_owned()
    }
}

/// Names and values from one of the server's SHOW statements.
pub(super) struct NamedValues(Vec<(String, String)>);

impl NamedValues {
    pub(super) async fn ask(
        session: &mut Session,
        what: &str,
        names: &[&str],
    ) -> Result<Self, Failure> {
        let list: Vec<String> = names.iter().map(|name| format!("'{name}'")).collect();
        let sql = format!("SHOW {what} WHERE Variable_name IN ({})", list.join(","));
        let rows = session.rows_within(&sql, AnswerLimit::Facts).await?;
        let pair = |row: Vec<Datum>| {
            let mut cells = row.into_iter().map(|cell| short(&text_of(cell)));
            Some((cells.next()?, cells.next()?))
        };
        Ok(Self(rows.into_iter().filter_map(pair).collect()))
    }

    fn text(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(this, _)| this.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    fn number(&self, name: &str) -> Option<i64> {
        self.text(name)?.parse().ok()
    }

    pub(super) fn only(&self, names: &[&str]) -> Vec<(String, String)> {
        let value = |name: &&str| Some(((*name).to_owned(), self.text(name)?.to_owned()));
        names.iter().filter_map(value).collect()
    }
}

fn text_of(datum: Datum) -> String {
    match datum {
        Datum::Null => String::new(),
        Datum::Int(number) => number.to_string(),
        Datum::Float(number) => number.to_string(),
        Datum::Text(text) => text,
    }
}

fn first_text(rows: &[Vec<Datum>]) -> Option<String> {
    rows.first()?.first().cloned().map(text_of)
}

/// The line `label: value` of TiDB's description of itself.
fn labelled<'a>(description: &'a str, label: &str) -> Option<&'a str> {
    let value = description.lines().find_map(|line| line.strip_prefix(label)?.strip_prefix(':'))?;
    // TiDB prints "None" for facts that its build does not know.
    Some(value.trim()).filter(|value| !value.is_empty() && *value != "None")
}

/// A server's value as the record keeps it: what is left out of a long one is marked.
fn short(value: &str) -> String {
    let mut kept = shown(value.as_bytes(), VALUE_CHARACTERS_MAX);
    if value.chars().nth(VALUE_CHARACTERS_MAX).is_some() {
        kept.push_str(" ...");
    }
    kept
}

/// Settings that affect performance. TiDB also lists those of InnoDB, for compatibility with clients, but they have
/// no effect there.
fn settings(product: Product, variables: &NamedValues) -> Vec<(String, String)> {
    let mut settings = variables.only(SETTINGS);
    if product == Product::TiDb {
        settings.retain(|(name, _)| name.starts_with("tidb_") || name == "transaction_isolation");
    }
    settings
}

fn storage(product: Product, variables: &NamedValues, description: Option<&str>) -> String {
    match product {
        Product::TiDb => {
            let store = description.and_then(|text| labelled(text, "Store"));
            short(store.unwrap_or("unknown store"))
        }
        // Tables may name another engine.
        _ => match variables.text("default_storage_engine") {
            Some(engine) => format!("{engine} by default"),
            None => "unknown engine".to_owned(),
        },
    }
}

fn build_of(
    product: Product,
    variables: &NamedValues,
    description: Option<&str>,
) -> Option<String> {
    let comment = variables.text("version_comment").unwrap_or_default();
    let hash = match product {
        Product::TiDb => description.and_then(|text| labelled(text, "Git Commit Hash")),
        _ => variables.text("version_source_revision"),
    };
    let parts: Vec<&str> =
        [comment, hash.unwrap_or_default()].into_iter().filter(|part| !part.is_empty()).collect();
    (!parts.is_empty()).then(|| short(&parts.join(", ")))
}

/// Limits of the server, without the use by the session that asks: it is closed before the load.
fn limits(product: Product, variables: &NamedValues, uses: &NamedValues) -> ServerLimits {
    let used = |name: &str| uses.number(name).and_then(|value| u64::try_from(value).ok());
    let limit = |name: &str, used: u64, resource, remedy| {
        let max = variables.number(name)?;
        // TiDB reports 0 or -1 where it has no limit; on other servers, 0 allows none at all.
        (product != Product::TiDb || max > 0).then(|| ServerLimit {
            resource,
            max: u64::try_from(max).unwrap_or(u64::MAX),
            used,
            remedy,
        })
    };
    ServerLimits {
        connections: limit(
            "max_connections",
            used("Threads_connected").unwrap_or(1).saturating_sub(1),
            "connections",
            "run on the server: SET GLOBAL max_connections = {needed}",
        ),
        prepared_statements: limit(
            "max_prepared_stmt_count",
            used("Prepared_stmt_count").unwrap_or(0),
            "prepared statements",
            "run on the server: SET GLOBAL max_prepared_stmt_count = {needed}, or use --ps off",
        ),
        packet_bytes: limit(
            "max_allowed_packet",
            0,
            "bytes in max_allowed_packet",
            "run on the server: SET GLOBAL max_allowed_packet = {needed}",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_value_is_cut_and_marked() {
        let fits = "é".repeat(1_024);
        assert_eq!(short(&fits), fits);
        assert_eq!(short(&format!("{fits}x")), format!("{fits} ..."));
        assert_eq!(short("a\x1b[31mb\n"), "a [31mb ");
    }
}
