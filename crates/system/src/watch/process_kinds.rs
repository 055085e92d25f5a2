//! Kinds of the processes that a server has started, by the titles that they give themselves.

use std::collections::{BTreeMap, HashMap};
use std::fs;

use procfs::process::Stat;

use super::process::SumOverIds;

/// What processes other than those of sessions are called in their titles. Source: PostgreSQL 14 to 18, `backend_desc` and
/// `GetBackendTypeDesc`.
const KINDS: [&str; 16] = [
    "archiver",
    "autovacuum launcher",
    "autovacuum worker",
    "background writer",
    "checkpointer",
    "io worker",
    "logger",
    "logical replication",
    "parallel worker",
    "slotsync worker",
    "startup",
    "stats collector",
    "walreceiver",
    "walsender",
    "walsummarizer",
    "walwriter",
];
/// Those that clients have sessions with.
const SESSIONS: &str = "sessions";

/// The CPU time of a server's processes by their kinds.
#[derive(Debug, Default)]
pub(super) struct Kinds {
    /// The kind of each process. A title is read once.
    known: HashMap<u32, &'static str>,
    all: BTreeMap<&'static str, Kind>,
}

#[derive(Debug, Default)]
struct Kind {
    count: u64,
    ticks: SumOverIds,
}

impl Kinds {
    /// Takes in the lines of the processes that the server `head` has now.
    pub(super) fn read(&mut self, head: u32, living: &[Stat]) {
        let mut by_kind: BTreeMap<&'static str, HashMap<u32, u64>> = BTreeMap::new();
        let mut known = HashMap::new();
        for stat in living {
            let Ok(pid) = u32::try_from(stat.pid) else { continue };
            let found = self.known.get(&pid).copied().or_else(|| kind(head, pid));
            known.extend(found.map(|kind| (pid, kind)));
            let ticks = stat.utime.saturating_add(stat.stime);
            by_kind.entry(found.unwrap_or(SESSIONS)).or_default().insert(pid, ticks);
        }
        self.known = known;
        for (kind, of_kind) in &mut self.all {
            of_kind.count = 0;
            by_kind.entry(kind).or_default();
        }
        for (kind, ticks) in by_kind {
            let of_kind = self.all.entry(kind).or_default();
            of_kind.count = ticks.len() as u64;
            of_kind.ticks.take_in(ticks);
        }
    }

    /// Each kind, how many processes it has, and their CPU time in ticks.
    pub(super) fn all(&self) -> impl Iterator<Item = (&'static str, u64, u64)> {
        self.all.iter().map(|(kind, it)| (*kind, it.count, it.ticks.total))
    }
}

/// The kind of a process; `None` as long as it still has the title of the server that started it.
fn kind(head: u32, pid: u32) -> Option<&'static str> {
    let title = |pid: u32| fs::read(format!("/proc/{pid}/cmdline")).ok();
    let title = title(pid).filter(|own| Some(own) != title(head).as_ref())?;
    Some(kind_of_title(&String::from_utf8_lossy(&title)))
}

/// A title is `postgres: checkpointer`, `postgres: 15/main: checkpointer` where the cluster has a name, or
/// `postgres: USER DATABASE HOST(PORT) STATE` of a session.
fn kind_of_title(title: &str) -> &'static str {
    let of_session = title.contains(['(', '[']).then_some(SESSIONS);
    let parts = title.trim_matches(['\0', ' ']).split(": ").skip(1);
    let kind = |part: &str| KINDS.into_iter().find(|kind| part.starts_with(kind));
    let named = parts.take(2).find_map(kind);
    // A user may have the name of a kind.
    named.filter(|kind| of_session.is_none() || has_clients(kind)).unwrap_or(SESSIONS)
}

/// Whether the title of such a process also has an address.
fn has_clients(kind: &str) -> bool {
    ["walsender", "walreceiver"].contains(&kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_of_postgresql_are_kinds_with_and_without_the_name_of_a_cluster() {
        for (title, kind) in [
            ("postgres: checkpointer ", "checkpointer"),
            ("postgres: 15/main: walwriter ", "walwriter"),
            ("postgres: autovacuum worker test\0\0", "autovacuum worker"),
            ("postgres: logical replication launcher ", "logical replication"),
            ("postgres: io worker 2", "io worker"),
            ("postgres: parallel worker for PID 812 ", "parallel worker"),
            ("postgres: walsender repl 10.0.0.1(4000) streaming", "walsender"),
            ("postgres: root test 127.0.0.1(54012) idle", "sessions"),
            ("postgres: logger logger 127.0.0.1(54012) idle in transaction", "sessions"),
            ("postgres: main: root test [local] SELECT", "sessions"),
            ("sh -c sleep", "sessions"),
        ] {
            assert_eq!(kind_of_title(title), kind, "{title}");
        }
    }
}
