//! Server-side cost of a query: CPU, context switches, and bytes read from and written to disks, for each
//! answered statement. Source: Mark Callaghan's cpu/o, cs/o, rkb/o and wkb/o (Small Datum).

use measure::{Host, Nanos, Server};

use crate::figure::metrics;
use crate::{HostFigure, ProcessFigure, SampleWindow, cpu_of_server, mean_peak};

metrics! {
    /// Server-side cost of a query.
    CostFigure: fn(&Work) -> Option<f64>;

    /// CPU time in user mode and in the kernel, us.
    Cpu = "cpu_us", "CPU µs", MicrosecondsPerQuery, |it| it.per_query(it.cpu_threads, 1e6);
    ContextSwitches = "context_switches", "context switches", PerQuery,
        |it| it.per_query(it.switches_per_s, 1.0);
    Read = "read_kb", "kB read", KilobytesPerQuery, |it| it.per_query(it.read_bytes_per_s, 1e-3);
    Written = "written_kb", "kB written", KilobytesPerQuery,
        |it| it.per_query(it.written_bytes_per_s, 1e-3);
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ServedLoad {
    /// Start, on the trial's clock.
    pub from_ns: Nanos,
    /// End, on the trial's clock.
    pub to_ns: Nanos,
    /// Answered statements, 1/s.
    pub queries_per_s: f64,
}

/// Mean resource use of a process, host or server in a second of the measured load; `None` for values that it
/// does not report.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Work {
    /// Hardware threads that it kept busy.
    pub cpu_threads: Option<f64>,
    pub switches_per_s: Option<f64>,
    pub read_bytes_per_s: Option<f64>,
    pub written_bytes_per_s: Option<f64>,
    pub queries_per_s: f64,
}

impl Work {
    pub fn of_process(host: &Host, number: usize, load: ServedLoad) -> Option<Self> {
        let mean = |figure: ProcessFigure| load.mean(&figure.of(host, number));
        Self {
            cpu_threads: mean(ProcessFigure::Cpu),
            switches_per_s: mean(ProcessFigure::ContextSwitches),
            read_bytes_per_s: mean(ProcessFigure::Read),
            written_bytes_per_s: mean(ProcessFigure::Written),
            queries_per_s: load.queries_per_s,
        }
        .known()
    }

    /// Of a whole host, with all its programs.
    pub fn of_host(host: &Host, load: ServedLoad) -> Option<Self> {
        let mean = |figure: HostFigure| load.mean(&figure.of(host));
        Self {
            cpu_threads: mean(HostFigure::CpuBusy),
            switches_per_s: mean(HostFigure::ContextSwitches),
            read_bytes_per_s: mean(HostFigure::DiskRead),
            written_bytes_per_s: mean(HostFigure::DiskWritten),
            queries_per_s: load.queries_per_s,
        }
        .known()
    }

    /// Of a server with metrics of its own, by the CPU time that every client library of Prometheus exposes for
    /// its process.
    pub fn of_server(server: &Server, load: ServedLoad) -> Option<Self> {
        Self {
            cpu_threads: load.mean(&cpu_of_server(server)),
            switches_per_s: None,
            read_bytes_per_s: None,
            written_bytes_per_s: None,
            queries_per_s: load.queries_per_s,
        }
        .known()
    }

    /// Sums of several; a value is `None` when one of them does not report it.
    pub fn sum(all: impl IntoIterator<Item = Self>) -> Option<Self> {
        let both = |one: Option<f64>, other: Option<f64>| Some(one? + other?);
        all.into_iter().reduce(|one, other| Self {
            cpu_threads: both(one.cpu_threads, other.cpu_threads),
            switches_per_s: both(one.switches_per_s, other.switches_per_s),
            read_bytes_per_s: both(one.read_bytes_per_s, other.read_bytes_per_s),
            written_bytes_per_s: both(one.written_bytes_per_s, other.written_bytes_per_s),
            queries_per_s: one.queries_per_s,
        })
    }

    /// Returns `None` when no value is known or no statement was answered.
    fn known(self) -> Option<Self> {
        let is_known = CostFigure::ALL.iter().any(|figure| (figure.metric().get)(&self).is_some());
        is_known.then_some(self)
    }

    fn per_query(&self, per_s: Option<f64>, scale: f64) -> Option<f64> {
        per_s.filter(|_| self.queries_per_s > 0.0).map(|per_s| per_s * scale / self.queries_per_s)
    }
}

impl ServedLoad {
    fn mean(&self, sample_windows: &[SampleWindow]) -> Option<f64> {
        mean_peak(sample_windows, (self.from_ns, self.to_ns)).map(|figures| figures.mean)
    }
}

#[cfg(test)]
mod tests {
    use measure::{
        CpuTimes, DiskCounters, HostReading, Process, ProcessDisk, ProcessReading, Series, Side,
    };

    use super::*;

    const SECOND: Nanos = 1_000_000_000;
    /// From the first second to the third, with 2,000 statements in each.
    const LOAD: ServedLoad =
        ServedLoad { from_ns: SECOND, to_ns: 3 * SECOND, queries_per_s: 2_000.0 };

    fn costs(work: Work) -> Vec<Option<f64>> {
        CostFigure::ALL.iter().map(|figure| (figure.metric().get)(&work)).collect()
    }

    /// Counters that grow in a warm-up, then faster in two measured seconds.
    fn host(told: impl Fn(ProcessReading) -> ProcessReading) -> Host {
        let reading = |second: u64, grown: u64| HostReading {
            at_ns: second * SECOND,
            cpu: CpuTimes { user_ns: grown * 1_000_000, ..CpuTimes::default() },
            context_switches: Some(7_000 + grown * 10),
            disk: Some(DiskCounters { written_bytes: grown * 4_000, ..DiskCounters::default() }),
            processes: vec![Some(told(ProcessReading {
                user_ns: grown * 300_000,
                system_ns: grown * 100_000,
                context_switches: Some(grown * 5),
                disk: Some(ProcessDisk { read_bytes: 0, written_bytes: grown * 2_500 }),
                ..ProcessReading::default()
            }))],
            ..HostReading::default()
        };
        let process = Process { name: "server".to_owned(), pid: 1, side: Side::Server };
        let readings = vec![reading(0, 0), reading(1, 1), reading(2, 1_001), reading(3, 2_001)];
        Host { processes: vec![process], readings, ..Host::default() }
    }

    #[test]
    fn cost_per_query_is_counter_growth_divided_by_queries() {
        let host = host(|reading| reading);
        // 1,000 steps in a second with 2,000 statements: half a step for each.
        let process = Work::of_process(&host, 0, LOAD).unwrap();
        assert_eq!(costs(process), [Some(200.0), Some(2.5), Some(0.0), Some(1.25)]);
        let whole = Work::of_host(&host, LOAD).unwrap();
        assert_eq!(costs(whole), [Some(500.0), Some(5.0), Some(0.0), Some(2.0)]);
    }

    #[test]
    fn a_counter_that_is_not_reported_has_no_cost() {
        let host = host(|it| ProcessReading { context_switches: None, disk: None, ..it });
        let process = Work::of_process(&host, 0, LOAD).unwrap();
        assert_eq!(costs(process), [Some(200.0), None, None, None]);
        assert_eq!(Work::of_process(&host, 1, LOAD), None);
        let idle = ServedLoad { queries_per_s: 0.0, ..LOAD };
        assert_eq!(Work::of_process(&host, 0, idle), None);
    }

    #[test]
    fn a_server_with_metrics_of_its_own_reports_its_cpu() {
        let mut cpu = Series::parse("process_cpu_seconds_total");
        cpu.points = vec![(SECOND, 5.0), (2 * SECOND, 5.5), (3 * SECOND, 6.5)];
        let answers_ns = vec![SECOND, 2 * SECOND, 3 * SECOND];
        let server = Server { answers_ns, series: vec![cpu], ..Server::default() };
        let work = Work::of_server(&server, LOAD).unwrap();
        // 0.75 hardware threads over 2,000 statements a second.
        assert_eq!(costs(work), [Some(375.0), None, None, None]);
        assert_eq!(Work::of_server(&Server::default(), LOAD), None);
    }

    #[test]
    fn a_sum_needs_every_part() {
        let host = host(|reading| reading);
        let process = Work::of_process(&host, 0, LOAD).unwrap();
        let other = Work { switches_per_s: None, ..process };
        let sum = Work::sum([process, other]).unwrap();
        assert_eq!(costs(sum), [Some(400.0), None, Some(0.0), Some(2.5)]);
        assert_eq!(Work::sum([]), None);
    }
}
