//! What a host did over time: from readings of counters to rates, means and peaks.

use measure::{Host, HostReading, Nanos, NetworkCounters, ProcessReading, SegmentCounters};

/// Shorter than this part of the longest, a spell is a rest, and its rates are those of a few ticks.
const REST: u64 = 4;

/// What is known of a host over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum HostFigure {
    /// Hardware threads that were busy, with whatever.
    CpuBusy,
    /// Hardware threads that ran programs.
    CpuUser,
    /// Hardware threads that ran the kernel for programs.
    CpuSystem,
    /// Hardware threads in interrupts and the kernel's work after them.
    CpuSoftirq,
    /// Hardware threads that were idle while a program waited for a disk.
    CpuIowait,
    /// Hardware threads that the hypervisor gave to others.
    CpuSteal,
    /// Threads that ran or waited for a CPU.
    Runnable,
    /// Threads that waited for a disk.
    Blocked,
    /// Context switches, 1/s.
    ContextSwitches,
    /// Memory that programs could not get any more, bytes.
    MemoryUsed,
    /// Bytes read from disks, 1/s.
    DiskRead,
    /// Bytes written to disks, 1/s.
    DiskWritten,
    /// Requests to disks, 1/s.
    DiskRequests,
    /// The part of time in which the busiest disk had requests in flight.
    DiskBusy,
    /// Bytes received by network cards, 1/s.
    NetworkReceived,
    /// Bytes sent by network cards, 1/s.
    NetworkSent,
    /// Packets received by network cards, 1/s.
    PacketsReceived,
    /// Packets sent by network cards, 1/s.
    PacketsSent,
    /// Bytes over loopback, 1/s; each was sent and received.
    LoopbackBytes,
    /// Packets over loopback, 1/s; each was sent and received.
    LoopbackPackets,
    /// Segments of TCP received, 1/s.
    SegmentsReceived,
    /// Segments of TCP sent, 1/s.
    SegmentsSent,
    /// Segments of TCP sent again, 1/s.
    SegmentsRetransmitted,
}

/// What is known of a process over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProcessFigure {
    /// Hardware threads that ran it, the kernel's work for it included.
    Cpu,
    /// Memory that it held, bytes.
    Memory,
    /// How many threads it had.
    Threads,
    /// How many of its threads ran or waited for a CPU.
    Runnable,
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

impl HostFigure {
    /// All of them, in the order of tables.
    pub const ALL: [Self; 23] = [
        Self::CpuBusy,
        Self::CpuUser,
        Self::CpuSystem,
        Self::CpuSoftirq,
        Self::CpuIowait,
        Self::CpuSteal,
        Self::Runnable,
        Self::Blocked,
        Self::ContextSwitches,
        Self::MemoryUsed,
        Self::DiskRead,
        Self::DiskWritten,
        Self::DiskRequests,
        Self::DiskBusy,
        Self::NetworkReceived,
        Self::NetworkSent,
        Self::PacketsReceived,
        Self::PacketsSent,
        Self::LoopbackBytes,
        Self::LoopbackPackets,
        Self::SegmentsReceived,
        Self::SegmentsSent,
        Self::SegmentsRetransmitted,
    ];

    /// This figure of a host over time; empty where the kernel does not tell it.
    pub fn of(self, host: &Host) -> Vec<Spell> {
        let value = |from: &_, to: &_, seconds| self.between(host, from, to, seconds);
        spells(&host.readings, |reading| reading.at_ns, value)
    }

    fn between(
        self,
        host: &Host,
        from: &HostReading,
        to: &HostReading,
        seconds: f64,
    ) -> Option<f64> {
        let rate = |of: &dyn Fn(&HostReading) -> Option<u64>| {
            Some(of(to)?.checked_sub(of(from)?)? as f64 / seconds)
        };
        let cpu = to.cpu.since(&from.cpu);
        let threads = |ns: Nanos| Some(ns as f64 / 1e9 / seconds);
        let network = |of: fn(&NetworkCounters) -> u64| rate(&|it| it.network.as_ref().map(of));
        let loopback = |of: fn(&NetworkCounters) -> u64| rate(&|it| it.loopback.as_ref().map(of));
        let segments = |of: fn(&SegmentCounters) -> u64| rate(&|it| it.segments.as_ref().map(of));
        match self {
            Self::CpuBusy => threads(cpu.busy_ns()),
            Self::CpuUser => threads(cpu.user_ns),
            Self::CpuSystem => threads(cpu.system_ns),
            Self::CpuSoftirq => threads(cpu.irq_ns + cpu.softirq_ns),
            Self::CpuIowait => threads(cpu.iowait_ns),
            Self::CpuSteal => threads(cpu.steal_ns),
            Self::Runnable => to.runnable.map(|count| count as f64),
            Self::Blocked => to.blocked.map(|count| count as f64),
            Self::ContextSwitches => rate(&|it| it.context_switches),
            Self::MemoryUsed => {
                let available = to.memory_available_bytes?;
                Some(host.memory_bytes?.checked_sub(available)? as f64)
            }
            Self::DiskRead => rate(&|it| it.disk.map(|disk| disk.read_bytes)),
            Self::DiskWritten => rate(&|it| it.disk.map(|disk| disk.written_bytes)),
            Self::DiskRequests => rate(&|it| it.disk.map(|disk| disk.requests)),
            Self::DiskBusy => rate(&|it| it.disk.map(|disk| disk.busy_ns)).map(|it| it / 1e9),
            Self::NetworkReceived => network(|it| it.received_bytes),
            Self::NetworkSent => network(|it| it.sent_bytes),
            Self::PacketsReceived => network(|it| it.received_packets),
            Self::PacketsSent => network(|it| it.sent_packets),
            Self::LoopbackBytes => loopback(|it| it.sent_bytes),
            Self::LoopbackPackets => loopback(|it| it.sent_packets),
            Self::SegmentsReceived => segments(|it| it.received),
            Self::SegmentsSent => segments(|it| it.sent),
            Self::SegmentsRetransmitted => segments(|it| it.retransmitted),
        }
    }
}

impl ProcessFigure {
    /// All of them, in the order of tables.
    pub const ALL: [Self; 4] = [Self::Cpu, Self::Runnable, Self::Threads, Self::Memory];

    /// This figure of process `number` of a host over time; empty where it was not looked at.
    pub fn of(self, host: &Host, number: usize) -> Vec<Spell> {
        let of = |reading: &HostReading| reading.processes.get(number).copied().flatten();
        let value = |from: &_, to: &_, seconds| self.between(&of(from)?, &of(to)?, seconds);
        let mut spells = spells(&host.readings, |reading| reading.at_ns, value);
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

    fn between(self, from: &ProcessReading, to: &ProcessReading, seconds: f64) -> Option<f64> {
        match self {
            Self::Cpu => Some(to.cpu_ns().checked_sub(from.cpu_ns())? as f64 / 1e9 / seconds),
            Self::Memory => Some(to.rss_bytes as f64),
            Self::Threads => Some(to.threads as f64),
            Self::Runnable => to.runnable.mean(),
        }
    }
}

/// One spell for each two readings that are apart in time, where there is a value.
pub(crate) fn spells<R>(
    readings: &[R],
    at_ns: impl Fn(&R) -> Nanos,
    value: impl Fn(&R, &R, f64) -> Option<f64>,
) -> Vec<Spell> {
    let pairs = readings.windows(2).filter(|pair| at_ns(&pair[1]) > at_ns(&pair[0]));
    pairs
        .filter_map(|pair| {
            let (from_ns, to_ns) = (at_ns(&pair[0]), at_ns(&pair[1]));
            let mean = value(&pair[0], &pair[1], (to_ns - from_ns) as f64 / 1e9)?;
            Some(Spell { from_ns, to_ns, mean, peak: mean, is_seen: false })
        })
        .collect()
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
