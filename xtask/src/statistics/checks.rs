//! The checks of single trials in a steady state: what they warn of is chance.

use std::time::Duration;

use plan::ServiceDistribution;

use super::simulation::{Case, Seen, Study, at_most};
use super::trial::{SimulatedTrial, chance, run, system};

const SERVICE_NS: u64 = 10_000_000;
const WARNS: &str = "warns of something";

pub(super) static STUDY: Study = Study {
    name: "checks",
    title: "Checks of single trials",
    goals: const { &[at_most(WARNS, 1.0)] },
    cases,
};

#[derive(Clone, Copy)]
enum Load {
    /// Poisson arrivals at this part of the server's capacity.
    Open(f64),
    /// So many clients, with a think time in service times.
    Closed(usize, u64),
}

/// Loads at half and at nearly all of a server's capacity, each with several distributions of services.
fn cases() -> Vec<Case> {
    let services = [
        ("exponential", ServiceDistribution::Exponential),
        ("lognormal, variation 1.5", ServiceDistribution::Lognormal { variation: 1.5 }),
        ("bimodal, variation 1.5", ServiceDistribution::Bimodal { variation: 1.5 }),
    ];
    let loads = [
        ("open loop at 0.5 of capacity", Load::Open(0.5)),
        ("open loop at 0.95 of capacity", Load::Open(0.95)),
        ("closed loop, one client, thinking for a service time", Load::Closed(1, 1)),
        ("closed loop, 8 clients", Load::Closed(8, 0)),
    ];
    let of = |(name, load)| {
        services.map(move |(services, distribution)| {
            Case::new(format!("{name}, {services} services"), move |seed| {
                once(load, distribution, seed)
            })
        })
    };
    loads.into_iter().flat_map(of).collect()
}

/// 30 s on a server of 100 a second, after a warm-up of several times the time in which its queue forgets.
fn once(load: Load, distribution: ServiceDistribution, seed: u64) -> anyhow::Result<Seen> {
    let system = system(1, SERVICE_NS, distribution, Vec::new());
    let warm_up =
        Duration::from_secs(if matches!(load, Load::Open(part) if part > 0.9) { 60 } else { 5 });
    let trial = match load {
        Load::Closed(clients, think) => {
            SimulatedTrial::closed(system, clients, think * SERVICE_NS, warm_up)
        }
        Load::Open(part) => SimulatedTrial::open(system, 100.0 * part, seed, warm_up),
    };
    let trial = SimulatedTrial { time: Duration::from_secs(30), ..trial };
    let findings = run(&trial, chance(seed), None)?.findings;
    let mut seen = Seen::default();
    seen.is(WARNS, !findings.is_empty());
    findings.iter().for_each(|it| seen.is(format!("a warning is {}", it.code.name()), true));
    Ok(seen)
}
