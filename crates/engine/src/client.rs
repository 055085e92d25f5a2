//! The load that the engine drives. Its clients are created worker by worker.

use std::future::Future;
use std::ops::Range;
use std::pin::Pin;
use std::rc::Rc;

use measure::{Failure, Operation};
use net::{Handle, Runtime};

use crate::ClientHandle;
use crate::worker_state::WorkerState;

pub type LocalBoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

/// The load that clients make together.
pub trait Load: Sync {
    /// The operations that are timed; [`measure::OperationId`]s are indices of this list.
    fn operations(&self) -> &[Operation];

    /// The nearest client, at or before `client`, before which the clients may be divided among workers. Clients that
    /// share a connection are not divided.
    fn align(&self, client: usize) -> usize {
        client
    }

    /// Starts the clients of one worker with [`Clients::start`], on the thread that they stay on. It is called once
    /// for each worker, so that all clients of the worker can share data without locks.
    fn clients(&self, clients: Clients<'_>);

    /// What the generators of the load tell each other; `None` if nothing.
    fn news(&self) -> Option<&dyn News> {
        None
    }
}

/// The first client of one of `workers` workers.
pub(crate) fn first_client(
    load: &dyn Load,
    clients: usize,
    (worker, workers): (usize, usize),
) -> usize {
    load.align(worker * clients / workers)
}

/// What the generators of a load tell each other while it runs.
pub trait News {
    /// What the others must know of this one. Told with each interval that is closed.
    fn tell(&self) -> Vec<u64>;

    /// Takes in what another one has told. The process that coordinates them hears of all.
    fn hear(&self, generator: usize, news: &[u64]);
}

/// The clients of one worker, before they start.
pub struct Clients<'a> {
    runtime: &'a mut Runtime,
    state: Rc<WorkerState>,
    range: Range<usize>,
}

impl<'a> Clients<'a> {
    pub(crate) fn new(
        runtime: &'a mut Runtime,
        state: Rc<WorkerState>,
        range: Range<usize>,
    ) -> Self {
        Self { runtime, state, range }
    }

    /// The worker's event loop. A future that serves several clients, such as the reader of a connection that
    /// they share, is spawned there.
    pub fn net(&self) -> &Handle {
        &self.state.handle
    }

    /// The indices of these clients in the trial.
    pub fn range(&self) -> Range<usize> {
        self.range.clone()
    }

    /// Starts one client for each index. `client` is the client's whole life: it gets ready (connects, prepares), and
    /// then runs `while let Some(turn) = handle.next().await` with one transaction for each turn. The first call of
    /// [`ClientHandle::next`] reports that the client is ready, and waits for the start.
    pub fn start<C, F>(self, client: C)
    where
        C: Fn(ClientHandle) -> F + 'static,
        F: Future<Output = Result<(), Failure>> + 'static,
    {
        let client = Rc::new(client);
        for local in 0..self.range.len() {
            let (client, state) = (Rc::clone(&client), Rc::clone(&self.state));
            // The client's future is created within its task, so that it takes space there once and needs no box.
            self.runtime.spawn(async move {
                let handle = ClientHandle::new(local, Rc::clone(&state));
                if let Err(failure) = client(handle).await {
                    state.client_failed(local, failure);
                }
            });
        }
    }
}
