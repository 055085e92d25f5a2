//! The resources that the load generator itself used.

use measure::{Nanos, sum};
use serde::{Deserialize, Serialize};

/// Resource use of the load generator's process during the measured load. Source: getrusage(2), and `VmHWM` of
/// proc_pid_status(5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientUsage {
    /// CPU time in user mode, ns.
    pub user_ns: Nanos,
    /// CPU time in the kernel, ns.
    pub system_ns: Nanos,
    /// Context switches because a thread waited.
    pub voluntary_switches: u64,
    /// Context switches because a thread's time slice ended.
    pub involuntary_switches: u64,
    /// Highest memory use of the process up to the end of this trial, bytes.
    pub peak_rss_bytes: u64,
}

impl ClientUsage {
    /// CPU time in user mode and in the kernel, ns.
    pub fn cpu_ns(&self) -> Nanos {
        sum([self.user_ns, self.system_ns])
    }

    /// Context switches of both kinds.
    pub fn switches(&self) -> u64 {
        sum([self.voluntary_switches, self.involuntary_switches])
    }

    /// Of several processes or windows together, with the most memory of one; `None` without any.
    pub fn sum(all: &[Self]) -> Option<Self> {
        let peak_rss_bytes = all.iter().map(|one| one.peak_rss_bytes).max()?;
        let total = |of: fn(&Self) -> u64| sum(all.iter().map(of));
        Some(Self {
            user_ns: total(|one| one.user_ns),
            system_ns: total(|one| one.system_ns),
            voluntary_switches: total(|one| one.voluntary_switches),
            involuntary_switches: total(|one| one.involuntary_switches),
            peak_rss_bytes,
        })
    }

    /// That of so many times the time; the memory stays the same.
    #[must_use]
    pub fn times(self, factor: f64) -> Self {
        let scaled = |count: u64| (count as f64 * factor).round() as u64;
        Self {
            user_ns: scaled(self.user_ns),
            system_ns: scaled(self.system_ns),
            voluntary_switches: scaled(self.voluntary_switches),
            involuntary_switches: scaled(self.involuntary_switches),
            peak_rss_bytes: self.peak_rss_bytes,
        }
    }
}
