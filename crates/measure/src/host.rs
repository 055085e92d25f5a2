//! What a host did: readings of counters that the kernel keeps, taken over time.

use serde::{Deserialize, Serialize};

use crate::Nanos;

/// CPU time of all hardware threads of a host, counted since it started, ns. Hardware threads times the
/// time passed is the sum of all of it. Source: proc_stat(5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuTimes {
    /// In programs, low priorities included.
    pub user_ns: Nanos,
    /// In the kernel, for programs.
    pub system_ns: Nanos,
    /// Idle.
    pub idle_ns: Nanos,
    /// Idle while a program waited for a disk.
    pub iowait_ns: Nanos,
    /// In interrupts of devices.
    pub irq_ns: Nanos,
    /// In the kernel's work after interrupts, such as receiving from the network.
    pub softirq_ns: Nanos,
    /// Taken by the hypervisor for others.
    pub steal_ns: Nanos,
}

impl CpuTimes {
    /// Everything that was not idle. What the hypervisor took is not the host's own work.
    pub fn busy_ns(&self) -> Nanos {
        self.user_ns + self.system_ns + self.irq_ns + self.softirq_ns
    }

    /// All of it.
    pub fn total_ns(&self) -> Nanos {
        self.busy_ns() + self.idle_ns + self.iowait_ns + self.steal_ns
    }

    /// Each kind by itself between `earlier` and this. Kernels set some of them back at times; what went
    /// back counts as none.
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

/// What went over the network interfaces of a host, counted since it started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetworkCounters {
    /// Bytes with the headers of links.
    pub received_bytes: u64,
    /// Bytes with the headers of links.
    pub sent_bytes: u64,
    /// As the kernel counts them; network cards put several segments into one.
    pub received_packets: u64,
    /// As the kernel counts them, before network cards take them apart.
    pub sent_packets: u64,
}

/// What the disks of a host did, counted since it started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiskCounters {
    /// Bytes read from disks.
    pub read_bytes: u64,
    /// Bytes written to disks.
    pub written_bytes: u64,
    /// Requests to disks.
    pub requests: u64,
    /// Time in which the disk that was busiest had requests in flight, ns.
    pub busy_ns: Nanos,
}

/// Segments of TCP of a host, all connections together, counted since it started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SegmentCounters {
    /// Received, acknowledgements included.
    pub received: u64,
    /// Sent, acknowledgements included, those sent again not.
    pub sent: u64,
    /// Sent again.
    pub retransmitted: u64,
}

/// What one host had counted at one time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostReading {
    /// When, on the trial's clock.
    pub at_ns: Nanos,
    /// CPU time.
    pub cpu: CpuTimes,
    /// Threads that ran or waited for a CPU at that time, without the one that looked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runnable: Option<u64>,
    /// Threads that waited for a disk at that time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocked: Option<u64>,
    /// Changes from one thread to another since the host started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_switches: Option<u64>,
    /// Memory that programs could still get.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_available_bytes: Option<u64>,
    /// Disks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk: Option<DiskCounters>,
    /// All network interfaces but loopback.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<NetworkCounters>,
    /// The loopback interface.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loopback: Option<NetworkCounters>,
    /// Segments of TCP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub segments: Option<SegmentCounters>,
    /// The processes that are watched, in the order in which they were declared; `None` once one is gone.
    pub processes: Vec<Option<ProcessReading>>,
}

/// What one process had used at one time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessReading {
    /// CPU time in user mode, of all its threads, ns.
    pub user_ns: Nanos,
    /// CPU time in the kernel, of all its threads, ns.
    pub system_ns: Nanos,
    /// Memory it held.
    pub rss_bytes: u64,
    /// How many threads it had.
    pub threads: u64,
    /// How many of its threads ran or waited for a CPU, from several looks since the last reading.
    #[serde(default, skip_serializing_if = "Runnable::is_unknown")]
    pub runnable: Runnable,
    /// Context switches of its threads. Those of a thread that ended are counted up to the last reading at
    /// which it was there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_switches: Option<u64>,
    /// What it had disks do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk: Option<ProcessDisk>,
}

impl ProcessReading {
    /// CPU time in user mode and in the kernel, ns.
    pub fn cpu_ns(&self) -> Nanos {
        self.user_ns + self.system_ns
    }
}

/// What a process had disks do, counted since it started; what caches absorbed is not in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessDisk {
    /// Bytes that disks read for it.
    pub read_bytes: u64,
    /// Bytes that it had written to disks, or that the kernel will write for it.
    pub written_bytes: u64,
}

/// How many threads of a process ran or waited for a CPU, over several looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Runnable {
    /// How often somebody looked.
    pub looks: u64,
    /// The sum of what was seen.
    pub sum: u64,
    /// The most that was seen at once.
    pub max: u64,
}

impl Runnable {
    /// Whether nobody looked.
    pub(crate) fn is_unknown(&self) -> bool {
        self.looks == 0
    }

    /// Adds what one look saw.
    pub fn add(&mut self, threads: u64) {
        self.merge(&Self { looks: 1, sum: threads, max: threads });
    }

    /// Adds other looks.
    pub fn merge(&mut self, other: &Self) {
        self.looks += other.looks;
        self.sum += other.sum;
        self.max = self.max.max(other.max);
    }

    /// How many on average; `None` when nobody looked.
    pub fn mean(&self) -> Option<f64> {
        (self.looks > 0).then(|| self.sum as f64 / self.looks as f64)
    }
}
