//! Runs jobs in parallel, on threads with an event loop each.

use std::panic;
use std::rc::Rc;

use net::{BlockingCheck, Clock, Handle, Runtime};

use crate::{LocalBoxFuture, Stop, StopLevel};
use measure::{ErrorClass, Failure};

/// Runs `worker(index, handle)` on `threads` threads, each future on a separate event loop, and waits for all.
/// Workers share work through the variables that they capture, such as an atomic counter.
///
/// # Errors
/// The failure of the first worker (by index) that failed. A stop drops workers where they wait, as in [`run_one`].
///
/// # Panics
/// When a worker panics.
pub fn run<'env, M>(threads: usize, stop: &Stop, worker: M) -> Result<(), Failure>
where
    M: Fn(usize, Handle) -> LocalBoxFuture<'static, Result<(), Failure>> + Sync + 'env,
{
    let before = stop.level();
    let results: Vec<_> = std::thread::scope(|scope| {
        let worker_pool: Vec<_> = (0..threads)
            .map(|index| {
                let worker = &worker;
                scope.spawn(move || {
                    run_until(has_risen(stop, before), |handle| worker(index, handle))
                })
            })
            .collect();
        worker_pool
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|cause| panic::resume_unwind(cause)))
            .collect()
    });
    results.into_iter().collect()
}

/// How often `stop` is checked while a worker waits, ns.
const POLL_PERIOD_NS: u64 = 50_000_000;

/// Runs one future on this thread, to its end or until a stop is requested. A request from before does not end it, so
/// that something can be cleaned up after the first request, but the second does.
///
/// # Errors
/// The future's own failure, or that of the event loop, or that it was interrupted.
pub fn run_one<F>(stop: &Stop, job: F) -> Result<(), Failure>
where
    F: FnOnce(Handle) -> LocalBoxFuture<'static, Result<(), Failure>>,
{
    run_until(has_risen(stop, stop.level()), job)
}

/// Whether a stop is more urgent than it was `before`, or as urgent as it can be.
pub fn has_risen(stop: &Stop, before: StopLevel) -> impl Fn() -> bool + 'static {
    let stop = stop.clone();
    move || {
        let level = stop.level();
        level > before || level == StopLevel::AtOnce
    }
}

/// Runs one future on this thread, to its end or until `must_end` returns true.
///
/// # Errors
/// The future's own failure, or that of the event loop, or that it was interrupted.
pub fn run_until<F>(must_end: impl Fn() -> bool + 'static, job: F) -> Result<(), Failure>
where
    F: FnOnce(Handle) -> LocalBoxFuture<'static, Result<(), Failure>>,
{
    let mut runtime =
        Runtime::new(Clock::monotonic()).map_err(|error| event_loop_failure(&error))?;
    let handle = runtime.handle();
    let must_end = Rc::new(must_end);
    let blocked = Rc::clone(&must_end);
    let _check = BlockingCheck::set(move || blocked());
    let (sender, receiver) = std::sync::mpsc::channel();
    let future = job(handle.clone());
    runtime.spawn(async move {
        // The receiver lives until the loop has ended.
        let _ = sender.send(future.await);
    });
    runtime
        .run(|| (!must_end()).then(|| handle.now() + POLL_PERIOD_NS))
        .map_err(|error| event_loop_failure(&error))?;
    receiver
        .try_recv()
        .unwrap_or_else(|_| Err(Failure::new(ErrorClass::Connection, "", "interrupted")))
}

pub(crate) fn event_loop_failure(error: &std::io::Error) -> Failure {
    Failure::new(ErrorClass::Connection, "", format!("the event loop failed: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    #[test]
    fn every_worker_runs_and_the_first_failure_is_returned() {
        let runs = Arc::new(AtomicU64::new(0));
        let outcome = run(3, &Stop::new(), |index, _| {
            let runs = Arc::clone(&runs);
            Box::pin(async move {
                runs.fetch_add(1, Ordering::Relaxed);
                if index == 0 {
                    return Ok(());
                }
                Err(Failure::new(ErrorClass::Server, "1146", format!("member {index}")))
            })
        });
        assert_eq!(runs.load(Ordering::Relaxed), 3);
        assert_eq!(outcome.unwrap_err().message, "member 1");
    }

    /// The result of a future that asks to stop and then waits for ever.
    fn asked_within(stop: &Stop) -> Result<(), Failure> {
        let asked = stop.clone();
        run_one(stop, |_| {
            Box::pin(async move {
                asked.ask();
                std::future::pending().await
            })
        })
    }

    #[test]
    fn a_request_to_stop_ends_what_began_before_it_and_nothing_that_began_after_it() {
        let stop = Stop::new();
        assert_eq!(asked_within(&stop).unwrap_err().message, "interrupted");
        assert_eq!(stop.level(), StopLevel::Gracefully);
        assert_eq!(run_one(&stop, |_| Box::pin(async { Ok(()) })), Ok(()), "what is cleaned up");
        assert_eq!(asked_within(&stop).unwrap_err().message, "interrupted");
        assert_eq!(stop.level(), StopLevel::AtOnce);
    }
}
