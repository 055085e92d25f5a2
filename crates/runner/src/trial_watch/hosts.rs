//! The other hosts that are watched: those that the plan names, and those of its generators.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use engine::Stop;
use measure::{Host, ProcessIdentity, Side};
use plan::{EndpointPlan, EndpointSource, Place, Plan};
use remote::{HOST_WATCH_COMMAND, HostWatchRequest, RemoteHost, StartOptions};

/// The other hosts of a system of the plan. The dynos there stay from one trial to the next.
#[derive(Debug, Default)]
pub(crate) struct OtherHosts {
    hosts: Vec<OtherHost>,
    keep_copies: bool,
}

/// A host that is watched over a connection.
#[derive(Debug)]
struct OtherHost {
    name: String,
    place: Place,
    processes: Vec<(String, Side)>,
    /// Whether it is watched for its generators alone.
    is_of_generators: bool,
    connection: Result<SharedHost, String>,
}

/// A connection that the threads of trials use in turn.
#[derive(Clone, Debug)]
pub(crate) struct SharedHost(Arc<Mutex<RemoteHost>>);

impl SharedHost {
    pub(super) fn lock(&self) -> MutexGuard<'_, RemoteHost> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A host that will be watched in a trial, or the reason why it is not.
pub(crate) struct DescribedHost {
    pub(super) name: String,
    pub(super) described: Result<(Host, SharedHost), String>,
}

impl OtherHosts {
    /// The hosts that are watched beside a system of the plan; none when the plan turns watching off.
    pub(crate) fn of(plan: &Plan, system: usize) -> Self {
        let mut hosts: Vec<OtherHost> = Vec::new();
        if plan.watch.is_on {
            let of_plan = plan.systems[system].endpoints.iter().chain(&plan.watch.endpoints);
            let generators = plan.load.generators.iter().filter(|it| **it != Place::Local);
            let of_generators = generators.map(|place| OtherHost {
                is_of_generators: true,
                ..OtherHost::new(place.to_string(), place.clone())
            });
            for host in of_plan.filter_map(OtherHost::of_endpoint).chain(of_generators) {
                match hosts.iter_mut().find(|known| known.place == host.place) {
                    Some(known) => known.add(host),
                    None => hosts.push(host),
                }
            }
        }
        Self { hosts, keep_copies: plan.load.keep_copies }
    }

    /// Connects to the hosts to which there is no connection, to all at the same time. Generators on this machine need no
    /// host of their own: it is watched already.
    pub(crate) fn connect(&mut self, stop: &Stop) {
        let keep_copies = self.keep_copies;
        let is_lost = |host: &OtherHost| match &host.connection {
            Ok(connection) => !connection.lock().is_connected(),
            Err(_) => true,
        };
        thread::scope(|scope| {
            for host in self.hosts.iter_mut().filter(|host| is_lost(host)) {
                scope.spawn(move || host.connect(keep_copies, stop));
            }
        });
        let is_here = |it: &SharedHost| it.lock().is_this_machine();
        self.hosts
            .retain(|host| !(host.is_of_generators && host.connection.as_ref().is_ok_and(is_here)));
    }

    /// Asks each host what there is to watch, with the processes that listen on these addresses, and those of these
    /// generators that run there.
    pub(crate) fn describe(
        &self,
        (addresses, generators): (&[SocketAddr], &[ProcessIdentity]),
        stop: &Stop,
    ) -> Vec<DescribedHost> {
        let request = HostWatchRequest {
            addresses: addresses.to_vec(),
            names: Vec::new(),
            generators: generators.to_vec(),
        };
        self.hosts.iter().map(|host| host.describe(&request, stop)).collect()
    }
}

impl OtherHost {
    fn new(name: String, place: Place) -> Self {
        let connection = Err("there was no time to reach it".to_owned());
        Self { name, place, processes: Vec::new(), is_of_generators: false, connection }
    }

    fn of_endpoint(endpoint: &EndpointPlan) -> Option<Self> {
        let EndpointSource::Host { place, processes } = &endpoint.source else { return None };
        let of_server = |name: &String| (name.clone(), Side::Server);
        let processes = processes.iter().map(of_server).collect();
        Some(Self { processes, ..Self::new(endpoint.name.clone(), place.clone()) })
    }

    /// Takes in another mention of the same place.
    fn add(&mut self, other: Self) {
        self.is_of_generators &= other.is_of_generators;
        let new = other.processes.into_iter().filter(|it| !self.processes.contains(it));
        let new: Vec<_> = new.collect();
        self.processes.extend(new);
    }

    fn connect(&mut self, keep_copies: bool, stop: &Stop) {
        let options = StartOptions { keep_copies, ..StartOptions::new(HOST_WATCH_COMMAND) };
        let started = RemoteHost::start(&self.place, &options, &|| stop.is_asked());
        self.connection = match started {
            Ok(remote) => Ok(SharedHost(Arc::new(Mutex::new(remote)))),
            Err(cause) => Err(format!("{cause:#}")),
        };
    }

    /// The same of this host, with the processes that the plan names.
    fn describe(&self, request: &HostWatchRequest, stop: &Stop) -> DescribedHost {
        let described = self.connection.clone().and_then(|connection| {
            let request = HostWatchRequest { names: self.processes.clone(), ..request.clone() };
            let described = connection.lock().describe(&request, &|| stop.is_asked());
            let host = described.map_err(|cause| format!("{cause:#}"))?;
            let place = Some(self.place.to_string());
            Ok((Host { name: self.name.clone(), place, ..host }, connection))
        });
        DescribedHost { name: self.name.clone(), described }
    }
}

#[cfg(test)]
mod tests {
    use plan::Source;

    use super::*;

    /// Names, places and processes of the hosts of a plan.
    fn hosts(text: &str) -> Vec<String> {
        let head = "system = \"sqlite\"\nworkload = \"sysbench/oltp_read_write\"\n";
        let text = format!("{head}{text}");
        let folder = std::path::PathBuf::new();
        let plan = Plan::parse(Source { name: "plan.toml".to_owned(), text, folder }).unwrap();
        let hosts = OtherHosts::of(&plan, 0).hosts.into_iter();
        hosts.map(|it| format!("{} at {}: {:?}", it.name, it.place, it.processes)).collect()
    }

    #[test]
    fn each_place_of_the_plan_is_one_host_with_all_its_processes() {
        let watch = "[watch]\nendpoints = [\"http://h/metrics\", \
                     { name = \"db\", url = \"ssh://db1\", processes = [\"serverd\"] }, \"ssh://db1\"]\n";
        assert_eq!(hosts(watch), ["db at ssh://db1: [(\"serverd\", Server)]"]);
        let load = "[load]\ngenerators = [\"local\", \"ssh://db1\", \"ssh://db1\"]\n";
        assert_eq!(hosts(&format!("{watch}{load}")), ["db at ssh://db1: [(\"serverd\", Server)]"]);
        assert_eq!(hosts(load), ["ssh://db1 at ssh://db1: []"]);
        assert!(hosts("watch = \"off\"\n").is_empty());
    }

    #[test]
    fn a_host_that_was_not_reached_is_described_by_the_reason() {
        let host = OtherHost::new("db".to_owned(), Place::Local);
        let described = host
            .describe(&HostWatchRequest::default(), &Stop::new())
            .described
            .map(|(host, _)| host);
        assert_eq!(described.unwrap_err(), "there was no time to reach it");
    }
}
