//! Checks, before a load starts, that this machine and the server have enough resources for it.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;

use net::Endpoint;
use nix::sys::resource::{Resource, getrlimit, setrlimit};

use crate::{ServerLimit, ServerLimits};

/// Open files of the process in addition to its sessions: standard streams, event queues, the record.
const FILES_BESIDE: u64 = 64;
/// Connections for people and programs that watch the server during a load.
const SPARE_CONNECTIONS: u64 = 10;

/// The resources that a load needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Demand {
    /// Concurrent clients, each with a session.
    pub clients: usize,
    pub statements_per_client: usize,
}

/// A resource that is too scarce, and how to get more of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shortage {
    /// Its name, such as `open files`.
    pub resource: &'static str,
    pub needed: u64,
    pub available: u64,
    /// The statement or command that raises the limit.
    pub remedy: String,
}

impl fmt::Display for Shortage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { resource, needed, available, remedy } = self;
        write!(f, "too few {resource}: {needed} needed, {available} available; {remedy}")
    }
}

/// The resources of a driver's sessions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Footprint {
    pub(crate) files_per_session: u64,
    pub(crate) prepares_on_server: bool,
    /// The length of the packets that load rows; a server with a lower limit refuses them.
    pub(crate) packet_bytes: u64,
    /// The addresses that clients 0, 1, 2 ... connect to, in turn; empty if embedded.
    pub(crate) endpoints: Vec<Endpoint>,
}

/// The resources of this machine that sessions need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Machine {
    open_files: u64,
    open_files_hard: u64,
    local_ports: u64,
}

/// Looks up all limits. Raises this process's own limit of open files if that is enough.
pub(crate) fn check(footprint: &Footprint, server: &ServerLimits, demand: Demand) -> Vec<Shortage> {
    let machine = Machine {
        open_files: 0,
        open_files_hard: 0,
        local_ports: local_ports().unwrap_or(u64::MAX),
    };
    compare(footprint, server, demand, with_open_files(machine, footprint, demand))
}

/// The machine with its limit of open files raised towards the hard limit, when the load needs it.
fn with_open_files(machine: Machine, footprint: &Footprint, demand: Demand) -> Machine {
    let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE) else {
        return Machine { open_files: u64::MAX, open_files_hard: u64::MAX, ..machine };
    };
    let wanted = files(footprint, demand).min(hard);
    let is_raised = soft < wanted && setrlimit(Resource::RLIMIT_NOFILE, wanted, hard).is_ok();
    let open_files = if is_raised { wanted } else { soft };
    Machine { open_files, open_files_hard: hard, ..machine }
}

fn files(footprint: &Footprint, demand: Demand) -> u64 {
    demand.clients as u64 * footprint.files_per_session + FILES_BESIDE
}

/// How many local ports the kernel has for outgoing connections to one address.
fn local_ports() -> Option<u64> {
    let range = fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").ok()?;
    let mut bounds = range.split_whitespace().map(|bound| bound.parse::<u64>().ok());
    let (first, last) = (bounds.next()??, bounds.next()??);
    Some((last + 1).saturating_sub(first))
}

fn compare(
    footprint: &Footprint,
    server: &ServerLimits,
    demand: Demand,
    machine: Machine,
) -> Vec<Shortage> {
    let busiest = busiest_endpoint(footprint, demand.clients);
    let sessions = busiest.map_or(0, |(_, sessions)| sessions);
    let statements = match footprint.prepares_on_server {
        true => sessions * demand.statements_per_client as u64,
        false => 0,
    };
    [
        open_files(files(footprint, demand), machine),
        server_limit(server.connections, sessions, SPARE_CONNECTIONS),
        server_limit(server.prepared_statements, statements, 0),
        ports(busiest, machine.local_ports),
        server_limit(server.packet_bytes, footprint.packet_bytes, 0),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn busiest_endpoint(footprint: &Footprint, clients: usize) -> Option<(&Endpoint, u64)> {
    let endpoints = &footprint.endpoints;
    let mut sessions: BTreeMap<String, (&Endpoint, u64)> = BTreeMap::new();
    for (place, endpoint) in endpoints.iter().enumerate() {
        let share = (clients + endpoints.len() - 1 - place) / endpoints.len();
        sessions.entry(endpoint.to_string()).or_insert((endpoint, 0)).1 += share as u64;
    }
    sessions.into_values().max_by_key(|(_, sessions)| *sessions)
}

fn open_files(needed: u64, machine: Machine) -> Option<Shortage> {
    let available = machine.open_files;
    let remedy = if machine.open_files_hard < needed {
        format!("raise the hard limit, as root: ulimit -Hn {needed} && ulimit -n {needed}")
    } else {
        format!("raise the limit: ulimit -n {needed}")
    };
    let resource = "open files";
    (needed > available).then_some(Shortage { resource, needed, available, remedy })
}

/// The shortage for a limit of the server that is too low for the load; `spare` is added to what the load needs.
fn server_limit(limit: Option<ServerLimit>, needed: u64, spare: u64) -> Option<Shortage> {
    let ServerLimit { resource, max, used, remedy } = limit?;
    let available = max.saturating_sub(used);
    let remedy = remedy.replace("{needed}", &(needed + used + spare).to_string());
    (needed > available).then_some(Shortage { resource, needed, available, remedy })
}

fn ports(busiest: Option<(&Endpoint, u64)>, available: u64) -> Option<Shortage> {
    let (Endpoint::Tcp(_), needed) = busiest? else { return None };
    let remedy =
        "as root: sysctl -w net.ipv4.ip_local_port_range=\"1024 65535\", or give the server \
                  more addresses"
            .to_owned();
    let resource = "local ports for one address";
    (needed > available).then_some(Shortage { resource, needed, available, remedy })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOMY: Machine = Machine { open_files: 1024, open_files_hard: 4096, local_ports: 28_232 };

    fn tcp(ports: &[u16]) -> Footprint {
        let endpoint = |&port: &u16| Endpoint::Tcp(([127, 0, 0, 1], port).into());
        let endpoints = ports.iter().map(endpoint).collect();
        Footprint { files_per_session: 1, prepares_on_server: true, packet_bytes: 0, endpoints }
    }

    fn describe(footprint: &Footprint, server: &ServerLimits, clients: usize) -> String {
        let demand = Demand { clients, statements_per_client: 20 };
        let found = compare(footprint, server, demand, ROOMY);
        found.iter().map(Shortage::to_string).collect::<Vec<_>>().join("\n")
    }

    const PREPARED_STATEMENTS: ServerLimit = ServerLimit {
        resource: "prepared statements",
        max: 16_382,
        used: 2,
        remedy: "run on the server: SET GLOBAL max_prepared_stmt_count = {needed}, or use --ps off",
    };
    const SERVER: ServerLimits = ServerLimits {
        connections: Some(ServerLimit {
            resource: "connections",
            max: 151,
            used: 3,
            remedy: "run on the server: SET GLOBAL max_connections = {needed}",
        }),
        prepared_statements: Some(PREPARED_STATEMENTS),
        packet_bytes: None,
    };

    #[test]
    fn limits_are_sufficient_up_to_the_exact_bound() {
        assert_eq!(describe(&tcp(&[3306]), &SERVER, 148), "");
        insta::assert_snapshot!(describe(&tcp(&[3306]), &SERVER, 149), @"too few connections: 149 needed, 148 available; run on the server: SET GLOBAL max_connections = 162");
    }

    #[test]
    fn all_shortages_are_reported_together_with_remedies() {
        insta::assert_snapshot!(describe(&tcp(&[3306]), &SERVER, 30_000), @r#"
        too few open files: 30064 needed, 1024 available; raise the hard limit, as root: ulimit -Hn 30064 && ulimit -n 30064
        too few connections: 30000 needed, 148 available; run on the server: SET GLOBAL max_connections = 30013
        too few prepared statements: 600000 needed, 16380 available; run on the server: SET GLOBAL max_prepared_stmt_count = 600002, or use --ps off
        too few local ports for one address: 30000 needed, 28232 available; as root: sysctl -w net.ipv4.ip_local_port_range="1024 65535", or give the server more addresses
        "#);
    }

    #[test]
    fn several_addresses_share_the_clients() {
        assert_eq!(describe(&tcp(&[3306, 3307]), &SERVER, 296), "");
        assert_eq!(busiest_endpoint(&tcp(&[1, 2, 1]), 7).map(|(_, sessions)| sessions), Some(5));
    }

    #[test]
    fn prepared_statement_limit_is_ignored_without_prepared_statements() {
        let footprint = Footprint { prepares_on_server: false, ..tcp(&[3306]) };
        let none = ServerLimit { max: 0, used: 0, ..PREPARED_STATEMENTS };
        let server = ServerLimits { prepared_statements: Some(none), ..SERVER };
        assert_eq!(describe(&footprint, &server, 100), "");
    }

    #[test]
    fn an_embedded_database_needs_files_only() {
        let footprint = Footprint { files_per_session: 3, prepares_on_server: false, ..tcp(&[]) };
        assert_eq!(describe(&footprint, &ServerLimits::default(), 320), "");
        insta::assert_snapshot!(describe(&footprint, &ServerLimits::default(), 400), @"too few open files: 1264 needed, 1024 available; raise the limit: ulimit -n 1264");
    }

    #[test]
    fn the_local_port_range_is_read_from_the_kernel() {
        assert!(local_ports().is_some_and(|ports| ports > 0));
    }
}
