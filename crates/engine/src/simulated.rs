//! A system whose behaviour is arithmetic: servers, a queue and given service times, in exact
//! virtual time. What a report must say about it can be worked out on paper.

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
    free_at: Vec<Nanos>,
    service_times_ns: Vec<Nanos>,
    served: usize,
}

impl Queue {
    fn of(system: &SimulatedSystem) -> Self {
        Self {
            free_at: vec![0; system.servers.max(1)],
            service_times_ns: system.service_times_ns.clone(),
            served: 0,
        }
    }

    /// Takes a request at `now` and returns when its answer comes.
    fn enter(&mut self, now: Nanos) -> Nanos {
        let service = self.service_times_ns[self.served % self.service_times_ns.len()];
        self.served += 1;
        let server = (0..self.free_at.len()).min_by_key(|&i| self.free_at[i]).unwrap_or(0);
        let done = self.free_at[server].max(now) + service;
        self.free_at[server] = done;
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
                    .enter(turn.intended_ns);
                seat.net().sleep_until(done).await;
                seat.finish(turn, OperationId(0));
            }
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests;
