//! Watched data as tables and lines of text.

pub(crate) mod cost;
pub(crate) mod figure;
pub(crate) mod json;
pub(crate) mod listing;

use std::collections::BTreeSet;

use analysis::{HostFigure, MeanPeak, ProcessFigure, cpu_of_server, known_servers, mean_peak};
use measure::{Host, Quantity, Side};

use crate::digest::{Digest, Point, Trial};
use crate::number::number;
use crate::table::Table;
use figure::show;
use listing::Line;

/// Figures of a host and its processes in the measured time, a row for each figure, with mean and peak. Figures
/// that are zero throughout are left out, except for the CPU's.
pub(crate) fn host(trial: &Trial<'_>, host: &Host) -> Table {
    let window = trial.window();
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

pub(crate) fn host_caption(host: &Host) -> String {
    let name = if host.name.is_empty() { "this machine" } else { &host.name };
    format!("Host {name}: {} CPU threads", host.cpu_threads)
}

/// Resource use of all servers of a trial whose CPU is known, together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ServerFigures {
    pub(crate) servers: usize,
    /// Hardware threads that they kept busy.
    pub(crate) cpu: MeanPeak,
    /// Threads that ran or waited for a CPU; with several processes, of the one with the most.
    pub(crate) runnable: Option<MeanPeak>,
    /// Hardware threads of their host; `None` when some are known from their metrics alone, on any host.
    pub(crate) cpu_threads: Option<u64>,
}

/// Figures of the servers whose CPU is known; `None` when there are none.
pub(crate) fn server_figures(trial: &Trial<'_>) -> Option<ServerFigures> {
    let window = trial.window();
    let known = known_servers(&trial.record.watched);
    let processes = known.processes.iter().filter_map(|(host, at)| {
        Some(ServerFigures {
            servers: 1,
            cpu: mean_peak(&ProcessFigure::Cpu.of(host, *at), window)?,
            runnable: mean_peak(&ProcessFigure::Runnable.of(host, *at), window),
            cpu_threads: Some(host.cpu_threads),
        })
    });
    let others = known.others.iter().filter_map(|server| {
        let cpu = mean_peak(&cpu_of_server(server), window)?;
        Some(ServerFigures { servers: 1, cpu, runnable: None, cpu_threads: None })
    });
    processes.chain(others).reduce(ServerFigures::with)
}

/// Names of servers that were watched and whose CPU is in no figure.
fn unknown_servers<'a>(digest: &Digest<'a>) -> Vec<&'a str> {
    let trials = digest.run.trials.iter();
    let unknown = trials.flat_map(|trial| known_servers(&trial.watched).unknown);
    let names: BTreeSet<&str> = unknown.map(|server| server.name.as_str()).collect();
    names.into_iter().collect()
}

/// A sentence on which servers the figures of [`servers`] are of; `None` when nothing is known of any.
pub(crate) fn servers_note(digest: &Digest<'_>) -> Option<String> {
    if servers(digest).is_empty() {
        return None;
    }
    let unknown = unknown_servers(digest);
    let of = "CPU is that of all servers whose CPU is known: processes that could be read on dyno's machine, and \
              other watched servers that publish it. ";
    let not = match unknown.is_empty() {
        true => "Servers that are neither are not in it.".to_owned(),
        false => format!("Not in it, because they do not publish it: {}.", unknown.join(", ")),
    };
    Some(format!("{of}{not}"))
}

impl ServerFigures {
    fn with(self, other: Self) -> Self {
        let peak = |it: &Option<MeanPeak>| it.map_or(f64::MIN, |runnable| runnable.peak);
        let is_more = peak(&other.runnable) > peak(&self.runnable);
        Self {
            servers: self.servers + other.servers,
            cpu: MeanPeak {
                mean: self.cpu.mean + other.cpu.mean,
                peak: self.cpu.peak + other.cpu.peak,
            },
            runnable: if is_more { other.runnable } else { self.runnable },
            cpu_threads: self.cpu_threads.zip(other.cpu_threads).map(|(one, next)| one.max(next)),
        }
    }
}

/// A row for each point with servers whose CPU is known, from the repetition in the middle.
pub(crate) fn servers(digest: &Digest<'_>) -> Table {
    let mut table = Table::new()
        .words("system")
        .words("workload")
        .words("load")
        .numbers("servers")
        .numbers("CPU threads busy")
        .numbers("peak")
        .numbers("runnable threads")
        .numbers("peak")
        .numbers("host CPU")
        .numbers("peak")
        .remarks();
    for point in &digest.points {
        if let Some(row) = digest.middle_trial(point).and_then(|trial| server_row(point, trial)) {
            table.row(row);
        }
    }
    table.without_empty_remarks()
}

fn server_row(point: &Point<'_>, trial: &Trial<'_>) -> Option<Vec<String>> {
    let server = server_figures(trial)?;
    let runnable = |of: fn(&MeanPeak) -> f64| {
        server.runnable.as_ref().map_or("-".to_owned(), |figures| figure::whole(of(figures)))
    };
    let busy = host_busy(trial);
    let busy = |of: fn(&MeanPeak) -> f64| {
        busy.as_ref().map_or("-".to_owned(), |figures| crate::number::percent(of(figures)))
    };
    Some(vec![
        point.system.to_owned(),
        point.workload.to_owned(),
        crate::digest::load_text(point.clients, point.rate),
        server.servers.to_string(),
        number(server.cpu.mean),
        number(server.cpu.peak),
        runnable(|figures| figures.mean),
        runnable(|figures| figures.peak),
        busy(|figures| figures.mean),
        busy(|figures| figures.peak),
        trial.remark().to_owned(),
    ])
}

/// The part of the CPU threads of the servers' host that was busy, with all programs included.
pub(crate) fn host_busy(trial: &Trial<'_>) -> Option<MeanPeak> {
    let window = trial.window();
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
    let lines: Vec<String> = highest.chain(cost::lines(digest)).collect();
    let unknown = unknown_servers(digest);
    let unknown = (!lines.is_empty() && !unknown.is_empty())
        .then(|| format!("without these servers, whose CPU is not known: {}", unknown.join(", ")));
    lines.into_iter().chain(unknown).collect()
}

fn line(digest: &Digest<'_>, system: &str) -> Option<String> {
    let trials = digest.trials.iter().filter(|trial| trial.record.header.system == system);
    let figures: Vec<ServerFigures> = trials.filter_map(server_figures).collect();
    let most = figures.iter().map(|it| it.servers).max()?;
    let cpu = figures.iter().map(|it| it.cpu.mean).fold(0.0, f64::max);
    let threads: Option<Vec<u64>> = figures.iter().map(|it| it.cpu_threads).collect();
    let threads = threads.and_then(|threads| threads.into_iter().max());
    let of = threads.map_or(String::new(), |threads| format!(" of {threads}"));
    let servers = if most > 1 { format!("{most} servers") } else { "the server".to_owned() };
    let runnable = figures.iter().filter_map(|it| it.runnable).map(|it| it.peak);
    let runnable =
        runnable.fold(None, |most: Option<f64>, peak| Some(most.map_or(peak, |m| m.max(peak))));
    let runnable = runnable.map_or(String::new(), |peak| {
        let whose = if most > 1 { "one server's" } else { "its" };
        format!(
            "; at most {} of {whose} threads ran or waited for one at once",
            figure::whole(peak)
        )
    });
    Some(format!("{system}: {servers} kept up to {}{of} CPU threads busy{runnable}", number(cpu)))
}
