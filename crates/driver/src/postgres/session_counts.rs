//! What the sessions of a configuration have done, as the server counts it. A session adds its part when it ends, as a
//! server does.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The ended sessions of one server whose processes are remembered.
const ENDED_MAX: usize = 4_096;

/// The counts of all sessions at one address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SessionCounts {
    /// Logins that succeeded.
    pub(crate) sessions: u64,
    /// Transactions of sessions that have ended. The login is one.
    pub(crate) transactions: u64,
    /// Transactions that such sessions may have had in addition: their last answers were not read.
    pub(crate) unsure: u64,
    /// Statements of such sessions that ended without an error.
    pub(crate) statements: u64,
}

/// The counts of all sessions of a configuration, by the names of their addresses. Clones share them.
#[derive(Clone, Default)]
pub struct KnownSessions(Arc<Mutex<BTreeMap<String, Known>>>);

#[derive(Default)]
struct Known {
    counts: SessionCounts,
    /// The processes of the server whose sessions are open.
    open: BTreeSet<u32>,
    /// Those whose sessions dyno has ended since somebody asked.
    ended: VecDeque<u32>,
}

/// How a session ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct SessionEnd {
    pub(super) transactions: u64,
    pub(super) unsure: u64,
    pub(super) statements: u64,
}

impl KnownSessions {
    fn all(&self) -> MutexGuard<'_, BTreeMap<String, Known>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn began(&self, address: &str, process: Option<u32>) {
        let mut all = self.all();
        let known = all.entry(address.to_owned()).or_default();
        known.counts.sessions += 1;
        known.open.extend(process);
    }

    pub(super) fn ended(&self, address: &str, process: Option<u32>, end: SessionEnd) {
        let mut all = self.all();
        let known = all.entry(address.to_owned()).or_default();
        known.counts.transactions += end.transactions;
        known.counts.unsure += end.unsure;
        known.counts.statements += end.statements;
        if let Some(process) = process {
            known.open.remove(&process);
            if known.ended.len() == ENDED_MAX {
                known.ended.pop_front();
            }
            known.ended.push_back(process);
        }
    }

    /// The counts by address.
    pub(super) fn counts(&self) -> BTreeMap<String, SessionCounts> {
        self.all().iter().map(|(address, known)| (address.clone(), known.counts)).collect()
    }

    /// The processes of all sessions that are open.
    pub(super) fn open(&self) -> Vec<u32> {
        self.all().values().flat_map(|known| known.open.iter().copied()).collect()
    }

    /// The processes of sessions at this address that dyno has ended since the last call.
    pub(super) fn take_ended(&self, address: &str) -> Vec<u32> {
        let mut all = self.all();
        all.get_mut(address).map_or(Vec::new(), |known| known.ended.drain(..).collect())
    }
}

/// What is counted makes no settings differ.
impl PartialEq for KnownSessions {
    fn eq(&self, _other: &Self) -> bool {
        true
    }
}

impl fmt::Debug for KnownSessions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KnownSessions")
    }
}
