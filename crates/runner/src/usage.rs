//! The resources that dyno itself uses: read from the kernel at both ends of the measured time.

use measure::Nanos;
use net::Clock;
use nix::sys::resource::{Usage, UsageWho, getrusage};
use nix::sys::time::TimeVal;
use record::ClientUsage;

/// Counters that are read later than at the edges of the measured time, by more than one part in so many of it in all, are
/// not those of the measured time.
const LATE_PARTS: u64 = 10;

/// A reading of this process's counters.
pub(crate) struct UsageMark {
    /// `None` where the kernel does not report them.
    usage: Option<Usage>,
    /// Begins with the reading.
    clock: Clock,
    late_ns: Nanos,
}

impl UsageMark {
    /// Reads them when the measured time has begun, so long ago.
    pub(crate) fn at_begin(late_ns: Nanos) -> Self {
        Self { usage: getrusage(UsageWho::RUSAGE_SELF).ok(), clock: Clock::monotonic(), late_ns }
    }

    /// The use in the measured time, which has ended so long ago, with the peak of memory so far. `None` when either reading
    /// was late: on a busy machine this thread may not run until a short window is over.
    pub(crate) fn until_end(&self, late_ns: Nanos) -> Option<ClientUsage> {
        let before = self.usage?;
        let after = getrusage(UsageWho::RUSAGE_SELF).ok()?;
        if is_too_late([self.late_ns, late_ns], self.clock.now()) {
            return None;
        }
        let [user_ns, system_ns] = [Usage::user_time, Usage::system_time]
            .map(|time| time_ns(time(&after)).saturating_sub(time_ns(time(&before))));
        Some(ClientUsage {
            user_ns,
            system_ns,
            voluntary_switches: difference(
                after.voluntary_context_switches(),
                before.voluntary_context_switches(),
            ),
            involuntary_switches: difference(
                after.involuntary_context_switches(),
                before.involuntary_context_switches(),
            ),
            peak_rss_bytes: peak_rss_bytes()?,
        })
    }
}

/// Whether two readings, each so much later than the edges of the measured time and so far apart, are too late for it.
fn is_too_late([begin_ns, end_ns]: [Nanos; 2], apart_ns: Nanos) -> bool {
    let length_ns = (apart_ns + begin_ns).saturating_sub(end_ns);
    (begin_ns + end_ns).saturating_mul(LATE_PARTS) > length_ns
}

/// The most memory that this process has held. The maximum of getrusage(2) is no such figure: it survives exec, and
/// is that of the parent where the parent held more. Source: proc_pid_status(5), `VmHWM`, in KiB.
fn peak_rss_bytes() -> Option<u64> {
    let status = procfs::process::Process::myself().ok()?.status().ok()?;
    Some(status.vmhwm? * 1024)
}

fn difference(after: i64, before: i64) -> u64 {
    unsigned(after - before)
}

fn unsigned(count: i64) -> u64 {
    u64::try_from(count).unwrap_or(0)
}

fn time_ns(time: TimeVal) -> u64 {
    unsigned(time.tv_sec()) * 1_000_000_000 + unsigned(time.tv_usec()) * 1_000
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const THIS_TEST: &str = "usage::tests::peak_memory_leaves_out_the_parent_process";
    /// Where the child writes its peak.
    const PEAK_FILE: &str = "DYNO_TEST_PEAK_FILE";
    const PARENT_BYTES: usize = 192 << 20;

    #[test]
    fn readings_that_are_late_for_a_window_are_not_its_use() {
        const MS: Nanos = 1_000_000;
        // 300 ms, from 10 ms after their begin to 20 ms after their end, and to 21 ms after it.
        assert!(!is_too_late([10 * MS, 20 * MS], 310 * MS));
        assert!(is_too_late([10 * MS, 21 * MS], 311 * MS));
        // Both edges at once, as when this thread ran for the first time after the window.
        assert!(is_too_late([300 * MS, 0], 0));
        assert!(!is_too_late([0, 0], 0));
    }

    #[test]
    fn peak_memory_leaves_out_the_parent_process() {
        if let Ok(file) = std::env::var(PEAK_FILE) {
            let usage = UsageMark::at_begin(0).until_end(0).unwrap();
            return fs::write(file, usage.peak_rss_bytes.to_string()).unwrap();
        }
        let memory = std::hint::black_box(vec![1_u8; PARENT_BYTES]);
        let scratch = tempfile::tempdir().unwrap();
        let file = scratch.path().join("peak");
        let mut child = system::command(std::env::current_exe().unwrap());
        let status = child.args(["--exact", THIS_TEST]).env(PEAK_FILE, &file).status().unwrap();
        assert!(status.success());
        let peak: usize = fs::read_to_string(file).unwrap().parse().unwrap();
        assert!(peak > 0 && peak < memory.len(), "{peak} bytes");
    }
}
