//! One worker's part of a trial.

use std::ops::Range;
use std::sync::Arc;
use std::sync::mpsc::Sender;

use measure::Operation;

use crate::control::{Control, Message};
use crate::offer::OfferedLoad;

/// The part of the load that a worker runs.
pub(crate) struct Assignment<'a> {
    pub(crate) worker: usize,
    pub(crate) workers: usize,
    pub(crate) offer: &'a OfferedLoad,
    /// The operations of the load.
    pub(crate) operations: &'a [Operation],
    /// The worker's clients: each worker has a consecutive range, all of about the same size.
    pub(crate) clients: Range<usize>,
    pub(crate) control: Arc<Control>,
    pub(crate) out: Sender<Message>,
}
