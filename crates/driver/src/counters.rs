//! The servers' own counters of statements, to verify dyno's counts. Each protocol reads them in its own way.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use measure::{OperationKind, QueryCounts};

/// The statement counts of a target's servers, each since its start.
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
    pub(crate) meaning: &'static CounterMeaning,
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
    /// Statements by what they do.
    pub statements: QueryCounts,
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
            let own =
                self.meaning.own.iter().find(|(own, _)| own == name).map_or(0, |(_, count)| *count);
            let before = earlier.counters.get(name).copied().unwrap_or(0);
            let since = value.checked_sub(before).ok_or(Incomparable::StartedAnew)?;
            // The earlier reading was taken over the first address; the readings over the others came after it.
            let own = own * earlier.addresses;
            moved.insert(name.as_str(), since.checked_sub(own).ok_or(Incomparable::StartedAnew)?);
        }
        Ok(moved)
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

impl ServerCounters {
    /// The readings over all addresses, in their order: a server with several addresses counts once.
    pub(crate) fn of(readings: Vec<Reading>) -> Self {
        let mut servers: Vec<Reading> = Vec::new();
        for reading in readings {
            match servers.iter_mut().find(|known| known.server == reading.server) {
                Some(known) => known.addresses += 1,
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
            return Err(Incomparable::OtherServers);
        }
        let mut sums: BTreeMap<&str, u64> = BTreeMap::new();
        let mut statements = QueryCounts::default();
        let mut row_lock_ns = Some(0_u64);
        for reading in &self.0 {
            let before = earlier.0.iter().find(|before| before.server == reading.server);
            let before = before.ok_or(Incomparable::OtherServers)?;
            let moved = reading.since(before)?;
            let (locks, unit_ns) = reading.meaning.row_locks;
            row_lock_ns = row_lock_ns
                .zip(moved.get(locks))
                .map(|(sum, moved)| sum.saturating_add(moved.saturating_mul(unit_ns)));
            let again = moved.get(reading.meaning.begun_again).copied().unwrap_or(0);
            for (name, moved) in moved {
                let sum = sums.entry(name).or_default();
                *sum = sum.saturating_add(moved);
                if let Some(kind) = (reading.meaning.kind)(name) {
                    add(&mut statements, kind, moved);
                }
            }
            take_back(&mut statements, again);
        }
        let counters: Vec<_> = sums
            .into_iter()
            .filter(|(_, moved)| *moved > 0)
            .map(|(name, moved)| (name.to_owned(), moved))
            .collect();
        Ok(ServerCounts { statements, row_lock_ns, counters })
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
        OperationKind::Other | OperationKind::Transaction => &mut statements.other,
    };
    *sum = sum.saturating_add(count);
}
