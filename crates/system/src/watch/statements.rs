//! The counters of statements and requests on the servers' pages of metrics, which dyno compares its own counts with.

use std::collections::BTreeMap;
use std::time::Duration;

use driver::ServerCounts;
use measure::{QueryCounts, ServerCount};

use super::exposition::{Line, lines};
use super::read_page;
use super::statement_counter::StatementCounter;
use crate::{MetricsEndpoint, go_echo, tidb};

/// The start time of the process, in seconds since 1970.
const BEGAN: &str = "process_start_time_seconds";
/// How long the answer with a page may take.
const BOUND: Duration = Duration::from_secs(10);
/// The most kinds of statements that one server may count, and the longest name of one, bytes.
const KINDS_MAX: usize = 1_000;
const KIND_BYTES_MAX: usize = 256;
/// The counters of all servers that have one.
const COUNTERS: [StatementCounter; 3] =
    [tidb::COUNTED_BY_TIDB, go_echo::COUNTED_BY_TRPC, go_echo::COUNTED_BY_GRPC];

/// The pages of metrics on which the servers of a system count statements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatementPages(Vec<(MetricsEndpoint, StatementCounter)>);

/// The statement counts of a system's servers, each since its start.
#[derive(Clone, Debug, PartialEq)]
pub struct StatementCounters(Vec<Page>);

#[derive(Clone, Debug, PartialEq)]
struct Page {
    counter: StatementCounter,
    began: f64,
    by_kind: BTreeMap<String, u64>,
    beside: BTreeMap<String, u64>,
}

impl StatementPages {
    /// Those pages of a system that count; `None` when there are none.
    pub(crate) fn of(pages: Vec<MetricsEndpoint>) -> Option<Self> {
        let counted = |page: MetricsEndpoint| {
            let counter = COUNTERS.into_iter().find(|counter| counter.role == page.role)?;
            Some((page, counter))
        };
        let pages: Vec<_> = pages.into_iter().filter_map(counted).collect();
        (!pages.is_empty()).then_some(Self(pages))
    }

    /// Reads all of them.
    ///
    /// # Errors
    /// Why a page could not be read.
    pub fn read(&self) -> Result<StatementCounters, String> {
        let read = |(page, counter): &(MetricsEndpoint, StatementCounter)| {
            let url = format!("http://{}{}", page.address, page.path);
            let text = read_page(&url, BOUND).map_err(|why| format!("{url}: {why}"))?;
            Page::parse(&text, *counter).map_err(|why| format!("{url}: {why}"))
        };
        self.0.iter().map(read).collect::<Result<_, String>>().map(StatementCounters)
    }
}

impl StatementCounters {
    /// Statements by what they do, and by their kinds with the server's names, since an earlier reading of the same
    /// pages; `None` when a server was restarted in between.
    pub fn since(&self, earlier: &Self) -> Option<ServerCounts> {
        let mut statements = QueryCounts::default();
        let mut counters: BTreeMap<String, u64> = BTreeMap::new();
        for (now, before) in self.0.iter().zip(&earlier.0) {
            if now.began != before.began {
                return None;
            }
            let counter = now.counter;
            for (kind, moved) in moved(&now.by_kind, &before.by_kind)? {
                let QueryCounts { read, write, other } = &mut statements;
                if counter.reads.contains(&kind) {
                    add(read, moved);
                } else if counter.writes.contains(&kind) {
                    add(write, moved);
                } else if counter.ignored.contains(&kind) {
                    continue;
                } else {
                    add(other, moved);
                }
                let name = format!("{} {kind}", counter.name);
                add(counters.entry(name.trim_end().to_owned()).or_default(), moved);
            }
            for (name, moved) in moved(&now.beside, &before.beside)? {
                add(counters.entry(name.to_owned()).or_default(), moved);
            }
        }
        counters.retain(|_, count| *count > 0);
        Some(ServerCounts {
            count: ServerCount::Statements(statements),
            statements: None,
            row_lock_ns: None,
            counters: counters.into_iter().collect(),
        })
    }
}

/// Adds a count, of which a server may give any.
fn add(sum: &mut u64, count: u64) {
    *sum = sum.saturating_add(count);
}

/// The growth of each count; `None` when one shrank.
fn moved<'a>(
    now: &'a BTreeMap<String, u64>,
    before: &BTreeMap<String, u64>,
) -> Option<Vec<(&'a str, u64)>> {
    let moved = |(name, count): (&'a String, &u64)| {
        let moved = count.checked_sub(before.get(name).copied().unwrap_or(0))?;
        Some((name.as_str(), moved))
    };
    now.iter().map(moved).collect()
}

impl Page {
    fn parse(text: &str, counter: StatementCounter) -> Result<Self, String> {
        let mut page =
            Self { counter, began: 0.0, by_kind: BTreeMap::new(), beside: BTreeMap::new() };
        for line in lines(text) {
            match line {
                Line::Sample { key, name, value } if name == counter.name => {
                    let kind = label(key, counter.label).unwrap_or_default();
                    add(page.by_kind.entry(kind.to_owned()).or_default(), whole(value));
                    if page.by_kind.len() > KINDS_MAX || kind.len() > KIND_BYTES_MAX {
                        return Err(format!("{name} has kinds of statements without end"));
                    }
                }
                Line::Sample { name, value, .. } if counter.beside.contains(&name) => {
                    add(page.beside.entry(name.to_owned()).or_default(), whole(value));
                }
                Line::Sample { name: BEGAN, value, .. } => page.began = value,
                _ => {}
            }
        }
        Ok(page)
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
mod fuzz;

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
        StatementCounters(vec![Page::parse(&text, tidb::COUNTED_BY_TIDB).unwrap()])
    }

    #[test]
    fn statements_are_counted_by_kind_and_logins_are_excluded() {
        let before = counters(5, &[("Select", 7), ("Use", 1), ("Show", 2)]);
        let after = counters(
            5,
            &[("Select", 1_407), ("Begin", 100), ("Update", 200), ("Use", 11), ("Show", 2)],
        );
        let counts = after.since(&before).unwrap();
        assert_eq!(
            counts.count,
            ServerCount::Statements(QueryCounts { read: 1_400, write: 200, other: 100 })
        );
        let names: Vec<String> =
            counts.counters.iter().map(|(kind, n)| format!("{kind} {n}")).collect();
        assert_eq!(
            names,
            ["Begin 100", "Select 1400", "Update 200"]
                .map(|kind| format!("tidb_executor_statement_total {kind}"))
        );
    }

    #[test]
    fn counters_of_a_restarted_server_are_not_comparable() {
        let before = counters(5, &[("Select", 7)]);
        assert_eq!(counters(6, &[("Select", 9)]).since(&before), None);
        assert_eq!(counters(5, &[("Select", 3)]).since(&before), None);
    }

    #[test]
    fn kinds_without_end_are_refused() {
        let page = |kinds: &[String]| {
            let line = |kind| format!("tidb_executor_statement_total{{type=\"{kind}\"}} 1\n");
            let text: String = kinds.iter().map(line).collect();
            Page::parse(&text, tidb::COUNTED_BY_TIDB)
        };
        let kinds: Vec<String> = (0..1_001).map(|number| format!("Kind{number}")).collect();
        assert_eq!(page(&kinds[1..]).unwrap().by_kind.len(), 1_000);
        let without_end = "tidb_executor_statement_total has kinds of statements without end";
        assert_eq!(page(&kinds).unwrap_err(), without_end);
        assert_eq!(page(&["x".repeat(256)]).unwrap().by_kind.len(), 1);
        assert_eq!(page(&["x".repeat(257)]).unwrap_err(), without_end);
    }

    #[test]
    fn counts_beyond_all_numbers_do_not_overflow() {
        let text = "rpc_requests_total{a=\"1\"} 1e300\nrpc_requests_total{a=\"2\"} 1e300\n";
        let counters =
            |text| StatementCounters(vec![Page::parse(text, go_echo::COUNTED_BY_TRPC).unwrap()]);
        let two = [counters(text).0, counters(text).0].concat();
        let none = [counters("").0, counters("").0].concat();
        let counts = StatementCounters(two).since(&StatementCounters(none)).unwrap();
        assert_eq!(
            counts.count,
            ServerCount::Statements(QueryCounts { read: 0, write: 0, other: u64::MAX })
        );
    }

    #[test]
    fn pages_that_do_not_count_statements_are_left_out() {
        assert_eq!(StatementPages::of(Vec::new()), None);
        let page = |role: &str| MetricsEndpoint {
            role: role.to_owned(),
            address: "127.0.0.1:1".to_owned(),
            path: "/metrics".to_owned(),
        };
        assert_eq!(StatementPages::of(vec![page("pd")]), None);
        let pages = StatementPages::of(vec![page("pd"), page("tidb")]).unwrap();
        assert_eq!(pages.0, [(page("tidb"), tidb::COUNTED_BY_TIDB)]);
        let refused = pages.read().unwrap_err();
        assert!(refused.starts_with("http://127.0.0.1:1/metrics: "), "{refused}");
    }

    #[test]
    fn requests_have_no_kinds_and_answers_are_counted_beside_them() {
        let counters = |requests: u64, answers: u64| {
            let text = format!(
                "process_start_time_seconds 1.5\nrpc_requests_total {requests}\n\
                 rpc_responses_total {answers}\n"
            );
            StatementCounters(vec![Page::parse(&text, go_echo::COUNTED_BY_TRPC).unwrap()])
        };
        let counts = counters(1_500, 1_390).since(&counters(100, 0)).unwrap();
        assert_eq!(
            counts.count,
            ServerCount::Statements(QueryCounts { read: 0, write: 0, other: 1_400 })
        );
        let named = [("rpc_requests_total", 1_400), ("rpc_responses_total", 1_390)];
        assert_eq!(counts.counters, named.map(|(name, count)| (name.to_owned(), count)));
        assert_eq!(counters(1, 0).since(&counters(2, 0)), None);
    }
}
