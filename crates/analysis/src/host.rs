//! Figures of a host over time: rates, means and peaks from readings of counters.

use std::collections::BTreeSet;

use measure::{CpuTimes, Host, HostReading, KindReading, Nanos, ProcessReading, Quantity, sum};

use crate::figure::{Between, OverTime, metrics, over_time};

/// A sample window shorter than this part of the longest is a remainder: its rates come from only a few ticks.
const REMAINDER_DIVISOR: u64 = 4;
/// CPU time over less than this is not told: the kernel counts it in ticks of 10 ms (USER_HZ of proc(5)), so that one
/// tick would be more than a tenth of a hardware thread.
const TICKED_TIME_MIN_NS: f64 = 100e6;

metrics! {
    HostFigure: OverTime<HostReading>;

    CpuBusy = "cpu_busy_threads", "CPU threads busy", CpuThreads, |it| it.cpu(CpuTimes::busy_ns);
    CpuUser = "cpu_user_threads", "CPU threads in user mode", CpuThreads, |it| it.cpu(|cpu| cpu.user_ns);
    CpuSystem = "cpu_system_threads", "CPU threads in the kernel", CpuThreads,
        |it| it.cpu(|cpu| cpu.system_ns);
    CpuSoftirq = "cpu_softirq_threads", "CPU threads in interrupts", CpuThreads,
        |it| it.cpu(|cpu| sum([cpu.irq_ns, cpu.softirq_ns]));
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
    /// Memory that is not available to programs.
    MemoryUsed = "memory_used_bytes", "memory used", Bytes,
        |it| Some(it.memory_bytes?.checked_sub(it.to.memory_available_bytes?)? as f64);
    DiskRead = "disk_read_bytes_per_s", "read from disks", BytesPerSecond,
        |it| it.rate(|at| at.disk.map(|disk| disk.read_bytes));
    DiskWritten = "disk_written_bytes_per_s", "written to disks", BytesPerSecond,
        |it| it.rate(|at| at.disk.map(|disk| disk.written_bytes));
    DiskRequests = "disk_requests_per_s", "requests to disks", PerSecond,
        |it| it.rate(|at| at.disk.map(|disk| disk.requests));
    DiskBusy = "disk_busy_part", "busiest disk had requests", Part,
        |it| it.busiest_disk();
    NetworkReceived = "network_received_bytes_per_s", "network received", BytesPerSecond,
        |it| it.rate(|at| at.network.map(|cards| cards.received_bytes));
    NetworkSent = "network_sent_bytes_per_s", "network sent", BytesPerSecond,
        |it| it.rate(|at| at.network.map(|cards| cards.sent_bytes));
    PacketsReceived = "packets_received_per_s", "packets received", PerSecond,
        |it| it.rate(|at| at.network.map(|cards| cards.received_packets));
    PacketsSent = "packets_sent_per_s", "packets sent", PerSecond,
        |it| it.rate(|at| at.network.map(|cards| cards.sent_packets));
    /// Each byte counts once, although it is sent and received.
    LoopbackBytes = "loopback_bytes_per_s", "over loopback", BytesPerSecond,
        |it| it.rate(|at| at.loopback.map(|loopback| loopback.sent_bytes));
    /// Each packet counts once, although it is sent and received.
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
    ProcessFigure: OverTime<ProcessReading>;

    Cpu = "cpu_busy_threads", "CPU threads busy", CpuThreads,
        |it| Some(it.to.cpu_ns().checked_sub(it.from.cpu_ns())? as f64 / 1e9 / it.seconds);
    Runnable = "runnable_threads", "threads that ran or waited for a CPU", Count,
        |it| it.to.runnable.mean();
    Threads = "threads", "threads", Count, |it| Some(it.to.threads as f64);
    Memory = "memory_bytes", "memory", Bytes, |it| Some(it.to.rss_bytes as f64);
    /// In the readings that have it.
    Pss = "memory_pss_bytes", "memory, shared pages once (PSS)", Bytes,
        |it| it.to.pss_bytes.map(|bytes| bytes as f64);
    ContextSwitches = "context_switches_per_s", "context switches", PerSecond,
        |it| it.rate(|at| at.context_switches);
    Read = "read_bytes_per_s", "read from disks", BytesPerSecond,
        |it| it.rate(|at| at.disk.map(|disk| disk.read_bytes));
    Written = "written_bytes_per_s", "written to disks", BytesPerSecond,
        |it| it.rate(|at| at.disk.map(|disk| disk.written_bytes));
}

metrics! {
    KindFigure: OverTime<KindReading>;

    Cpu = "cpu_busy_threads", "CPU threads busy", CpuThreads,
        |it| Some(it.to.cpu_ns.checked_sub(it.from.cpu_ns)? as f64 / 1e9 / it.seconds);
    Processes = "processes", "processes", Count, |it| Some(it.to.count as f64);
}

/// A value for the window between two readings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SampleWindow {
    /// Start, on the trial's clock.
    pub from_ns: Nanos,
    /// End, on the trial's clock.
    pub to_ns: Nanos,
    /// Mean in that time; the value at its end where the kernel reports only that.
    pub mean: f64,
    /// Highest known value in that time.
    pub peak: f64,
    pub origin: ValueOrigin,
}

/// What a value over time was read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueOrigin {
    Samples,
    /// Two readings, at the ends of the window.
    Readings,
    /// Two readings of a counter in ticks of 10 ms.
    Ticks,
}

/// The mean and the highest value over a longer time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeanPeak {
    pub mean: f64,
    /// The highest sample, or the highest window mean where a window has several samples.
    pub peak: f64,
}

impl Between<'_, HostReading> {
    /// Hardware threads in the given CPU states.
    fn cpu(&self, of: fn(&CpuTimes) -> Nanos) -> Option<f64> {
        Some(of(&self.to.cpu.since(&self.from.cpu)) as f64 / 1e9 / self.seconds)
    }

    /// The part of the time in which the disk that was busiest in this window had requests.
    fn busiest_disk(&self) -> Option<f64> {
        let busy_ns = self.to.disk_busy_ns.as_ref()?;
        let before = self.from.disk_busy_ns.as_ref()?;
        let since = |(disk, until): (&String, &Nanos)| until.checked_sub(*before.get(disk)?);
        let busiest = busy_ns.iter().filter_map(since).max().unwrap_or_default();
        Some(busiest as f64 / 1e9 / self.seconds)
    }
}

impl HostFigure {
    /// This figure of a host over time; empty where the kernel does not report it.
    pub fn of(self, host: &Host) -> Vec<SampleWindow> {
        let (get, memory_bytes) = (self.metric().get, host.memory_bytes);
        let sample_windows = over_time(
            (&host.readings, &host.joints_ns),
            |reading| reading.at_ns,
            |from, to, seconds| get(&Between { from, to, seconds, memory_bytes }),
        );
        with_origin(sample_windows, self.metric().unit)
    }
}

impl ProcessFigure {
    /// This figure of process `number` of a host over time; empty when it was not read.
    pub fn of(self, host: &Host, number: usize) -> Vec<SampleWindow> {
        let (get, memory_bytes) = (self.metric().get, host.memory_bytes);
        let of = |reading: &HostReading| reading.processes.get(number).copied().flatten();
        let mut sample_windows = over_time(
            (&host.readings, &host.joints_ns),
            |reading| reading.at_ns,
            |from, to, seconds| {
                get(&Between { from: &of(from)?, to: &of(to)?, seconds, memory_bytes })
            },
        );
        if self == Self::Runnable {
            for sample_window in &mut sample_windows {
                let at_end =
                    host.readings.iter().find(|reading| reading.at_ns == sample_window.to_ns);
                let seen = at_end.and_then(of).map(|reading| reading.runnable.max as f64);
                sample_window.peak = seen.unwrap_or(sample_window.mean);
                if seen.is_some() {
                    sample_window.origin = ValueOrigin::Samples;
                }
            }
        }
        with_origin(sample_windows, self.metric().unit)
    }
}

impl KindFigure {
    /// This figure of all processes of one kind that belong to process `number` of a host, over time.
    pub fn of(self, host: &Host, number: usize, kind: &str) -> Vec<SampleWindow> {
        let (get, memory_bytes) = (self.metric().get, host.memory_bytes);
        let nothing = KindReading::default();
        let of = |reading: &'_ HostReading| -> Option<KindReading> {
            let is_it = |it: &&KindReading| it.process == number && it.kind == kind;
            reading.kinds.iter().find(is_it).cloned()
        };
        let sample_windows = over_time(
            (&host.readings, &host.joints_ns),
            |reading| reading.at_ns,
            |from, to, seconds| {
                let (from, to) = (of(from).unwrap_or_else(|| nothing.clone()), of(to)?);
                get(&Between { from: &from, to: &to, seconds, memory_bytes })
            },
        );
        with_origin(sample_windows, self.metric().unit)
    }
}

/// The kinds of processes that belong to a watched process, with its place, in alphabetical order.
pub fn process_kinds(host: &Host) -> BTreeSet<(usize, &str)> {
    let all = host.readings.iter().flat_map(|reading| &reading.kinds);
    all.map(|it| (it.process, it.kind.as_str())).collect()
}

/// The same, with figures of CPU time marked as counted in ticks.
fn with_origin(mut sample_windows: Vec<SampleWindow>, unit: Quantity) -> Vec<SampleWindow> {
    if unit == Quantity::CpuThreads {
        sample_windows.iter_mut().for_each(|it| it.origin = ValueOrigin::Ticks);
    }
    sample_windows
}

/// Mean and peak over the sample windows whose middle is in the given time; `None` when there are none, or only a few
/// ticks. A sample window shorter than half of the longest is ignored for the peak, unless its peak is a sample: rates of
/// counters in coarse ticks fluctuate in short windows.
pub fn mean_peak(
    sample_windows: &[SampleWindow],
    (from_ns, to_ns): (Nanos, Nanos),
) -> Option<MeanPeak> {
    let middle = |sample_window: &SampleWindow| sample_window.from_ns.midpoint(sample_window.to_ns);
    let within = || sample_windows.iter().filter(|it| (from_ns..=to_ns).contains(&middle(it)));
    let length =
        |sample_window: &SampleWindow| (sample_window.to_ns - sample_window.from_ns) as f64;
    let longest = within().map(length).fold(0.0, f64::max);
    let whole: f64 = within().map(length).sum();
    let is_ticked = within().any(|it| it.origin == ValueOrigin::Ticks);
    if whole <= 0.0 || is_ticked && whole < TICKED_TIME_MIN_NS {
        return None;
    }
    let mean =
        within().map(|sample_window| sample_window.mean * length(sample_window)).sum::<f64>()
            / whole;
    let counts = |sample_window: &&SampleWindow| {
        sample_window.origin == ValueOrigin::Samples || length(sample_window) >= longest / 2.0
    };
    let peak = within().filter(counts).map(|sample_window| sample_window.peak).fold(mean, f64::max);
    Some(MeanPeak { mean, peak })
}

/// Reduces sample windows for a plot: merges neighbours until there are at most `count`, and leaves out the
/// short remainders at the edges of phases. Means stay means over time, peaks stay peaks.
pub fn thin(sample_windows: &[SampleWindow], count: usize) -> Vec<SampleWindow> {
    let longest = sample_windows
        .iter()
        .map(|sample_window| sample_window.to_ns - sample_window.from_ns)
        .max()
        .unwrap_or(0);
    let is_whole = |sample_window: &&SampleWindow| {
        sample_window.to_ns - sample_window.from_ns >= longest / REMAINDER_DIVISOR
    };
    let whole: Vec<SampleWindow> = sample_windows.iter().filter(is_whole).copied().collect();
    let each = whole.len().div_ceil(count.max(1)).max(1);
    whole.chunks(each).filter_map(merge).collect()
}

fn merge(sample_windows: &[SampleWindow]) -> Option<SampleWindow> {
    let (from_ns, to_ns) = (sample_windows.first()?.from_ns, sample_windows.last()?.to_ns);
    let length =
        |sample_window: &SampleWindow| (sample_window.to_ns - sample_window.from_ns) as f64;
    let whole: f64 = sample_windows.iter().map(length).sum();
    let mean = sample_windows
        .iter()
        .map(|sample_window| sample_window.mean * length(sample_window))
        .sum::<f64>()
        / whole;
    let peak =
        sample_windows.iter().map(|sample_window| sample_window.peak).fold(f64::MIN, f64::max);
    let is_sample = |it: &SampleWindow| it.origin == ValueOrigin::Samples;
    let other = sample_windows.iter().find(|it| !is_sample(it)).map(|it| it.origin);
    let origin = other.unwrap_or(ValueOrigin::Samples);
    Some(SampleWindow { from_ns, to_ns, mean, peak, origin })
}

#[cfg(test)]
mod tests;
