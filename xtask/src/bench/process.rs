//! The kernel's counters of a process. Source: proc(5).

use std::time::Duration;

use anyhow::{Context, bail};
use procfs::process::{Process, Status};

/// The unit of the kernel's user and system times: 100 a second on every Linux (`USER_HZ`).
const TICK: Duration = Duration::from_millis(10);
/// What threads that ended inside a window may have used in it: that of some that do little beside the load, and the
/// coarseness of ticks.
const ENDED_MAX: Duration = Duration::from_millis(100);

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

impl CpuTime {
    /// The CPU time of `pid` and all its threads. The total is exact as long as no thread ends.
    pub(super) fn of(pid: u32) -> anyhow::Result<Self> {
        let process = process(pid)?;
        let stat = process.stat()?;
        // A thread that has just ended has no more to say.
        let threads = process.tasks()?.filter_map(|thread| thread.ok()?.schedstat().ok());
        let total = Duration::from_nanos(threads.map(|thread| thread.sum_exec_runtime).sum());
        if total.is_zero() {
            bail!("the kernel gives no exact CPU times (/proc/{pid}/schedstat)");
        }
        Ok(Self { total, user_ticks: stat.utime, system_ticks: stat.stime })
    }

    /// User and system time since `earlier`: the exact total, split in proportion to the ticks.
    ///
    /// # Errors
    /// When a thread that worked has ended meanwhile, as its load has then: the total has lost what it used.
    pub(super) fn since(&self, earlier: &Self) -> anyhow::Result<[Duration; 2]> {
        let total = self.total.saturating_sub(earlier.total);
        let user = self.user_ticks.saturating_sub(earlier.user_ticks);
        let system = self.system_ticks.saturating_sub(earlier.system_ticks);
        // Ticks count what threads that have ended used as well, each kind to a tick.
        let by_ticks = TICK * u32::try_from(user + system).unwrap_or(u32::MAX);
        if total + ENDED_MAX < by_ticks {
            bail!(
                "threads that worked have ended inside the window: {by_ticks:?} of CPU time were used, the threads that are left have {total:?}"
            );
        }
        let share = user as f64 / (user + system).max(1) as f64;
        let user = total.mul_f64(share);
        Ok([user, total - user])
    }
}

/// CPU time of a server until now, by ticks: of its process, of those that it has started, and of those that have ended.
pub(super) fn server_cpu(pid: u32) -> anyhow::Result<Duration> {
    let server = process(pid)?;
    let stat = server.stat()?;
    let of_ended = [stat.cutime, stat.cstime].map(|ticks| u64::try_from(ticks).unwrap_or(0));
    let mut ticks = stat.utime + stat.stime + of_ended.iter().sum::<u64>();
    for child in server.task_main_thread()?.children()? {
        // One that has just ended is waited for soon.
        if let Ok(child) = process(child).and_then(|it| Ok(it.stat()?)) {
            ticks += child.utime + child.stime;
        }
    }
    Ok(TICK * u32::try_from(ticks).unwrap_or(u32::MAX))
}

/// Memory in use at its peak, bytes.
pub(super) fn peak_bytes(pid: u32) -> anyhow::Result<u64> {
    memory_bytes(pid, |status| status.vmhwm)
}

/// Memory that the process has allocated, in RAM or swapped out, bytes: its anonymous pages (proc_pid_status(5),
/// `RssAnon` and `VmSwap`). Resident memory also has the pages of the program's file, two or three times as many in a
/// dyno, beside which a change of what is allocated looks small.
pub(crate) fn allocated_bytes(pid: u32) -> anyhow::Result<u64> {
    memory_bytes(pid, |status| Some(status.rssanon? + status.vmswap?))
}

fn memory_bytes(pid: u32, kibibytes: impl Fn(&Status) -> Option<u64>) -> anyhow::Result<u64> {
    let status = process(pid)?.status()?;
    Ok(1024 * kibibytes(&status).with_context(|| format!("process {pid} has no memory"))?)
}

fn process(pid: u32) -> anyhow::Result<Process> {
    Process::new(pid.cast_signed()).with_context(|| format!("cannot read /proc/{pid}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUSY: &str = "i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done";

    #[test]
    fn the_exact_total_is_split_as_the_ticks_are() {
        let time = |total_ms, user_ticks, system_ticks| CpuTime {
            total: Duration::from_millis(total_ms),
            user_ticks,
            system_ticks,
        };
        let split = time(1104, 35, 85).since(&time(104, 10, 10)).unwrap();
        assert_eq!(split, [250, 750].map(Duration::from_millis));
        let error = time(504, 35, 85).since(&time(104, 10, 10)).unwrap_err();
        assert!(error.to_string().contains("1s of CPU time"), "{error}");
    }

    #[test]
    fn this_process_has_used_cpu_time_and_memory() {
        let pid = std::process::id();
        assert!(CpuTime::of(pid).unwrap().total > Duration::ZERO);
        let before = server_cpu(pid).unwrap();
        let busy = std::process::Command::new("sh").args(["-c", BUSY]).status().unwrap();
        assert!(busy.success() && server_cpu(pid).unwrap() > before, "it counts ended children");
        assert!(peak_bytes(pid).unwrap() >= allocated_bytes(pid).unwrap() / 2);
    }

    #[test]
    fn an_allocation_counts_once_it_is_used_and_until_it_is_freed() {
        const SIZE: u64 = 256 << 20;
        let pid = std::process::id();
        let before = allocated_bytes(pid).unwrap();
        let block = vec![1_u8; SIZE as usize];
        let with = allocated_bytes(pid).unwrap();
        drop(std::hint::black_box(block));
        let after = allocated_bytes(pid).unwrap();
        // Other tests of this process allocate too, but far less.
        assert!(with > before + SIZE * 3 / 4, "{before} {with}");
        assert!(after < with - SIZE * 3 / 4, "{with} {after}");
    }
}
