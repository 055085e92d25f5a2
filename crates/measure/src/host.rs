//! Readings of a host's kernel counters over time.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Nanos, sum};

/// CPU time of all hardware threads of a host since it started, ns. The fields add up to the number of
/// hardware threads times the time that has passed. Source: proc_stat(5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuTimes {
    /// In user mode, low priorities included.
    pub user_ns: Nanos,
    /// In the kernel, on behalf of programs.
    pub system_ns: Nanos,
    pub idle_ns: Nanos,
    /// Idle while a program waited for a disk.
    pub iowait_ns: Nanos,
    /// Handling hardware interrupts.
    pub irq_ns: Nanos,
    /// Handling software interrupts, such as received packets.
    pub softirq_ns: Nanos,
    /// Stolen: the hypervisor ran other guests.
    pub steal_ns: Nanos,
}

impl CpuTimes {
    /// All time that was neither idle nor stolen by the hypervisor.
    pub fn busy_ns(&self) -> Nanos {
        sum([self.user_ns, self.system_ns, self.irq_ns, self.softirq_ns])
    }

    pub fn total_ns(&self) -> Nanos {
        sum([self.busy_ns(), self.idle_ns, self.iowait_ns, self.steal_ns])
    }

    /// The difference of each field between `earlier` and this reading. Kernels sometimes decrease one; such
    /// a difference counts as 0.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            user_ns: self.user_ns.saturating_sub(earlier.user_ns),
            system_ns: self.system_ns.saturating_sub(earlier.system_ns),
            idle_ns: self.idle_ns.saturating_sub(earlier.idle_ns),
            iowait_ns: self.iowait_ns.saturating_sub(earlier.iowait_ns),
            irq_ns: self.irq_ns.saturating_sub(earlier.irq_ns),
            softirq_ns: self.softirq_ns.saturating_sub(earlier.softirq_ns),
            steal_ns: self.steal_ns.saturating_sub(earlier.steal_ns),
        }
    }
}

/// Traffic of a host's network interfaces since it started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetworkCounters {
    /// Bytes with the headers of links.
    pub received_bytes: u64,
    /// Bytes with the headers of links.
    pub sent_bytes: u64,
    /// Packets as the kernel counts them; network cards merge several segments into one.
    pub received_packets: u64,
    /// Packets as the kernel counts them, before network cards split them.
    pub sent_packets: u64,
}

/// Activity of a host's disks since it started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiskCounters {
    pub read_bytes: u64,
    pub written_bytes: u64,
    pub requests: u64,
}

/// TCP segments of all connections of a host since it started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SegmentCounters {
    /// Received, acknowledgements included.
    pub received: u64,
    /// Sent, with acknowledgements and without retransmissions.
    pub sent: u64,
    pub retransmitted: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostReading {
    /// When it was taken, on the trial's clock.
    pub at_ns: Nanos,
    pub cpu: CpuTimes,
    /// Threads that ran or waited for a CPU at that time, without the one that took the reading.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runnable: Option<u64>,
    /// Threads that waited for a disk at that time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocked: Option<u64>,
    /// Context switches since the host started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_switches: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_available_bytes: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk: Option<DiskCounters>,
    /// For how long each disk has had requests in flight since the host started, ns, by the disk's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_busy_ns: Option<BTreeMap<String, Nanos>>,
    /// All network interfaces but loopback.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<NetworkCounters>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loopback: Option<NetworkCounters>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub segments: Option<SegmentCounters>,
    /// The watched processes in the order in which they were declared; `None` for one that has exited.
    pub processes: Vec<Option<ProcessReading>>,
    /// The processes of servers that have one for each session, by their kinds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<KindReading>,
}

/// The processes of one kind that belong to a server, such as those of its sessions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KindReading {
    /// The server's place among the watched processes.
    pub process: usize,
    pub kind: String,
    /// How many there are.
    pub count: u64,
    /// CPU time, ns. That of a process that ended is counted up to the last reading at which it was there.
    pub cpu_ns: Nanos,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessReading {
    /// CPU time in user mode, of all its threads, ns.
    pub user_ns: Nanos,
    /// CPU time in the kernel, of all its threads, ns.
    pub system_ns: Nanos,
    pub rss_bytes: u64,
    pub threads: u64,
    /// How many of its threads ran or waited for a CPU, sampled since the last reading.
    #[serde(default, skip_serializing_if = "Runnable::is_unknown")]
    pub runnable: Runnable,
    /// Context switches of its threads. Those of a thread that ended are counted up to the last reading at
    /// which it was there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_switches: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk: Option<ProcessDisk>,
    /// Memory of a server with several processes in which a page that some of them share counts once (PSS). Reading it
    /// takes long, so that only some readings have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pss_bytes: Option<u64>,
}

impl ProcessReading {
    /// CPU time in user mode and in the kernel, ns.
    pub fn cpu_ns(&self) -> Nanos {
        sum([self.user_ns, self.system_ns])
    }
}

/// What a process had disks do, counted since it started; what caches absorbed is not in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessDisk {
    pub read_bytes: u64,
    /// Bytes that it had written to disks, or that the kernel will write for it.
    pub written_bytes: u64,
}

/// Samples of how many threads of a process ran or waited for a CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Runnable {
    pub looks: u64,
    pub sum: u64,
    pub max: u64,
}

impl Runnable {
    /// Whether nobody looked.
    pub(crate) fn is_unknown(&self) -> bool {
        self.looks == 0
    }

    pub fn add(&mut self, threads: u64) {
        self.merge(&Self { looks: 1, sum: threads, max: threads });
    }

    pub fn merge(&mut self, other: &Self) {
        self.looks += other.looks;
        self.sum += other.sum;
        self.max = self.max.max(other.max);
    }

    /// The mean; `None` without samples.
    pub fn mean(&self) -> Option<f64> {
        (self.looks > 0).then(|| self.sum as f64 / self.looks as f64)
    }
}
