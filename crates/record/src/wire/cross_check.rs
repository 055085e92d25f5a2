//! The cross-check with the server, in trial.json.

use measure::{QueryCounts, ServerCount, SessionStatements, TransactionCounts};
use serde::{Deserialize, Serialize};

use crate::{Counted, CrossCheck};

/// Has either all fields but `missing`, `row_lock_ns` and `session_statements` where they are known, and one of `by_server`
/// and `transactions`; or only `missing` and `by_dyno`.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct CrossCheckFile {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    missing: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    by_dyno: Option<QueryCounts>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    by_server: Option<QueryCounts>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    transactions: Option<TransactionCounts>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    session_statements: Option<SessionStatements>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    row_lock_ns: Option<u64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    counters: Vec<CounterFile>,
}

#[derive(Debug, Serialize, Deserialize)]
struct CounterFile {
    name: String,
    count: u64,
}

impl From<&CrossCheck> for CrossCheckFile {
    fn from(check: &CrossCheck) -> Self {
        let (missing, by_dyno, counted) = match check {
            CrossCheck::Missing { reason, by_dyno } => (Some(reason.clone()), *by_dyno, None),
            CrossCheck::Counted(counted) => (None, counted.by_dyno, Some(counted)),
        };
        let counter =
            |(name, count): &(String, u64)| CounterFile { name: name.clone(), count: *count };
        Self {
            missing,
            by_dyno: Some(by_dyno),
            by_server: counted.and_then(|counted| counted.by_server.statements()),
            transactions: counted.and_then(|counted| counted.by_server.transactions()),
            session_statements: counted.and_then(|counted| counted.session_statements.clone()),
            row_lock_ns: counted.and_then(|counted| counted.row_lock_ns),
            counters: counted
                .map_or(Vec::new(), |counted| counted.counters.iter().map(counter).collect()),
        }
    }
}

impl From<CrossCheckFile> for CrossCheck {
    fn from(file: CrossCheckFile) -> Self {
        let by_dyno = file.by_dyno.unwrap_or_default();
        match file.missing {
            Some(reason) => Self::Missing { reason, by_dyno },
            None => Self::Counted(Counted {
                by_dyno,
                by_server: match file.transactions {
                    Some(counts) => ServerCount::Transactions(counts),
                    None => ServerCount::Statements(file.by_server.unwrap_or_default()),
                },
                session_statements: file.session_statements,
                row_lock_ns: file.row_lock_ns,
                counters: file.counters.into_iter().map(|it| (it.name, it.count)).collect(),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_and_transactions_are_read_as_they_were_written() {
        let statements = ServerCount::Statements(QueryCounts { read: 4, write: 5, other: 6 });
        let transactions = ServerCount::Transactions(TransactionCounts {
            by_dyno: 7,
            unsure: 1,
            by_server: 9,
            routine_max: 10,
            others_connected: true,
        });
        let beside = [
            None,
            Some(SessionStatements::Counted { by_dyno: 20, by_server: 21 }),
            Some(SessionStatements::Missing("it was reset".to_owned())),
        ];
        let [none, some, missing] = beside.map(|beside| (transactions, beside));
        for (by_server, session_statements) in [(statements, None), none, some, missing] {
            let check = CrossCheck::Counted(Counted {
                by_dyno: QueryCounts { read: 1, write: 2, other: 3 },
                by_server,
                session_statements,
                row_lock_ns: None,
                counters: vec![("n".to_owned(), 8)],
            });
            let text = serde_json::to_string(&CrossCheckFile::from(&check)).unwrap();
            let read: CrossCheckFile = serde_json::from_str(&text).unwrap();
            assert_eq!(CrossCheck::from(read), check, "{text}");
        }
    }
}
