//! Waits for a server that cannot be reached when a trial is about to begin, as a client would during the load.
//! Without this, every remaining trial would fail in the time that a restart of the server takes.

use std::thread;
use std::time::Duration;

use engine::{Stop, worker_pool};
use measure::Failure;
use net::Clock;
use system::Access;

use crate::RunListener;
use crate::test_bed::TestBed;

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
    let Some(limit) = limit.filter(|_| !test_bed.is_managed()) else { return };
    let clock = Clock::monotonic();
    let mut has_notified = false;
    while let Err(failure) = connect(test_bed, stop) {
        let is_over = Duration::from_nanos(clock.now()) >= limit || stop.is_asked();
        if is_over || !failure.key.class.breaks_connection() {
            return;
        }
        if !has_notified {
            listener.on_note(&format!("waiting for the server: {failure}"));
            has_notified = true;
        }
        thread::sleep(PAUSE);
    }
}

/// Connects once, unless the system has no connections.
fn connect(test_bed: &TestBed<'_>, stop: &Stop) -> Result<(), Failure> {
    match test_bed.access() {
        Access::Database(target) if !target.capabilities().is_embedded => {
            let target = target.clone();
            worker_pool::run_one(stop, |handle| {
                Box::pin(async move {
                    target.connect(&handle, 0).await?.close().await;
                    Ok(())
                })
            })
        }
        Access::Service(service) => {
            let (service, timeouts) = (service.clone(), test_bed.timeouts());
            worker_pool::run_one(stop, |handle| {
                Box::pin(async move { service.reach(&handle, timeouts).await.map(drop) })
            })
        }
        Access::Database(_) | Access::Simulated(_) => Ok(()),
    }
}
