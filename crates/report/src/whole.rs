//! The figures of a whole trial, each declared once.

use analysis::{CostFigure, MeanPeak, Metric, OpenSummary, Summary, Work};
use measure::Quantity;

use crate::ceiling::{Mode, part};
use crate::digest::Trial;
use crate::messages::{Messages, Segments, Tcp};
use crate::watch::cost::of_servers;
use crate::watch::{ServerFigures, host_busy, server_figures};

/// The sources of a whole trial's figures.
pub(crate) struct Whole<'t> {
    pub(crate) trial: &'t Trial<'t>,
    pub(crate) summary: &'t Summary,
    messages: Option<Messages>,
    server: Option<ServerFigures>,
    host_busy: Option<MeanPeak>,
    server_cost: Option<Work>,
}

impl<'t> Whole<'t> {
    pub(crate) fn of(trial: &'t Trial<'t>) -> Self {
        Self {
            trial,
            summary: &trial.summary,
            messages: Messages::of(trial),
            server: server_figures(trial),
            host_busy: host_busy(trial),
            server_cost: of_servers(trial),
        }
    }

    pub(crate) fn open(&self) -> Option<&OpenSummary> {
        self.summary.open.as_ref()
    }

    fn sent(&self) -> Option<Segments> {
        self.messages?.sent.segments
    }

    fn received(&self) -> Option<Segments> {
        self.messages?.received.segments
    }

    fn tcp(&self) -> Option<Tcp> {
        self.messages?.tcp
    }

    fn cost(&self, figure: CostFigure) -> Option<f64> {
        (figure.metric().get)(self.server_cost.as_ref()?)
    }
}

/// Reads a figure from a trial.
type Get = fn(&Whole<'_>) -> Option<f64>;

/// A figure of a whole trial and the views that show it. Use [`Figure::Everywhere`] for a new one.
pub(crate) enum Figure {
    /// A column of report.csv, a key of a trial in report.json, and a row in the trial's table of figures.
    Everywhere(Metric<Get>),
    /// A column of report.csv; report.json and the tables show it in a format of their own.
    Column(&'static str, Get),
    /// A column like [`Figure::Column`], with text.
    Words(&'static str, fn(&Whole<'_>) -> Option<String>),
}

impl Figure {
    pub(crate) fn key(&self) -> &'static str {
        match self {
            Self::Everywhere(metric) => metric.key,
            Self::Column(key, _) | Self::Words(key, _) => key,
        }
    }

    /// Its cell in report.csv; `None` when the value is not known.
    pub(crate) fn cell(&self, trial: &Whole<'_>) -> Option<String> {
        match self {
            Self::Everywhere(Metric { get, .. }) | Self::Column(_, get) => {
                get(trial).map(|value| value.to_string())
            }
            Self::Words(_, get) => get(trial),
        }
    }
}

/// Figures that every view reads from here, with their values in a trial.
pub(crate) fn everywhere(trial: &Trial<'_>) -> Vec<(&'static Metric<Get>, Option<f64>)> {
    let trial = Whole::of(trial);
    let metrics = WHOLE.iter().filter_map(|figure| match figure {
        Figure::Everywhere(metric) => Some(metric),
        Figure::Column(..) | Figure::Words(..) => None,
    });
    metrics.map(|metric| (metric, (metric.get)(&trial))).collect()
}

/// Every figure of a whole trial, in the order of report.csv. Network traffic and resource use of the servers
/// and their host are in report-watch.csv, over time.
pub(crate) static WHOLE: [Figure; 47] = [
    Figure::Column("transactions_per_s", |it| Some(it.summary.transactions_per_s)),
    Figure::Column("queries", |it| Some(it.summary.queries.total() as f64)),
    Figure::Column("queries_per_s", |it| Some(it.summary.queries_per_s)),
    Figure::Column("reads", |it| Some(it.summary.queries.read as f64)),
    Figure::Column("writes", |it| Some(it.summary.queries.write as f64)),
    Figure::Column("others", |it| Some(it.summary.queries.other as f64)),
    Figure::Column("retries", |it| Some(it.summary.retries as f64)),
    Figure::Column("fairness_mean", |it| Some(it.summary.fairness?.mean)),
    Figure::Column("fairness_standard_deviation", |it| {
        Some(it.summary.fairness?.standard_deviation)
    }),
    Figure::Column("littles_law_clients", |it| Some(it.summary.littles_law?.accounted_for)),
    Figure::Column("throughput_variation", |it| it.summary.throughput_variation),
    Figure::Column("client_user_us_per_query", |it| it.summary.cost_per_query?.user_us),
    Figure::Column("client_system_us_per_query", |it| it.summary.cost_per_query?.system_us),
    Figure::Column("client_switches_per_query", |it| it.summary.cost_per_query?.switches),
    Figure::Column("sent_bytes_per_query", |it| Some(it.summary.cost_per_query?.sent_bytes)),
    Figure::Column("received_bytes_per_query", |it| {
        Some(it.summary.cost_per_query?.received_bytes)
    }),
    Figure::Column("offered_per_s", |it| Some(it.open()?.offered_per_s)),
    Figure::Words("arrivals", |it| {
        Some(it.trial.record.header.load.open.as_ref()?.arrivals.name().to_owned())
    }),
    Figure::Column("in_system", |it| Some(it.open()?.in_system)),
    Figure::Column("generator_late_p99_ns", |it| {
        Some(it.open()?.lateness.percentile_ns(99.0)? as f64)
    }),
    Figure::Column("sent_bytes_per_s", |it| Some(it.messages?.sent.bytes_per_s)),
    Figure::Column("received_bytes_per_s", |it| Some(it.messages?.received.bytes_per_s)),
    Figure::Column("segments_sent_per_s", |it| Some(it.sent()?.per_s)),
    Figure::Column("data_segments_sent_per_s", |it| Some(it.sent()?.with_data_per_s)),
    Figure::Column("segments_received_per_s", |it| Some(it.received()?.per_s)),
    Figure::Column("data_segments_received_per_s", |it| Some(it.received()?.with_data_per_s)),
    Figure::Column("segments_retransmitted_per_s", |it| Some(it.tcp()?.retransmitted_per_s)),
    Figure::Column("tcp_round_trip_s", |it| it.tcp()?.round_trip_s),
    Figure::Column("server_cpu_threads_mean", |it| Some(it.server?.cpu.mean)),
    Figure::Column("server_cpu_threads_peak", |it| Some(it.server?.cpu.peak)),
    Figure::Column("server_runnable_threads_mean", |it| Some(it.server?.runnable?.mean)),
    Figure::Column("server_runnable_threads_peak", |it| Some(it.server?.runnable?.peak)),
    Figure::Column("host_cpu_part_mean", |it| Some(it.host_busy?.mean)),
    Figure::Column("host_cpu_part_peak", |it| Some(it.host_busy?.peak)),
    Figure::Column("start_delay_p99_ns", |it| {
        Some(it.open()?.start_delays.percentile_ns(99.0)? as f64)
    }),
    Figure::Column("generator_oversleep_p99_ns", |it| {
        Some(it.summary.generator.as_ref()?.oversleep.percentile_ns(99.0)? as f64)
    }),
    Figure::Column("generator_oversleep_max_ns", |it| {
        Some(it.summary.generator.as_ref()?.oversleep.max_ns as f64)
    }),
    Figure::Column("workers_waiting_mean", |it| {
        Some(it.summary.generator.as_ref()?.workers?.waiting_mean)
    }),
    Figure::Column("workers_waiting_max", |it| {
        Some(it.summary.generator.as_ref()?.workers?.waiting_max)
    }),
    Figure::Words("reason", |it| it.trial.reason().map(str::to_owned)),
    Figure::Words("warnings", |it| Some(it.trial.warnings().join(" "))),
    Figure::Everywhere(Metric {
        key: "server_cpu_us_per_query",
        label: "CPU of the server for a query",
        unit: Quantity::MicrosecondsPerQuery,
        get: |it| it.cost(CostFigure::Cpu),
    }),
    Figure::Everywhere(Metric {
        key: "server_context_switches_per_query",
        label: "context switches of the server for a query",
        unit: Quantity::PerQuery,
        get: |it| it.cost(CostFigure::ContextSwitches),
    }),
    Figure::Everywhere(Metric {
        key: "server_read_kb_per_query",
        label: "read from disks by the server for a query",
        unit: Quantity::KilobytesPerQuery,
        get: |it| it.cost(CostFigure::Read),
    }),
    Figure::Everywhere(Metric {
        key: "server_written_kb_per_query",
        label: "written to disks by the server for a query",
        unit: Quantity::KilobytesPerQuery,
        get: |it| it.cost(CostFigure::Written),
    }),
    Figure::Everywhere(Metric {
        key: "ceiling_pipelined_part",
        label: "queries, as a part of the requests that the path carried, pipelined",
        unit: Quantity::Part,
        get: |it| part(it.trial, Mode::Pipelined),
    }),
    Figure::Everywhere(Metric {
        key: "ceiling_single_part",
        label: "queries, as a part of the requests that the path carried, one in flight on a connection",
        unit: Quantity::Part,
        get: |it| part(it.trial, Mode::Single),
    }),
];
