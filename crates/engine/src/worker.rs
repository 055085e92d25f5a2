//! One thread of load: an event loop and its clients.

use std::rc::Rc;

use measure::Failure;
use net::{Clock, Runtime};

use crate::assignment::Assignment;
use crate::bench::Bench;
use crate::control::Message;
use crate::crew::event_loop_failure;
use crate::{Clients, Load};

/// Works until the load is over.
pub(crate) fn work(
    assignment: &Assignment<'_>,
    load: &dyn Load,
    clock: Clock,
) -> Result<(), Failure> {
    let mut runtime = Runtime::new(clock).map_err(|error| event_loop_failure(&error))?;
    let bench = Rc::new(Bench::new(assignment, runtime.handle()));
    bench.send(Message::Up { worker: assignment.worker, remote: runtime.remote() });
    load.clients(Clients::new(&mut runtime, Rc::clone(&bench), assignment.clients()));
    let result = runtime.run(|| bench.tick());
    bench.close_last();
    bench.send(bench.done());
    result.map_err(|error| event_loop_failure(&error))
}
