//! A simulated system: servers, a queue, service times and noise, in exact virtual time. Without noise and with
//! constant service times, the figures of its report can be computed by hand.

mod draws;
mod noise;

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::rc::Rc;

use measure::{Operation, OperationId, OperationKind};
use net::Nanos;
use plan::SimulatedSystem;

use crate::{Clients, Load};
use draws::Draws;
use noise::MachineNoise;

/// The draws of services, beside those of the sources of noise, which begin at 1.
const SERVICES: u64 = 0;

/// The load on a simulated system: each transaction is one request.
pub struct Simulated {
    operations: Vec<Operation>,
    system: SimulatedSystem,
    chance: SimulatedChance,
}

/// Where the draws of a simulated trial come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SimulatedChance {
    /// The seed of the services, different for each trial.
    pub services: u64,
    /// The seed of the machine's noise, the same for all trials of a run.
    pub noise: u64,
    /// Where the trial's load starts in the time of that noise, ns.
    pub origin_ns: Nanos,
    /// How long the system has been up then, ns.
    pub up_ns: Nanos,
}

impl Simulated {
    /// The load of one trial on a fresh system.
    pub fn new(system: SimulatedSystem, chance: SimulatedChance) -> Self {
        let operation = |name: String| Operation::new(&name, OperationKind::Transaction);
        let operations = match system.operations {
            0 | 1 => vec![operation("request".to_owned())],
            kinds => (1..=kinds).map(|kind| operation(format!("request {kind}"))).collect(),
        };
        Self { operations, system, chance }
    }
}

impl Load for Simulated {
    fn operations(&self) -> &[Operation] {
        &self.operations
    }

    /// The clients of a worker share one queue. A simulated trial has one worker, unless a test has more.
    fn clients(&self, clients: Clients<'_>) {
        let queue = Rc::new(RefCell::new(Queue::of(&self.system, self.chance)));
        clients.start(move |mut handle| {
            let queue = Rc::clone(&queue);
            async move {
                while let Some(turn) = handle.next().await {
                    let operation = queue.borrow().next_operation();
                    let done = queue.borrow_mut().enter(turn.started_ns);
                    handle.net().sleep_until(done).await;
                    handle.finish(turn, operation);
                }
                Ok(())
            }
        });
    }
}

struct Queue {
    free_at: BinaryHeap<Reverse<Nanos>>,
    system: SimulatedSystem,
    served: usize,
    draws: Draws,
    noise: MachineNoise,
}

impl Queue {
    fn of(system: &SimulatedSystem, chance: SimulatedChance) -> Self {
        Self {
            free_at: vec![Reverse(0); system.servers.max(1)].into(),
            system: system.clone(),
            served: 0,
            draws: Draws::new(chance.services, SERVICES),
            noise: MachineNoise::new(&system.noise, chance.noise, chance.origin_ns)
                .up_for(chance.up_ns),
        }
    }

    fn next_operation(&self) -> OperationId {
        OperationId((self.served % usize::from(self.system.operations.max(1))) as u16)
    }

    /// Adds a request at `now` and returns the time of its answer.
    fn enter(&mut self, now: Nanos) -> Nanos {
        let times = &self.system.service_times_ns;
        let time = times[self.served % times.len()];
        let service = (time as f64 * self.draws.service(self.system.distribution)).round() as Nanos;
        self.served += 1;
        // There is at least one server; the first free one serves the request.
        let Reverse(free_at) = self.free_at.pop().unwrap_or_default();
        let done = self.served_by(free_at.max(now), service);
        self.free_at.push(Reverse(done));
        done
    }

    /// The time at which a request is done that starts at `start` and takes `service`, including noise and stalls.
    fn served_by(&mut self, start: Nanos, service: Nanos) -> Nanos {
        let mut done = self.noise.served(start, service);
        for stall in &self.system.stalls {
            let end = stall.at_ns + stall.length_ns;
            if stall.at_ns < done && start < end {
                done += end - stall.at_ns.max(start);
            }
        }
        done
    }
}

#[cfg(test)]
mod tests;
