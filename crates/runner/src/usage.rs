//! The resources that dyno itself uses: read from the kernel at both ends of the measured time.

use nix::sys::resource::{Usage, UsageWho, getrusage};
use nix::sys::time::TimeVal;
use record::ClientUsage;

/// A reading of this process's counters.
pub(crate) struct UsageMark(Option<Usage>);

impl UsageMark {
    /// Reads them now; counters that the kernel does not report are left out.
    pub(crate) fn now() -> Self {
        Self(getrusage(UsageWho::RUSAGE_SELF).ok())
    }

    /// The use since then, with the peak of memory so far.
    pub(crate) fn until_now(&self) -> Option<ClientUsage> {
        let before = self.0?;
        let after = getrusage(UsageWho::RUSAGE_SELF).ok()?;
        Some(ClientUsage {
            user_ns: nanos(after.user_time()).saturating_sub(nanos(before.user_time())),
            system_ns: nanos(after.system_time()).saturating_sub(nanos(before.system_time())),
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

fn nanos(time: TimeVal) -> u64 {
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
    fn peak_memory_leaves_out_the_parent_process() {
        if let Ok(file) = std::env::var(PEAK_FILE) {
            let usage = UsageMark::now().until_now().unwrap();
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
