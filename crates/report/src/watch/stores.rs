//! The stores of a cluster: those that PD knows, and which of them are watched.

use measure::Server;

use crate::panels::kind::ServerKind;

/// The figure that dyno makes of PD's list of stores.
const LISTED: &str = "dyno_pd_store";

/// A store, as PD tells of it.
pub(super) struct Store<'a> {
    /// By what TiDB calls it.
    pub(super) id: String,
    /// Where it serves, host and port.
    address: &'a str,
    /// Where it shows its figures.
    status_address: &'a str,
    state: &'a str,
}

impl Store<'_> {
    pub(super) fn is_up(&self) -> bool {
        self.state == "Up"
    }

    /// Whether its figures are those of this page.
    fn is_shown_at(&self, page: Place<'_>) -> bool {
        let status = Place::of_address(self.status_address);
        let is_host = [Place::of_address(self.address).host, status.host].contains(&page.host);
        // Where one side names no port, it speaks of a host and of what is on it.
        let is_port = page.port.is_none() || status.port.is_none() || page.port == status.port;
        is_host && is_port
    }
}

/// The stores that PD lists; none where no PD was asked.
pub(super) fn told(servers: &[Server]) -> Vec<Store<'_>> {
    let mut stores: Vec<Store<'_>> = Vec::new();
    for series in servers.iter().flat_map(|it| &it.series).filter(|it| it.name == LISTED) {
        let label = |name| series.label(name).unwrap_or_default();
        let store = Store {
            id: label("store").to_owned(),
            address: label("address"),
            status_address: label("status_address"),
            state: label("state"),
        };
        // What came last holds: of a store whose state has changed there are several.
        stores.retain(|known| known.id != store.id);
        stores.push(store);
    }
    stores
}

/// What people call a store that TiDB calls by its number.
pub(super) fn name(stores: &[Store<'_>], id: &str) -> String {
    match stores.iter().find(|store| store.id == id) {
        Some(store) => format!("store {id} ({})", store.address),
        None => format!("store {id}"),
    }
}

/// Tells whether a store that serves at an address is watched. Where no store is, all are said to be: the
/// plan does not want to know of them.
pub(super) fn watched(servers: &[Server]) -> impl Fn(&str) -> bool {
    let stores = told(servers);
    let pages = || servers.iter().filter_map(|server| Some((server, Place::of_url(&server.url)?)));
    let is_store = |server: &Server| ServerKind::TiKv.takes(server);
    let known: Vec<&str> = stores
        .iter()
        .filter(|store| {
            pages().any(|(server, page)| match ServerKind::of(server) {
                // What watches a host watches the store on it.
                None => page.host == Place::of_address(store.address).host,
                Some(_) => store.is_shown_at(page),
            })
        })
        .map(|store| store.address)
        .collect();
    // Without PD's list there are hosts alone to go by.
    let hosts: Vec<&str> = pages().map(|(_, page)| page.host).collect();
    let is_any = servers.iter().any(is_store) || !known.is_empty();
    move |address| match stores.iter().any(|store| store.address == address) {
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
