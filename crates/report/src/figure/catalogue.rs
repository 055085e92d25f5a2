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
    /// What it is; the name of its row where it has one.
    pub(crate) label: &'static str,
    pub(crate) get: Get,
    /// Its unit in the table of figures of a trial; `None` where the views have a format of their own for it.
    pub(crate) row: Option<Quantity>,
    /// How it is compared; `None` where it is not.
    pub(crate) compare: Option<Compared>,
}

#[derive(Debug)]
pub(crate) enum Get {
    Number(fn(&Whole<'_>) -> Option<f64>),
    Words(fn(&Whole<'_>) -> Option<String>),
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
    const fn column(
        key: &'static str,
        label: &'static str,
        get: fn(&Whole<'_>) -> Option<f64>,
    ) -> Self {
        Self { key, label, get: Get::Number(get), row: None, compare: None }
    }

    const fn words(
        key: &'static str,
        label: &'static str,
        get: fn(&Whole<'_>) -> Option<String>,
    ) -> Self {
        Self { key, label, get: Get::Words(get), row: None, compare: None }
    }

    /// A column of report.csv, a key of a trial in report.json, and a row in the trial's table of figures. Use it for a
    /// new figure.
    const fn everywhere(
        key: &'static str,
        label: &'static str,
        unit: Quantity,
        get: fn(&Whole<'_>) -> Option<f64>,
    ) -> Self {
        Self { key, label, get: Get::Number(get), row: Some(unit), compare: None }
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
pub(crate) fn everywhere<'t>(trial: &'t Trial<'t>) -> Vec<(&'static Entry, Quantity, Option<f64>)> {
    let trial = Whole::of(trial);
    CATALOGUE.iter().filter_map(|it| Some((it, it.row?, it.number(&trial)))).collect()
}

/// Their keys, and what the trial's table of figures calls them.
pub(crate) fn everywhere_keys() -> impl Iterator<Item = (&'static str, &'static str)> {
    CATALOGUE.iter().filter_map(|it| it.row.map(|_| (it.key, it.label)))
}

/// Every figure of a whole trial, in the order of report.csv. Network traffic and resource use of the servers
/// and their host are in report-watch.csv, over time.
pub(crate) static CATALOGUE: [Entry; 48] = [
    Entry::column("transactions_per_s", "transactions that succeeded, per second", |it| {
        Some(it.summary.transactions_per_s)
    }),
    Entry::column("queries", "statements, whether or not they succeeded", |it| {
        Some(it.summary.queries.total() as f64)
    }),
    Entry::column("queries_per_s", "statements per second", |it| Some(it.summary.queries_per_s)),
    Entry::column("reads", "statements that read", |it| Some(it.summary.queries.read as f64)),
    Entry::column("writes", "statements that write", |it| Some(it.summary.queries.write as f64)),
    Entry::column("others", "all other statements, such as COMMIT", |it| {
        Some(it.summary.queries.other as f64)
    }),
    Entry::column("retries", "transactions that were tried again", |it| {
        Some(it.summary.retries as f64)
    }),
    Entry::column("fairness_mean", "transactions of a client, on average", |it| {
        Some(it.summary.fairness?.mean)
    }),
    Entry::column(
        "fairness_standard_deviation",
        "standard deviation of the clients' transactions",
        |it| Some(it.summary.fairness?.standard_deviation),
    ),
    Entry::column(
        "littles_law_clients",
        "clients that transactions and think times account for, by Little's law",
        |it| Some(it.summary.littles_law?.accounted_for),
    ),
    Entry::column(
        "throughput_variation",
        "coefficient of variation of the throughput over intervals",
        |it| it.summary.throughput_variation,
    ),
    Entry::column(
        "client_user_us_per_query",
        "CPU time of dyno in user mode for a statement",
        |it| it.summary.cost_per_query?.user_us,
    ),
    Entry::column(
        "client_system_us_per_query",
        "CPU time of dyno in the kernel for a statement",
        |it| it.summary.cost_per_query?.system_us,
    ),
    Entry::column("client_switches_per_query", "context switches of dyno for a statement", |it| {
        it.summary.cost_per_query?.switches
    }),
    Entry::column("sent_bytes_per_query", "bytes that dyno sent for a statement", |it| {
        Some(it.summary.cost_per_query?.sent_bytes)
    }),
    Entry::column("received_bytes_per_query", "bytes that dyno received for a statement", |it| {
        Some(it.summary.cost_per_query?.received_bytes)
    }),
    Entry::column("offered_per_s", "arrivals of an open loop as planned, per second", |it| {
        Some(it.open()?.offered_per_s)
    }),
    Entry::words("arrivals", "how arrivals of an open loop are spread", |it| {
        Some(it.trial.record.header.load.open.as_ref()?.arrivals.name().to_owned())
    }),
    Entry::column(
        "in_system",
        "transactions of an open loop that wait or are served, on average",
        |it| Some(it.open()?.in_system),
    ),
    Entry::column(
        "generator_late_p99_ns",
        "p99 of how late dyno sent transactions though a client was idle",
        |it| Some(it.open()?.lateness.percentile_ns(99.0)? as f64),
    ),
    Entry::column("sent_bytes_per_s", "bytes that dyno sent, per second", |it| {
        Some(it.messages()?.sent.bytes_per_s)
    }),
    Entry::column("received_bytes_per_s", "bytes that dyno received, per second", |it| {
        Some(it.messages()?.received.bytes_per_s)
    }),
    Entry::column("segments_sent_per_s", "TCP segments that dyno sent, per second", |it| {
        Some(it.sent()?.per_s)
    }),
    Entry::column("data_segments_sent_per_s", "those of them with data", |it| {
        Some(it.sent()?.with_data_per_s)
    }),
    Entry::column("segments_received_per_s", "TCP segments that dyno received, per second", |it| {
        Some(it.received()?.per_s)
    }),
    Entry::column("data_segments_received_per_s", "those of them with data", |it| {
        Some(it.received()?.with_data_per_s)
    }),
    Entry::column(
        "segments_retransmitted_per_s",
        "TCP segments that dyno sent again, per second",
        |it| Some(it.tcp()?.retransmitted_per_s),
    ),
    Entry::column(
        "tcp_round_trip_s",
        "round trip of dyno's connections, by TCP's estimate",
        |it| it.tcp()?.round_trip_s,
    ),
    Entry::column(
        "server_cpu_threads_mean",
        "CPU threads that the servers kept busy, on average",
        |it| Some(it.server()?.cpu.mean),
    ),
    Entry::column("server_cpu_threads_peak", "the most that they kept busy in a sample", |it| {
        Some(it.server()?.cpu.peak)
    }),
    Entry::column(
        "server_runnable_threads_mean",
        "threads of the servers that ran or waited for a CPU, on average",
        |it| Some(it.server()?.runnable?.mean),
    ),
    Entry::column("server_runnable_threads_peak", "the most of them in a sample", |it| {
        Some(it.server()?.runnable?.peak)
    }),
    Entry::column(
        "host_cpu_part_mean",
        "part of the CPUs of the servers' host that were busy, on average",
        |it| Some(it.host_busy()?.mean),
    ),
    Entry::column("host_cpu_part_peak", "the largest part in a sample", |it| {
        Some(it.host_busy()?.peak)
    }),
    Entry::column(
        "start_delay_p99_ns",
        "p99 of the delay from the intended to the actual start, the wait for a free client included",
        |it| Some(it.open()?.start_delays.percentile_ns(99.0)? as f64),
    ),
    Entry::column(
        "generator_oversleep_p99_ns",
        "p99 of how much later than intended dyno's threads woke",
        |it| Some(it.summary.generator.as_ref()?.oversleep.percentile_ns(99.0)? as f64),
    ),
    Entry::column("generator_oversleep_max_ns", "the longest of these", |it| {
        Some(it.summary.generator.as_ref()?.oversleep.max_ns as f64)
    }),
    Entry::column(
        "workers_waiting_mean",
        "part of the time in which dyno's workers waited for a CPU, on average",
        |it| Some(it.summary.generator.as_ref()?.workers?.waiting_mean),
    ),
    Entry::column("workers_waiting_max", "the same of the worker with the most", |it| {
        Some(it.summary.generator.as_ref()?.workers?.waiting_max)
    }),
    Entry::words("reason", "why the trial did not run to its end", |it| {
        it.trial.reason().map(str::to_owned)
    }),
    Entry::words("warnings", "sentences of the warnings about the trial", |it| {
        Some(it.trial.warnings().join(" "))
    }),
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
    Entry::column("failure_rate", "part of all transactions that failed for good", |it| {
        Some(it.summary.failure_rate)
    })
    .compared("failed", "failed")
    .by_difference(),
];
