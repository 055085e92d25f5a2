//! What figures of hosts and processes are called, and how their values are written.

use analysis::{ConnectionFigure, HostFigure, ProcessFigure};
use measure::Quantity;

use crate::number::{count, latency, memory, number, percent};

/// Values of a quantity in text.
pub(crate) trait QuantityText {
    /// A value with its unit, for people.
    fn show(self, value: f64) -> String;

    /// Its unit in a file for programs.
    fn unit(self) -> &'static str;

    /// The label of an axis of such values, and what values on it are divided by.
    fn axis(self) -> (&'static str, f64);
}

impl QuantityText for Quantity {
    fn show(self, value: f64) -> String {
        match self {
            Self::CpuThreads | Self::Count => whole(value),
            Self::PerSecond => format!("{} /s", number(value)),
            Self::BytesPerSecond => format!("{} MB/s", number(value / 1e6)),
            Self::Bytes => memory(value as u64),
            Self::Part => percent(value),
            Self::Seconds => latency(value * 1e9),
        }
    }

    fn unit(self) -> &'static str {
        match self {
            Self::CpuThreads => "cpu threads",
            Self::Count => "count",
            Self::PerSecond => "1/s",
            Self::BytesPerSecond => "bytes/s",
            Self::Bytes => "bytes",
            Self::Part => "part",
            Self::Seconds => "s",
        }
    }

    fn axis(self) -> (&'static str, f64) {
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

/// How a figure appears in reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Figure {
    /// For programs; the unit stands last, where it is not a number of things.
    pub(crate) key: &'static str,
    /// For people.
    pub(crate) name: &'static str,
    pub(crate) quantity: Quantity,
}

impl Figure {
    const fn new(key: &'static str, name: &'static str, quantity: Quantity) -> Self {
        Self { key, name, quantity }
    }
}

pub(crate) fn of_host(figure: HostFigure) -> Figure {
    use Quantity::{Bytes, BytesPerSecond, Count, CpuThreads, Part, PerSecond};
    let (key, name, quantity) = match figure {
        HostFigure::CpuBusy => ("cpu_busy_threads", "CPU threads busy", CpuThreads),
        HostFigure::CpuUser => ("cpu_user_threads", "CPU threads in user mode", CpuThreads),
        HostFigure::CpuSystem => ("cpu_system_threads", "CPU threads in the kernel", CpuThreads),
        HostFigure::CpuSoftirq => ("cpu_softirq_threads", "CPU threads in interrupts", CpuThreads),
        HostFigure::CpuIowait => {
            ("cpu_iowait_threads", "CPU threads idle, waiting for disks", CpuThreads)
        }
        HostFigure::CpuSteal => {
            ("cpu_steal_threads", "CPU threads taken by the hypervisor", CpuThreads)
        }
        HostFigure::Runnable => ("runnable_threads", "threads that ran or waited for a CPU", Count),
        HostFigure::Blocked => ("blocked_threads", "threads that waited for a disk", Count),
        HostFigure::ContextSwitches => ("context_switches_per_s", "context switches", PerSecond),
        HostFigure::MemoryUsed => ("memory_used_bytes", "memory used", Bytes),
        HostFigure::DiskRead => ("disk_read_bytes_per_s", "read from disks", BytesPerSecond),
        HostFigure::DiskWritten => ("disk_written_bytes_per_s", "written to disks", BytesPerSecond),
        HostFigure::DiskRequests => ("disk_requests_per_s", "requests to disks", PerSecond),
        HostFigure::DiskBusy => ("disk_busy_part", "busiest disk had requests", Part),
        HostFigure::NetworkReceived => {
            ("network_received_bytes_per_s", "network received", BytesPerSecond)
        }
        HostFigure::NetworkSent => ("network_sent_bytes_per_s", "network sent", BytesPerSecond),
        HostFigure::PacketsReceived => ("packets_received_per_s", "packets received", PerSecond),
        HostFigure::PacketsSent => ("packets_sent_per_s", "packets sent", PerSecond),
        HostFigure::LoopbackBytes => ("loopback_bytes_per_s", "over loopback", BytesPerSecond),
        HostFigure::LoopbackPackets => {
            ("loopback_packets_per_s", "packets over loopback", PerSecond)
        }
        HostFigure::SegmentsReceived => {
            ("segments_received_per_s", "TCP segments received, all connections", PerSecond)
        }
        HostFigure::SegmentsSent => {
            ("segments_sent_per_s", "TCP segments sent, all connections", PerSecond)
        }
        HostFigure::SegmentsRetransmitted => {
            ("segments_retransmitted_per_s", "TCP segments sent again, all connections", PerSecond)
        }
    };
    Figure::new(key, name, quantity)
}

pub(crate) fn of_process(figure: ProcessFigure) -> Figure {
    let (key, name, quantity) = match figure {
        ProcessFigure::Cpu => ("cpu_busy_threads", "CPU threads busy", Quantity::CpuThreads),
        ProcessFigure::Runnable => {
            ("runnable_threads", "threads that ran or waited for a CPU", Quantity::Count)
        }
        ProcessFigure::Threads => ("threads", "threads", Quantity::Count),
        ProcessFigure::Memory => ("memory_bytes", "memory", Quantity::Bytes),
    };
    Figure::new(key, name, quantity)
}

pub(crate) fn of_connections(figure: ConnectionFigure) -> Figure {
    use Quantity::{BytesPerSecond, Count, PerSecond, Seconds};
    let (key, name, quantity) = match figure {
        ConnectionFigure::SegmentsSent => ("segments_sent_per_s", "segments sent", PerSecond),
        ConnectionFigure::DataSegmentsSent => {
            ("data_segments_sent_per_s", "segments with data sent", PerSecond)
        }
        ConnectionFigure::SegmentsReceived => {
            ("segments_received_per_s", "segments received", PerSecond)
        }
        ConnectionFigure::DataSegmentsReceived => {
            ("data_segments_received_per_s", "segments with data received", PerSecond)
        }
        ConnectionFigure::EmptySegmentsSent => {
            ("empty_segments_sent_per_s", "segments without data sent", PerSecond)
        }
        ConnectionFigure::EmptySegmentsReceived => {
            ("empty_segments_received_per_s", "segments without data received", PerSecond)
        }
        ConnectionFigure::SegmentsRetransmitted => {
            ("segments_retransmitted_per_s", "segments sent again", PerSecond)
        }
        ConnectionFigure::BytesSent => {
            ("sent_bytes_per_s", "sent and acknowledged", BytesPerSecond)
        }
        ConnectionFigure::BytesReceived => ("received_bytes_per_s", "received", BytesPerSecond),
        ConnectionFigure::RoundTrip => ("round_trip_s", "round trip, by TCP's estimate", Seconds),
        ConnectionFigure::Open => ("connections", "connections", Count),
    };
    Figure::new(key, name, quantity)
}
