//! A cost of the server that statements take away and bring back while the load runs, on a session of their own.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Sender};
use std::thread::{Builder, JoinHandle};

use anyhow::{Context, Result, anyhow, bail};
use driver::{Session, Target};
use measure::Failure;
use net::{Clock, Runtime};
use plan::Toggle;
use system::Access;

use crate::test_bed::TestBed;

/// Switches a toggle, in a thread that may wait for the server. It is off again when this ends.
pub(super) struct Toggler {
    is_on: bool,
    /// Switches that were asked for, and that are done.
    asked: usize,
    done: Arc<AtomicUsize>,
    requests: Option<Sender<bool>>,
    thread: Option<JoinHandle<()>>,
}

/// The session of a toggle, with the event loop that it needs.
struct Hand {
    runtime: Runtime,
    session: Option<Session>,
}

impl Toggler {
    /// Connects, and brings the cost back once, to see that the statements work.
    ///
    /// # Errors
    /// For a server that dyno did not start, whose settings are not dyno's, and when the statements fail.
    pub(super) fn on(test_bed: &TestBed<'_>, toggle: &Toggle, is_own: bool) -> Result<Self> {
        if !is_own {
            bail!("dyno did not start the server, and does not change its settings");
        }
        let Access::Database(target) = test_bed.access() else { bail!("the system has no SQL") };
        let (target, toggle) = (target.clone(), toggle.clone());
        let (requests, asked) = mpsc::channel();
        let (told, first) = mpsc::channel();
        let done = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&done);
        let thread = Builder::new().name("toggle".to_owned()).spawn(move || {
            let mut hand = match Hand::connect(target) {
                Ok(hand) => hand,
                Err(error) => return drop(told.send(Err(error))),
            };
            if told.send(hand.run(&toggle.off)).is_err() {
                return;
            }
            for is_on in asked {
                // What fails leaves its window, and all that follow, without a settled state: they do not count.
                if hand.run(if is_on { &toggle.on } else { &toggle.off }).is_ok() {
                    counted.fetch_add(1, Ordering::Release);
                }
            }
        });
        let thread = thread.context("the thread of the toggle cannot be started")?;
        first.recv().map_err(|_| anyhow!("the thread of the toggle ended"))??;
        let (requests, thread) = (Some(requests), Some(thread));
        Ok(Self { is_on: false, asked: 0, done, requests, thread })
    }

    pub(super) fn switch(&mut self, is_on: bool) {
        let Some(requests) = self.requests.as_ref().filter(|_| self.is_on != is_on) else { return };
        self.is_on = is_on;
        self.asked += 1;
        // The thread ends only with its server; the windows are unsettled then.
        let _ = requests.send(is_on);
    }

    pub(super) fn is_settled(&self) -> bool {
        self.done.load(Ordering::Acquire) == self.asked
    }

    /// Waits until the last switch is done.
    pub(super) fn end(mut self) {
        self.switch(false);
        self.requests = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Hand {
    fn connect(target: Target) -> Result<Self> {
        let mut runtime = Runtime::new(Clock::monotonic())?;
        let handle = runtime.handle();
        let session = runtime.block_on(async move { target.connect(&handle, 0).await })?;
        let session = session.map_err(|failure| anyhow!("{failure}"))?;
        Ok(Self { runtime, session: Some(session) })
    }

    fn run(&mut self, statements: &[String]) -> Result<()> {
        let mut session = self.session.take().context("the session of the toggle has failed")?;
        let statements = statements.to_vec();
        let (session, result) = self.runtime.block_on(async move {
            let result = all(&mut session, &statements).await;
            (session, result)
        })?;
        self.session = Some(session);
        result.map_err(|failure| anyhow!("{failure}"))
    }
}

async fn all(session: &mut Session, statements: &[String]) -> Result<(), Failure> {
    for statement in statements {
        session.run(statement).await?;
    }
    Ok(())
}
