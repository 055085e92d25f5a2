//! Waits for a server that cannot be reached when a trial is about to begin, as a client would during the load.
//! Without this, every remaining trial would fail in the time that a restart of the server takes.

use std::thread;
use std::time::Duration;

use driver::Target;
use engine::{Stop, worker_pool};
use measure::Failure;
use net::Clock;
use system::Access;

use crate::test_bed::TestBed;
use crate::{Event, RunListener};

/// Time between two attempts.
const PAUSE: Duration = Duration::from_millis(200);

/// Returns when the server accepts connections, or when waiting is of no use: it refuses the login, it has not been
/// reached within `limit`, or a stop is requested. The trial then reports the error.
pub(crate) fn wait_for_server(
    test_bed: &TestBed<'_>,
    limit: Option<Duration>,
    stop: &Stop,
    listener: &mut dyn RunListener,
) {
    let Access::Database(target) = test_bed.access() else { return };
    let Some(limit) = limit else { return };
    if test_bed.is_managed() || target.capabilities().is_blocking {
        return;
    }
    let clock = Clock::monotonic();
    let mut is_told = false;
    while let Err(failure) = connect(target, stop) {
        let is_over = Duration::from_nanos(clock.now()) >= limit || stop.is_asked();
        if is_over || !failure.key.class.breaks_connection() {
            return;
        }
        if !is_told {
            listener.on_event(Event::Note { text: &format!("waiting for the server: {failure}") });
            is_told = true;
        }
        thread::sleep(PAUSE);
    }
}

fn connect(target: &Target, stop: &Stop) -> Result<(), Failure> {
    let target = target.clone();
    worker_pool::run_one(stop, |handle| {
        Box::pin(async move {
            target.connect(&handle, 0).await?.close().await;
            Ok(())
        })
    })
}
