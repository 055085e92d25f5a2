//! What a server itself counts of statements, for checking what dyno counted.
//!
//! What the counters mean was found out by experiment on MariaDB 10.11 and agrees with MySQL's
//! reference manual, "Server Status Variables":
//! - Each statement that is run adds one to the counter of its kind (`Com_select`, `Com_begin`), by
//!   whichever protocol; one that the server could not parse adds nothing.
//! - A prepared execution adds one to `Com_stmt_execute` besides; `Com_stmt_prepare` and
//!   `Com_stmt_close` are of the protocol and no statements. So all statements are the sum of `Com_*`
//!   without `Com_stmt_*`.
//! - `Questions` counts every request but pings, prepares and closes: logouts too, and those are
//!   counted some time after they were sent. `Queries` adds prepares and closes.

use std::collections::BTreeMap;
use std::time::Duration;

use measure::{ErrorClass, Failure, QueryCounts};
use net::Handle;

use super::session::Session;
use crate::Datum;

/// Reads the counters. This statement is the only one of its session.
const QUESTION: &str = "SHOW GLOBAL STATUS WHERE Variable_name LIKE 'Com\\_%' OR Variable_name IN \
                        ('Queries','Questions','Uptime')";
/// What one reading adds to these counters, whether it sees itself or not.
const OWN: &[&str] = &["Com_show_status", "Questions", "Queries"];
/// Kinds of statements that read.
const READS: &[&str] = &["Com_select"];
/// Kinds of statements that write rows.
const WRITES: &[&str] = &[
    "Com_delete",
    "Com_delete_multi",
    "Com_insert",
    "Com_insert_select",
    "Com_load",
    "Com_replace",
    "Com_replace_select",
    "Com_update",
    "Com_update_multi",
];

/// A reading of a server's counters, all since it was started.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerCounters(BTreeMap<String, u64>);

/// What a server counted between two readings, without the readings themselves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerCounts {
    /// Statements by what they do, by whichever protocol.
    pub statements: QueryCounts,
    /// Every counter that moved, by its name on the server.
    pub counters: Vec<(String, u64)>,
}

/// Reads the counters, within `bound`; `None` when the server has none, as TiDB.
pub(crate) async fn read_counters(
    handle: &Handle,
    session: &mut Session,
    bound: Duration,
) -> Result<Option<ServerCounters>, Failure> {
    let address = session.address.name.clone();
    net::within(handle, bound, ServerCounters::ask(session)).await.unwrap_or_else(|| {
        let message = format!("{address}: no answer within {bound:?} to what it has counted");
        Err(Failure::new(ErrorClass::Connection, "", message))
    })
}

impl ServerCounters {
    async fn ask(session: &mut Session) -> Result<Option<Self>, Failure> {
        let rows = session.rows(QUESTION).await?;
        let counters = Self(rows.into_iter().filter_map(counter).collect());
        let is_told = READS.iter().all(|name| counters.0.contains_key(*name));
        Ok(is_told.then_some(counters))
    }

    /// What was counted since an earlier reading; `None` when the server was started anew or its
    /// counters were set back in between.
    pub fn since(&self, earlier: &Self) -> Option<ServerCounts> {
        let mut counters = Vec::new();
        for (name, value) in &self.0 {
            let before = earlier.0.get(name).copied().unwrap_or(0);
            let own = u64::from(OWN.contains(&name.as_str()));
            let moved = value.checked_sub(before)?.checked_sub(own)?;
            if moved > 0 && name != "Uptime" {
                counters.push((name.clone(), moved));
            }
        }
        Some(ServerCounts { statements: by_kind(&counters), counters })
    }
}

fn by_kind(counters: &[(String, u64)]) -> QueryCounts {
    let mut statements = QueryCounts::default();
    for (name, count) in counters {
        let name = name.as_str();
        if READS.contains(&name) {
            statements.read += count;
        } else if WRITES.contains(&name) {
            statements.write += count;
        } else if name.starts_with("Com_") && !name.starts_with("Com_stmt_") {
            statements.other += count;
        }
    }
    statements
}

fn counter(row: Vec<Datum>) -> Option<(String, u64)> {
    let mut cells = row.into_iter();
    let (Datum::Text(name), value) = (cells.next()?, cells.next()?) else { return None };
    let value = match value {
        Datum::Int(value) => u64::try_from(value).ok()?,
        Datum::Text(text) => text.parse().ok()?,
        Datum::Null | Datum::Float(_) => return None,
    };
    Some((name, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(values: &[(&str, u64)]) -> ServerCounters {
        ServerCounters(values.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect())
    }

    #[test]
    fn statements_are_told_by_kind_without_the_protocols_own_and_without_the_reading() {
        let before = reading(&[
            ("Com_select", 10),
            ("Com_insert", 1),
            ("Com_commit", 0),
            ("Com_show_status", 3),
            ("Com_stmt_execute", 7),
            ("Questions", 100),
            ("Uptime", 5),
        ]);
        let after = reading(&[
            ("Com_select", 24),
            ("Com_insert", 3),
            ("Com_commit", 1),
            ("Com_show_status", 4),
            ("Com_stmt_execute", 24),
            ("Questions", 118),
            ("Uptime", 9),
        ]);
        let counts = after.since(&before).unwrap();
        assert_eq!(counts.statements, QueryCounts { read: 14, write: 2, other: 1 });
        let expected = [
            ("Com_commit", 1),
            ("Com_insert", 2),
            ("Com_select", 14),
            ("Com_stmt_execute", 17),
            ("Questions", 17),
        ];
        assert_eq!(counts.counters, expected.map(|(name, count)| (name.to_owned(), count)));
    }

    #[test]
    fn a_server_that_was_started_anew_cannot_be_compared() {
        let before = reading(&[("Com_select", 10), ("Uptime", 500)]);
        assert_eq!(reading(&[("Com_select", 12), ("Uptime", 1)]).since(&before), None);
        assert_eq!(reading(&[("Com_select", 2), ("Uptime", 501)]).since(&before), None);
    }
}
