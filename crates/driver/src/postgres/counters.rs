//! The server's own counters of transactions, and of statements where it has them, to verify dyno's counts.
//!
//! What they count was found by experiment on PostgreSQL 15: a login is one transaction, as are a statement outside of a
//! block, a Parse outside of a block, and a block; a block that fails, or whose session ends, is rolled back. A process
//! hands its counts over when it ends, and otherwise at most once a second, when it waits for its client. So the
//! counters are read while no session of the load is open. `autovacuum` and the workers of a parallel query have
//! transactions of their own, two for each worker.

use std::collections::BTreeMap;
use std::time::Duration;

use measure::{ErrorClass, Failure};
use net::Handle;

use super::codec::AnswerLimit;
use super::peer::Peer;
use super::session::Session;
use super::statements;
use crate::Datum;
use crate::counters::{Meaning, OwnSessions, Reading};
use crate::facts::asked_within;

/// Counters of the database, by their names in `pg_stat_database`.
const COUNTERS: &[&str] = &[
    "xact_commit",
    "xact_rollback",
    "deadlocks",
    "conflicts",
    "temp_files",
    "temp_bytes",
    "blks_read",
    "blks_hit",
    "tup_returned",
    "tup_fetched",
    "tup_inserted",
    "tup_updated",
    "tup_deleted",
];
/// Sums over the tables of the database.
const OF_TABLES: &[&str] = &["autovacuum_count", "autoanalyze_count"];
/// Sessions that clients have opened; from this version on.
const SESSIONS: (&str, u32) = ("sessions", 140_000);
/// From this version on a session can be told to hand its counts over.
const FLUSHES_FROM: u32 = 150_000;
/// How long a session without that waits until all counts are told.
const UNTOLD: Duration = Duration::from_millis(1_100);
/// How long the ends of dyno's sessions are awaited, and how often the server is asked for them.
const ENDS_BOUND: Duration = Duration::from_secs(2);
const ENDS_STEP: Duration = Duration::from_millis(20);

/// Reads the counters of the session's database, within `bound` and the wait for the ends of other sessions. `None` when
/// the server has none.
pub(crate) async fn read_counters(
    handle: &Handle,
    session: &mut Session,
    bound: Duration,
) -> Result<Option<Reading>, Failure> {
    let address = session.peer.address.name.clone();
    let bound = bound + ENDS_BOUND + 2 * UNTOLD;
    asked_within((handle, bound), address, "what it has counted", ask(handle, session)).await
}

async fn ask(handle: &Handle, session: &mut Session) -> Result<Option<Reading>, Failure> {
    refuse_pooler(session).await?;
    await_ends(handle, session).await?;
    let version = version(&session.peer);
    if version >= FLUSHES_FROM {
        session.rows_within("SELECT pg_stat_force_next_flush()", AnswerLimit::Facts).await?;
    } else {
        // What follows a second without a report is reported, and shown somewhat later.
        handle.sleep(UNTOLD).await;
        session.rows_within("SELECT 1", AnswerLimit::Facts).await?;
        handle.sleep(UNTOLD).await;
    }
    let statements = statements::read(session).await?;
    let own = own_counts(session);
    let question = question(version, &session.peer.sessions.open());
    let asked = net::origin();
    let rows = session.rows_within(&question, AnswerLimit::Facts).await?;
    let answered = net::origin();
    let Some(row) = rows.into_iter().next() else { return Ok(None) };
    let mut cells = row.into_iter();
    let server = ["system_identifier", "port", "in_recovery", crate::counters::STARTED];
    let server = server.map(|name| (name.to_owned(), cells.next().map_or_else(String::new, text)));
    let mut next = || cells.next().and_then(count);
    let (uptime_s, naptime_s, others) = (next(), next(), next());
    let sessions = (version >= SESSIONS.1).then_some(SESSIONS.0);
    let names = COUNTERS.iter().chain(OF_TABLES).copied().chain(sessions);
    let counters = names.filter_map(|name| Some((name.to_owned(), next()?))).collect();
    let own = OwnSessions {
        names: vec![session.peer.address.name.clone()],
        by_name: own,
        others: others.unwrap_or(1),
        naptime_s: naptime_s.unwrap_or(60),
        statements,
    };
    Ok(Some(Reading {
        server: server.to_vec(),
        counters,
        uptime_s: uptime_s.unwrap_or(0),
        asked,
        answered,
        addresses: 1,
        meaning: Meaning::Transactions(Box::new(own)),
    }))
}

/// What dyno's sessions have done, with what this one has done so far: the server has just been told of that.
fn own_counts(session: &Session) -> BTreeMap<String, super::SessionCounts> {
    let mut counts = session.peer.sessions.counts();
    let own = counts.entry(session.peer.address.name.clone()).or_default();
    own.transactions += session.reply.transactions();
    own.statements += session.reply.statements();
    counts
}

/// A pooler keeps sessions open and shares them among its clients, so the counts come late and nobody knows whose they are.
async fn refuse_pooler(session: &mut Session) -> Result<(), Failure> {
    let rows = session.rows_within("SELECT pg_backend_pid()", AnswerLimit::Facts).await?;
    let process = rows.into_iter().flatten().next().and_then(count);
    if process.is_some() && process == session.peer.process().map(u64::from) {
        return Ok(());
    }
    let message = format!(
        "{}: a pooler stands between dyno and the server, and keeps the sessions whose counts would be compared; to \
         have them compared, name the server's own address",
        session.peer.address.name
    );
    Err(Failure::new(ErrorClass::Server, "", message))
}

/// Waits until the processes of dyno's ended sessions have exited, for a while.
async fn await_ends(handle: &Handle, session: &mut Session) -> Result<(), Failure> {
    let ended = session.peer.sessions.take_ended(&session.peer.address.name);
    if ended.is_empty() {
        return Ok(());
    }
    let sql = format!("SELECT COUNT(*) FROM pg_stat_activity WHERE pid IN ({})", listed(&ended));
    let mut waited = Duration::ZERO;
    while waited < ENDS_BOUND {
        let rows = session.rows_within(&sql, AnswerLimit::Facts).await?;
        if rows.into_iter().flatten().next().and_then(count) == Some(0) {
            return Ok(());
        }
        handle.sleep(ENDS_STEP).await;
        waited += ENDS_STEP;
    }
    Ok(())
}

/// Of sessions of other users, a login without `pg_monitor` sees neither the kind nor the state, but the user.
fn question(version: u32, open: &[u32]) -> String {
    let of_tables = |name: &&str| format!("(SELECT SUM({name}) FROM pg_stat_user_tables)::bigint");
    let of_database = |name: &str| format!("d.{name}");
    let sessions = (version >= SESSIONS.1).then_some(SESSIONS.0);
    let mut columns: Vec<String> = COUNTERS.iter().map(|name| of_database(name)).collect();
    columns.extend(OF_TABLES.iter().map(of_tables));
    columns.extend(sessions.map(of_database));
    format!(
        "SELECT (SELECT system_identifier FROM pg_control_system())::text, current_setting('port'), \
         pg_is_in_recovery()::text, pg_postmaster_start_time()::text, \
         floor(extract(epoch FROM clock_timestamp() - pg_postmaster_start_time()))::bigint, \
         (SELECT setting FROM pg_settings WHERE name = 'autovacuum_naptime'), \
         (SELECT COUNT(*) FROM pg_stat_activity a WHERE a.datid = d.datid AND a.usesysid IS NOT NULL \
         AND COALESCE(a.backend_type, 'client backend') = 'client backend' AND a.pid NOT IN ({})), {} FROM pg_stat_database d WHERE d.datname = current_database()",
        listed(open),
        columns.join(", ")
    )
}

/// Numbers between commas; at least one, which is no process.
fn listed(processes: &[u32]) -> String {
    let all: Vec<String> = [0].iter().chain(processes).map(u32::to_string).collect();
    all.join(", ")
}

/// The server's version as a number, such as 150020; 0 when it did not tell.
pub(super) fn version(peer: &Peer) -> u32 {
    let text = peer.setting("server_version").unwrap_or_default();
    let major: String = text.chars().take_while(char::is_ascii_digit).collect();
    major.parse::<u32>().ok().and_then(|major| major.checked_mul(10_000)).unwrap_or(0)
}

pub(super) fn text(datum: Datum) -> String {
    match datum {
        Datum::Text(text) => text,
        Datum::Int(number) => number.to_string(),
        Datum::Null | Datum::Float(_) => String::new(),
    }
}

pub(super) fn count(datum: Datum) -> Option<u64> {
    match datum {
        Datum::Int(value) => u64::try_from(value).ok(),
        Datum::Text(text) => text.parse().ok(),
        Datum::Null | Datum::Float(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use measure::ServerCount;

    use super::*;
    use crate::counters::STARTED;
    use crate::postgres::SessionCounts;
    use crate::{Incomparable, ServerCounters};

    /// A reading over address `name`, `seconds` after the first, of a server that started at `started`.
    fn read(
        (name, started): (&str, &str),
        (first, seconds): (Instant, u64),
        counters: &[(&str, u64)],
        by_name: &[(&str, SessionCounts)],
    ) -> Reading {
        let at = first + Duration::from_secs(seconds);
        let server = [("system_identifier", "7"), ("port", "5432"), (STARTED, started)];
        let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        let counters = counters.iter().map(|(name, count)| ((*name).to_owned(), *count));
        let by_name = by_name.iter().map(|(name, counts)| ((*name).to_owned(), *counts));
        let own = OwnSessions {
            names: vec![name.to_owned()],
            by_name: by_name.collect(),
            others: 0,
            naptime_s: 60,
            statements: None,
        };
        Reading {
            server: server.map(owned).to_vec(),
            counters: counters.collect(),
            uptime_s: 100 + seconds,
            asked: at,
            answered: at,
            addresses: 1,
            meaning: Meaning::Transactions(Box::new(own)),
        }
    }

    fn counted(sessions: u64, transactions: u64) -> SessionCounts {
        SessionCounts { sessions, transactions, ..SessionCounts::default() }
    }

    #[test]
    fn transactions_of_a_server_behind_two_addresses_count_once_and_those_of_others_are_told() {
        let first = net::origin();
        let both = |seconds, counters: &[(&str, u64)], own: &[(&str, SessionCounts)]| {
            let of = |name| read((name, "monday"), (first, seconds), counters, own);
            ServerCounters::of(vec![of("a"), of("b")])
        };
        let counters = [("xact_commit", 100), ("xact_rollback", 5), ("sessions", 10)];
        let before = both(0, &counters, &[("a", counted(3, 9)), ("b", counted(1, 1))]);
        let counters = [("xact_commit", 160), ("xact_rollback", 7), ("sessions", 14)];
        let own = [("a", counted(5, 49)), ("b", counted(3, 21)), ("elsewhere", counted(9, 99))];
        let after = both(120, &counters, &own);
        let counts = after.since(&before).unwrap();
        let ServerCount::Transactions(counts) = counts.count else { panic!("{counts:?}") };
        assert_eq!((counts.by_dyno, counts.by_server, counts.difference()), (60, 62, 2));
        assert!(!counts.others_connected);
        // Twice the time between two looks of autovacuum has passed.
        assert_eq!(counts.routine_max, 10 + 2 * 4);
        let counters = [("xact_commit", 160), ("xact_rollback", 7), ("sessions", 15)];
        let counts = both(120, &counters, &own).since(&before).unwrap().count;
        assert!(counts.transactions().unwrap().others_connected);
    }

    #[test]
    fn a_server_that_was_started_again_is_told_from_another_one() {
        let first = net::origin();
        let of = |started, seconds| {
            let counters = [("xact_commit", seconds), ("xact_rollback", 0)];
            ServerCounters::of(vec![read(("a", started), (first, seconds), &counters, &[])])
        };
        let before = of("monday", 0);
        assert_eq!(of("tuesday", 9).since(&before), Err(Incomparable::StartedAnew));
        assert!(of("monday", 9).since(&before).is_ok());
    }
}
