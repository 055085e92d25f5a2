//! One worker's part of a trial.

use std::ops::Range;
use std::sync::Arc;
use std::sync::mpsc::Sender;

use measure::Operation;

use crate::control::{Control, Message};
use crate::offer::{OfferedLoad, Timetable};

/// What a worker is to do.
pub(crate) struct Assignment<'a> {
    /// Which worker.
    pub(crate) worker: usize,
    /// Of how many.
    pub(crate) workers: usize,
    pub(crate) offer: &'a OfferedLoad,
    pub(crate) operations: &'a [Operation],
    pub(crate) timetable: Timetable,
    pub(crate) control: Arc<Control>,
    pub(crate) out: Sender<Message>,
}

impl Assignment<'_> {
    /// The worker's clients: workers have consecutive ones, as many as each other or one more.
    pub(crate) fn clients(&self) -> Range<usize> {
        let first_of = |worker: usize| worker * self.offer.clients / self.workers;
        first_of(self.worker)..first_of(self.worker + 1)
    }
}
