//! Server-side cost of a query: of each process, host and server that reports it, and of the whole system under
//! test.

use analysis::{CostFigure, ServedLoad, Work, known_servers};
use measure::Side;

use crate::digest::{Digest, Point, Trial, load_text};
use crate::number::number;
use crate::table::Table;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subject {
    Host,
    Process,
    /// All processes of one kind that belong to a server.
    ProcessKind,
    Connections,
    Server,
}

impl Subject {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Process => "process",
            Self::ProcessKind => "process-kind",
            Self::Connections => "connections",
            Self::Server => "server",
        }
    }
}

/// Resource use of one process, host or server during the measured load.
pub(crate) struct Cost {
    pub(crate) subject: Subject,
    pub(crate) source: String,
    /// The process; empty for hosts and servers.
    pub(crate) part: String,
    pub(crate) work: Work,
}

/// Costs of the server's processes, of hosts, then of servers with metrics of their own.
pub(crate) fn of_trial(trial: &Trial<'_>) -> Vec<Cost> {
    let load = measured(trial);
    let mut all = Vec::new();
    for host in trial.hosts() {
        for (number, process) in host.processes.iter().enumerate() {
            if process.side == Side::Server {
                let work = Work::of_process(&host, number, load);
                let (source, part) = (host.name.clone(), process.name.clone());
                all.extend(work.map(|work| Cost { subject: Subject::Process, source, part, work }));
            }
        }
        let (source, part) = (host.name.clone(), String::new());
        let work = Work::of_host(&host, load);
        all.extend(work.map(|work| Cost { subject: Subject::Host, source, part, work }));
    }
    for server in &trial.record.watched.servers {
        let (source, part) = (server.name.clone(), String::new());
        let work = Work::of_server(server, load);
        all.extend(work.map(|work| Cost { subject: Subject::Server, source, part, work }));
    }
    all
}

/// The whole system under test: its processes that could be read, and the other servers that publish their CPU time.
/// Hosts are left out because other programs run on them too.
pub(crate) fn of_servers(trial: &Trial<'_>) -> Option<Work> {
    let load = measured(trial);
    let known = known_servers(&trial.record.watched);
    let processes = known.processes.iter().map(|(host, at)| Work::of_process(host, *at, load));
    let others = known.others.iter().map(|server| Work::of_server(server, load));
    Work::sum(processes.chain(others).flatten())
}

fn measured(trial: &Trial<'_>) -> ServedLoad {
    let (from_ns, to_ns) = trial.window();
    ServedLoad { from_ns, to_ns, queries_per_s: trial.summary.queries_per_s }
}

/// A row for each process, host and server with costs, for each point, from the repetition in the middle.
pub(crate) fn by_point(digest: &Digest<'_>) -> Table {
    let mut table = columns(Table::new().words("system").words("workload").words("load")).remarks();
    for point in &digest.points {
        let Some(trial) = digest.middle_trial(point) else { continue };
        for cost in &of_trial(trial) {
            let remarks = vec![trial.remark().to_owned()];
            table.row([names(point).to_vec(), cells(cost), remarks].concat());
        }
    }
    without_unknown(table)
}

pub(crate) fn table(trial: &Trial<'_>) -> Table {
    let mut table = columns(Table::new());
    of_trial(trial).iter().for_each(|cost| table.row(cells(cost)));
    without_unknown(table)
}

fn columns(table: Table) -> Table {
    let table = table.words("for each query");
    CostFigure::ALL.iter().fold(table, |table, figure| table.numbers(figure.metric().label))
}

fn names(point: &Point<'_>) -> [String; 3] {
    let load = load_text(point.clients, point.rate);
    [point.system.to_owned(), point.workload.to_owned(), load]
}

fn cells(cost: &Cost) -> Vec<String> {
    let name = if cost.part.is_empty() { &cost.source } else { &cost.part };
    let figure = |figure: &CostFigure| (figure.metric().get)(&cost.work).map(number);
    let figures = CostFigure::ALL.iter().map(|it| figure(it).unwrap_or_default());
    std::iter::once(format!("{} {name}", cost.subject.name())).chain(figures).collect()
}

fn without_unknown(table: Table) -> Table {
    table.without_columns(|_, cells| cells.iter().all(|cell| cell.is_empty()))
}

/// Cost of a query at the point of the highest throughput, for each system and workload.
pub(crate) fn lines(digest: &Digest<'_>) -> Vec<String> {
    let systems = digest.systems().into_iter().map(|(system, _)| system);
    let pairs =
        systems.flat_map(|system| digest.workloads().into_iter().map(move |it| (system, it)));
    pairs.filter_map(|(system, workload)| line(digest, system, workload)).collect()
}

fn line(digest: &Digest<'_>, system: &str, workload: &str) -> Option<String> {
    let points = digest.points.iter();
    let points = points.filter(|point| point.system == system && point.workload == workload);
    let measured = points.filter_map(|point| Some((point, digest.middle_trial(point)?)));
    let (point, trial) = measured.max_by(|(_, one), (_, other)| {
        one.summary.queries_per_s.total_cmp(&other.summary.queries_per_s)
    })?;
    let work = of_servers(trial)?;
    let costs = CostFigure::ALL.iter().filter_map(|figure| {
        let metric = figure.metric();
        Some(format!("{} {}", number((metric.get)(&work)?), metric.label))
    });
    let load = load_text(point.clients, point.rate);
    let costs = costs.collect::<Vec<_>>().join(", ");
    Some(format!("{system}: a query of {workload} with {load} cost the server {costs}"))
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::Reading;
    use crate::sample;

    /// CPU metrics of a server that keeps so many hardware threads busy.
    fn metrics(busy: f64) -> measure::Server {
        let mut cpu = measure::Series::parse("process_cpu_seconds_total");
        let seconds = (0..=5_u64).map(|second| second * 1_000_000_000);
        cpu.points = seconds.clone().map(|at_ns| (at_ns, at_ns as f64 * busy * 1e-9)).collect();
        measure::Server {
            name: "store 1".to_owned(),
            families: vec![cpu.name.clone()],
            answers_ns: seconds.collect(),
            series: vec![cpu],
            ..measure::Server::default()
        }
    }

    /// The made-up server keeps 0.5 hardware threads busy, switches 3,000 times a second and writes 1 MiB. Its page of
    /// metrics shows the same CPU time.
    #[test]
    fn every_view_has_the_cost_of_a_query_of_each_process_host_and_server() {
        let mut run = sample::watched();
        run.trials.truncate(1);
        run.trials[0].watched.servers.push(metrics(0.5));
        let reading = Reading::new(&run);
        let digest = &reading.digest;
        let per_s = digest.trials[0].summary.queries_per_s;
        let known = [500_000.0 / per_s, 3_000.0 / per_s, 0.0, 1_048.576 / per_s];
        let is_near = |seen: f64, known: f64| (seen - known).abs() <= 1e-9 * known;
        let report: Value = serde_json::from_str(&crate::json(&reading)).unwrap();
        let csv = crate::csv(&reading);
        let mut lines = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
        let (heads, cells) = (lines.next().unwrap(), lines.next().unwrap());
        for (figure, known) in CostFigure::ALL.iter().zip(known) {
            let key = format!("server_{}_per_query", figure.metric().key);
            assert!(is_near(report["trials"][0][&key].as_f64().unwrap(), known), "{key}");
            let cell = cells[heads.iter().position(|head| *head == key).unwrap()];
            assert!(is_near(cell.parse().unwrap(), known), "{key}: {cell}");
        }
        insta::assert_snapshot!(format!("{}{}", by_point(digest).text(), lines_of(digest)));
        let over_time = crate::watch_csv(digest);
        let row = ",server,store 1,,cpu_us_per_query,us/query,1,5,";
        let figures = over_time.split_once(row).unwrap().1;
        let mean = figures.split(',').next().unwrap().parse().unwrap();
        assert!(is_near(mean, 500_000.0 / per_s), "{mean}");
        assert!(crate::markdown(&reading).contains("### Server cost per query"));
        let page = crate::whole_html(&reading);
        assert!(page.contains("Server cost per query"));
        assert!(page.contains("context switches of the server for a query"));
    }

    #[test]
    fn servers_beside_the_known_processes_are_in_the_sum() {
        let mut run = sample::watched();
        run.trials.truncate(1);
        let servers = &mut run.trials[0].watched.servers;
        servers.push(metrics(0.3));
        servers.push(measure::Server { name: "store 2".to_owned(), ..measure::Server::default() });
        let reading = Reading::new(&run);
        let digest = &reading.digest;
        let per_s = digest.trials[0].summary.queries_per_s;
        let work = of_servers(&digest.trials[0]).unwrap();
        assert!((work.cpu_threads.unwrap() - 0.8).abs() < 1e-9, "{work:?}");
        assert_eq!((work.switches_per_s, work.queries_per_s), (None, per_s));
        let text = crate::watch::servers(digest).text();
        assert!(
            text.contains("mariadb  oltp_point_select  1 client        2             0.800"),
            "{text}"
        );
        let lines = crate::watch::lines(digest);
        assert!(
            lines[0].starts_with("mariadb: 2 servers kept up to 0.800 CPU threads busy"),
            "{lines:?}"
        );
        let note = "Not in it, because they do not publish it: store 2.";
        for view in [crate::markdown(&reading), crate::whole_html(&reading)] {
            assert!(view.contains(note), "{view}");
        }
        let terminal = crate::terminal(&reading);
        assert!(terminal.contains("whose CPU is not known: store 2"), "{terminal}");
    }

    fn lines_of(digest: &Digest<'_>) -> String {
        lines(digest).join("\n")
    }

    #[test]
    fn unreported_values_are_empty_cells_not_zeros() {
        let mut run = sample::watched();
        run.trials.truncate(1);
        for reading in &mut run.trials[0].watched.hosts[0].readings {
            let server = reading.processes[1].as_mut().unwrap();
            (server.context_switches, server.disk) = (None, None);
        }
        let reading = Reading::new(&run);
        let digest = &reading.digest;
        let report: Value = serde_json::from_str(&crate::json(&reading)).unwrap();
        assert_eq!(report["trials"][0]["server_context_switches_per_query"], Value::Null);
        assert!(report["trials"][0]["server_cpu_us_per_query"].is_f64());
        let csv = crate::csv(&reading);
        let mut lines = csv.lines().map(|line| line.split(',').rev().collect::<Vec<_>>());
        let (heads, row) = (lines.next().unwrap(), lines.next().unwrap());
        for head in ["context_switches", "read_kb", "written_kb"] {
            let at = heads.iter().position(|it| *it == format!("server_{head}_per_query")).unwrap();
            assert_eq!(row[at], "", "{head}");
        }
        let line = lines_of(digest);
        assert!(line.ends_with(" CPU µs"), "{line}");
    }

    #[test]
    fn without_anything_watched_nothing_is_shown() {
        let run = sample::run();
        let reading = Reading::new(&run);
        let digest = &reading.digest;
        assert!(by_point(digest).is_empty() && lines(digest).is_empty());
        assert!(!crate::markdown(&reading).contains("cost the servers"));
    }
}
