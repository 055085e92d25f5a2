//! Checks of the watched data of a trial.

mod remarks;

use measure::{Host, Nanos, Server, Side};

use super::spread;
use crate::node::is_node;
use crate::{
    Code, Finding, HostFigure, KnownServers, Measured, ProcessFigure, SampleWindow, Subject, Value,
    Window, host_of_node, known_servers, mean_peak,
};

/// When other programs use at least this part of the CPU, figures are not those of the system alone.
const OTHERS_MAX: f64 = 0.1;
/// When the hypervisor takes at least this part of the CPU, figures are not those of the machine.
const STOLEN_MAX: f64 = 0.02;
/// When a server's process began, in seconds since 1970: every client library of Prometheus exposes it.
const BEGAN: &str = "process_start_time_seconds";
/// The begin of a process moves by so many seconds when the machine's clock is set: its source counts from the boot.
const CLOCK_SET_S: f64 = 2.0;

pub(super) fn check(measured: &Measured<'_>) -> Vec<Finding> {
    let (watched, window) = (measured.watched, measured.window);
    let of_nodes: Vec<Host> = watched.servers.iter().filter_map(host_of_node).collect();
    let hosts = watched.hosts.iter().chain(&of_nodes);
    let mut all: Vec<Finding> = hosts.filter_map(|host| stolen(host, window)).collect();
    let is_embedded = measured.is_embedded;
    let servers = known_servers(watched);
    let others = |host| others(host, &servers, is_embedded, window);
    all.extend(watched.hosts.iter().filter_map(others));
    all.extend(spread::uneven(watched, window));
    all.extend(spread::members_not_watched(watched));
    all.extend(watched.servers.iter().filter_map(gaps));
    all.extend(watched.servers.iter().filter_map(|server| restarted(server, window)));
    all.extend(watched.servers.iter().flat_map(|it| remarks::of(it, &watched.kinds, window)));
    all
}

fn stolen(host: &Host, window: Window) -> Option<Finding> {
    let threads = host.cpu_threads.max(1) as f64;
    let share = mean_peak(&HostFigure::CpuSteal.of(host), window)?.mean / threads;
    (share > STOLEN_MAX).then(|| {
        Finding::about(Subject::Host(host.name.clone()), Code::CpuStolen)
            .with("share", Value::Part(share))
    })
}

/// CPU that neither dyno nor the servers used. Skipped when the CPU of no server on the host is known: its work would
/// be attributed to other programs. Servers that may run there with a CPU that is not known are named.
fn others(
    host: &Host,
    servers: &KnownServers<'_>,
    is_embedded: bool,
    window: Window,
) -> Option<Finding> {
    let of_servers = servers.cpu_on(host);
    // An embedded system is in dyno's own process.
    let has_system = !of_servers.is_empty() || is_embedded && host.place.is_none();
    if !has_system {
        return None;
    }
    let mean = |sample_windows: &[SampleWindow]| {
        mean_peak(sample_windows, window).map(|figures| figures.mean)
    };
    let user = mean(&HostFigure::CpuUser.of(host))?;
    let system = mean(&HostFigure::CpuSystem.of(host))?;
    let clients = host.processes.iter().enumerate().filter(|(_, it)| it.side == Side::Client);
    let of_clients = clients.map(|(at, _)| ProcessFigure::Cpu.of(host, at));
    let own: f64 = of_clients.chain(of_servers).filter_map(|cpu| mean(&cpu)).sum();
    let others = user + system - own;
    let share = others / host.cpu_threads.max(1) as f64;
    let finding = || {
        Finding::about(Subject::Host(host.name.clone()), Code::CpuUsedByOthers)
            .with("used_threads", Value::Number(others))
            .with("cpu_threads", Value::Small(host.cpu_threads))
    };
    let names: Vec<&str> = servers.maybe_on(host).iter().map(|it| it.name.as_str()).collect();
    (share > OTHERS_MAX).then(|| match names.is_empty() {
        true => finding(),
        false => finding().with("not_counted", Value::Text(names.join(", "))),
    })
}

/// A server that did not always answer, with the reason.
fn gaps(server: &Server) -> Option<Finding> {
    let (gaps, answers) = (server.gaps.len() as u64, server.answers_ns.len() as u64);
    let about = |code| Finding::about(Subject::Server(server.name.clone()), code);
    match (server.gaps.last(), answers) {
        (Some(last), _) => Some(
            about(Code::ServerGaps)
                .with("gaps", Value::Small(gaps))
                .with("asked", Value::Small(gaps + answers))
                .with("reason", Value::Text(last.reason.clone())),
        ),
        (None, 0) => Some(about(Code::ServerSilent)),
        (None, _) => None,
    }
}

/// A server whose process is another one than at the begin of the window. Its first answer after the restart has the
/// time.
fn restarted(server: &Server, (from, to): Window) -> Option<Finding> {
    let mut began = server.series.iter().filter(|series| series.name == BEGAN && !is_node(server));
    let at_ns = began.find_map(|series| {
        let is_later = |pair: &&[(Nanos, f64)]| pair[1].1 > pair[0].1 + CLOCK_SET_S;
        let mut later = series.points.windows(2).filter(is_later).map(|pair| pair[1].0);
        later.find(|at_ns| (from..to).contains(at_ns))
    })?;
    let about = Finding::about(Subject::Server(server.name.clone()), Code::ServerRestarted);
    Some(about.with("at_ns", Value::At(at_ns)))
}

#[cfg(test)]
mod tests;
