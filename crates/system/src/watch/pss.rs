//! Memory of several processes in which each page counts once.

use std::fs;
use std::time::{Duration, Instant};

/// Reading it may take this part of a core: the kernel looks at each page that a process has mapped, which takes
/// milliseconds for each process that has used a large shared memory.
const PART_OF_TIME: u32 = 100;

/// When it is read.
#[derive(Debug, Default)]
pub(super) struct Pss {
    /// No reading before that.
    next: Option<Instant>,
}

impl Pss {
    /// The sum over the processes; `None` when it is too early, and where the kernel does not tell it, as of processes of
    /// other users.
    pub(super) fn read(&mut self, pids: &[u32]) -> Option<u64> {
        let now = net::origin();
        if self.next.is_some_and(|next| now < next) {
            return None;
        }
        let before = own_cpu();
        let mut sum = None;
        for pid in pids {
            // One that has ended meanwhile has no memory.
            let Ok(text) = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")) else {
                continue;
            };
            sum = Some(sum.unwrap_or(0) + pss_bytes(&text)?);
        }
        self.next = Some(now + own_cpu().saturating_sub(before) * PART_OF_TIME);
        sum
    }
}

/// CPU time of this thread: on a busy machine it waits for much longer than it works. Source: Linux,
/// Documentation/scheduler/sched-stats.rst.
fn own_cpu() -> Duration {
    let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let ns = text.split_whitespace().next().and_then(|ns| ns.parse().ok());
    Duration::from_nanos(ns.unwrap_or_default())
}

/// Source: proc_pid_smaps(5).
fn pss_bytes(smaps: &str) -> Option<u64> {
    let line = smaps.lines().find_map(|line| line.strip_prefix("Pss:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1_024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_memory_is_read_and_not_again_at_once() {
        let mut pss = Pss::default();
        let own = pss.read(&[std::process::id()]).unwrap();
        assert!(own > 100_000, "{own}");
        pss.next = Some(net::origin() + Duration::from_secs(600));
        assert_eq!(pss.read(&[std::process::id()]), None);
        assert_eq!(pss_bytes("Rss:  12 kB\nPss:   7 kB\nPss_Dirty: 1 kB\n"), Some(7_168));
        assert_eq!(pss_bytes("Rss:  12 kB\n"), None);
    }
}
