//! The queue of the futures that wait until they may open a connection.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

use crate::task::TaskId;

/// The number of connections that one loop opens at a time. A server queues connections that it has not accepted yet,
/// at least 80 in MySQL and related servers. When that queue overflows, Linux can drop the last packet of the TCP
/// handshake: the client then counts as connected, the server does not know the connection, and the client waits
/// forever.
pub(crate) const CONNECTING_MAX: usize = 16;

/// The number of connections that are being opened, and the queue of those that wait.
#[derive(Default)]
pub(crate) struct ConnectQueue {
    running: Cell<usize>,
    waiting: RefCell<VecDeque<(u64, TaskId)>>,
    next_ticket: Cell<u64>,
}

impl ConnectQueue {
    /// Whether another connection may be opened now.
    pub(crate) fn has_room(&self) -> bool {
        self.running.get() < CONNECTING_MAX
    }

    /// Adds a future to the queue; returns the ticket with which it leaves.
    pub(crate) fn draw_ticket(&self, task: TaskId) -> u64 {
        let ticket = self.next_ticket.get();
        self.next_ticket.set(ticket + 1);
        self.waiting.borrow_mut().push_back((ticket, task));
        ticket
    }

    pub(crate) fn give_back(&self, ticket: u64) {
        self.waiting.borrow_mut().retain(|(this, _)| *this != ticket);
    }

    pub(crate) fn begin(&self) {
        self.running.set(self.running.get() + 1);
    }

    /// A connection is no longer being opened.
    pub(crate) fn end(&self) {
        self.running.set(self.running.get() - 1);
    }

    /// The first in the queue, if it may open its connection.
    pub(crate) fn next(&self) -> Option<TaskId> {
        let first = self.waiting.borrow().front().map(|(_, task)| *task);
        first.filter(|_| self.has_room())
    }
}
