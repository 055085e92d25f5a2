//! What figures of hosts and processes are called, and how their values are written.

use analysis::{HostFigure, ProcessFigure};

use crate::number::{count, latency, memory, number, percent};

/// What the values of a figure are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quantity {
    /// Hardware threads.
    CpuThreads,
    /// Things at one time.
    Count,
    /// Events in a second.
    PerSecond,
    /// Bytes in a second.
    BytesPerSecond,
    /// Bytes at one time.
    Bytes,
    /// A part of the whole.
    Part,
    /// Lengths of time, s.
    Seconds,
}

impl Quantity {
    pub(crate) fn show(self, value: f64) -> String {
        match self {
            Self::CpuThreads | Self::Count => whole(value),
            Self::PerSecond => format!("{} /s", number(value)),
            Self::BytesPerSecond => format!("{} MB/s", number(value / 1e6)),
            Self::Bytes => memory(value as u64),
            Self::Part => percent(value),
            Self::Seconds => latency(value * 1e9),
        }
    }

    /// The label of an axis of such values, and what values on it are divided by.
    pub(crate) fn axis(self) -> (&'static str, f64) {
        match self {
            Self::CpuThreads => ("CPU threads", 1.0),
            Self::Count => ("number", 1.0),
            Self::PerSecond => ("per second", 1.0),
            Self::BytesPerSecond => ("MB per second", 1e6),
            Self::Bytes => ("MiB", 1024.0 * 1024.0),
            Self::Part => ("part", 1.0),
            Self::Seconds => ("milliseconds", 1e-3),
        }
    }
}

/// Things that are counted have no fraction, but their means do.
pub(crate) fn whole(value: f64) -> String {
    if value.fract() == 0.0 { count(value as u64) } else { number(value) }
}

pub(crate) fn host_name(figure: HostFigure) -> &'static str {
    match figure {
        HostFigure::CpuBusy => "CPU threads busy",
        HostFigure::CpuUser => "CPU threads in user mode",
        HostFigure::CpuSystem => "CPU threads in the kernel",
        HostFigure::CpuSoftirq => "CPU threads in interrupts",
        HostFigure::CpuIowait => "CPU threads idle, waiting for disks",
        HostFigure::CpuSteal => "CPU threads taken by the hypervisor",
        HostFigure::Runnable => "threads that ran or waited for a CPU",
        HostFigure::Blocked => "threads that waited for a disk",
        HostFigure::ContextSwitches => "context switches",
        HostFigure::MemoryUsed => "memory used",
        HostFigure::DiskRead => "read from disks",
        HostFigure::DiskWritten => "written to disks",
        HostFigure::DiskRequests => "requests to disks",
        HostFigure::DiskBusy => "busiest disk had requests",
        HostFigure::NetworkReceived => "network received",
        HostFigure::NetworkSent => "network sent",
        HostFigure::PacketsReceived => "packets received",
        HostFigure::PacketsSent => "packets sent",
        HostFigure::LoopbackBytes => "over loopback",
        HostFigure::LoopbackPackets => "packets over loopback",
        HostFigure::SegmentsReceived => "TCP segments received",
        HostFigure::SegmentsSent => "TCP segments sent",
        HostFigure::SegmentsRetransmitted => "TCP segments sent again",
    }
}

pub(crate) fn host_quantity(figure: HostFigure) -> Quantity {
    match figure {
        HostFigure::CpuBusy
        | HostFigure::CpuUser
        | HostFigure::CpuSystem
        | HostFigure::CpuSoftirq
        | HostFigure::CpuIowait
        | HostFigure::CpuSteal => Quantity::CpuThreads,
        HostFigure::Runnable | HostFigure::Blocked => Quantity::Count,
        HostFigure::MemoryUsed => Quantity::Bytes,
        HostFigure::DiskBusy => Quantity::Part,
        HostFigure::DiskRead
        | HostFigure::DiskWritten
        | HostFigure::NetworkReceived
        | HostFigure::NetworkSent
        | HostFigure::LoopbackBytes => Quantity::BytesPerSecond,
        HostFigure::ContextSwitches
        | HostFigure::DiskRequests
        | HostFigure::PacketsReceived
        | HostFigure::PacketsSent
        | HostFigure::LoopbackPackets
        | HostFigure::SegmentsReceived
        | HostFigure::SegmentsSent
        | HostFigure::SegmentsRetransmitted => Quantity::PerSecond,
    }
}

pub(crate) fn process_name(figure: ProcessFigure) -> &'static str {
    match figure {
        ProcessFigure::Cpu => "CPU threads busy",
        ProcessFigure::Runnable => "threads that ran or waited for a CPU",
        ProcessFigure::Threads => "threads",
        ProcessFigure::Memory => "memory",
    }
}

pub(crate) fn process_quantity(figure: ProcessFigure) -> Quantity {
    match figure {
        ProcessFigure::Cpu => Quantity::CpuThreads,
        ProcessFigure::Runnable | ProcessFigure::Threads => Quantity::Count,
        ProcessFigure::Memory => Quantity::Bytes,
    }
}
