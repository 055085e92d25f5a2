//! The plots of hosts over the time of one trial, on the time axis of its throughput.

use analysis::{
    ConnectionFigure, HostFigure, KindFigure, ProcessFigure, SampleWindow, process_kinds, thin,
};
use measure::{Host, Side};

use crate::panels::DrawnPanel;
use crate::plots::frame::Frame;
use crate::plots::over_time::TrialCharts;
use crate::svg::{Axis, Chart, Dot, Scale, Series, Unit};
use crate::watch::figure::axis;

/// A plot of half a row cannot show more points than this.
const POINTS_MAX: usize = 120;

/// Bytes in one MB and in one MiB, for the scale of axes.
const MB: f64 = 1e6;
const MIB: f64 = 1024.0 * 1024.0;

/// Every plot of every host of a trial for which there are figures. First are those that tell whether a host was the
/// limit: the CPU by process or, where no process is known, as a whole.
pub(crate) fn of_trial(frame: &Frame<'_, '_>) -> TrialCharts {
    let mut charts = TrialCharts::default();
    for host in &frame.trial.hosts() {
        let mut of_host = of_host(frame, host).into_iter();
        charts.first.extend(of_host.next());
        charts.more.extend(of_host);
    }
    charts.more.extend(segments(frame));
    charts
}

/// A plot of a server's metrics.
pub(crate) fn panel(frame: &Frame<'_, '_>, panel: &DrawnPanel) -> Chart {
    let (label, unit) = axis(panel.quantity);
    let lines: Vec<Line> = panel
        .lines
        .iter()
        .map(|(name, windows)| Line::new(name.clone(), windows.clone()).in_units_of(unit))
        .collect();
    let series = all_series(&lines);
    let values = series.iter().flat_map(|line| &line.dots).map(|dot| dot.y);
    let y = Axis::new(label, Scale::Linear, Unit::Number, values);
    let more = match panel.left_out {
        0 => String::new(),
        more => format!(", the {} highest of {}", series.len(), series.len() + more),
    };
    let only = match &series[..] {
        [only] => format!(", {}", only.name),
        _ => String::new(),
    };
    let mut chart = frame.chart(&format!("{}{only}{more}", panel.title()), y, series);
    chart.say(merged(&lines));
    chart
}

/// The segments of dyno's connections: those with data, and those that only acknowledge.
fn segments(frame: &Frame<'_, '_>) -> Option<Chart> {
    let connections = &frame.trial.record.watched.connections;
    let lines = [
        ("sent with data", ConnectionFigure::DataSegmentsSent),
        ("sent without", ConnectionFigure::EmptySegmentsSent),
        ("received with data", ConnectionFigure::DataSegmentsReceived),
        ("received without", ConnectionFigure::EmptySegmentsReceived),
        ("sent again", ConnectionFigure::SegmentsRetransmitted),
    ];
    let lines = lines.map(|(name, figure)| Line::new(name, figure.of(connections)));
    chart(frame, "TCP segments of dyno's connections", "segments per second", lines.into(), 0.0)
}

fn of_host(frame: &Frame<'_, '_>, host: &Host) -> Vec<Chart> {
    [
        processes(frame, host),
        kinds(frame, host),
        cpu(frame, host),
        runnable(frame, host),
        switches(frame, host),
        memory(frame, host),
        disk(frame, host),
        network(frame, host),
        packets(frame, host),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// One line of a plot before it has its colour.
struct Line {
    name: String,
    sample_windows: Vec<SampleWindow>,
    unit: f64,
    /// Whether it shows the peaks instead of the means.
    is_peak: bool,
}

impl Line {
    fn new(name: impl Into<String>, sample_windows: Vec<SampleWindow>) -> Self {
        Self { name: name.into(), sample_windows, unit: 1.0, is_peak: false }
    }

    fn of(host: &Host, name: &str, figure: HostFigure) -> Self {
        Self::new(name, figure.of(host))
    }

    fn in_units_of(self, unit: f64) -> Self {
        Self { unit, ..self }
    }

    fn is_something(&self) -> bool {
        self.sample_windows.iter().any(|sample_window| sample_window.peak > 0.0)
    }

    fn series(&self, at: usize) -> Series {
        let value = |sample_window: &SampleWindow| {
            if self.is_peak { sample_window.peak } else { sample_window.mean }
        };
        let dot = |sample_window: &SampleWindow| {
            let middle = sample_window.from_ns.midpoint(sample_window.to_ns) as f64 / 1e9;
            Dot::at(middle, value(sample_window) / self.unit)
        };
        let dots = thin(&self.sample_windows, POINTS_MAX).iter().map(dot).collect();
        Series { dash: at, ..Series::line(self.name.clone(), at, dots) }
    }
}

/// A plot of the lines that are not zero throughout; `None` when all are. The axis includes `at_least`.
fn chart(
    frame: &Frame<'_, '_>,
    what: &str,
    label: &str,
    lines: Vec<Line>,
    at_least: f64,
) -> Option<Chart> {
    let (lines, rest): (Vec<Line>, Vec<Line>) = lines.into_iter().partition(Line::is_something);
    let series = all_series(&lines);
    if series.is_empty() {
        return None;
    }
    let values = series.iter().flat_map(|line| &line.dots).map(|dot| dot.y).chain([at_least]);
    let y = Axis::new(label, Scale::Linear, Unit::Number, values);
    // A single line needs no legend.
    let only = match &series[..] {
        [only] if !what.starts_with(&only.name) => format!(", {}", only.name),
        _ => String::new(),
    };
    let mut chart = frame.chart(&format!("{what}{only}"), y, series);
    let zero = rest.iter().filter(|line| !line.sample_windows.is_empty());
    let zero: Vec<&str> = zero.map(|line| line.name.as_str()).collect();
    if !zero.is_empty() {
        chart.say(format!("Zero throughout: {}.", zero.join(", ")));
    }
    chart.say(merged(&lines));
    Some(chart)
}

fn all_series(lines: &[Line]) -> Vec<Series> {
    lines.iter().enumerate().map(|(at, line)| line.series(at)).collect()
}

/// A note that a point stands for several samples; empty when each is one.
fn merged(lines: &[Line]) -> String {
    let most = lines.iter().map(|line| line.sample_windows.len()).max().unwrap_or_default();
    match most.div_ceil(POINTS_MAX) {
        0 | 1 => String::new(),
        each => format!("Each point is {each} samples together."),
    }
}

/// The title of a host's plot.
fn of(what: &str, host: &Host) -> String {
    let host = if host.name.is_empty() { "this machine" } else { &host.name };
    format!("{what} of {host}")
}

fn cpu(frame: &Frame<'_, '_>, host: &Host) -> Option<Chart> {
    let lines = [
        ("user", HostFigure::CpuUser),
        ("kernel", HostFigure::CpuSystem),
        ("interrupts", HostFigure::CpuSoftirq),
        ("waiting for disks", HostFigure::CpuIowait),
        ("taken by the hypervisor", HostFigure::CpuSteal),
    ];
    let lines = lines.map(|(name, figure)| Line::of(host, name, figure));
    let threads = host.cpu_threads as f64;
    chart(frame, &of("CPU", host), "CPU threads", lines.into(), threads)
}

fn processes(frame: &Frame<'_, '_>, host: &Host) -> Option<Chart> {
    let threads = host.cpu_threads as f64;
    let mut lines = each_process(host, ProcessFigure::Cpu);
    if !lines.is_empty() {
        lines.push(Line::of(host, "all programs", HostFigure::CpuBusy));
    }
    chart(frame, &of("CPU by process", host), "CPU threads", lines, threads)
}

/// The CPU of servers that have a process for each session, by kinds of their processes.
fn kinds(frame: &Frame<'_, '_>, host: &Host) -> Option<Chart> {
    let line = |(number, kind): (usize, &str)| {
        let server = host.processes.get(number).map_or("", |process| process.name.as_str());
        Line::new(format!("{server}, {kind}"), KindFigure::Cpu.of(host, number, kind))
    };
    let lines = process_kinds(host).into_iter().map(line).collect();
    chart(frame, &of("CPU by kind of process", host), "CPU threads", lines, 0.0)
}

fn each_process(host: &Host, figure: ProcessFigure) -> Vec<Line> {
    let processes = host.processes.iter().enumerate();
    processes.map(|(at, it)| Line::new(it.name.clone(), figure.of(host, at))).collect()
}

fn runnable(frame: &Frame<'_, '_>, host: &Host) -> Option<Chart> {
    let mut lines = Vec::new();
    for (at, process) in host.processes.iter().enumerate() {
        if process.side == Side::Server {
            let sample_windows = ProcessFigure::Runnable.of(host, at);
            let peaks = Line::new(format!("{}, at most", process.name), sample_windows.clone());
            lines.push(Line { is_peak: true, ..peaks });
            lines.push(Line::new(format!("{}, on average", process.name), sample_windows));
        }
    }
    lines.push(Line::of(host, "all programs, at each reading", HostFigure::Runnable));
    let label = "runnable threads";
    chart(frame, &of("runnable threads", host), label, lines, 0.0)
}

fn switches(frame: &Frame<'_, '_>, host: &Host) -> Option<Chart> {
    let lines = vec![Line::of(host, "context switches", HostFigure::ContextSwitches)];
    chart(frame, &of("context switches", host), "per second", lines, 0.0)
}

fn memory(frame: &Frame<'_, '_>, host: &Host) -> Option<Chart> {
    let mut lines = vec![Line::of(host, "all programs", HostFigure::MemoryUsed)];
    lines.extend(each_process(host, ProcessFigure::Memory));
    let lines = lines.into_iter().map(|line| line.in_units_of(MIB)).collect();
    chart(frame, &of("memory", host), "MiB", lines, 0.0)
}

fn disk(frame: &Frame<'_, '_>, host: &Host) -> Option<Chart> {
    let lines = [("read", HostFigure::DiskRead), ("written", HostFigure::DiskWritten)];
    let lines = lines.map(|(name, figure)| Line::of(host, name, figure).in_units_of(MB));
    chart(frame, &of("disks", host), "MB per second", lines.into(), 0.0)
}

fn network(frame: &Frame<'_, '_>, host: &Host) -> Option<Chart> {
    let lines = [
        ("loopback", HostFigure::LoopbackBytes),
        ("received", HostFigure::NetworkReceived),
        ("sent", HostFigure::NetworkSent),
    ];
    let lines = lines.map(|(name, figure)| Line::of(host, name, figure).in_units_of(MB));
    chart(frame, &of("network", host), "MB per second", lines.into(), 0.0)
}

fn packets(frame: &Frame<'_, '_>, host: &Host) -> Option<Chart> {
    let lines = [
        ("loopback", HostFigure::LoopbackPackets),
        ("received", HostFigure::PacketsReceived),
        ("sent", HostFigure::PacketsSent),
        ("TCP segments sent again", HostFigure::SegmentsRetransmitted),
    ];
    let lines = lines.map(|(name, figure)| Line::of(host, name, figure));
    chart(frame, &of("packets", host), "packets per second", lines.into(), 0.0)
}
