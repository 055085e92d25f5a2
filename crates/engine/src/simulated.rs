//! A simulated system: servers, a queue and given service times, in exact virtual time. The figures of its
//! report can be computed by hand.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::rc::Rc;

use measure::{Operation, OperationId, OperationKind};
use net::Nanos;
use plan::SimulatedSystem;

use crate::{Clients, Load};

/// The load on a simulated system: each transaction is one request.
pub struct Simulated {
    operations: Vec<Operation>,
    system: SimulatedSystem,
}

impl Simulated {
    /// The load of one trial on a fresh system.
    pub fn new(system: SimulatedSystem) -> Self {
        let operations = vec![Operation::new("request", OperationKind::Transaction)];
        Self { operations, system }
    }
}

impl Load for Simulated {
    fn operations(&self) -> &[Operation] {
        &self.operations
    }

    /// All clients of a simulated trial belong to one worker, so that they share one queue.
    fn clients(&self, clients: Clients<'_>) {
        let queue = Rc::new(RefCell::new(Queue::of(&self.system)));
        clients.start(move |mut handle| {
            let queue = Rc::clone(&queue);
            async move {
                while let Some(turn) = handle.next().await {
                    let done = queue.borrow_mut().enter(turn.started_ns);
                    handle.net().sleep_until(done).await;
                    handle.finish(turn, OperationId(0));
                }
                Ok(())
            }
        });
    }
}

struct Queue {
    /// The time at which each server is free.
    free_at: BinaryHeap<Reverse<Nanos>>,
    system: SimulatedSystem,
    served: usize,
}

impl Queue {
    fn of(system: &SimulatedSystem) -> Self {
        Self {
            free_at: vec![Reverse(0); system.servers.max(1)].into(),
            system: system.clone(),
            served: 0,
        }
    }

    /// Adds a request at `now` and returns the time of its answer.
    fn enter(&mut self, now: Nanos) -> Nanos {
        let times = &self.system.service_times_ns;
        let service = times[self.served % times.len()];
        self.served += 1;
        // There is at least one server; the first free one serves the request.
        let Reverse(free_at) = self.free_at.pop().unwrap_or_default();
        let done = self.served_by(free_at.max(now), service);
        self.free_at.push(Reverse(done));
        done
    }

    /// The time at which a request is done that starts at `start` and takes `service`, including stalls.
    fn served_by(&self, start: Nanos, service: Nanos) -> Nanos {
        let mut done = start + service;
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
