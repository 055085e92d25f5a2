//! The duration of a round trip without load: the baseline for latencies under load.

use std::sync::Arc;
use std::sync::mpsc::{self, Sender};
use std::time::Duration;

use driver::rpc::{Connection, Service, Slot};
use driver::{Target, Timeouts};
use engine::{LocalBoxFuture, Stop, worker_pool};
use measure::{ErrorClass, Failure, LatencyHistogram, nanos};
use net::{Handle, Nanos};
use system::Access;
use workload::{Request, Rpc};

use crate::RunListener;
use crate::trial_workload::TrialWorkload;

/// The smallest possible statement.
const QUESTION: &str = "SELECT 1";
/// The number of answers that count, after one that does not.
const ROUND_TRIPS: usize = 50;
/// A server that takes longer is not idle.
const BOUND: Duration = Duration::from_secs(1);

/// Nothing takes longer than this without load.
const TIMEOUTS: Timeouts = Timeouts { connect: BOUND, query: Some(BOUND) };

/// Round trips of a system without load; none of an embedded or a simulated one.
///
/// # Errors
/// The error with which a service answers every call.
pub(crate) fn round_trips(
    access: &Access,
    workload: &TrialWorkload,
    stop: &Stop,
    listener: &mut dyn RunListener,
) -> Result<LatencyHistogram, Failure> {
    match (access, workload) {
        (Access::Database(target), _) => Ok(of_statements(target, stop, listener)),
        (Access::Service(service), TrialWorkload::Service(rpc)) => {
            of_calls(service, rpc, stop, listener)
        }
        _ => Ok(LatencyHistogram::new()),
    }
}

/// Round trips of the smallest statement over a session of its own, one after the other; as many as were answered in
/// time. Empty for an embedded database, which has no network round trip.
fn of_statements(target: &Target, stop: &Stop, listener: &mut dyn RunListener) -> LatencyHistogram {
    if target.capabilities().is_embedded {
        return LatencyHistogram::new();
    }
    let target = target.clone().with_timeouts(TIMEOUTS);
    measure(stop, listener, |handle, told| {
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
    })
}

/// Round trips of the workload's call over a connection of its own, one after the other; as many as were answered in
/// time.
fn of_calls(
    service: &Service,
    rpc: &Rpc,
    stop: &Stop,
    listener: &mut dyn RunListener,
) -> Result<LatencyHistogram, Failure> {
    let Ok(call) = rpc.call(service) else { return Ok(LatencyHistogram::new()) };
    let Ok(requests) = rpc.requests((service, &call), ROUND_TRIPS, TIMEOUTS, stop) else {
        return Ok(LatencyHistogram::new());
    };
    let (service, call) = (Arc::new(service.clone()), Arc::new(call));
    let (refuse, refused) = mpsc::channel();
    let round_trips = measure(stop, listener, |handle, told| {
        Box::pin(async move {
            let connection = Connection::new(&handle, &service, &call, TIMEOUTS, (0, 1));
            let mut slot = connection.slot(0);
            slot.connect().await?;
            let Some(first) = requests.first() else { return Ok(()) };
            if let Err(failure) = slot.call_with(&first.body, &first.metadata).await {
                if refuses_all(&handle, &mut slot, &requests, &failure).await {
                    let _ = refuse.send(failure.clone());
                }
                return Err(failure);
            }
            for _ in 0..ROUND_TRIPS {
                let asked = handle.now();
                slot.call_with(&first.body, &first.metadata).await?;
                let _ = told.send(handle.now() - asked);
            }
            Ok(())
        })
    });
    match refused.try_recv() {
        Ok(failure) => Err(failure),
        Err(_) => Ok(round_trips),
    }
}

/// Whether a service that has refused a call refuses as many others, of several clients: then none of a load would
/// succeed.
async fn refuses_all(
    handle: &Handle,
    slot: &mut Slot,
    requests: &[Request],
    first: &Failure,
) -> bool {
    let until = handle.now().saturating_add(nanos(BOUND));
    let mut is_refused = is_refusal(first);
    for Request { body, metadata } in requests.iter().cycle().take(ROUND_TRIPS) {
        if !is_refused || handle.now() >= until {
            break;
        }
        let called = slot.call_with(body, metadata).await;
        is_refused = called.is_err_and(|failure| is_refusal(&failure));
    }
    is_refused
}

/// Whether an answer is one to the call itself, and not one of a service that has no time or is not ready yet.
fn is_refusal(failure: &Failure) -> bool {
    /// Time-outs of servers of tRPC, overload, and the codes of gRPC for them.
    const PASSING: [&str; 6] =
        ["21", "22", "24", "DEADLINE_EXCEEDED", "UNAVAILABLE", "RESOURCE_EXHAUSTED"];
    let is_answer = matches!(failure.key.class, ErrorClass::Framework | ErrorClass::Function);
    is_answer && !PASSING.contains(&&*failure.key.code)
}

/// Runs `job`, which sends round trips in ns. A server that does not answer has no baseline; a note tells the failure,
/// of which the load only counts the class and the code.
fn measure<J>(stop: &Stop, listener: &mut dyn RunListener, job: J) -> LatencyHistogram
where
    J: FnOnce(Handle, Sender<Nanos>) -> LocalBoxFuture<'static, Result<(), Failure>>,
{
    let (told, answers) = mpsc::channel();
    if let Err(failure) = worker_pool::run_one(stop, |handle| job(handle, told))
        && !stop.is_asked()
    {
        listener.on_note(&format!("a request without load has failed: {failure}"));
    }
    let mut round_trips = LatencyHistogram::new();
    answers.try_iter().for_each(|latency_ns| round_trips.record(latency_ns));
    round_trips
}
