//! What a host did over time: from readings of counters to rates, means and peaks.

use measure::{CpuTimes, Host, HostReading, Nanos, ProcessReading};

use crate::figure::{Between, OverTime, metrics, over_time};

/// Shorter than this part of the longest, a spell is a rest, and its rates are those of a few ticks.
const REST: u64 = 4;

metrics! {
    /// What is known of a host over time.
    HostFigure: OverTime<HostReading>;

    CpuBusy = "cpu_busy_threads", "CPU threads busy", CpuThreads, |it| it.cpu(CpuTimes::busy_ns);
    CpuUser = "cpu_user_threads", "CPU threads in user mode", CpuThreads, |it| it.cpu(|cpu| cpu.user_ns);
    CpuSystem = "cpu_system_threads", "CPU threads in the kernel", CpuThreads,
        |it| it.cpu(|cpu| cpu.system_ns);
    /// With the kernel's work after interrupts.
    CpuSoftirq = "cpu_softirq_threads", "CPU threads in interrupts", CpuThreads,
        |it| it.cpu(|cpu| cpu.irq_ns + cpu.softirq_ns);
    CpuIowait = "cpu_iowait_threads", "CPU threads idle, waiting for disks", CpuThreads,
        |it| it.cpu(|cpu| cpu.iowait_ns);
    CpuSteal = "cpu_steal_threads", "CPU threads taken by the hypervisor", CpuThreads,
        |it| it.cpu(|cpu| cpu.steal_ns);
    Runnable = "runnable_threads", "threads that ran or waited for a CPU", Count,
        |it| it.to.runnable.map(|count| count as f64);
    Blocked = "blocked_threads", "threads that waited for a disk", Count,
        |it| it.to.blocked.map(|count| count as f64);
    ContextSwitches = "context_switches_per_s", "context switches", PerSecond,
        |it| it.rate(|at| at.context_switches);
    /// Memory that programs could not get any more.
    MemoryUsed = "memory_used_bytes", "memory used", Bytes,
        |it| Some(it.memory_bytes?.checked_sub(it.to.memory_available_bytes?)? as f64);
    DiskRead = "disk_read_bytes_per_s", "read from disks", BytesPerSecond,
        |it| it.rate(|at| at.disk.map(|disk| disk.read_bytes));
    DiskWritten = "disk_written_bytes_per_s", "written to disks", BytesPerSecond,
        |it| it.rate(|at| at.disk.map(|disk| disk.written_bytes));
    DiskRequests = "disk_requests_per_s", "requests to disks", PerSecond,
        |it| it.rate(|at| at.disk.map(|disk| disk.requests));
    /// The part of time in which it did.
    DiskBusy = "disk_busy_part", "busiest disk had requests", Part,
        |it| it.rate(|at| at.disk.map(|disk| disk.busy_ns)).map(|ns_per_s| ns_per_s / 1e9);
    NetworkReceived = "network_received_bytes_per_s", "network received", BytesPerSecond,
        |it| it.rate(|at| at.network.map(|cards| cards.received_bytes));
    NetworkSent = "network_sent_bytes_per_s", "network sent", BytesPerSecond,
        |it| it.rate(|at| at.network.map(|cards| cards.sent_bytes));
    PacketsReceived = "packets_received_per_s", "packets received", PerSecond,
        |it| it.rate(|at| at.network.map(|cards| cards.received_packets));
    PacketsSent = "packets_sent_per_s", "packets sent", PerSecond,
        |it| it.rate(|at| at.network.map(|cards| cards.sent_packets));
    /// Each was sent and received.
    LoopbackBytes = "loopback_bytes_per_s", "over loopback", BytesPerSecond,
        |it| it.rate(|at| at.loopback.map(|loopback| loopback.sent_bytes));
    /// Each was sent and received.
    LoopbackPackets = "loopback_packets_per_s", "packets over loopback", PerSecond,
        |it| it.rate(|at| at.loopback.map(|loopback| loopback.sent_packets));
    SegmentsReceived = "segments_received_per_s", "TCP segments received, all connections", PerSecond,
        |it| it.rate(|at| at.segments.map(|segments| segments.received));
    SegmentsSent = "segments_sent_per_s", "TCP segments sent, all connections", PerSecond,
        |it| it.rate(|at| at.segments.map(|segments| segments.sent));
    SegmentsRetransmitted = "segments_retransmitted_per_s", "TCP segments sent again, all connections",
        PerSecond, |it| it.rate(|at| at.segments.map(|segments| segments.retransmitted));
}

metrics! {
    /// What is known of a process over time.
    ProcessFigure: OverTime<ProcessReading>;

    Cpu = "cpu_busy_threads", "CPU threads busy", CpuThreads,
        |it| Some(it.to.cpu_ns().checked_sub(it.from.cpu_ns())? as f64 / 1e9 / it.seconds);
    Runnable = "runnable_threads", "threads that ran or waited for a CPU", Count,
        |it| it.to.runnable.mean();
    Threads = "threads", "threads", Count, |it| Some(it.to.threads as f64);
    Memory = "memory_bytes", "memory", Bytes, |it| Some(it.to.rss_bytes as f64);
    ContextSwitches = "context_switches_per_s", "context switches", PerSecond,
        |it| it.rate(|at| at.context_switches);
    Read = "read_bytes_per_s", "read from disks", BytesPerSecond,
        |it| it.rate(|at| at.disk.map(|disk| disk.read_bytes));
    Written = "written_bytes_per_s", "written to disks", BytesPerSecond,
        |it| it.rate(|at| at.disk.map(|disk| disk.written_bytes));
}

/// A figure between two readings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spell {
    /// From when, on the trial's clock.
    pub from_ns: Nanos,
    /// Until when.
    pub to_ns: Nanos,
    /// Its mean in that time, or what it was at its end where the kernel tells no more.
    pub mean: f64,
    /// The highest value in that time that was seen.
    pub peak: f64,
    /// Whether the peak was seen at a moment; if not, it is a rate over the time between two readings.
    pub is_seen: bool,
}

/// The mean and the highest value over a longer time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeanPeak {
    /// The mean over time.
    pub mean: f64,
    /// The highest mean of a spell, or the highest value seen where several looks make a spell.
    pub peak: f64,
}

impl Between<'_, HostReading> {
    /// Hardware threads in some of the CPU's states.
    fn cpu(&self, of: fn(&CpuTimes) -> Nanos) -> Option<f64> {
        Some(of(&self.to.cpu.since(&self.from.cpu)) as f64 / 1e9 / self.seconds)
    }
}

impl HostFigure {
    /// This figure of a host over time; empty where the kernel does not report it.
    pub fn of(self, host: &Host) -> Vec<Spell> {
        let (get, memory_bytes) = (self.metric().get, host.memory_bytes);
        over_time(
            &host.readings,
            |reading| reading.at_ns,
            |from, to, seconds| get(&Between { from, to, seconds, memory_bytes }),
        )
    }
}

impl ProcessFigure {
    /// This figure of process `number` of a host over time; empty where it was not read.
    pub fn of(self, host: &Host, number: usize) -> Vec<Spell> {
        let (get, memory_bytes) = (self.metric().get, host.memory_bytes);
        let of = |reading: &HostReading| reading.processes.get(number).copied().flatten();
        let mut spells = over_time(
            &host.readings,
            |reading| reading.at_ns,
            |from, to, seconds| {
                get(&Between { from: &of(from)?, to: &of(to)?, seconds, memory_bytes })
            },
        );
        if self == Self::Runnable {
            for spell in &mut spells {
                let at_end = host.readings.iter().find(|reading| reading.at_ns == spell.to_ns);
                let seen = at_end.and_then(of).map(|reading| reading.runnable.max as f64);
                spell.peak = seen.unwrap_or(spell.mean);
                spell.is_seen = seen.is_some();
            }
        }
        spells
    }
}

/// Mean and peak over the spells whose middle lies in a stretch of time; `None` when there are none. A
/// spell shorter than half of the longest has a peak only when that was seen: rates of counters in coarse
/// ticks jump in short times.
pub fn mean_peak(spells: &[Spell], (from_ns, to_ns): (Nanos, Nanos)) -> Option<MeanPeak> {
    let middle = |spell: &Spell| spell.from_ns.midpoint(spell.to_ns);
    let within = || spells.iter().filter(|it| (from_ns..=to_ns).contains(&middle(it)));
    let length = |spell: &Spell| (spell.to_ns - spell.from_ns) as f64;
    let longest = within().map(length).fold(0.0, f64::max);
    let whole: f64 = within().map(length).sum();
    if whole <= 0.0 {
        return None;
    }
    let mean = within().map(|spell| spell.mean * length(spell)).sum::<f64>() / whole;
    let counts = |spell: &&Spell| spell.is_seen || length(spell) >= longest / 2.0;
    let peak = within().filter(counts).map(|spell| spell.peak).fold(mean, f64::max);
    Some(MeanPeak { mean, peak })
}

/// What a line on a page can show: neighbours made one until there are at most `count`, and the short
/// rests at the edges of phases left out. Means stay means over time, peaks stay peaks.
pub fn thin(spells: &[Spell], count: usize) -> Vec<Spell> {
    let longest = spells.iter().map(|spell| spell.to_ns - spell.from_ns).max().unwrap_or(0);
    let is_whole = |spell: &&Spell| spell.to_ns - spell.from_ns >= longest / REST;
    let whole: Vec<Spell> = spells.iter().filter(is_whole).copied().collect();
    let each = whole.len().div_ceil(count.max(1)).max(1);
    whole.chunks(each).filter_map(merge).collect()
}

fn merge(spells: &[Spell]) -> Option<Spell> {
    let (from_ns, to_ns) = (spells.first()?.from_ns, spells.last()?.to_ns);
    let length = |spell: &Spell| (spell.to_ns - spell.from_ns) as f64;
    let whole: f64 = spells.iter().map(length).sum();
    let mean = spells.iter().map(|spell| spell.mean * length(spell)).sum::<f64>() / whole;
    let peak = spells.iter().map(|spell| spell.peak).fold(f64::MIN, f64::max);
    let is_seen = spells.iter().all(|spell| spell.is_seen);
    Some(Spell { from_ns, to_ns, mean, peak, is_seen })
}

#[cfg(test)]
mod tests;
