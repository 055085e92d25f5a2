//! One worker's part of a trial.

use std::ops::Range;
use std::sync::Arc;
use std::sync::mpsc::Sender;

use crate::Load;
use crate::control::{Control, Message};
use crate::offer::OfferedLoad;

/// The part of the load that a worker runs.
pub(crate) struct Assignment<'a> {
    pub(crate) worker: usize,
    pub(crate) workers: usize,
    pub(crate) offer: &'a OfferedLoad,
    pub(crate) load: &'a dyn Load,
    pub(crate) control: Arc<Control>,
    pub(crate) out: Sender<Message>,
}

impl Assignment<'_> {
    /// The worker's clients: each worker has a consecutive range, all of about the same size.
    pub(crate) fn clients(&self) -> Range<usize> {
        let first_of =
            |worker: usize| first_client(self.load, self.offer.clients, (worker, self.workers));
        first_of(self.worker)..first_of(self.worker + 1)
    }
}

pub(crate) fn first_client(
    load: &dyn Load,
    clients: usize,
    (worker, workers): (usize, usize),
) -> usize {
    load.align(worker * clients / workers)
}
