//! The kernel's counters of a process. Source: proc(5).

use std::fs;
use std::time::Duration;

use anyhow::{Context, bail};

/// The unit of the kernel's user and system times: 100 a second on every Linux (`USER_HZ`).
const TICK: Duration = Duration::from_millis(10);

/// CPU time of a process until now.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct CpuTime {
    /// User and system time together, exact.
    pub total: Duration,
    /// Ticks in the program itself.
    user_ticks: u64,
    /// Ticks in the kernel on its behalf.
    system_ticks: u64,
}

/// CPU time between two readings, as user and system time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Split {
    pub user: Duration,
    pub system: Duration,
}

impl CpuTime {
    /// The CPU time of `pid` and all its threads. The total is exact as long as no thread ends.
    ///
    /// # Errors
    /// When there is no such process.
    pub(super) fn of(pid: u32) -> anyhow::Result<Self> {
        let stat = read(&format!("/proc/{pid}/stat"))?;
        let (user_ticks, system_ticks) =
            ticks(&stat).with_context(|| format!("/proc/{pid}/stat is not as it should be"))?;
        let mut total = Duration::ZERO;
        for thread in fs::read_dir(format!("/proc/{pid}/task"))? {
            // A thread that has just ended cannot be read any more.
            if let Ok(text) = fs::read_to_string(thread?.path().join("schedstat")) {
                total += Duration::from_nanos(first_number(&text));
            }
        }
        if total.is_zero() {
            bail!("the kernel gives no exact CPU times (/proc/{pid}/schedstat)");
        }
        Ok(Self { total, user_ticks, system_ticks })
    }

    /// The CPU time since `earlier`: the exact total, split in proportion to the ticks.
    pub(super) fn since(&self, earlier: &Self) -> Split {
        let total = self.total.saturating_sub(earlier.total);
        let user = self.user_ticks.saturating_sub(earlier.user_ticks);
        let system = self.system_ticks.saturating_sub(earlier.system_ticks);
        let share = user as f64 / (user + system).max(1) as f64;
        let user = total.mul_f64(share);
        Split { user, system: total - user }
    }

    /// By ticks alone: coarse, but it includes threads that have ended.
    pub(super) fn by_ticks(&self) -> Duration {
        TICK * u32::try_from(self.user_ticks + self.system_ticks).unwrap_or(u32::MAX)
    }
}

/// Peak memory (`VmHWM`) or current memory (`VmRSS`), bytes.
///
/// # Errors
/// When there is no such process.
pub(crate) fn memory_bytes(pid: u32, field: &str) -> anyhow::Result<u64> {
    let status = read(&format!("/proc/{pid}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'));
    let kibibytes = first_number(line.with_context(|| format!("no {field} for process {pid}"))?);
    Ok(kibibytes * 1024)
}

fn read(path: &str) -> anyhow::Result<String> {
    fs::read_to_string(path).with_context(|| format!("cannot read {path}"))
}

fn first_number(text: &str) -> u64 {
    text.split_whitespace().next().and_then(|word| word.parse().ok()).unwrap_or(0)
}

/// User and system ticks: fields 14 and 15, counted after the name, which may contain any character.
fn ticks(stat: &str) -> Option<(u64, u64)> {
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_found_behind_a_name_with_brackets() {
        let stat = "42 (a) b (c) S 1 42 42 0 -1 4194304 85 0 0 0 77 13 0 0 20 0 1 0 100 0 0";
        assert_eq!(ticks(stat), Some((77, 13)));
    }

    #[test]
    fn the_exact_total_is_split_as_the_ticks_are() {
        let time = |total_ms, user_ticks, system_ticks| CpuTime {
            total: Duration::from_millis(total_ms),
            user_ticks,
            system_ticks,
        };
        let split = time(1104, 35, 85).since(&time(104, 10, 10));
        assert_eq!(split.user, Duration::from_millis(250));
        assert_eq!(split.system, Duration::from_millis(750));
    }

    #[test]
    fn this_process_has_used_cpu_time_and_memory() {
        let pid = std::process::id();
        assert!(CpuTime::of(pid).unwrap().total > Duration::ZERO);
        assert!(memory_bytes(pid, "VmHWM").unwrap() >= memory_bytes(pid, "VmRSS").unwrap() / 2);
    }
}
