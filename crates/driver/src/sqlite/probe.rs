//! What the embedded SQLite is and can do.

use measure::{Failure, Identity};

use super::session::Session;
use crate::{Capabilities, Datum, Facts, PlaceholderStyle, ServerLimits};

const PRAGMAS: &[&str] = &[
    "journal_mode",
    "synchronous",
    "busy_timeout",
    "cache_size",
    "mmap_size",
    "page_size",
    "wal_autocheckpoint",
];

/// Asks the library and the file.
pub(crate) fn probe(session: &mut Session) -> Result<Facts, Failure> {
    let mut settings = Vec::new();
    for pragma in PRAGMAS {
        if let Some(value) = first(session, &format!("PRAGMA {pragma}"))? {
            settings.push(((*pragma).to_owned(), value));
        }
    }
    let identity = Identity {
        product: "SQLite".into(),
        version: rusqlite::version().into(),
        build: first(session, "SELECT sqlite_source_id()")?,
        storage: "SQLite file, WAL".into(),
        settings,
    };
    Ok(Facts { identity, limits: ServerLimits::default() })
}

fn first(session: &mut Session, sql: &str) -> Result<Option<String>, Failure> {
    let rows = session.rows(sql)?;
    Ok(rows.into_iter().flatten().next().map(|datum| match datum {
        Datum::Null => String::new(),
        Datum::Int(number) => number.to_string(),
        Datum::Float(number) => number.to_string(),
        Datum::Text(text) => text,
    }))
}

/// What SQLite can do.
pub(crate) fn capabilities() -> Capabilities {
    Capabilities {
        is_blocking: true,
        placeholder: PlaceholderStyle::QuestionMark,
        has_concurrent_writers: false,
        has_auto_commit_ddl: false,
        begin_write: "BEGIN IMMEDIATE",
        begin_read: "BEGIN",
        auto_increment_key: "INTEGER PRIMARY KEY AUTOINCREMENT",
        has_engine_clause: false,
        has_isolation_levels: false,
        analyze: Some("ANALYZE {table}"),
        ascii_session: None,
        row_lock: "",
        has_hash_partitions: false,
        enforce_foreign_keys: Some("PRAGMA foreign_keys = ON"),
        list_columns: "SELECT name FROM pragma_table_info('{table}') ORDER BY cid",
        // A primary key that is the row's own number has no index to list.
        list_indexed: "SELECT info.name FROM pragma_index_list('{table}') list, \
                       pragma_index_info(list.name) info WHERE info.seqno = 0 \
                       UNION SELECT name FROM pragma_table_info('{table}') WHERE pk = 1",
    }
}
