//! What was watched that a reader must know before trusting a trial.

use analysis::{
    HostFigure, Hot, INSTANCE, ProcessFigure, Selection, Spell, hottest, mean_peak, merged,
};
use measure::{Host, Nanos, Server, Side};

use super::{stores, window};
use crate::digest::Trial;
use crate::number::{number, percent};
use crate::panels;
use crate::panels::catalogue::STORE_STATUS;
use crate::panels::kind::ServerKind;

/// From this part of the CPU on that others took, figures are not those of the system alone.
const OTHERS_MAX: f64 = 0.1;
/// From this part of the CPU on that the hypervisor took, they are not those of the machine.
const STOLEN_MAX: f64 = 0.02;
/// Fewer requests in a second are nothing to share.
const REQUESTS_MIN: f64 = 10.0;
/// What is shared out over stores by TiDB, which calls them by their numbers.
const TO_STORES: &str = "requests to stores";
/// Less CPU is nothing to share, hardware threads.
const CPU_MIN: f64 = 0.1;

/// Something that was seen.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Observation {
    /// What was found.
    pub(crate) headline: &'static str,
    /// What it means for the figures, and what to do about it.
    pub(crate) meaning: &'static str,
    /// Where, with its figures.
    pub(crate) figures: String,
}

/// Everything of that kind in a trial.
pub(crate) fn observations(trial: &Trial<'_>) -> Vec<Observation> {
    let window = window(trial);
    let is_embedded = trial.record.header.is_embedded;
    let watched = &trial.record.watched;
    let hosts = super::hosts(trial);
    let mut all: Vec<Observation> = Vec::new();
    all.extend(hosts.iter().filter_map(|host| stolen(host, window)));
    all.extend(watched.hosts.iter().filter_map(|host| others(host, is_embedded, window)));
    all.extend(hotspots(&watched.servers, window));
    all.extend(unknown_stores(&watched.servers));
    all.extend(watched.servers.iter().filter_map(gaps));
    all
}

fn stolen(host: &Host, window: (Nanos, Nanos)) -> Option<Observation> {
    let threads = host.cpu_threads.max(1) as f64;
    let share = mean_peak(&HostFigure::CpuSteal.of(host), window)?.mean / threads;
    (share > STOLEN_MAX).then(|| Observation {
        headline: "The hypervisor took CPU",
        meaning: "other virtual machines share this one's processor; figures are lower than on one of \
                  its own, and vary",
        figures: format!("{} of {}", percent(share), host.name),
    })
}

/// CPU that neither dyno nor the servers used. Where no server can be seen its work would be taken for
/// that of others, so nothing is said.
fn others(host: &Host, is_embedded: bool, window: (Nanos, Nanos)) -> Option<Observation> {
    let has_server = host.processes.iter().any(|it| it.side == Side::Server);
    if !has_server && !is_embedded {
        return None;
    }
    let mean = |spells: &[Spell]| mean_peak(spells, window).map(|figures| figures.mean);
    let user = mean(&HostFigure::CpuUser.of(host))?;
    let system = mean(&HostFigure::CpuSystem.of(host))?;
    let processes = 0..host.processes.len();
    let own: f64 = processes.filter_map(|at| mean(&ProcessFigure::Cpu.of(host, at))).sum();
    let others = user + system - own;
    let share = others / host.cpu_threads.max(1) as f64;
    (share > OTHERS_MAX).then(|| Observation {
        headline: "Other programs used the CPU",
        meaning: "neither dyno nor the server had it; figures are lower than on a quiet machine, and \
                  vary",
        figures: format!(
            "{} of {} CPU threads of {}",
            number(others),
            host.cpu_threads,
            host.name
        ),
    })
}

/// Where load sits on one of several.
fn hotspots(servers: &[Server], window: (Nanos, Nanos)) -> Vec<Observation> {
    let of_kind = |kind: ServerKind| {
        servers.iter().filter(|server| kind.takes(server)).collect::<Vec<&Server>>()
    };
    let (tidb, tikv) = (of_kind(ServerKind::TiDb), of_kind(ServerKind::TiKv));
    let queries = Selection::of("tidb_server_query_total").by(INSTANCE);
    let messages = Selection::of("tikv_grpc_msg_duration_seconds").by(INSTANCE);
    let cpu = Selection::of("process_cpu_seconds_total").by(INSTANCE);
    let requests = Selection::of("tidb_tikvclient_request_seconds").by("store");
    let names = |servers: &[&Server]| servers.iter().map(|it| it.name.clone()).collect();
    let stores = stores::told(servers);
    let ids = stores.iter().filter(|store| store.is_up()).map(|store| store.id.clone()).collect();
    let found = [
        ("queries", shares(names(&tidb), queries.rates(&merged(&tidb)), window), REQUESTS_MIN),
        ("requests", shares(names(&tikv), messages.counts(&merged(&tikv)), window), REQUESTS_MIN),
        ("CPU of stores", shares(names(&tikv), cpu.rates(&merged(&tikv)), window), CPU_MIN),
        (TO_STORES, shares(ids, requests.counts(&merged(&tidb)), window), REQUESTS_MIN),
    ];
    let hot = found.into_iter().filter_map(|(what, shares, least)| {
        let Hot { name, share, fair_share } = hottest(&shares, least)?;
        let name = if what == TO_STORES { stores::name(&stores, &name) } else { name };
        Some(Observation {
            headline: "Load sits on one of several",
            meaning: "it takes far more than its share, so the others wait for it and adding more of \
                      them helps little; spread the data, or choose another key",
            figures: format!(
                "{name} takes {} of the {what}, {} would be even",
                percent(share),
                percent(fair_share)
            ),
        })
    });
    hot.collect()
}

/// The mean of each over the measured time; who is named and tells nothing has nothing.
fn shares(
    names: Vec<String>,
    groups: std::collections::BTreeMap<String, Vec<Spell>>,
    window: (Nanos, Nanos),
) -> Vec<(String, f64)> {
    let mut all: Vec<(String, f64)> = names.into_iter().map(|name| (name, 0.0)).collect();
    for (name, spells) in groups {
        let mean = mean_peak(&spells, window).map_or(0.0, |figures| figures.mean);
        match all.iter_mut().find(|(known, _)| *known == name) {
            Some((_, amount)) => *amount = mean,
            None => all.push((name, mean)),
        }
    }
    all
}

/// Stores that lead regions, as PD tells, of which nothing is watched though something is of others.
fn unknown_stores(servers: &[Server]) -> Vec<Observation> {
    let leaders = STORE_STATUS.with(&[("type", "leader_count")]);
    let placed = servers.iter().filter(|it| ServerKind::Pd.takes(it)).find_map(|pd| {
        let levels = leaders.levels(pd);
        (!levels.is_empty()).then_some(levels)
    });
    let is_watched = stores::watched(servers);
    let placed = placed.unwrap_or_default().into_iter();
    placed
        .filter(|(_, spells)| spells.last().is_some_and(|spell| spell.mean > 0.0))
        .filter(|(address, _)| !is_watched(address))
        .map(|(address, spells)| Observation {
            headline: "A store takes load that the plan does not know",
            meaning: "what it does is in the figures, and what it uses is not; add its metrics to the \
                      plan, or take it out of the cluster",
            figures: format!(
                "{address} leads {} regions",
                number(spells.last().map_or(0.0, |spell| spell.mean))
            ),
        })
        .collect()
}

fn gaps(server: &Server) -> Option<Observation> {
    Some(Observation {
        headline: "A server did not always tell its metrics",
        meaning: "its panels have holes there; nothing else depends on it",
        figures: panels::gaps(server)?,
    })
}
