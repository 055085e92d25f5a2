//! The cross-check of a trial as a table and as JSON.

use measure::{QueryCounts, ServerCount, SessionStatements, TransactionCounts};
use record::{Counted, CrossCheck};
use serde_json::{Value, json};

use crate::digest::{Trial, cross_checked};
use crate::number::count;
use crate::table::Table;

/// Statements or transactions of one trial's load by the counters of both sides, then the server's other counters.
pub(crate) fn table(trial: &Trial<'_>) -> Table {
    let counted = cross_checked(trial.record.end.as_ref());
    let dyno = counted.map(|counted| counted.by_dyno).unwrap_or_default();
    let (what, rows) = match counted.map(|counted| counted.by_server).unwrap_or_default() {
        ServerCount::Statements(server) => {
            let rows = vec![
                ("all", dyno.total(), server.total()),
                ("read", dyno.read, server.read),
                ("write", dyno.write, server.write),
                ("other", dyno.other, server.other),
            ];
            ("statements, warm-up included", rows)
        }
        ServerCount::Transactions(counts) => {
            let mut rows = vec![("all", counts.by_dyno, counts.by_server)];
            if let Some(&SessionStatements::Counted { by_dyno, by_server }) = beside(counted) {
                rows.push(("statements, dyno's watching included", by_dyno, by_server));
            }
            ("transactions, logins and warm-up included", rows)
        }
    };
    let mut table =
        Table::new().words(what).numbers("dyno").numbers("server").numbers("difference");
    let Some(counted) = counted else { return table };
    for (name, mine, theirs) in rows {
        let difference = signed(i128::from(theirs) - i128::from(mine));
        table.row(vec![name.to_owned(), count(mine), count(theirs), difference]);
    }
    for (name, value) in &counted.counters {
        table.row(vec![name.clone(), String::new(), count(*value), String::new()]);
    }
    table
}

/// Why there is no cross-check; `None` when there is one, or when no reason was recorded.
pub(crate) fn missing(trial: &Trial<'_>) -> Option<String> {
    match trial.record.end.as_ref()?.cross_check.as_ref()? {
        CrossCheck::Counted(counted) => match beside(Some(counted))? {
            SessionStatements::Counted { .. } => None,
            SessionStatements::Missing(reason) => {
                Some(format!("The server's count of statements could not be compared: {reason}."))
            }
        },
        CrossCheck::Missing { reason, .. } => {
            Some(format!("The server's own counters could not be compared: {reason}."))
        }
    }
}

fn beside(counted: Option<&Counted>) -> Option<&SessionStatements> {
    counted?.session_statements.as_ref()
}

/// A count with its sign; zero is `0`.
pub(crate) fn signed(difference: i128) -> String {
    let sign = match difference {
        0 => "",
        1.. => "+",
        _ => "-",
    };
    let size = u64::try_from(difference.unsigned_abs()).unwrap_or(u64::MAX);
    format!("{sign}{}", count(size))
}

pub(crate) fn json(trial: &Trial<'_>) -> Value {
    match trial.record.end.as_ref().and_then(|end| end.cross_check.as_ref()) {
        None => Value::Null,
        Some(CrossCheck::Missing { reason, by_dyno }) => json!({
            "missing": reason,
            "statements_by_dyno": by_dyno.total(),
            "by_dyno": statements(*by_dyno),
        }),
        Some(CrossCheck::Counted(counted)) => {
            let counters =
                counted.counters.iter().map(|(name, value)| (name.clone(), (*value).into()));
            let counters = counters.collect::<serde_json::Map<String, Value>>();
            let dyno = counted.by_dyno;
            let server = match counted.by_server {
                ServerCount::Statements(server) => server,
                ServerCount::Transactions(counts) => {
                    return transactions(counted, counts, &counters);
                }
            };
            json!({
                "statements_by_dyno": dyno.total(),
                "statements_by_server": server.total(),
                "difference": counted.difference(),
                "by_dyno": statements(dyno),
                "by_server": statements(server),
                "counters": counters,
            })
        }
    }
}

fn transactions(
    counted: &Counted,
    counts: TransactionCounts,
    counters: &serde_json::Map<String, Value>,
) -> Value {
    let beside = beside(Some(counted)).map(|beside| match beside {
        SessionStatements::Counted { by_dyno, by_server } => json!({
            "by_dyno": by_dyno,
            "by_server": by_server,
            "difference": beside.difference(),
        }),
        SessionStatements::Missing(reason) => json!({ "missing": reason }),
    });
    json!({
        "session_statements": beside,
        "statements_by_dyno": counted.by_dyno.total(),
        "by_dyno": statements(counted.by_dyno),
        "transactions_by_dyno": counts.by_dyno,
        "transactions_by_server": counts.by_server,
        "difference": counts.difference(),
        "unsure": counts.unsure,
        "routine_max": counts.routine_max,
        "others_connected": counts.others_connected,
        "counters": counters,
    })
}

fn statements(counts: QueryCounts) -> Value {
    json!({ "read": counts.read, "write": counts.write, "other": counts.other })
}

#[cfg(test)]
mod tests {
    use record::Run;

    use super::*;
    use crate::Reading;

    use crate::sample;

    fn checked(check: CrossCheck) -> Run {
        let mut run = sample::run();
        run.trials.truncate(1);
        run.trials[0].end.as_mut().unwrap().cross_check = Some(check);
        run
    }

    #[test]
    fn both_counts_stand_side_by_side_and_the_difference_is_found() {
        let run = checked(CrossCheck::Counted(Counted {
            by_dyno: QueryCounts { read: 14_000, write: 4_000, other: 2_000 },
            by_server: ServerCount::Statements(QueryCounts {
                read: 14_007,
                write: 4_000,
                other: 2_000,
            }),
            session_statements: None,
            row_lock_ns: None,
            counters: vec![("Com_select".to_owned(), 14_007), ("Questions".to_owned(), 20_010)],
        }));
        let reading = Reading::new(&run);
        let digest = &reading.digest;
        insta::assert_snapshot!(table(&digest.trials[0]).text(), @r"
        statements, warm-up included    dyno  server  difference
        all                           20,000  20,007          +7
        read                          14,000  14,007          +7
        write                          4,000   4,000           0
        other                          2,000   2,000           0
        Com_select                            14,007
        Questions                             20,010
        ");
        let text = crate::terminal(&reading);
        assert!(text.contains("The server ran statements that were not dyno's"), "{text}");
        assert!(text.contains("+7 statements"), "{text}");
        assert!(crate::whole_html(&reading).contains("Cross-check with the server"));
        assert_eq!(json(&digest.trials[0])["difference"], 7);
    }

    #[test]
    fn transactions_stand_side_by_side_where_the_server_counts_no_statements() {
        let counts = TransactionCounts {
            by_dyno: 1_200,
            unsure: 0,
            by_server: 1_500,
            routine_max: 10,
            others_connected: true,
        };
        let run = checked(CrossCheck::Counted(Counted {
            by_dyno: QueryCounts { read: 14_000, write: 4_000, other: 2_000 },
            by_server: ServerCount::Transactions(counts),
            session_statements: Some(SessionStatements::Counted {
                by_dyno: 20_100,
                by_server: 20_098,
            }),
            row_lock_ns: None,
            counters: vec![("xact_commit".to_owned(), 1_500)],
        }));
        let reading = Reading::new(&run);
        let trial = &reading.digest.trials[0];
        insta::assert_snapshot!(table(trial).text(), @r"
        transactions, logins and warm-up included    dyno  server  difference
        all                                         1,200   1,500        +300
        statements, dyno's watching included       20,100  20,098          -2
        xact_commit                                         1,500
        ");
        let text = crate::terminal(&reading);
        assert!(text.contains("The server ran transactions that were not dyno's"), "{text}");
        let json = json(trial);
        assert_eq!(
            (&json["difference"], &json["transactions_by_server"]),
            (&300.into(), &1_500.into())
        );
        assert_eq!(json["session_statements"]["difference"], -2);
        // No failure explains them.
        assert!(text.contains("-2 statements"), "{text}");
        assert!(json.get("by_server").is_none(), "{json}");
    }

    #[test]
    fn statements_that_could_not_be_compared_beside_transactions_give_the_reason() {
        let run = checked(CrossCheck::Counted(Counted {
            by_server: ServerCount::Transactions(TransactionCounts::default()),
            session_statements: Some(SessionStatements::Missing("it was reset".to_owned())),
            ..Counted::default()
        }));
        let reading = Reading::new(&run);
        let trial = &reading.digest.trials[0];
        let reason = missing(trial).unwrap();
        assert!(reason.contains("statements could not be compared: it was reset."), "{reason}");
        assert_eq!(json(trial)["session_statements"]["missing"], "it was reset");
    }

    #[test]
    fn an_impossible_cross_check_gives_the_reason() {
        let run = checked(CrossCheck::Missing {
            reason: "the server was restarted".to_owned(),
            by_dyno: QueryCounts { read: 14, write: 4, other: 2 },
        });
        let reading = Reading::new(&run);
        let digest = &reading.digest;
        assert!(table(&digest.trials[0]).is_empty());
        assert!(
            crate::whole_html(&reading)
                .contains("could not be compared: the server was restarted.")
        );
    }
}
