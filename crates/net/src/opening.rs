//! Turns to open connections, so that a loop with many clients does not flood a server's queue.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::Handle;
use crate::runtime::TaskId;

/// Connections that one loop opens at a time. A server queues what it has not accepted yet, at least 80
/// in MySQL and its kin, and when that queue overflows Linux may drop the last packet of the TCP
/// handshake: the client is connected then to a server that knows nothing of it, and waits for ever.
const OPENING_MAX: usize = 16;

/// Connections that are being opened, and who waits for a turn, in order.
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

/// Waits for a turn to open a connection.
pub struct WaitForTurn {
    handle: Handle,
    ticket: Option<u64>,
}

impl WaitForTurn {
    pub(crate) fn new(handle: Handle) -> Self {
        Self { handle, ticket: None }
    }

    /// Gives up the place in the queue, if there is one.
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

/// The right to open a connection; dropping it lets the next one begin.
pub struct OpeningTurn(Handle);

impl Drop for OpeningTurn {
    fn drop(&mut self) {
        let running = &self.0.opening().running;
        running.set(running.get() - 1);
        call_next(&self.0);
    }
}

/// Has the first in the queue look again, if there is room.
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
