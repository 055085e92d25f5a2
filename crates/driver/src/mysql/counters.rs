//! The server's own counters of statements, to verify dyno's counts.
//!
//! The meaning of the counters was found by experiment on MariaDB 10.11 and agrees with MySQL's reference manual,
//! "Server Status Variables":
//! - Each statement adds one to the counter of its kind (`Com_select`, `Com_begin`), over both protocols; a statement
//!   that the server cannot parse adds nothing.
//! - A prepared execution also adds one to `Com_stmt_execute`. `Com_stmt_prepare` and `Com_stmt_close` count requests
//!   of the protocol, not statements. So the number of all statements is the sum of `Com_*` without `Com_stmt_*`.
//! - `Innodb_row_lock_waits` counts waits for locks of rows that have ended, and `Innodb_row_lock_time` their length in ms.
//! - `Questions` counts every request except pings, prepares and closes. It includes logouts, which are counted some
//!   time after they were sent. `Queries` adds prepares and closes.

use std::collections::BTreeMap;
use std::time::Duration;

use measure::{Failure, OperationKind};
use net::Handle;

use super::codec::AnswerLimit;
use super::probe::NamedValues;
use super::session::Session;
use crate::Datum;
use crate::counters::{CounterMeaning, Meaning, Reading};
use crate::facts::asked_within;

/// Reads the counters, as the last statement of its session.
const QUESTION: &str = "SHOW GLOBAL STATUS WHERE Variable_name LIKE 'Com\\_%' OR Variable_name IN \
                        ('Innodb_row_lock_time','Innodb_row_lock_waits','Queries','Questions','Uptime')";
/// Variables that identify a server, whatever its addresses; queried first.
const IDENTITY: &[&str] =
    &["datadir", "hostname", "pid_file", "port", "server_id", "server_uuid", "socket"];
/// A server's uptime in whole seconds, rounded down.
const UPTIME: &str = "Uptime";
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

/// Executions that met a changed table: the server counts the statement once for each preparation.
const BEGUN_AGAIN: &str = "Com_stmt_reprepare";

/// How long statements waited for locks of rows, ms.
const ROW_LOCKS: (&str, u64) = ("Innodb_row_lock_time", 1_000_000);

const MEANING: CounterMeaning = CounterMeaning {
    begun_again: BEGUN_AGAIN,
    row_locks: ROW_LOCKS,
    own: &[("Com_show_status", 1), ("Com_show_variables", 1), ("Questions", 2), ("Queries", 2)],
    kind,
};

/// The same where the session that reads had to turn autocommit on.
const MEANING_WITH_AUTOCOMMIT: CounterMeaning = CounterMeaning {
    begun_again: BEGUN_AGAIN,
    row_locks: ROW_LOCKS,
    own: &[
        ("Com_set_option", 1),
        ("Com_show_status", 1),
        ("Com_show_variables", 1),
        ("Questions", 3),
        ("Queries", 3),
    ],
    kind,
};

fn kind(counter: &str) -> Option<OperationKind> {
    match counter {
        _ if READS.contains(&counter) => Some(OperationKind::Read),
        _ if WRITES.contains(&counter) => Some(OperationKind::Write),
        _ if counter.starts_with("Com_stmt_") => None,
        _ => counter.starts_with("Com_").then_some(OperationKind::Other),
    }
}

/// Reads the counters of one server, within `bound`; `None` when the server has none, such as TiDB.
pub(crate) async fn read_counters(
    handle: &Handle,
    session: &mut Session,
    bound: Duration,
) -> Result<Option<Reading>, Failure> {
    let address = session.peer.address.name.clone();
    asked_within((handle, bound), address, "what it has counted", ask(session)).await
}

async fn ask(session: &mut Session) -> Result<Option<Reading>, Failure> {
    let server = NamedValues::ask(session, "GLOBAL VARIABLES", IDENTITY).await?.only(IDENTITY);
    let asked = net::origin();
    let rows = session.rows_within(QUESTION, AnswerLimit::Facts).await?;
    let answered = net::origin();
    let mut counters: BTreeMap<_, _> = rows.into_iter().filter_map(counter).collect();
    let uptime_s = counters.remove(UPTIME).unwrap_or(0);
    let has_all = READS.iter().all(|name| counters.contains_key(*name));
    let meaning = if session.sets_autocommit() { &MEANING_WITH_AUTOCOMMIT } else { &MEANING };
    let meaning = Meaning::Statements(meaning);
    let reading = Reading { server, counters, uptime_s, asked, answered, addresses: 1, meaning };
    Ok(has_all.then_some(reading))
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
    use std::time::Instant;

    use measure::{QueryCounts, ServerCount};

    use super::*;
    use crate::{Incomparable, ServerCounters};

    /// A reading of `server`, `seconds` after the first of all readings.
    fn read(server: &str, first: Instant, seconds: u64, values: &[(&str, u64)]) -> Reading {
        let at = first + Duration::from_secs(seconds);
        let counters = values.iter().map(|(name, value)| ((*name).to_owned(), *value));
        let mut counters: BTreeMap<_, _> = counters.collect();
        let uptime_s = counters.remove(UPTIME).unwrap_or(0);
        let server = vec![("hostname".to_owned(), server.to_owned())];
        let (asked, answered, meaning) = (at, at, Meaning::Statements(&MEANING));
        Reading { server, counters, uptime_s, asked, answered, addresses: 1, meaning }
    }

    fn of_one(reading: Reading) -> ServerCounters {
        ServerCounters::of(vec![reading])
    }

    #[test]
    fn an_execution_that_the_server_prepared_again_counts_once() {
        let first = net::origin();
        let before = of_one(read("a", first, 0, &[("Uptime", 10), ("Com_select", 1)]));
        // As MariaDB 10.11 counts two executions, before the second of which the table was altered.
        let counts = [
            ("Uptime", 20),
            ("Com_select", 3),
            ("Com_stmt_reprepare", 1),
            ("Com_show_status", 1),
            ("Com_show_variables", 1),
            ("Questions", 9),
            ("Queries", 9),
        ];
        let after = of_one(read("a", first, 10, &counts));
        let counted = after.since(&before).unwrap();
        let expected = QueryCounts { read: 1, write: 0, other: 0 };
        assert_eq!(counted.count, ServerCount::Statements(expected));
    }

    #[test]
    fn waits_for_locks_of_rows_are_told_in_ns_where_they_are_counted() {
        let first = net::origin();
        let waited = |ms: [u64; 2]| {
            let at = |seconds: u64, uptime: u64, ms: u64| {
                let counts = [("Uptime", uptime), ("Innodb_row_lock_time", ms)];
                of_one(read("a", first, seconds, &counts))
            };
            at(10, 20, ms[1]).since(&at(0, 10, ms[0])).unwrap().row_lock_ns
        };
        assert_eq!(waited([40, 52]), Some(12_000_000));
        assert_eq!(waited([40, 40]), Some(0));
        let without = |seconds, uptime| of_one(read("a", first, seconds, &[("Uptime", uptime)]));
        assert_eq!(without(10, 20).since(&without(0, 10)).unwrap().row_lock_ns, None);
    }

    #[test]
    fn statement_counters_exclude_protocol_and_monitoring_statements() {
        let first = net::origin();
        let before = of_one(read(
            "a",
            first,
            0,
            &[
                ("Com_select", 10),
                ("Com_insert", 1),
                ("Com_commit", 0),
                ("Com_show_status", 3),
                ("Com_show_variables", 3),
                ("Com_stmt_execute", 7),
                ("Questions", 100),
                ("Uptime", 5),
            ],
        ));
        let after = of_one(read(
            "a",
            first,
            4,
            &[
                ("Com_select", 24),
                ("Com_insert", 3),
                ("Com_commit", 1),
                ("Com_show_status", 4),
                ("Com_show_variables", 4),
                ("Com_stmt_execute", 24),
                ("Questions", 119),
                ("Uptime", 9),
            ],
        ));
        let counts = after.since(&before).unwrap();
        let expected = QueryCounts { read: 14, write: 2, other: 1 };
        assert_eq!(counts.count, ServerCount::Statements(expected));
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
    fn counters_of_a_restarted_server_are_not_comparable() {
        let first = net::origin();
        let before = of_one(read("a", first, 0, &[("Com_select", 10), ("Uptime", 500)]));
        for (selects, uptime) in [(12, 1), (2, 501)] {
            let after = read("a", first, 1, &[("Com_select", selects), ("Uptime", uptime)]);
            assert_eq!(of_one(after).since(&before), Err(Incomparable::StartedAnew));
        }
    }

    #[test]
    fn two_restarts_are_detected_as_a_restart() {
        let first = net::origin();
        let before = of_one(read("a", first, 0, &[("Com_select", 10), ("Uptime", 3)]));
        // The server is killed after ten seconds: its counters are higher than before, but from another start.
        let after = of_one(read("a", first, 20, &[("Com_select", 5_000), ("Uptime", 10)]));
        assert_eq!(after.since(&before), Err(Incomparable::StartedAnew));
        let stayed = of_one(read("a", first, 20, &[("Com_select", 5_000), ("Uptime", 22)]));
        let counted = stayed.since(&before).unwrap().count.statements();
        assert_eq!(counted.map(|counts| counts.read), Some(4_990));
    }

    #[test]
    fn counts_beyond_all_times_and_sums_do_not_overflow() {
        let first = net::origin();
        let of_uptime =
            |uptime| of_one(read("a", first, 0, &[("Com_select", 0), ("Uptime", uptime)]));
        let before = of_uptime(u64::MAX - 10);
        let most =
            [("Com_select", u64::MAX), ("Com_show_status", u64::MAX), ("Com_begin", u64::MAX)];
        let after = of_one(read("a", first, 1, &[&most[..], &[("Uptime", u64::MAX)]].concat()));
        let counts = after.since(&before).unwrap();
        let expected = QueryCounts { read: u64::MAX, write: 0, other: u64::MAX };
        assert_eq!(counts.count, ServerCount::Statements(expected));
        // No time is later than this one.
        assert_eq!(after.since(&of_uptime(u64::MAX)), Err(Incomparable::StartedAnew));
    }

    #[test]
    fn several_servers_are_added_up_and_one_behind_two_addresses_counts_once() {
        let first = net::origin();
        let all = |seconds, a: &[(&str, u64)], again: &[(&str, u64)], b: &[(&str, u64)]| {
            let readings = [("a", a), ("a", again), ("b", b)];
            let read = |(server, values)| read(server, first, seconds, values);
            ServerCounters::of(readings.map(read).to_vec())
        };
        let before = all(
            0,
            &[("Com_select", 100), ("Com_show_status", 1), ("Uptime", 9)],
            &[("Com_select", 100), ("Com_show_status", 2), ("Uptime", 9)],
            &[("Com_select", 7), ("Com_show_status", 1), ("Uptime", 3)],
        );
        let after = all(
            5,
            &[("Com_select", 130), ("Com_show_status", 3), ("Uptime", 14)],
            &[("Com_select", 130), ("Com_show_status", 4), ("Uptime", 14)],
            &[("Com_select", 11), ("Com_show_status", 2), ("Uptime", 8)],
        );
        let counts = after.since(&before).unwrap();
        assert_eq!(counts.counters, [("Com_select".to_owned(), 34)]);
    }

    #[test]
    fn other_servers_behind_the_same_address_cannot_be_compared() {
        let first = net::origin();
        let before = of_one(read("a", first, 0, &[("Com_select", 10), ("Uptime", 5)]));
        let after = of_one(read("b", first, 1, &[("Com_select", 12), ("Uptime", 6)]));
        let why = after.since(&before).unwrap_err();
        assert_eq!(why, Incomparable::OtherServers);
        insta::assert_snapshot!(why, @"not the same servers answered before the load and after it; to have them compared, name each of them in the URL instead of what balances them");
    }
}
