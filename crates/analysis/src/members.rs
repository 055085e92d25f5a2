//! The members of a cluster: those in the list of one of its servers, and which of them are watched.

use measure::{Host, MemberList, Server, Watched};

use crate::metrics::kind_of;

pub(crate) struct Member<'a> {
    pub(crate) id: &'a str,
    /// Address of its service, host and port.
    pub(crate) address: &'a str,
    status_address: &'a str,
    state: &'a str,
}

impl Member<'_> {
    pub(crate) fn is_up(&self) -> bool {
        self.state == "Up"
    }

    /// Whether the list says that it does not answer. One that was taken out of the cluster is neither up nor away.
    pub(crate) fn is_away(&self) -> bool {
        matches!(self.state, "Disconnected" | "Down")
    }

    fn is_shown_at(&self, page: Place<'_>) -> bool {
        let status = Place::of_address(self.status_address);
        let is_host = [Place::of_address(self.address).host, status.host].contains(&page.host);
        // An address without a port stands for all ports of its host.
        let is_port = page.port.is_none() || status.port.is_none() || page.port == status.port;
        is_host && is_port
    }
}

/// The members in a list; empty when no server reported the list.
pub(crate) fn listed<'a>(list: &MemberList, servers: &'a [Server]) -> Vec<Member<'a>> {
    let mut members: Vec<Member<'_>> = Vec::new();
    for series in servers.iter().flat_map(|it| &it.series).filter(|it| it.name == list.family) {
        let label = |name| series.label(name).unwrap_or_default();
        let member = Member {
            id: label(&list.member),
            address: label("address"),
            status_address: label("status_address"),
            state: label("state"),
        };
        // A member whose state has changed has several series; the last one is current.
        members.retain(|known| known.id != member.id);
        members.push(member);
    }
    members
}

/// Returns a function that checks whether the member at an address is watched. When no member is watched, it
/// returns true for all: the plan leaves them out on purpose.
pub(crate) fn is_watched<'a>(
    list: &MemberList,
    watched: &'a Watched,
) -> impl Fn(&str) -> bool + 'a {
    let servers = &watched.servers;
    let members = listed(list, servers);
    let pages = || servers.iter().filter_map(|server| Some((server, Place::of_url(&server.url)?)));
    let kind = |server: &Server| kind_of(&watched.kinds, server);
    let known: Vec<&str> = members
        .iter()
        .filter(|member| {
            pages().any(|(server, page)| match kind(server) {
                // An exporter of a host's metrics watches the members on its host.
                None => page.host == Place::of_address(member.address).host,
                Some(_) => member.is_shown_at(page),
            })
        })
        .map(|member| member.address)
        .collect();
    // For addresses that are not in the list, only hosts can be compared.
    let hosts: Vec<&str> = pages().map(|(_, page)| page.host).collect();
    let is_member = |server: &Server| kind(server).is_some_and(|kind| kind.name == list.kind);
    let is_any = servers.iter().any(is_member) || !known.is_empty();
    move |address| match members.iter().any(|member| member.address == address) {
        _ if !is_any => true,
        true => known.contains(&address),
        false => hosts.contains(&Place::of_address(address).host),
    }
}

/// Whether the address of a server's page is of this host, as far as the address alone tells. A loopback address is of
/// dyno's own.
pub(crate) fn is_local(server: &Server, host: &Host) -> bool {
    let Some(page) = Place::of_url(&server.url) else { return false };
    let address = bare(page.host);
    let is_name = !host.name.is_empty() && address == host.name;
    match &host.place {
        Some(place) => is_name || reached_host(place) == Some(address),
        None => {
            is_name || address.starts_with("127.") || address == "::1" || address == "localhost"
        }
    }
}

/// The host of `ssh://USER@HOST:PORT`.
fn reached_host(place: &str) -> Option<&str> {
    let rest = place.strip_prefix("ssh://")?;
    let host = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
    Some(bare(Place::of_address(host).host))
}

/// An address without the brackets of IPv6.
fn bare(address: &str) -> &str {
    address.trim_start_matches('[').trim_end_matches(']')
}

/// Host and port of an address.
#[derive(Clone, Copy)]
struct Place<'a> {
    host: &'a str,
    port: Option<&'a str>,
}

impl<'a> Place<'a> {
    /// From `HOST:PORT`, or a host alone.
    fn of_address(address: &'a str) -> Self {
        match address.rsplit_once(':') {
            // An IPv6 address contains colons within brackets.
            Some((host, port)) if !port.contains(']') => Self { host, port: Some(port) },
            _ => Self { host: address, port: None },
        }
    }

    /// From `http://HOST:PORT/path`.
    fn of_url(url: &'a str) -> Option<Self> {
        let rest = url.split_once("://")?.1;
        Some(Self::of_address(rest.split('/').next()?))
    }
}
