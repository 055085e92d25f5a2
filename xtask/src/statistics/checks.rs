//! The checks of single trials in a steady state: what they warn of is chance.

use std::collections::BTreeMap;
use std::time::Duration;

use engine::{Pacing, Schedule, SimulatedChance};
use plan::{Arrivals, Rate, ServiceDistribution, SimulatedSystem};

use super::percent;
use super::table::{Case, repeated};
use super::trial::{SimulatedTrial, run};

const MS: u64 = 1_000_000;

/// A load in a steady state, and its services.
pub(super) struct Steady {
    load: Load,
    services: (&'static str, ServiceDistribution),
}

#[derive(Clone, Copy)]
enum Load {
    /// Poisson arrivals at this part of the server's capacity.
    Open(f64),
    /// So many clients, with a think time in service times.
    Closed(usize, u64),
}

/// Trials with each code.
pub(super) struct Frequencies {
    trials: u64,
    codes: BTreeMap<&'static str, u64>,
}

impl Case for Steady {
    const TITLE: &'static str = "Checks of single trials";
    const HEAD: &'static str = "\
| load | services | trials with each warning, % |
|---|---|---|";
    type Found = Frequencies;

    /// Loads at half and at nearly all of a server's capacity, each with several distributions of services.
    fn all() -> Vec<Self> {
        let services = [
            ("exponential", ServiceDistribution::Exponential),
            ("lognormal, variation 1.5", ServiceDistribution::Lognormal { variation: 1.5 }),
            ("bimodal, variation 1.5", ServiceDistribution::Bimodal { variation: 1.5 }),
        ];
        let loads = [Load::Open(0.5), Load::Open(0.95), Load::Closed(1, 1), Load::Closed(8, 0)];
        let of = |load| services.map(move |services| Self { load, services });
        loads.into_iter().flat_map(of).collect()
    }

    fn found(&self, trials: u64, seed: u64) -> anyhow::Result<Frequencies> {
        let mut codes = BTreeMap::new();
        let once = |seed| {
            let chance = SimulatedChance { services: seed, noise: seed, origin_ns: 0, up_ns: 0 };
            Ok(run(&trial(self, seed), chance)?.1)
        };
        for finding in repeated(trials, seed, once)?.into_iter().flatten() {
            *codes.entry(finding.code.name()).or_default() += 1;
        }
        Ok(Frequencies { trials, codes })
    }

    fn row(&self, found: &Frequencies) -> String {
        found.row(self)
    }
}

/// 30 s on a server of 100 a second, after a warm-up of several times the time in which its queue forgets.
fn trial(case: &Steady, seed: u64) -> SimulatedTrial {
    const SERVICE: u64 = 10 * MS;
    let system = SimulatedSystem {
        servers: 1,
        operations: 1,
        service_times_ns: vec![SERVICE],
        distribution: case.services.1,
        stalls: Vec::new(),
        noise: Vec::new(),
    };
    let (clients, rate_per_s, pacing) = match case.load {
        Load::Closed(clients, think) => {
            (clients, None, Pacing::Closed { think_time_ns: think * SERVICE })
        }
        Load::Open(part) => {
            let rate_per_s = 100.0 * part;
            let schedule = Schedule::new(&Rate::constant(rate_per_s), warm_up(case));
            let spread = Arrivals::Poisson;
            let pacing = Pacing::Open { schedule, spread, seed, backlog_max: 100_000 };
            (1_000, Some(rate_per_s), pacing)
        }
    };
    let (warm_up, time) = (warm_up(case), Duration::from_secs(30));
    let interval = Duration::from_secs(1);
    SimulatedTrial { system, clients, pacing, rate_per_s, warm_up, time, interval }
}

fn warm_up(case: &Steady) -> Duration {
    let is_slow = matches!(case.load, Load::Open(part) if part > 0.9);
    Duration::from_secs(if is_slow { 60 } else { 5 })
}

impl Frequencies {
    fn row(&self, case: &Steady) -> String {
        let load = match case.load {
            Load::Open(part) => format!("open loop at {part} of capacity"),
            Load::Closed(clients, think) => {
                format!("closed loop, clients: {clients}, think time in services: {think}")
            }
        };
        let codes = self.codes.iter();
        let codes = codes.map(|(code, count)| format!("{code} {}", percent(*count, self.trials)));
        let codes: Vec<String> = codes.collect();
        let codes = if codes.is_empty() { "none".to_owned() } else { codes.join(", ") };
        format!("| {load} | {} | {codes} |", case.services.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trials_of_the_engine_in_a_steady_state_have_no_warnings() {
        for case in Steady::all() {
            let found = case.found(3, 1).unwrap();
            assert!(found.codes.is_empty(), "{}", found.row(&case));
        }
    }
}
