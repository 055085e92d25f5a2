//! How many event loops offer the load, and on which CPUs.
//!
//! A database answers one statement of a connection at a time: an event loop for each core wins there. A service takes
//! many calls of a connection together. The more of them an event loop has, the more leave in one system call, and the
//! fewer cores it takes from a service on the same machine: half of the cores are enough. docs/statistics/load.md has the
//! measurements.

use net::Endpoint;
use plan::{CpuList, LoadPlan};
use system::Access;

/// The event loops of a load: as many as the plan says, one for each CPU that it gives to the load, or `by_default`.
pub(crate) fn of_load(load: &LoadPlan, by_default: usize) -> usize {
    by_plan(load).unwrap_or(by_default)
}

/// The event loops that the plan asks for.
pub(crate) fn by_plan(load: &LoadPlan) -> Option<usize> {
    let of_cpus = load.cpus.as_ref().map(|cpus| cpus.numbers().count());
    load.workers.or(of_cpus)
}

/// The CPUs that the threads of the load may use; empty for all.
pub(crate) fn cpus(load: &LoadPlan) -> Vec<usize> {
    load.cpus.iter().flat_map(CpuList::numbers).collect()
}

/// The event loops for a system, by default.
pub(crate) fn beside(access: &Access) -> usize {
    on_cores(access, cores())
}

/// The event loops for a system, by default, of a load generator with so many cores.
pub(crate) fn on_cores(access: &Access, cores: usize) -> usize {
    match access {
        Access::Service(service) if service.endpoints().iter().all(is_on_this_machine) => {
            (cores / 2).max(1)
        }
        Access::Service(_) | Access::Database(_) | Access::Simulated(_) => cores,
    }
}

/// The event loops beside a service on the same machine, by default.
pub fn beside_a_service() -> usize {
    (cores() / 2).max(1)
}

/// Whether a server there surely shares this machine's cores.
pub(crate) fn is_on_this_machine(endpoint: &Endpoint) -> bool {
    match endpoint {
        Endpoint::Unix(_) => true,
        Endpoint::Tcp(address) => address.ip().is_loopback(),
    }
}

/// The cores that this process may use.
fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

#[cfg(test)]
mod tests {
    use driver::Address;
    use driver::rpc::{Protocol, Service};
    use plan::Plan;

    use super::*;

    fn load(lines: &str) -> LoadPlan {
        let text = format!("system = \"a\"\nworkload = \"b\"\n[load]\n{lines}\n");
        let folder = std::path::PathBuf::new();
        Plan::parse(plan::Source { name: "x".to_owned(), text, folder }).unwrap().load
    }

    #[test]
    fn given_cpus_have_an_event_loop_each_unless_the_plan_says_how_many() {
        let given = load("cpus = \"0,2-4\"");
        assert_eq!((of_load(&given, 7), cpus(&given)), (4, vec![0, 2, 3, 4]));
        assert_eq!(of_load(&load("cpus = \"0,2-4\"\nworkers = 2"), 7), 2);
        assert_eq!((of_load(&load(""), 7), cpus(&load(""))), (7, Vec::new()));
    }

    #[test]
    fn a_service_on_this_machine_keeps_half_of_the_cores() {
        let service = |endpoint: &str| {
            let endpoint = Endpoint::Tcp(endpoint.parse().unwrap());
            let addresses = vec![Address { name: String::new(), endpoint }];
            let service = Service::resolve(Protocol::Trpc, "trpc://127.0.0.1:7").unwrap();
            Access::Service(Service { addresses, ..service })
        };
        assert_eq!(beside(&service("127.0.0.1:1")), (cores() / 2).max(1));
        assert_eq!(beside(&service("192.0.2.1:1")), cores());
    }
}
