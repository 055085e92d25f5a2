//! The catalogue: every figure of a whole trial, declared once for all views and comparisons.

use std::cell::OnceCell;

use analysis::{CostFigure, MeanPeak, OpenSummary, Summary, Work};
use measure::Quantity;

use crate::ceiling::{Mode, part};
use crate::digest::Trial;
use crate::messages::{Messages, Segments, Tcp};
use crate::watch::cost::of_servers;
use crate::watch::{ServerFigures, host_busy, server_figures};

/// The sources of a whole trial's figures, each read when a figure asks for it first.
pub(crate) struct Whole<'t> {
    pub(crate) trial: &'t Trial<'t>,
    pub(crate) summary: &'t Summary,
    messages: OnceCell<Option<Messages>>,
    server: OnceCell<Option<ServerFigures>>,
    host_busy: OnceCell<Option<MeanPeak>>,
    server_cost: OnceCell<Option<Work>>,
}

impl<'t> Whole<'t> {
    pub(crate) fn of(trial: &'t Trial<'t>) -> Self {
        Self {
            trial,
            summary: &trial.summary,
            messages: OnceCell::new(),
            server: OnceCell::new(),
            host_busy: OnceCell::new(),
            server_cost: OnceCell::new(),
        }
    }

    fn messages(&self) -> Option<Messages> {
        *self.messages.get_or_init(|| Messages::of(self.trial))
    }

    fn server(&self) -> Option<ServerFigures> {
        *self.server.get_or_init(|| server_figures(self.trial))
    }

    fn host_busy(&self) -> Option<MeanPeak> {
        *self.host_busy.get_or_init(|| host_busy(self.trial))
    }

    fn server_cost(&self) -> Option<Work> {
        *self.server_cost.get_or_init(|| of_servers(self.trial))
    }

    pub(crate) fn open(&self) -> Option<&OpenSummary> {
        self.summary.open.as_ref()
    }

    fn sent(&self) -> Option<Segments> {
        self.messages()?.sent.segments
    }

    fn received(&self) -> Option<Segments> {
        self.messages()?.received.segments
    }

    fn tcp(&self) -> Option<Tcp> {
        self.messages()?.tcp
    }

    fn cost(&self, figure: CostFigure) -> Option<f64> {
        (figure.metric().get)(&self.server_cost()?)
    }
}

/// A figure of a whole trial.
#[derive(Debug)]
pub(crate) struct Entry {
    /// The column of report.csv, and the key of a trial in report.json.
    pub(crate) key: &'static str,
    pub(crate) get: Get,
    /// How people see it in the figures of a trial; `None` where the views have a format of their own for it.
    pub(crate) row: Option<Row>,
    /// How it is compared; `None` where it is not.
    pub(crate) compare: Option<Compared>,
}

#[derive(Debug)]
pub(crate) enum Get {
    Number(fn(&Whole<'_>) -> Option<f64>),
    Words(fn(&Whole<'_>) -> Option<String>),
}

#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) label: &'static str,
    pub(crate) unit: Quantity,
}

/// Less of it is better, and it has no interval within a trial.
#[derive(Debug)]
pub(crate) struct Compared {
    /// Its name in a threshold, such as `cpu`.
    pub(crate) key: &'static str,
    pub(crate) name: &'static str,
    /// Whether its change is a difference, not a ratio: parts are often zero.
    pub(crate) is_part: bool,
    /// Whether runs are compared by it without being asked.
    pub(crate) is_usual: bool,
}

impl Entry {
    /// A column of report.csv; report.json and the tables show it in a format of their own.
    const fn column(key: &'static str, get: fn(&Whole<'_>) -> Option<f64>) -> Self {
        Self { key, get: Get::Number(get), row: None, compare: None }
    }

    const fn words(key: &'static str, get: fn(&Whole<'_>) -> Option<String>) -> Self {
        Self { key, get: Get::Words(get), row: None, compare: None }
    }

    /// A column of report.csv, a key of a trial in report.json, and a row in the trial's table of figures. Use it for a
    /// new figure.
    const fn everywhere(
        key: &'static str,
        label: &'static str,
        unit: Quantity,
        get: fn(&Whole<'_>) -> Option<f64>,
    ) -> Self {
        Self { key, get: Get::Number(get), row: Some(Row { label, unit }), compare: None }
    }

    const fn compared(mut self, key: &'static str, name: &'static str) -> Self {
        self.compare = Some(Compared { key, name, is_part: false, is_usual: true });
        self
    }

    /// Compared only where a threshold asks for it.
    const fn on_request(mut self) -> Self {
        if let Some(compare) = &mut self.compare {
            compare.is_usual = false;
        }
        self
    }

    const fn by_difference(mut self) -> Self {
        if let Some(compare) = &mut self.compare {
            compare.is_part = true;
        }
        self
    }

    /// `None` when it is not known, and for words.
    pub(crate) fn number(&self, trial: &Whole<'_>) -> Option<f64> {
        match self.get {
            Get::Number(get) => get(trial),
            Get::Words(_) => None,
        }
    }

    /// Its cell in report.csv; `None` when the value is not known.
    pub(crate) fn cell(&self, trial: &Whole<'_>) -> Option<String> {
        match self.get {
            Get::Number(get) => get(trial).map(|value| value.to_string()),
            Get::Words(get) => get(trial),
        }
    }
}

/// The figures that every view takes from here, with their values in a trial.
pub(crate) fn everywhere<'t>(
    trial: &'t Trial<'t>,
) -> Vec<(&'static str, &'static Row, Option<f64>)> {
    let trial = Whole::of(trial);
    let rows =
        CATALOGUE.iter().filter_map(|it| Some((it.key, it.row.as_ref()?, it.number(&trial))));
    rows.collect()
}

/// Their keys, and what the trial's table of figures calls them.
pub(crate) fn everywhere_keys() -> impl Iterator<Item = (&'static str, &'static str)> {
    CATALOGUE.iter().filter_map(|it| Some((it.key, it.row.as_ref()?.label)))
}

/// Every figure of a whole trial, in the order of report.csv. Network traffic and resource use of the servers
/// and their host are in report-watch.csv, over time.
pub(crate) static CATALOGUE: [Entry; 48] = [
    Entry::column("transactions_per_s", |it| Some(it.summary.transactions_per_s)),
    Entry::column("queries", |it| Some(it.summary.queries.total() as f64)),
    Entry::column("queries_per_s", |it| Some(it.summary.queries_per_s)),
    Entry::column("reads", |it| Some(it.summary.queries.read as f64)),
    Entry::column("writes", |it| Some(it.summary.queries.write as f64)),
    Entry::column("others", |it| Some(it.summary.queries.other as f64)),
    Entry::column("retries", |it| Some(it.summary.retries as f64)),
    Entry::column("fairness_mean", |it| Some(it.summary.fairness?.mean)),
    Entry::column("fairness_standard_deviation", |it| {
        Some(it.summary.fairness?.standard_deviation)
    }),
    Entry::column("littles_law_clients", |it| Some(it.summary.littles_law?.accounted_for)),
    Entry::column("throughput_variation", |it| it.summary.throughput_variation),
    Entry::column("client_user_us_per_query", |it| it.summary.cost_per_query?.user_us),
    Entry::column("client_system_us_per_query", |it| it.summary.cost_per_query?.system_us),
    Entry::column("client_switches_per_query", |it| it.summary.cost_per_query?.switches),
    Entry::column("sent_bytes_per_query", |it| Some(it.summary.cost_per_query?.sent_bytes)),
    Entry::column("received_bytes_per_query", |it| Some(it.summary.cost_per_query?.received_bytes)),
    Entry::column("offered_per_s", |it| Some(it.open()?.offered_per_s)),
    Entry::words("arrivals", |it| {
        Some(it.trial.record.header.load.open.as_ref()?.arrivals.name().to_owned())
    }),
    Entry::column("in_system", |it| Some(it.open()?.in_system)),
    Entry::column("generator_late_p99_ns", |it| {
        Some(it.open()?.lateness.percentile_ns(99.0)? as f64)
    }),
    Entry::column("sent_bytes_per_s", |it| Some(it.messages()?.sent.bytes_per_s)),
    Entry::column("received_bytes_per_s", |it| Some(it.messages()?.received.bytes_per_s)),
    Entry::column("segments_sent_per_s", |it| Some(it.sent()?.per_s)),
    Entry::column("data_segments_sent_per_s", |it| Some(it.sent()?.with_data_per_s)),
    Entry::column("segments_received_per_s", |it| Some(it.received()?.per_s)),
    Entry::column("data_segments_received_per_s", |it| Some(it.received()?.with_data_per_s)),
    Entry::column("segments_retransmitted_per_s", |it| Some(it.tcp()?.retransmitted_per_s)),
    Entry::column("tcp_round_trip_s", |it| it.tcp()?.round_trip_s),
    Entry::column("server_cpu_threads_mean", |it| Some(it.server()?.cpu.mean)),
    Entry::column("server_cpu_threads_peak", |it| Some(it.server()?.cpu.peak)),
    Entry::column("server_runnable_threads_mean", |it| Some(it.server()?.runnable?.mean)),
    Entry::column("server_runnable_threads_peak", |it| Some(it.server()?.runnable?.peak)),
    Entry::column("host_cpu_part_mean", |it| Some(it.host_busy()?.mean)),
    Entry::column("host_cpu_part_peak", |it| Some(it.host_busy()?.peak)),
    Entry::column("start_delay_p99_ns", |it| {
        Some(it.open()?.start_delays.percentile_ns(99.0)? as f64)
    }),
    Entry::column("generator_oversleep_p99_ns", |it| {
        Some(it.summary.generator.as_ref()?.oversleep.percentile_ns(99.0)? as f64)
    }),
    Entry::column("generator_oversleep_max_ns", |it| {
        Some(it.summary.generator.as_ref()?.oversleep.max_ns as f64)
    }),
    Entry::column("workers_waiting_mean", |it| {
        Some(it.summary.generator.as_ref()?.workers?.waiting_mean)
    }),
    Entry::column("workers_waiting_max", |it| {
        Some(it.summary.generator.as_ref()?.workers?.waiting_max)
    }),
    Entry::words("reason", |it| it.trial.reason().map(str::to_owned)),
    Entry::words("warnings", |it| Some(it.trial.warnings().join(" "))),
    Entry::everywhere(
        "server_cpu_us_per_query",
        "CPU of the server for a query",
        Quantity::MicrosecondsPerQuery,
        |it| it.cost(CostFigure::Cpu),
    )
    .compared("cpu", "CPU µs for a query"),
    Entry::everywhere(
        "server_context_switches_per_query",
        "context switches of the server for a query",
        Quantity::PerQuery,
        |it| it.cost(CostFigure::ContextSwitches),
    )
    .compared("context_switches", "context switches for a query")
    .on_request(),
    Entry::everywhere(
        "server_read_kb_per_query",
        "read from disks by the server for a query",
        Quantity::KilobytesPerQuery,
        |it| it.cost(CostFigure::Read),
    )
    .compared("read_kb", "kB read for a query"),
    Entry::everywhere(
        "server_written_kb_per_query",
        "written to disks by the server for a query",
        Quantity::KilobytesPerQuery,
        |it| it.cost(CostFigure::Written),
    )
    .compared("written_kb", "kB written for a query"),
    Entry::everywhere(
        "ceiling_pipelined_part",
        "queries, as a part of the requests that the path carried, pipelined",
        Quantity::Part,
        |it| part(it.trial, Mode::Pipelined),
    ),
    Entry::everywhere(
        "ceiling_single_part",
        "queries, as a part of the requests that the path carried, one in flight on a connection",
        Quantity::Part,
        |it| part(it.trial, Mode::Single),
    ),
    Entry::column("failure_rate", |it| Some(it.summary.failure_rate))
        .compared("failed", "failed")
        .by_difference(),
];
