//! TiDB's own statement counters. TiDB has no `Com_*` counters; its page of metrics has one for each kind of
//! statement, over both protocols, without those that TiDB runs for itself. Found out by experiment on 8.5.

use std::collections::BTreeMap;
use std::time::Duration;

use driver::ServerCounts;
use measure::QueryCounts;

use crate::MetricsEndpoint;
use crate::watch::exposition::{Line, lines};
use crate::watch::read_page;

/// The counter of statements, by `type`.
const STATEMENTS: &str = "tidb_executor_statement_total";
/// The start time of the process, in seconds since 1970.
const BEGAN: &str = "process_start_time_seconds";
/// How long the answer with a page may take.
const BOUND: Duration = Duration::from_secs(10);
/// Kinds of statements that read.
const READS: [&str; 1] = ["Select"];
/// Kinds of statements that write rows.
const WRITES: [&str; 5] = ["Delete", "Insert", "LoadData", "Replace", "Update"];
/// Counted when a session begins with a database, though the client sent no such statement.
const LOGIN: &str = "Use";

/// The pages of metrics on which the servers of a system count statements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatementPages(Vec<MetricsEndpoint>);

/// The statement counts of a system's servers, each since its start.
#[derive(Clone, Debug, PartialEq)]
pub struct StatementCounters(Vec<Page>);

/// The counts of one server.
#[derive(Clone, Debug, Default, PartialEq)]
struct Page {
    began: f64,
    by_type: BTreeMap<String, u64>,
}

impl StatementPages {
    /// Those pages of a system that belong to TiDB servers; `None` when there are none.
    pub(crate) fn of(mut pages: Vec<MetricsEndpoint>) -> Option<Self> {
        pages.retain(|page| page.role == "tidb");
        (!pages.is_empty()).then_some(Self(pages))
    }

    /// Reads all of them.
    ///
    /// # Errors
    /// Why a page could not be read.
    pub fn read(&self) -> Result<StatementCounters, String> {
        let read = |page: &MetricsEndpoint| {
            let url = format!("http://{}{}", page.address, page.path);
            let text = read_page(&url, BOUND).map_err(|why| format!("{url}: {why}"))?;
            Ok(Page::parse(&text))
        };
        self.0.iter().map(read).collect::<Result<_, String>>().map(StatementCounters)
    }
}

impl StatementCounters {
    /// Statements by what they do, and by their kinds with TiDB's names, since an earlier reading of the same pages;
    /// `None` when a server was restarted in between.
    pub fn since(&self, earlier: &Self) -> Option<ServerCounts> {
        let mut by_type: BTreeMap<&str, u64> = BTreeMap::new();
        for (now, before) in self.0.iter().zip(&earlier.0) {
            if now.began != before.began {
                return None;
            }
            for (kind, count) in now.by_type.iter().filter(|(kind, _)| *kind != LOGIN) {
                let moved = count.checked_sub(before.by_type.get(kind).copied().unwrap_or(0))?;
                *by_type.entry(kind).or_default() += moved;
            }
        }
        by_type.retain(|_, count| *count > 0);
        let mut statements = QueryCounts::default();
        for (kind, count) in &by_type {
            if READS.contains(kind) {
                statements.read += count;
            } else if WRITES.contains(kind) {
                statements.write += count;
            } else {
                statements.other += count;
            }
        }
        let named = |(kind, count): (&str, u64)| (format!("{STATEMENTS} {kind}"), count);
        let counters = by_type.into_iter().map(named).collect();
        Some(ServerCounts { statements, counters })
    }
}

impl Page {
    fn parse(text: &str) -> Self {
        let mut page = Self::default();
        for line in lines(text) {
            match line {
                Line::Sample { key, name: STATEMENTS, value } => {
                    let kind = label(key, "type").unwrap_or_default().to_owned();
                    *page.by_type.entry(kind).or_default() += whole(value);
                }
                Line::Sample { name: BEGAN, value, .. } => page.began = value,
                _ => {}
            }
        }
        page
    }
}

/// The value of a label, without unescaping: kinds of statements contain nothing that is escaped.
fn label<'a>(key: &'a str, name: &str) -> Option<&'a str> {
    let labels = key.split_once('{')?.1;
    let value =
        labels.split(',').find_map(|label| label.strip_prefix(name)?.strip_prefix("=\""))?;
    value.split('"').next()
}

/// A counter has no sign and no fraction, though the format allows both.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "see above")]
fn whole(value: f64) -> u64 {
    value as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counters(began: u64, counts: &[(&str, u64)]) -> StatementCounters {
        let mut text = format!("process_start_time_seconds {began}\n");
        for (kind, count) in counts {
            text += &format!(
                "tidb_executor_statement_total{{db=\"\",resource_group=\"default\",type=\"{kind}\"}} \
                 {count}\n"
            );
        }
        StatementCounters(vec![Page::parse(&text)])
    }

    #[test]
    fn statements_are_counted_by_kind_and_logins_are_excluded() {
        let before = counters(5, &[("Select", 7), ("Use", 1), ("Show", 2)]);
        let after = counters(
            5,
            &[("Select", 1_407), ("Begin", 100), ("Update", 200), ("Use", 11), ("Show", 2)],
        );
        let counts = after.since(&before).unwrap();
        assert_eq!(counts.statements, QueryCounts { read: 1_400, write: 200, other: 100 });
        let names: Vec<String> =
            counts.counters.iter().map(|(kind, n)| format!("{kind} {n}")).collect();
        assert_eq!(
            names,
            ["Begin 100", "Select 1400", "Update 200"].map(|kind| format!("{STATEMENTS} {kind}"))
        );
    }

    #[test]
    fn counters_of_a_restarted_server_are_not_comparable() {
        let before = counters(5, &[("Select", 7)]);
        assert_eq!(counters(6, &[("Select", 9)]).since(&before), None);
        assert_eq!(counters(5, &[("Select", 3)]).since(&before), None);
    }

    #[test]
    fn without_a_tidb_status_page_there_are_no_counters() {
        assert_eq!(StatementPages::of(Vec::new()), None);
        let page = |role: &str| MetricsEndpoint {
            role: role.to_owned(),
            address: "127.0.0.1:1".to_owned(),
            path: "/metrics".to_owned(),
        };
        assert_eq!(StatementPages::of(vec![page("pd")]), None);
        let pages = StatementPages::of(vec![page("pd"), page("tidb")]).unwrap();
        assert_eq!(pages.0, [page("tidb")]);
        let refused = pages.read().unwrap_err();
        assert!(refused.starts_with("http://127.0.0.1:1/metrics: "), "{refused}");
    }
}
