//! The workers of this process, as the coordinator of a load or a generator has them.

use std::io;
use std::ops::Range;
use std::panic;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::thread::{Scope, ScopedJoinHandle};
use std::time::{Duration, Instant};

use measure::{Failure, Phase};
use net::{Clock, Nanos, Remote};

use crate::assignment::Assignment;
use crate::client::first_client;
use crate::control::{Control, Message};
use crate::steering::{AllGone, Ending, Steering, Told};
use crate::worker::spawn;
use crate::{Load, OfferedLoad, Part, TrialError};

/// How long an interval waits for a worker that has not closed it, at least.
pub(crate) const HOLD_MIN: Duration = Duration::from_secs(1);

/// The threads of workers; each returns why its loop failed.
pub(crate) type Threads<'scope> = Vec<ScopedJoinHandle<'scope, Result<(), Failure>>>;

/// Starts the workers of a part of a load, on a clock that counts from `origin` unless it is a virtual one. Returns
/// those that were started, and why the machine refused another.
pub(crate) fn spawn_part<'scope, 'env>(
    scope: &'scope Scope<'scope, 'env>,
    part: &Part,
    (offer, load): (&'env OfferedLoad, &'env dyn Load),
    (control, origin): (&Arc<Control>, Instant),
    out: &Sender<Message>,
) -> (Threads<'scope>, io::Result<()>) {
    let mut threads = Vec::with_capacity(part.workers);
    let started = part.workers().try_for_each(|worker| {
        let first_of = |worker| first_client(load, offer.clients, (worker, part.of));
        let assignment = Assignment {
            worker,
            workers: part.of,
            offer,
            operations: load.operations(),
            clients: first_of(worker)..first_of(worker + 1),
            control: Arc::clone(control),
            out: out.clone(),
        };
        threads.push(spawn(scope, assignment, load, origin)?);
        Ok(())
    });
    (threads, started)
}

pub(crate) struct WorkerThreads<'a> {
    control: &'a Control,
    part: &'a Part,
    inbox: Receiver<Message>,
    remotes: Vec<Remote>,
    /// Held for workers that wait until the observer has seen an interval.
    unseen: Vec<Sender<()>>,
}

impl<'a> WorkerThreads<'a> {
    pub(crate) fn new(control: &'a Control, part: &'a Part, inbox: Receiver<Message>) -> Self {
        Self { control, part, inbox, remotes: Vec::new(), unseen: Vec::new() }
    }

    /// Waits for the workers to end, and wakes those that sleep if `result` is an error.
    pub(crate) fn finish<T>(
        mut self,
        threads: Threads<'_>,
        result: Result<T, TrialError>,
    ) -> Result<T, TrialError> {
        if result.is_err() {
            self.control.abandon();
            self.wake();
        }
        self.unseen.clear();
        // A worker that starts only now sleeps until it is woken up.
        for message in &self.inbox {
            if let Message::Up { remote } = message {
                remote.wake();
            }
        }
        for thread in threads {
            thread
                .join()
                .unwrap_or_else(|cause| panic::resume_unwind(cause))
                .map_err(TrialError::Loop)?;
        }
        result
    }
}

impl Steering for WorkerThreads<'_> {
    fn are_generators(&self) -> bool {
        false
    }

    fn workers(&self) -> Vec<Range<usize>> {
        self.part.workers().map(|worker| worker..worker + 1).collect()
    }

    /// Not asked for: a worker that fails ends the load.
    fn clients(&self, _unit: usize) -> Range<usize> {
        0..0
    }

    fn name(&self, unit: usize) -> String {
        format!("worker {}", self.part.first_worker + unit)
    }

    fn goes_on_without(&self, _unit: usize) -> bool {
        false
    }

    /// Threads that share few cores can be late without standing still.
    fn hold(&self, interval: Duration) -> Duration {
        interval.max(HOLD_MIN)
    }

    fn next(&mut self, wait: Duration) -> Result<Option<(usize, Told)>, AllGone> {
        match self.inbox.recv_timeout(wait) {
            Ok(Message::Up { remote }) => {
                self.remotes.push(remote);
                Ok(None)
            }
            Ok(Message::Report { worker, report, seen }) => {
                self.unseen.extend(seen);
                Ok(Some((worker - self.part.first_worker, Told::Report(report))))
            }
            Err(RecvTimeoutError::Timeout) => Ok(None),
            // A worker that ended without a report has failed; joining it returns why.
            Err(RecvTimeoutError::Disconnected) => Err(AllGone),
        }
    }

    fn start(&mut self, clock: &Clock) -> Nanos {
        let now = clock.now();
        self.control.start_at(now);
        self.wake();
        now
    }

    fn end_phase(&mut self, phase: Phase, _seen: Nanos, _now: Nanos) {
        match phase {
            Phase::WarmUp => self.control.window.end_warm_up(),
            _ => self.control.window.end_measuring(),
        }
    }

    /// The worker that has seen it has set the end, or each worker sets it when the user stops the load.
    fn end_soon(&mut self, _now: Nanos, _by: Ending) {
        self.wake();
    }

    fn abandon(&mut self) {
        self.control.abandon();
        self.wake();
    }

    fn seen(&mut self) {
        self.unseen.clear();
    }

    fn wake(&self) {
        self.remotes.iter().for_each(Remote::wake);
    }
}
