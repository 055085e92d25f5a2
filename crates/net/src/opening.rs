//! Limits how many connections one loop opens at a time, so that it does not overflow a server's accept
//! queue.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::Handle;
use crate::runtime::TaskId;

/// Connections that one loop opens at a time. A server queues connections that it has not accepted yet, at
/// least 80 in MySQL and its relatives. When that queue overflows, Linux can drop the last packet of the TCP
/// handshake: the client then counts as connected, the server does not know it, and the client waits for
/// ever.
const OPENING_MAX: usize = 16;

/// How many connections are being opened, and the queue of those that wait.
#[derive(Default)]
pub(crate) struct Opening {
    running: Cell<usize>,
    waiting: RefCell<VecDeque<(u64, TaskId)>>,
    next_ticket: Cell<u64>,
}

impl Opening {
    fn has_room(&self) -> bool {
        self.running.get() < OPENING_MAX
    }

    fn draw_ticket(&self, task: TaskId) -> u64 {
        let ticket = self.next_ticket.get();
        self.next_ticket.set(ticket + 1);
        self.waiting.borrow_mut().push_back((ticket, task));
        ticket
    }

    fn give_back(&self, ticket: u64) {
        self.waiting.borrow_mut().retain(|(this, _)| *this != ticket);
    }
}

/// Waits for permission to open a connection.
pub struct WaitForTurn {
    handle: Handle,
    ticket: Option<u64>,
}

impl WaitForTurn {
    pub(crate) fn new(handle: Handle) -> Self {
        Self { handle, ticket: None }
    }

    /// Leaves the queue, if it is in it.
    fn leave_queue(&mut self) {
        if let Some(ticket) = self.ticket.take() {
            self.handle.opening().give_back(ticket);
            call_next(&self.handle);
        }
    }
}

impl Future for WaitForTurn {
    type Output = OpeningTurn;

    fn poll(mut self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<OpeningTurn> {
        let handle = self.handle.clone();
        let opening = handle.opening();
        if opening.has_room() {
            opening.running.set(opening.running.get() + 1);
            self.leave_queue();
            return Poll::Ready(OpeningTurn(handle));
        }
        if self.ticket.is_none() {
            self.ticket = Some(opening.draw_ticket(handle.current()));
        }
        Poll::Pending
    }
}

impl Drop for WaitForTurn {
    fn drop(&mut self) {
        self.leave_queue();
    }
}

/// Permission to open a connection. Dropping it gives it to the next in the queue.
pub struct OpeningTurn(Handle);

impl Drop for OpeningTurn {
    fn drop(&mut self) {
        let running = &self.0.opening().running;
        running.set(running.get() - 1);
        call_next(&self.0);
    }
}

/// Wakes the first in the queue, if there is room.
fn call_next(handle: &Handle) {
    let opening = handle.opening();
    if opening.has_room()
        && let Some((_, task)) = opening.waiting.borrow().front()
    {
        handle.wake(*task);
    }
}

#[cfg(test)]
mod tests;
