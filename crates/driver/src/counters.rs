//! The servers' own counters of statements or of transactions, to verify dyno's counts. Each protocol reads them in its
//! own way.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use measure::{OperationKind, QueryCounts, ServerCount, SessionStatements, TransactionCounts};

use crate::postgres::{SessionCounts, StatementReading};

/// The part of a server's identity that another start changes.
pub(crate) const STARTED: &str = "started";
/// Counters whose sum is the number of transactions.
const TRANSACTIONS: [&str; 2] = ["xact_commit", "xact_rollback"];
/// Counters of work that the server does by itself, in transactions of their own.
const ROUTINES: [&str; 2] = ["autovacuum_count", "autoanalyze_count"];
/// Transactions of such a work, and of a look for it, at most: twice as many as were seen. Some come in any case.
const ROUTINE_TRANSACTIONS: u64 = 4;
const ROUTINE_BASE: u64 = 10;

/// The counts of a target's servers, each since its start.
#[derive(Clone, Debug)]
pub struct ServerCounters(Vec<Reading>);

/// The counters of one server at one time.
#[derive(Clone, Debug)]
pub(crate) struct Reading {
    /// What identifies the server, whatever its addresses.
    pub(crate) server: Vec<(String, String)>,
    /// Each counter by its name on the server.
    pub(crate) counters: BTreeMap<String, u64>,
    /// The time since the server's start in whole seconds, rounded down.
    pub(crate) uptime_s: u64,
    /// The times just before the question and just after the answer.
    pub(crate) asked: Instant,
    pub(crate) answered: Instant,
    /// The number of addresses that lead to the server: it was read over each of them.
    pub(crate) addresses: u64,
    pub(crate) meaning: Meaning,
}

/// What the counters of a server count.
#[derive(Clone, Debug)]
pub(crate) enum Meaning {
    Statements(&'static CounterMeaning),
    /// Transactions, with what dyno's own sessions have done.
    Transactions(Box<OwnSessions>),
}

/// What the server knew of sessions at the time of a reading.
#[derive(Clone, Debug)]
pub(crate) struct OwnSessions {
    /// The names of the addresses that lead to this server.
    pub(crate) names: Vec<String>,
    /// The counts of dyno's sessions, by the name of their address.
    pub(crate) by_name: BTreeMap<String, SessionCounts>,
    /// Sessions that are not dyno's.
    pub(crate) others: u64,
    /// The time between two looks for work that the server does by itself, s.
    pub(crate) naptime_s: u64,
    /// The statements that the server has counted; `None` where it counts none.
    pub(crate) statements: Option<StatementReading>,
}

/// What the counters of a protocol's servers mean.
#[derive(Debug)]
pub(crate) struct CounterMeaning {
    /// The counts that one reading itself adds, whether or not it sees them.
    pub(crate) own: &'static [(&'static str, u64)],
    /// The counter of executions that the server began again with a new preparation, each of which counts twice.
    pub(crate) begun_again: &'static str,
    /// The counter of the time that statements waited for locks of rows, and its unit in ns.
    pub(crate) row_locks: (&'static str, u64),
    /// What the statements of a counter do; `None` if it does not count statements.
    pub(crate) kind: fn(&str) -> Option<OperationKind>,
}

/// The counts of servers between two readings, without the counts of the readings themselves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerCounts {
    /// Statements by what they do, or transactions.
    pub count: ServerCount,
    /// Statements beside transactions; `None` where the servers do not count both.
    pub statements: Option<SessionStatements>,
    /// How long statements waited for locks of rows, summed, ns; `None` where a server does not count it.
    pub row_lock_ns: Option<u64>,
    /// Every counter that has changed, by its name on the server.
    pub counters: Vec<(String, u64)>,
}

/// Why two readings cannot be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Incomparable {
    /// At least one server was restarted.
    #[error("the server was restarted, or its counters or its clock were set back")]
    StartedAnew,
    /// A proxy or load balancer between dyno and the servers chooses among them.
    #[error(
        "not the same servers answered before the load and after it; to have them compared, name each \
         of them in the URL instead of what balances them"
    )]
    OtherServers,
}

impl Reading {
    /// The counts since an earlier reading of the same server.
    fn since(&self, earlier: &Self) -> Result<BTreeMap<&str, u64>, Incomparable> {
        if self.was_started_after(earlier) {
            return Err(Incomparable::StartedAnew);
        }
        let mut moved = BTreeMap::new();
        for (name, value) in &self.counters {
            let own = self.meaning.own(name);
            let before = earlier.counters.get(name).copied().unwrap_or(0);
            let since = value.checked_sub(before).ok_or(Incomparable::StartedAnew)?;
            // The earlier reading was taken over the first address; the readings over the others came after it.
            let own = own * earlier.addresses;
            moved.insert(name.as_str(), since.checked_sub(own).ok_or(Incomparable::StartedAnew)?);
        }
        Ok(moved)
    }

    /// Takes in another reading of the same server, over another address.
    fn add_address(&mut self, reading: Self) {
        self.addresses += 1;
        if let (Meaning::Transactions(known), Meaning::Transactions(more)) =
            (&mut self.meaning, reading.meaning)
        {
            known.names.extend(more.names);
        }
    }

    /// Transactions since an earlier reading of the same server, of which these counters tell.
    fn transactions(&self, earlier: &Self, moved: &BTreeMap<&str, u64>) -> TransactionCounts {
        let of = |names: &[&str]| {
            let all = names.iter().filter_map(|name| moved.get(name).copied());
            all.fold(0_u64, u64::saturating_add)
        };
        let (Meaning::Transactions(now), Meaning::Transactions(before)) =
            (&self.meaning, &earlier.meaning)
        else {
            return TransactionCounts::default();
        };
        let own = |part| now.since(before, part);
        let sessions = moved.get("sessions").copied();
        let opened = own(|counts| counts.sessions);
        let looks = self.uptime_s.saturating_sub(earlier.uptime_s) / now.naptime_s.max(1);
        let routines = looks.saturating_add(of(&ROUTINES));
        TransactionCounts {
            by_dyno: own(|counts| counts.transactions),
            unsure: own(|counts| counts.unsure),
            by_server: of(&TRANSACTIONS),
            routine_max: ROUTINE_BASE.saturating_add(routines.saturating_mul(ROUTINE_TRANSACTIONS)),
            others_connected: before.others > 0
                || now.others > 0
                || sessions.is_none_or(|sessions| sessions > opened),
        }
    }

    /// Statements since an earlier reading of the same server. The question for them is part of both readings' counts.
    fn statements(&self, earlier: &Self) -> Option<SessionStatements> {
        let (Meaning::Transactions(now), Meaning::Transactions(before)) =
            (&self.meaning, &earlier.meaning)
        else {
            return None;
        };
        let by_server =
            StatementReading::since(now.statements.as_ref(), before.statements.as_ref())?;
        Some(match by_server {
            Ok(by_server) => SessionStatements::Counted {
                by_dyno: now.since(before, |counts| counts.statements),
                by_server,
            },
            Err(why) => SessionStatements::Missing(why),
        })
    }

    /// Whether the uptime is shorter than it would be without a restart. The counters alone do not show this: soon
    /// after a start they may be higher than in a reading soon after another start.
    fn was_started_after(&self, earlier: &Self) -> bool {
        let elapsed = self.asked.saturating_duration_since(earlier.answered);
        // A second for the rounding, and a thousandth for the difference of two clocks.
        let due = Duration::from_secs(earlier.uptime_s).saturating_add(elapsed - elapsed / 1_000);
        Duration::from_secs(self.uptime_s.saturating_add(1)) < due
    }
}

impl OwnSessions {
    /// What dyno's sessions at this server have done since an earlier reading.
    fn since(&self, earlier: &Self, part: fn(&SessionCounts) -> u64) -> u64 {
        let of = |all: &Self| {
            self.names.iter().filter_map(|name| all.by_name.get(name)).map(part).sum::<u64>()
        };
        of(self).saturating_sub(of(earlier))
    }
}

impl Meaning {
    /// What one reading itself adds to a counter.
    fn own(&self, counter: &str) -> u64 {
        match self {
            Self::Statements(meaning) => {
                meaning.own.iter().find(|(own, _)| *own == counter).map_or(0, |(_, count)| *count)
            }
            // What dyno's sessions do is counted with them.
            Self::Transactions(_) => 0,
        }
    }
}

impl CounterMeaning {
    /// Adds the statements of which these counters tell.
    fn add(&self, statements: &mut QueryCounts, moved: &BTreeMap<&str, u64>) {
        for (name, moved) in moved {
            if let Some(kind) = (self.kind)(name) {
                add(statements, kind, *moved);
            }
        }
        take_back(statements, moved.get(self.begun_again).copied().unwrap_or(0));
    }
}

impl ServerCounters {
    /// The readings over all addresses, in their order: a server with several addresses counts once.
    pub(crate) fn of(readings: Vec<Reading>) -> Self {
        let mut servers: Vec<Reading> = Vec::new();
        for reading in readings {
            match servers.iter_mut().find(|known| known.server == reading.server) {
                Some(known) => known.add_address(reading),
                None => servers.push(reading),
            }
        }
        Self(servers)
    }

    /// The counts of all servers together since an earlier reading.
    ///
    /// # Errors
    /// When other servers answered, or one of them was restarted in between.
    pub fn since(&self, earlier: &Self) -> Result<ServerCounts, Incomparable> {
        let names = |all: &Self| {
            all.0.iter().map(|reading| reading.server.clone()).collect::<BTreeSet<_>>()
        };
        if names(self) != names(earlier) {
            return Err(self.why_other(earlier));
        }
        let mut sums: BTreeMap<&str, u64> = BTreeMap::new();
        let mut statements = QueryCounts::default();
        let mut transactions: Option<TransactionCounts> = None;
        let mut session_statements = Vec::new();
        let mut row_lock_ns = Some(0_u64);
        for reading in &self.0 {
            let before = earlier.0.iter().find(|before| before.server == reading.server);
            let before = before.ok_or(Incomparable::OtherServers)?;
            let moved = reading.since(before)?;
            match &reading.meaning {
                Meaning::Statements(meaning) => {
                    let (locks, unit_ns) = meaning.row_locks;
                    row_lock_ns = row_lock_ns
                        .zip(moved.get(locks))
                        .map(|(sum, moved)| sum.saturating_add(moved.saturating_mul(unit_ns)));
                    meaning.add(&mut statements, &moved);
                }
                Meaning::Transactions(_) => {
                    row_lock_ns = None;
                    session_statements.push(reading.statements(before));
                    let more = ServerCount::Transactions(reading.transactions(before, &moved));
                    let mut all = ServerCount::Transactions(transactions.unwrap_or_default());
                    all.add(more);
                    transactions = all.transactions();
                }
            }
            for (name, moved) in moved {
                let sum = sums.entry(name).or_default();
                *sum = sum.saturating_add(moved);
            }
        }
        let counters: Vec<_> = sums
            .into_iter()
            .filter(|(_, moved)| *moved > 0)
            .map(|(name, moved)| (name.to_owned(), moved))
            .collect();
        let count =
            transactions.map_or(ServerCount::Statements(statements), ServerCount::Transactions);
        let statements = session_statements.into_iter().reduce(SessionStatements::joined).flatten();
        Ok(ServerCounts { count, statements, row_lock_ns, counters })
    }

    /// Why other servers have answered: they may be the same ones after another start.
    fn why_other(&self, earlier: &Self) -> Incomparable {
        let names = |all: &Self| {
            let lasting = |reading: &Reading| {
                let parts = reading.server.iter().filter(|(name, _)| name != STARTED);
                parts.cloned().collect::<Vec<_>>()
            };
            all.0.iter().map(lasting).collect::<BTreeSet<_>>()
        };
        if names(self) == names(earlier) {
            Incomparable::StartedAnew
        } else {
            Incomparable::OtherServers
        }
    }
}

/// Takes as many statements away. No counter has their kinds: they are taken as reads as far as there are any.
fn take_back(statements: &mut QueryCounts, count: u64) {
    let QueryCounts { read, write, other } = statements;
    [read, write, other].into_iter().fold(count, |left, sum| {
        let taken = left.min(*sum);
        *sum -= taken;
        left - taken
    });
}

fn add(statements: &mut QueryCounts, kind: OperationKind, count: u64) {
    let sum = match kind {
        OperationKind::Read => &mut statements.read,
        OperationKind::Write => &mut statements.write,
        OperationKind::Other | OperationKind::Transaction | OperationKind::Wait => {
            &mut statements.other
        }
    };
    *sum = sum.saturating_add(count);
}
