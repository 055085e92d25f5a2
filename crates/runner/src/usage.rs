//! The resources that dyno itself uses: read from the kernel at both ends of the measured time.

use measure::Nanos;
use net::Clock;
use nix::sys::resource::{Usage, UsageWho, getrusage};
use nix::sys::time::TimeVal;
use record::ClientUsage;

/// A reading of this process's counters.
pub struct UsageMark {
    /// `None` where the kernel does not report them.
    usage: Option<Usage>,
    clock: Clock,
    late_ns: Nanos,
}

impl UsageMark {
    /// Reads them when the measured time has begun, so long ago.
    pub fn at_begin(late_ns: Nanos) -> Self {
        Self { usage: getrusage(UsageWho::RUSAGE_SELF).ok(), clock: Clock::monotonic(), late_ns }
    }

    /// The use in the measured time, which has ended so long ago, with the peak of memory so far. On a busy machine this
    /// thread may not run until a part of a short window is over: what was used before it did is taken to be like the rest.
    /// `None` when that was more than half of the window.
    pub fn until_end(&self, late_ns: Nanos) -> Option<ClientUsage> {
        let before = self.usage?;
        let after = getrusage(UsageWho::RUSAGE_SELF).ok()?;
        let read = read_part([self.late_ns, late_ns], self.clock.now())?;
        let time =
            |of: fn(&Usage) -> TimeVal| time_ns(of(&after)).saturating_sub(time_ns(of(&before)));
        let switches = |of: fn(&Usage) -> i64| unsigned(of(&after) - of(&before));
        let between = ClientUsage {
            user_ns: time(Usage::user_time),
            system_ns: time(Usage::system_time),
            voluntary_switches: switches(Usage::voluntary_context_switches),
            involuntary_switches: switches(Usage::involuntary_context_switches),
            peak_rss_bytes: peak_rss_bytes()?,
        };
        Some(between.times(1.0 / read))
    }
}

/// The part of a window that is between two readings, each so much later than its edges and so far apart; `None` for less
/// than half of it. Load after the end is no more than a drain.
fn read_part([begin_ns, end_ns]: [Nanos; 2], apart_ns: Nanos) -> Option<f64> {
    let length_ns = (apart_ns + begin_ns).saturating_sub(end_ns);
    let read = apart_ns.saturating_sub(end_ns) as f64 / length_ns as f64;
    (read >= 0.5).then_some(read)
}

/// The most memory that this process has held. The maximum of getrusage(2) is no such figure: it survives exec, and
/// is that of the parent where the parent held more. Source: proc_pid_status(5), `VmHWM`, in KiB.
fn peak_rss_bytes() -> Option<u64> {
    let status = procfs::process::Process::myself().ok()?.status().ok()?;
    Some(status.vmhwm? * 1024)
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
    fn late_readings_are_of_a_part_of_the_window_or_of_none() {
        const MS: Nanos = 1_000_000;
        // 300 ms, from 0, 75 and 160 ms after their begin to 20 ms after their end.
        assert_eq!(read_part([0, 20 * MS], 320 * MS), Some(1.0));
        assert_eq!(read_part([75 * MS, 20 * MS], 245 * MS), Some(0.75));
        assert_eq!(read_part([160 * MS, 20 * MS], 160 * MS), None);
        // Both edges at once, as when this thread ran for the first time after the window.
        assert_eq!(read_part([320 * MS, 20 * MS], 0), None);
        assert_eq!(read_part([0, 0], 0), None);
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
