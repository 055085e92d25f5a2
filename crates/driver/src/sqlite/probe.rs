//! Asks the embedded SQLite for its version and settings.

use measure::{Failure, Identity};

use super::session::Session;
use crate::{Datum, Facts, ServerLimits};

const PRAGMAS: &[&str] =
    &["journal_mode", "synchronous", "cache_size", "mmap_size", "page_size", "wal_autocheckpoint"];

/// Reads the library's version and the file's settings. SQLite does not know the busy time-out, because the session
/// itself waits for locks.
pub(crate) fn probe(session: &mut Session) -> Result<Facts, Failure> {
    let mut settings = Vec::new();
    for pragma in PRAGMAS {
        if let Some(value) = first(session, &format!("PRAGMA {pragma}"))? {
            settings.push(((*pragma).to_owned(), value));
        }
    }
    settings.push(("busy_timeout".to_owned(), session.busy_timeout.as_millis().to_string()));
    let identity = Identity {
        product: "SQLite".into(),
        version: rusqlite::version().into(),
        build: first(session, "SELECT sqlite_source_id()")?,
        storage: "SQLite file, WAL".into(),
        settings,
        remarks: Vec::new(),
        first_executions: None,
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
