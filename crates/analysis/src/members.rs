//! The members of a cluster: those that one of its servers lists, and which of them are watched.

use measure::{MemberList, Server, Watched};

use crate::metrics::kind_of;

/// A member, as the list has it.
pub(crate) struct Member<'a> {
    /// Its number.
    pub(crate) id: &'a str,
    /// Where it serves, host and port.
    pub(crate) address: &'a str,
    /// Where it shows its figures.
    status_address: &'a str,
    state: &'a str,
}

impl Member<'_> {
    pub(crate) fn is_up(&self) -> bool {
        self.state == "Up"
    }

    /// Whether its figures are those of this page.
    fn is_shown_at(&self, page: Place<'_>) -> bool {
        let status = Place::of_address(self.status_address);
        let is_host = [Place::of_address(self.address).host, status.host].contains(&page.host);
        // Where one side names no port, it speaks of a host and of everything on it.
        let is_port = page.port.is_none() || status.port.is_none() || page.port == status.port;
        is_host && is_port
    }
}

/// The members that a list names; none where no server has told the list.
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
        // A member whose state has changed has several series, of which the last one holds.
        members.retain(|known| known.id != member.id);
        members.push(member);
    }
    members
}

/// Tells whether the member that serves at an address is watched. Where no member is, all are said to be: the
/// plan leaves them out on purpose.
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
                // An exporter of a host's figures watches the member on it.
                None => page.host == Place::of_address(member.address).host,
                Some(_) => member.is_shown_at(page),
            })
        })
        .map(|member| member.address)
        .collect();
    // Without the list there are only hosts to go by.
    let hosts: Vec<&str> = pages().map(|(_, page)| page.host).collect();
    let is_member = |server: &Server| kind(server).is_some_and(|kind| kind.name == list.kind);
    let is_any = servers.iter().any(is_member) || !known.is_empty();
    move |address| match members.iter().any(|member| member.address == address) {
        _ if !is_any => true,
        true => known.contains(&address),
        false => hosts.contains(&Place::of_address(address).host),
    }
}

/// Where something is.
#[derive(Clone, Copy)]
struct Place<'a> {
    host: &'a str,
    port: Option<&'a str>,
}

impl<'a> Place<'a> {
    /// Of `HOST:PORT`, or a host alone.
    fn of_address(address: &'a str) -> Self {
        match address.rsplit_once(':') {
            // An address of IPv6 has colons of its own, within brackets.
            Some((host, port)) if !port.contains(']') => Self { host, port: Some(port) },
            _ => Self { host: address, port: None },
        }
    }

    /// Of `http://HOST:PORT/path`.
    fn of_url(url: &'a str) -> Option<Self> {
        let rest = url.split_once("://")?.1;
        Some(Self::of_address(rest.split('/').next()?))
    }
}
