//! The duration of a round trip without load: the baseline for latencies under load.

use std::sync::mpsc;
use std::time::Duration;

use driver::{Target, Timeouts};
use engine::{Stop, worker_pool};
use measure::LatencyHistogram;

/// The smallest possible statement.
const QUESTION: &str = "SELECT 1";
/// The number of answers that count, after one that does not.
const ROUND_TRIPS: usize = 50;
/// A server that takes longer is not idle.
const BOUND: Duration = Duration::from_secs(1);

/// Round trips of the smallest statement over a session of its own, one after the other; as many as were answered in
/// time. Empty for an embedded database, which has no network round trip.
pub(crate) fn round_trips(target: Option<&Target>, stop: &Stop) -> LatencyHistogram {
    let Some(target) = target.filter(|target| !target.capabilities().is_blocking) else {
        return LatencyHistogram::new();
    };
    let target = target.clone().with_timeouts(Timeouts { connect: BOUND, query: Some(BOUND) });
    let (told, answers) = mpsc::channel();
    // A server that does not answer has no baseline; the load reports that the server cannot be used.
    let _ = worker_pool::run_one(stop, |handle| {
        Box::pin(async move {
            let mut session = target.connect(&handle, 0).await?;
            session.run(QUESTION).await?;
            for _ in 0..ROUND_TRIPS {
                let asked = handle.now();
                session.run(QUESTION).await?;
                // The receiver lives until the loop has ended.
                let _ = told.send(handle.now() - asked);
            }
            session.close().await;
            Ok(())
        })
    });
    let mut round_trips = LatencyHistogram::new();
    answers.try_iter().for_each(|latency_ns| round_trips.record(latency_ns));
    round_trips
}
