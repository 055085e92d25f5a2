//! A generator's part of a load.
//!
//! Generators together are one process with all of their workers: a worker has its number among all workers, and its
//! clients, its arrivals and its seeds follow from that number alone.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::client::first_client;
use crate::{Load, OfferedLoad, Pacing};

/// The workers of one generator, of all workers of a load.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    pub first_worker: usize,
    pub workers: usize,
    /// How many workers there are on all generators.
    pub of: usize,
    pub generator: usize,
    pub generators: usize,
}

impl Part {
    /// The parts of generators with so many workers each.
    pub fn divide(workers: &[usize]) -> Vec<Self> {
        let part = |(generator, count): (usize, &usize)| Self {
            first_worker: workers[..generator].iter().sum(),
            workers: *count,
            of: workers.iter().sum(),
            generator,
            generators: workers.len(),
        };
        workers.iter().enumerate().map(part).collect()
    }

    pub(crate) fn whole(workers: usize) -> Self {
        Self { first_worker: 0, workers, of: workers, generator: 0, generators: 1 }
    }

    pub fn workers(&self) -> Range<usize> {
        self.first_worker..self.first_worker + self.workers
    }

    pub fn clients(&self, offer: &OfferedLoad, load: &dyn Load) -> Range<usize> {
        let first_of = |worker| first_client(load, offer.clients, (worker, self.of));
        first_of(self.first_worker)..first_of(self.first_worker + self.workers)
    }

    /// Its share of a number of transactions that limits the load. The shares of all parts add up to the number. In
    /// an open loop workers have the same number of arrivals, in a closed loop clients have about the same number of
    /// turns.
    pub(crate) fn events(&self, offer: &OfferedLoad, clients: &Range<usize>) -> Option<u64> {
        let events = u128::from(offer.limit.events?);
        let (range, of) = match offer.pacing {
            Pacing::Open { .. } => (self.workers(), self.of),
            Pacing::Closed { .. } => (clients.clone(), offer.clients),
        };
        let until = |place: usize| events * place as u128 / of as u128;
        u64::try_from(until(range.end) - until(range.start)).ok()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use plan::{Arrivals, Limit, Rate, ServiceDistribution, SimulatedSystem};

    use super::*;
    use crate::{Schedule, Simulated, SimulatedChance};

    fn load() -> Simulated {
        let system = SimulatedSystem {
            servers: 1,
            operations: 1,
            service_times_ns: vec![1],
            distribution: ServiceDistribution::Constant,
            stalls: Vec::new(),
            noise: Vec::new(),
        };
        Simulated::new(system, SimulatedChance::default())
    }

    #[test]
    fn parts_have_all_workers_and_all_clients_once() {
        let parts = Part::divide(&[2, 1, 4]);
        let workers: Vec<_> = parts.iter().map(Part::workers).collect();
        assert_eq!(workers, [0..2, 2..3, 3..7]);
        assert!(parts.iter().all(|part| (part.of, part.generators) == (7, 3)));
        let offer = OfferedLoad { clients: 100, ..OfferedLoad::example() };
        let clients: Vec<_> = parts.iter().map(|part| part.clients(&offer, &load())).collect();
        assert_eq!(clients, [0..28, 28..42, 42..100]);
    }

    #[test]
    fn shares_of_a_number_of_transactions_add_up() {
        let schedule = Schedule::new(&Rate::constant(10.0), Duration::ZERO);
        let (spread, seed, backlog_max) = (Arrivals::Constant, 1, 10);
        let open = Pacing::Open { schedule, spread, seed, backlog_max };
        let shares = |pacing: &Pacing, events: u64| {
            let pacing = pacing.clone();
            let limit = Limit::events(events);
            let offer = OfferedLoad { clients: 5, limit, pacing, ..OfferedLoad::example() };
            let parts = Part::divide(&[1, 2]);
            let share = |part: &Part| part.events(&offer, &part.clients(&offer, &load()));
            parts.iter().filter_map(share).collect::<Vec<u64>>()
        };
        // Workers 0 to 2 have 1, 2 and 2 clients.
        assert_eq!(shares(&Pacing::Closed { think_time_ns: 0 }, 101), [20, 81]);
        assert_eq!(shares(&open, 101), [33, 68]);
        for events in [0, 1, 7, u64::MAX] {
            assert_eq!(shares(&open, events).iter().sum::<u64>(), events);
        }
    }
}
