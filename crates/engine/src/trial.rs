//! Offers the load of one trial from this process.

use std::sync::Arc;
use std::sync::mpsc;
use std::thread;

use net::Clock;

use crate::control::Control;
use crate::coordinator::Coordinator;
use crate::worker_threads::{WorkerThreads, spawn_part};
use crate::{Load, OfferedLoad, Outcome, Part, Stop, TrialError, TrialObserver};

/// Runs `load` with the settings of `offer`, until it is over or `stop` is requested.
///
/// # Errors
/// When a client cannot start, or `observer` cannot store the results.
///
/// # Panics
/// When a client panics.
pub fn offer(
    offer: &OfferedLoad,
    load: &dyn Load,
    stop: &Stop,
    observer: &mut dyn TrialObserver,
) -> Result<Outcome, TrialError> {
    let workers = offer.threads();
    let part = Part::whole(workers);
    let control = Arc::new(Control::new(offer, stop.clone()));
    if offer.is_virtual() {
        // In virtual time clients are ready at once and start at 0.
        control.start_at(0);
    }
    let origin = net::origin();
    let (out, inbox) = mpsc::channel();
    thread::scope(|scope| {
        let (threads, started) = spawn_part(scope, &part, (offer, load), (&control, origin), &out);
        drop(out);
        let mut steering = WorkerThreads::new(&control, &part, inbox);
        let result = match started {
            Ok(()) => {
                let (operations, clock) = (load.operations().len(), Clock::since(origin));
                let shared = (&*control, &mut steering as _);
                Coordinator::new(offer, operations, shared, clock, observer).run()
            }
            Err(cause) => Err(TrialError::Thread { workers, cause }),
        };
        steering.finish(threads, result)
    })
}
