//! One thread of load: an event loop and its clients.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::Sender;

use measure::Failure;
use net::{Clock, Nanos, Runtime};

use crate::bench::Bench;
use crate::control::{Control, Message};
use crate::crew::event_loop_failure;
use crate::offer::Timetable;
use crate::{Load, Pacing, Seat};

/// What a worker is made from.
pub(crate) struct Assignment<'a> {
    pub(crate) worker: usize,
    pub(crate) workers: usize,
    pub(crate) clients: usize,
    pub(crate) load: &'a dyn Load,
    pub(crate) pacing: &'a Pacing,
    pub(crate) timetable: Timetable,
    pub(crate) reconnect_limit_ns: Option<Nanos>,
    pub(crate) drain_timeout_ns: Nanos,
    pub(crate) control: Arc<Control>,
    pub(crate) out: Sender<Message>,
}

impl Assignment<'_> {
    /// Works until the load is over. Client `i` sits on worker `i % workers`.
    pub(crate) fn work(self, clock: Clock) -> Result<(), Failure> {
        let mut runtime = Runtime::new(clock).map_err(|error| event_loop_failure(&error))?;
        let mine: Vec<usize> = (self.worker..self.clients).step_by(self.workers).collect();
        let bench = Rc::new(Bench::new(&self, runtime.handle(), mine.len()));
        bench.send(Message::Up { worker: self.worker, remote: runtime.remote() });
        for (local, index) in mine.into_iter().enumerate() {
            let client = self.load.client(index);
            let seat = Seat::new(index, local, Rc::clone(&bench));
            let bench = Rc::clone(&bench);
            runtime.spawn(async move {
                if let Err(failure) = client.run(seat).await {
                    bench.client_failed(index, local, failure);
                }
            });
        }
        let result = runtime.run(|| bench.tick(self.drain_timeout_ns));
        bench.close_last();
        let (clients, unfinished) = bench.outcome(self.workers);
        let lateness = Box::new(bench.lateness());
        let late_queries = bench.late_queries();
        let worker = self.worker;
        bench.send(Message::Done { worker, clients, unfinished, lateness, late_queries });
        result.map_err(|error| event_loop_failure(&error))
    }
}
