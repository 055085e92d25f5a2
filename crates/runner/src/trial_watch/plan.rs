//! What is watched in a trial, and how often.

use std::net::SocketAddr;
use std::time::Duration;

use driver::Target;
use measure::{Process, Side};
use net::Endpoint as NetEndpoint;
use plan::{EndpointPlan, EndpointSource, LoadPlan, SystemPlan, WatchPlan};
use system::profile::Page;
use system::watch::{HostWatch, processes_with, server_processes, with_descendants};
use system::{Access, Running};

use super::hosts::DescribedHost;
use crate::known_generators::KnownGenerators;

/// The longest period of readings of a host. With shorter intervals the period is as short as these, but not so short
/// that counters in ticks of 10 ms are useless.
const HOST_PERIOD_MAX: Duration = Duration::from_secs(1);
const HOST_PERIOD_MIN: Duration = Duration::from_millis(250);
/// The shortest period of questions to a server: a long answer costs a server about 10 ms of CPU.
const SERVER_PERIOD_MIN: Duration = Duration::from_secs(1);
/// The longest period of questions to a server.
const SERVER_PERIOD_MAX: Duration = Duration::from_secs(15);
/// The number of answers of a server that is enough for a trial.
const ANSWERS_WANTED: u32 = 600;
const ANSWER_BOUND: Duration = Duration::from_secs(10);

pub(crate) struct WatchTargets {
    pub(super) host: HostWatch,
    pub(super) others: Vec<DescribedHost>,
    pub(super) endpoints: Vec<Endpoint>,
    pub(super) peers: Peers,
    pub(super) periods: Periods,
}

/// A server that reports its metrics.
#[derive(Clone, Debug)]
pub(super) struct Endpoint {
    pub(super) name: String,
    pub(super) url: String,
    /// The database that is asked by SQL, and which of its servers; `None` for a page of metrics.
    pub(super) database: Option<(Target, usize)>,
}

/// The remote ends of the load's TCP connections to the system.
#[derive(Clone, Debug)]
pub(super) enum Peers {
    /// The addresses on which its servers listen, and to which this process connects.
    Tcp(Vec<SocketAddr>),
    /// Generators connect to them, and tell what their kernels count.
    OfGenerators(KnownGenerators),
    None(String),
}

/// How often sources are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Periods {
    /// Time between two readings of a host.
    pub(super) host: Duration,
    /// Time between two questions to a server.
    pub(super) server: Duration,
    pub(super) answer: Duration,
}

impl WatchTargets {
    /// This machine with dyno and the servers on it, the servers that the system reports, and the servers and hosts
    /// that the plan names. Generators are those of a load that other processes offer.
    pub(crate) fn new(
        (watch, load): (&WatchPlan, &LoadPlan),
        system: &SystemPlan,
        (running, generators): (&Running, Option<&KnownGenerators>),
        others: Vec<DescribedHost>,
    ) -> Self {
        Self {
            host: HostWatch::new(processes(running, generators)),
            others,
            endpoints: endpoints(running, system, watch),
            peers: match generators {
                Some(generators) => Peers::OfGenerators(generators.clone()),
                None => Peers::of(running),
            },
            periods: Periods::of(load),
        }
    }
}

/// The servers that tell of themselves, each once: those of the system, then those that the plan names.
fn endpoints(running: &Running, system: &SystemPlan, watch: &WatchPlan) -> Vec<Endpoint> {
    let of_system = running.metrics().into_iter().map(|it| Endpoint {
        name: format!("{} {}", it.role, it.address),
        url: format!("http://{}{}", it.address, it.path),
        database: None,
    });
    let of_plan = system.endpoints.iter().chain(&watch.endpoints);
    let of_plan = of_plan.filter_map(Endpoint::of_page);
    let mut endpoints: Vec<Endpoint> = Vec::new();
    for endpoint in of_system.chain(of_database(running.access())).chain(of_plan) {
        let is_same = |known: &Endpoint| known.url == endpoint.url && known.name == endpoint.name;
        let is_page = endpoint.database.is_none();
        let is_known = |known: &Endpoint| is_page && known.url == endpoint.url || is_same(known);
        if !endpoints.iter().any(is_known) {
            endpoints.push(endpoint);
        }
    }
    endpoints
}

/// Those of them that have a page of metrics.
pub(crate) fn pages(running: &Running, system: &SystemPlan, watch: &WatchPlan) -> Vec<Page> {
    let pages = endpoints(running, system, watch).into_iter().filter(|it| it.database.is_none());
    pages.map(|it| Page { name: it.name, url: it.url }).collect()
}

impl Endpoint {
    /// `None` for a host.
    fn of_page(endpoint: &EndpointPlan) -> Option<Self> {
        let EndpointSource::Page { url } = &endpoint.source else { return None };
        Some(Self { name: endpoint.name.clone(), url: url.clone(), database: None })
    }
}

/// The servers of a database that tell figures of themselves by SQL.
fn of_database(access: &Access) -> Vec<Endpoint> {
    let Access::Database(target) = access else { return Vec::new() };
    if !target.capabilities().tells_figures_by_sql {
        return Vec::new();
    }
    let endpoints = target.endpoints().into_iter().enumerate();
    let endpoint = |(index, endpoint): (usize, NetEndpoint)| Endpoint {
        name: match &endpoint {
            NetEndpoint::Tcp(address) => address.to_string(),
            NetEndpoint::Unix(path) => path.display().to_string(),
        },
        url: target.to_string(),
        database: Some((target.clone(), index)),
    };
    endpoints.map(endpoint).collect()
}

impl Peers {
    fn of(running: &Running) -> Self {
        match running.access() {
            Access::Simulated(_) => Self::None("the system is simulated".to_owned()),
            access => tcp_peers(&access.endpoints()).map_or_else(Self::None, Self::Tcp),
        }
    }
}

/// The addresses at the other ends of TCP connections to these endpoints of a system.
///
/// # Errors
/// Why there are none.
pub fn tcp_peers(endpoints: &[NetEndpoint]) -> Result<Vec<SocketAddr>, String> {
    let mut addresses = Vec::new();
    for endpoint in endpoints {
        match endpoint {
            NetEndpoint::Tcp(address) if !addresses.contains(address) => addresses.push(*address),
            NetEndpoint::Tcp(_) | NetEndpoint::Unix(_) => {}
        }
    }
    match (addresses.is_empty(), endpoints.is_empty()) {
        (false, _) => Ok(addresses),
        (true, false) => Err("dyno reaches the system over a unix socket".to_owned()),
        (true, true) => Err("the system runs inside dyno's process".to_owned()),
    }
}

/// The processes of a trial on this machine: dyno itself, the generators that run here, and those of the system.
fn processes(running: &Running, generators: Option<&KnownGenerators>) -> Vec<Process> {
    let mut servers: Vec<Process> = running
        .processes()
        .into_iter()
        .map(|it| Process { name: it.role, pid: it.pid, side: Side::Server })
        .collect();
    servers = match servers.is_empty() {
        true => server_processes(&running.addresses()),
        false => with_descendants(servers),
    };
    let name = "dyno".to_owned();
    let client = Process { name, pid: std::process::id(), side: Side::Client };
    let generators = generators.map(KnownGenerators::processes).unwrap_or_default();
    let generators = processes_with(&generators, Side::Client);
    std::iter::once(client).chain(generators).chain(servers).collect()
}

/// Time between two readings of a host, and of the connections of a process.
pub(crate) fn host_period(load: &LoadPlan) -> Duration {
    load.interval.clamp(HOST_PERIOD_MIN, HOST_PERIOD_MAX)
}

impl Periods {
    /// Servers are asked once an interval, or less often in a long trial: their answers are large.
    fn of(load: &LoadPlan) -> Self {
        let time = load.limit.time.map_or(Duration::ZERO, |time| load.warm_up.saturating_add(time));
        let server = load.interval.max(time / ANSWERS_WANTED);
        Self {
            host: host_period(load),
            server: server.clamp(SERVER_PERIOD_MIN, SERVER_PERIOD_MAX),
            answer: ANSWER_BOUND,
        }
    }
}
