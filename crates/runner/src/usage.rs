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
            // The kernel counts in KiB.
            peak_rss_bytes: unsigned(after.max_rss()) * 1024,
        })
    }
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
