//! What a query cost the servers: each process, host and server that reports it, and all of the system
//! under test together.

use analysis::{CostFigure, Window, Work};
use measure::Side;

use super::listing::Subject;
use super::{hosts, window};
use crate::digest::{Digest, Point, Trial, load_text};
use crate::number::number;
use crate::table::Table;
use crate::tables::middle_trial;

/// What one of them did during the measured load.
pub(crate) struct Cost {
    pub(crate) subject: Subject,
    /// Which host or server.
    pub(crate) source: String,
    /// Which process; empty of hosts and servers.
    pub(crate) part: String,
    pub(crate) work: Work,
}

/// Of the server's processes, of hosts, then of servers with metrics of their own.
pub(crate) fn of_trial(trial: &Trial<'_>) -> Vec<Cost> {
    let window = measured(trial);
    let mut all = Vec::new();
    for host in hosts(trial) {
        for (number, process) in host.processes.iter().enumerate() {
            if process.side == Side::Server {
                let work = Work::of_process(&host, number, window);
                let (source, part) = (host.name.clone(), process.name.clone());
                all.extend(work.map(|work| Cost { subject: Subject::Process, source, part, work }));
            }
        }
        let (source, part) = (host.name.clone(), String::new());
        let work = Work::of_host(&host, window);
        all.extend(work.map(|work| Cost { subject: Subject::Host, source, part, work }));
    }
    for server in &trial.record.watched.servers {
        let (source, part) = (server.name.clone(), String::new());
        let work = Work::of_server(server, window);
        all.extend(work.map(|work| Cost { subject: Subject::Server, source, part, work }));
    }
    all
}

/// The system under test as a whole: its processes where they could be read, and otherwise the servers
/// with metrics of their own. Hosts are left out, for other programs run on them too.
pub(crate) fn of_servers(trial: &Trial<'_>) -> Option<Work> {
    let all = of_trial(trial);
    let of = |subject: Subject| {
        Work::sum(all.iter().filter(|cost| cost.subject == subject).map(|cost| cost.work))
    };
    of(Subject::Process).or_else(|| of(Subject::Server))
}

fn measured(trial: &Trial<'_>) -> Window {
    let (from_ns, to_ns) = window(trial);
    Window { from_ns, to_ns, queries_per_s: trial.summary.queries_per_s }
}

/// A row for everything that reports what it did, for each point, from the repetition in the middle.
pub(crate) fn by_point(digest: &Digest<'_>) -> Table {
    let mut table = columns(Table::new().words("system").words("workload").words("load"));
    for point in &digest.points {
        let costs = middle_trial(digest, point).map(of_trial).unwrap_or_default();
        for cost in &costs {
            table.row([names(point).to_vec(), cells(cost)].concat());
        }
    }
    without_unknown(table)
}

/// The same of one trial.
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

/// For each system and workload, what a query cost its servers at the point of the highest throughput.
pub(crate) fn lines(digest: &Digest<'_>) -> Vec<String> {
    let systems = digest.systems().into_iter().map(|(system, _)| system);
    let pairs =
        systems.flat_map(|system| digest.workloads().into_iter().map(move |it| (system, it)));
    pairs.filter_map(|(system, workload)| line(digest, system, workload)).collect()
}

fn line(digest: &Digest<'_>, system: &str, workload: &str) -> Option<String> {
    let points = digest.points.iter();
    let points = points.filter(|point| point.system == system && point.workload == workload);
    let measured = points.filter_map(|point| Some((point, middle_trial(digest, point)?)));
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
