//! Watched data as tables and lines of text.

pub(crate) mod cost;
pub(crate) mod figure;
pub(crate) mod json;
pub(crate) mod listing;

use analysis::{HostFigure, MeanPeak, ProcessFigure, Window, host_of_node, mean_peak};
use measure::{Host, Quantity, Side};
use record::TrialRecord;

use crate::digest::{Digest, Point, Trial};
use crate::number::number;
use crate::table::Table;
use crate::tables::middle_trial;
use figure::show;
use listing::Line;

/// Start and end of the measured load on the trial's clock.
pub(crate) fn window(record: &TrialRecord) -> Window {
    let mut measured = record.measured();
    let first = measured.next();
    let last = measured.last().or(first);
    (first.map_or(0, |it| it.start_ns), last.map_or(0, |it| it.end_ns))
}

/// Every watched host: those that were read locally, and those with a node_exporter.
pub(crate) fn hosts(trial: &Trial<'_>) -> Vec<Host> {
    let watched = &trial.record.watched;
    let of_nodes = watched.servers.iter().filter_map(host_of_node);
    watched.hosts.iter().cloned().chain(of_nodes).collect()
}

/// Figures of a host and its processes in the measured time, a row for each figure, with mean and peak. Figures
/// that are zero throughout are left out, except for the CPU's.
pub(crate) fn host(trial: &Trial<'_>, host: &Host) -> Table {
    let window = window(trial.record);
    let mut table = Table::new().words("figure").numbers("mean").numbers("peak");
    for Line { part, name, quantity, sample_windows, .. } in listing::of_host(host) {
        let Some(figures) = mean_peak(&sample_windows, window) else { continue };
        if figures.peak > 0.0 || quantity == Quantity::CpuThreads {
            let name = if part.is_empty() { name } else { format!("{part}: {name}") };
            table.row(vec![name, show(quantity, figures.mean), show(quantity, figures.peak)]);
        }
    }
    table
}

/// The caption of a host's table.
pub(crate) fn host_caption(host: &Host) -> String {
    let name = if host.name.is_empty() { "this machine" } else { &host.name };
    format!("Host {name}: {} CPU threads", host.cpu_threads)
}

/// Resource use of all processes of a trial's server together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ServerFigures {
    /// Hardware threads that the processes kept busy.
    pub(crate) cpu: MeanPeak,
    /// Threads that ran or waited for a CPU; with several processes, of the one with the most.
    pub(crate) runnable: Option<MeanPeak>,
    /// Hardware threads of its host.
    pub(crate) cpu_threads: u64,
}

/// Figures of the server processes that could be read; `None` when there are none.
pub(crate) fn server_figures(trial: &Trial<'_>) -> Option<ServerFigures> {
    let window = window(trial.record);
    let mut all: Option<ServerFigures> = None;
    for host in &trial.record.watched.hosts {
        let servers = host.processes.iter().enumerate().filter(|(_, it)| it.side == Side::Server);
        for (at, _) in servers {
            let Some(cpu) = mean_peak(&ProcessFigure::Cpu.of(host, at), window) else { continue };
            let runnable = mean_peak(&ProcessFigure::Runnable.of(host, at), window);
            let this = ServerFigures { cpu, runnable, cpu_threads: host.cpu_threads };
            all = Some(all.map_or(this, |before| before.with(this)));
        }
    }
    all
}

impl ServerFigures {
    fn with(self, other: Self) -> Self {
        let peak = |it: &Option<MeanPeak>| it.map_or(f64::MIN, |runnable| runnable.peak);
        let is_more = peak(&other.runnable) > peak(&self.runnable);
        Self {
            cpu: MeanPeak {
                mean: self.cpu.mean + other.cpu.mean,
                peak: self.cpu.peak + other.cpu.peak,
            },
            runnable: if is_more { other.runnable } else { self.runnable },
            cpu_threads: self.cpu_threads.max(other.cpu_threads),
        }
    }
}

/// A row for each point whose server processes could be read, from the repetition in the middle.
pub(crate) fn servers(digest: &Digest<'_>) -> Table {
    let mut table = Table::new()
        .words("system")
        .words("workload")
        .words("load")
        .numbers("CPU threads busy")
        .numbers("peak")
        .numbers("runnable threads")
        .numbers("peak")
        .numbers("host CPU")
        .numbers("peak");
    for point in &digest.points {
        if let Some(row) = middle_trial(digest, point).and_then(|trial| server_row(point, trial)) {
            table.row(row);
        }
    }
    table
}

fn server_row(point: &Point<'_>, trial: &Trial<'_>) -> Option<Vec<String>> {
    let server = server_figures(trial)?;
    let runnable = |of: fn(&MeanPeak) -> f64| {
        server.runnable.as_ref().map_or("-".to_owned(), |figures| figure::whole(of(figures)))
    };
    let busy = host_busy(trial)?;
    Some(vec![
        point.system.to_owned(),
        point.workload.to_owned(),
        crate::digest::load_text(point.clients, point.rate),
        number(server.cpu.mean),
        number(server.cpu.peak),
        runnable(|figures| figures.mean),
        runnable(|figures| figures.peak),
        crate::number::percent(busy.mean),
        crate::number::percent(busy.peak),
    ])
}

/// The part of the CPU threads of the servers' host that was busy, with all programs included.
pub(crate) fn host_busy(trial: &Trial<'_>) -> Option<MeanPeak> {
    let window = window(trial.record);
    let is_servers = |host: &&Host| host.processes.iter().any(|it| it.side == Side::Server);
    let host = trial.record.watched.hosts.iter().find(is_servers)?;
    let busy = mean_peak(&HostFigure::CpuBusy.of(host), window)?;
    let threads = host.cpu_threads.max(1) as f64;
    Some(MeanPeak { mean: busy.mean / threads, peak: busy.peak / threads })
}

/// The highest figures of each system's server over all trials, a line for each system, then the cost of a
/// query.
pub(crate) fn lines(digest: &Digest<'_>) -> Vec<String> {
    let highest = digest.systems().into_iter().filter_map(|(name, _)| line(digest, name));
    highest.chain(cost::lines(digest)).collect()
}

fn line(digest: &Digest<'_>, system: &str) -> Option<String> {
    let trials = digest.trials.iter().filter(|trial| trial.record.header.system == system);
    let figures: Vec<ServerFigures> = trials.filter_map(server_figures).collect();
    let threads = figures.iter().map(|it| it.cpu_threads).max()?;
    let cpu = figures.iter().map(|it| it.cpu.mean).fold(0.0, f64::max);
    let runnable = figures.iter().filter_map(|it| it.runnable).map(|it| it.peak);
    let runnable =
        runnable.fold(None, |most: Option<f64>, peak| Some(most.map_or(peak, |m| m.max(peak))));
    let runnable = runnable.map_or(String::new(), |most| {
        format!("; at most {} of its threads ran or waited for one at once", figure::whole(most))
    });
    Some(format!(
        "{system}: the server kept up to {} of {threads} CPU threads busy{runnable}",
        number(cpu)
    ))
}
