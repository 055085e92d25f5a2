//! A system whose behaviour is arithmetic: servers, a queue and given service times, in exact
//! virtual time. What a report must say about it can be worked out on paper.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::{Arc, Mutex, PoisonError};

use measure::{Failure, Operation, OperationId, OperationKind};
use net::Nanos;

use crate::{Client, Load, LocalBoxFuture, Seat};

/// `servers` servers behind one first-come-first-served queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimulatedSystem {
    /// How many requests are served at once, at least 1.
    pub servers: usize,
    /// Service times, ns; requests take them in turn, over and over. Not empty.
    pub service_times_ns: Vec<Nanos>,
    /// Stretches of time in which nothing is served, in their order and apart.
    pub stalls: Vec<Stall>,
}

/// A stretch of time in which every server stands still.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stall {
    /// When it begins on the trial's clock, warm-up included, ns.
    pub at_ns: Nanos,
    /// How long it lasts, ns.
    pub length_ns: Nanos,
}

/// The load on a simulated system: each transaction is one request.
pub struct Simulated {
    operations: Vec<Operation>,
    /// All clients of a simulated trial live on one thread, so the lock never waits.
    queue: Arc<Mutex<Queue>>,
}

impl Simulated {
    /// Load for one trial on a fresh system.
    pub fn new(system: &SimulatedSystem) -> Self {
        let operations = vec![Operation::new("request", OperationKind::Transaction)];
        Self { operations, queue: Arc::new(Mutex::new(Queue::of(system))) }
    }
}

struct Queue {
    /// When each server is free.
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

    /// Takes a request at `now` and returns when its answer comes.
    fn enter(&mut self, now: Nanos) -> Nanos {
        let times = &self.system.service_times_ns;
        let service = times[self.served % times.len()];
        self.served += 1;
        // There is at least one server; the one that is free first takes the request.
        let Reverse(free_at) = self.free_at.pop().unwrap_or_default();
        let done = self.served_by(free_at.max(now), service);
        self.free_at.push(Reverse(done));
        done
    }

    /// When work of `service` that begins at `start` is done: stalls come on top.
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

impl Load for Simulated {
    fn operations(&self) -> &[Operation] {
        &self.operations
    }

    fn client(&self, _index: usize) -> Box<dyn Client> {
        Box::new(SimulatedClient { queue: Arc::clone(&self.queue) })
    }
}

struct SimulatedClient {
    queue: Arc<Mutex<Queue>>,
}

impl Client for SimulatedClient {
    fn run(self: Box<Self>, mut seat: Seat) -> LocalBoxFuture<'static, Result<(), Failure>> {
        Box::pin(async move {
            while let Some(turn) = seat.next().await {
                let done = self
                    .queue
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .enter(turn.started_ns);
                seat.net().sleep_until(done).await;
                seat.finish(turn, OperationId(0));
            }
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests;
