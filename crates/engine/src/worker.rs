//! One thread of load: an event loop and its clients.

use std::io;
use std::rc::Rc;
use std::thread::{Builder, Scope, ScopedJoinHandle};
use std::time::Instant;

use measure::{ErrorClass, Failure};
use net::{BlockingCheck, Clock, Runtime};

use crate::assignment::Assignment;
use crate::control::Message;
use crate::worker_pool::event_loop_failure;
use crate::worker_state::WorkerState;
use crate::{Clients, Load, Workers};

/// The names of worker threads begin with this, and end with the worker's index.
pub const WORKER_THREAD: &str = "dyno-load-";

/// Starts the thread of a worker. Its clock counts from `origin`, unless it is a virtual one.
///
/// # Errors
/// When the machine refuses a thread.
pub(crate) fn spawn<'scope, 'env>(
    scope: &'scope Scope<'scope, 'env>,
    assignment: Assignment<'env>,
    load: &'env dyn Load,
    origin: Instant,
) -> io::Result<ScopedJoinHandle<'scope, Result<(), Failure>>> {
    let name = format!("{WORKER_THREAD}{}", assignment.worker);
    Builder::new().name(name).spawn_scoped(scope, move || work(&assignment, load, origin))
}

/// Runs a worker until the load is over.
fn work(assignment: &Assignment<'_>, load: &dyn Load, origin: Instant) -> Result<(), Failure> {
    let cpus = &assignment.offer.cpus;
    if !cpus.is_empty() {
        net::bind_thread(cpus.iter().copied()).map_err(|error| not_bound(cpus, &error))?;
    }
    let clock = match assignment.offer.workers {
        Workers::Simulated(_) => Clock::simulated(),
        Workers::PerClient | Workers::EventLoops(_) => Clock::since(origin),
    };
    let mut runtime = Runtime::new(clock).map_err(|error| event_loop_failure(&error))?;
    let state = Rc::new(WorkerState::new(assignment, runtime.handle()));
    // The coordinator may have ended; then nobody wakes this loop, which sees that by itself.
    let _ = assignment.out.send(Message::Up { remote: runtime.remote() });
    let blocked = Rc::clone(&state);
    let _check = BlockingCheck::set(move || blocked.tick().is_none());
    let clients = assignment.clients.clone();
    load.clients(Clients::new(&mut runtime, Rc::clone(&state), clients));
    let result = runtime.run(|| state.tick());
    state.close_last();
    // Clients that have no answer tell what they waited for.
    drop(runtime);
    state.send(state.done());
    result.map_err(|error| event_loop_failure(&error))
}

fn not_bound(cpus: &[usize], error: &io::Error) -> Failure {
    let message = format!("the load cannot run on the CPUs {cpus:?}: {error}");
    Failure::new(ErrorClass::Connection, "", message)
}
