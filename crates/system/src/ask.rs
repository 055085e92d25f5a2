//! Asks a database for its identity.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use anyhow::Context;
use driver::rpc::Service;
use driver::{Datum, Facts, Target, Timeouts};
use net::{BlockingCheck, Clock, Handle, Nanos, Runtime};

use crate::{ProgressEvent, ProgressListener};

/// Time between two checks whether the answer is still wanted.
const POLL_PERIOD: Duration = Duration::from_millis(50);
const POLL_PERIOD_NS: Nanos = 50_000_000;

/// Connects once and asks for product, version, settings and limits.
///
/// # Errors
/// When the database cannot be reached or refuses the login, with what to do about it; or the listener requested a
/// stop.
pub(crate) fn ask(
    target: Target,
    listener: &mut ProgressListener<'_>,
) -> anyhow::Result<(Target, Facts)> {
    let (target, facts) = awaited(listener, |handle| async move {
        let facts = target.probe(&handle).await;
        (target, facts)
    })?;
    Ok((target, facts?))
}

/// Connects to every address of a service once, and returns the settings that this shows.
///
/// # Errors
/// When one cannot be reached, with what to do about it; or the listener requested a stop.
pub(crate) fn reach(
    service: &Service,
    timeouts: Timeouts,
    listener: &mut ProgressListener<'_>,
) -> anyhow::Result<Vec<(String, String)>> {
    let service = service.clone();
    let reached =
        awaited(listener, |handle| async move { service.reach(&handle, timeouts).await })?;
    Ok(reached?)
}

/// The rows that a statement returns, in a session of its own.
///
/// # Errors
/// When the server cannot be reached or rejects the statement, or a stop was requested.
pub(crate) fn rows(
    target: &Target,
    statement: &str,
    listener: &mut ProgressListener<'_>,
) -> anyhow::Result<Vec<Vec<Datum>>> {
    let (target, statement) = (target.clone(), statement.to_owned());
    let answer = awaited(listener, |handle| async move {
        let mut session = target.connect(&handle, 0).await?;
        let rows = session.rows(&statement).await;
        session.close().await;
        rows
    })?;
    Ok(answer?)
}

/// Runs a future to its end on a thread of its own, until a stop is requested: an embedded database may block the thread.
fn awaited<T: Send + 'static, F: Future<Output = T> + 'static>(
    listener: &mut ProgressListener<'_>,
    question: impl FnOnce(Handle) -> F + Send,
) -> anyhow::Result<T> {
    let is_wanted = Arc::new(AtomicBool::new(true));
    let (sender, answer) = mpsc::channel();
    let answered = thread::scope(|scope| {
        let wanted = Arc::clone(&is_wanted);
        scope.spawn(move || {
            // The receiver waits for the end of this thread.
            let _ = sender.send(on_event_loop(&wanted, question));
        });
        loop {
            if listener(ProgressEvent::stage("asking the server what it is")).is_break() {
                is_wanted.store(false, Ordering::Relaxed);
            }
            match answer.recv_timeout(POLL_PERIOD) {
                Err(RecvTimeoutError::Timeout) => {}
                answered => break answered,
            }
        }
    });
    answered
        .context("the thread that asks the server has ended early")??
        .context("interrupted while the server was asked what it is")
}

/// Runs a future on an event loop of this thread; `None` when `is_wanted` became false before the future ended.
fn on_event_loop<T: 'static, F: Future<Output = T> + 'static>(
    is_wanted: &Arc<AtomicBool>,
    question: impl FnOnce(Handle) -> F,
) -> anyhow::Result<Option<T>> {
    let mut runtime = Runtime::new(Clock::monotonic()).context("no event loop to connect with")?;
    let handle = runtime.handle();
    let blocked = Arc::clone(is_wanted);
    let _check = BlockingCheck::set(move || !blocked.load(Ordering::Relaxed));
    let (sender, answer) = mpsc::channel();
    let question = question(handle.clone());
    runtime.spawn(async move {
        // The receiver waits until the loop has ended.
        let _ = sender.send(question.await);
    });
    let look = || is_wanted.load(Ordering::Relaxed).then(|| handle.now() + POLL_PERIOD_NS);
    runtime.run(look).context("the event loop failed")?;
    Ok(answer.try_recv().ok().filter(|_| is_wanted.load(Ordering::Relaxed)))
}
