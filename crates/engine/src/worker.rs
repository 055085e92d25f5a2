//! One thread of load: an event loop and its clients.

use std::rc::Rc;

use measure::Failure;
use net::{Clock, Runtime};

use crate::assignment::Assignment;
use crate::control::Message;
use crate::worker_pool::event_loop_failure;
use crate::worker_state::WorkerState;
use crate::{Clients, Load};

/// Runs a worker until the load is over.
pub(crate) fn work(
    assignment: &Assignment<'_>,
    load: &dyn Load,
    clock: Clock,
) -> Result<(), Failure> {
    let mut runtime = Runtime::new(clock).map_err(|error| event_loop_failure(&error))?;
    let state = Rc::new(WorkerState::new(assignment, runtime.handle()));
    state.send(Message::Up { worker: assignment.worker, remote: runtime.remote() });
    load.clients(Clients::new(&mut runtime, Rc::clone(&state), assignment.clients()));
    let result = runtime.run(|| state.tick());
    state.close_last();
    state.send(state.done());
    result.map_err(|error| event_loop_failure(&error))
}
