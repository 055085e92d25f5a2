//! Limits how many connections one loop opens at a time, so that it does not overflow a server's accept
//! queue.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::Handle;
use crate::runtime::TaskId;

/// The number of connections that one loop opens at a time. A server queues connections that it has not accepted yet,
/// at least 80 in MySQL and related servers. When that queue overflows, Linux can drop the last packet of the TCP
/// handshake: the client then counts as connected, the server does not know the connection, and the client waits
/// forever.
const CONNECTING_MAX: usize = 16;

/// The number of connections that are being opened, and the queue of those that wait.
#[derive(Default)]
pub(crate) struct ConnectQueue {
    running: Cell<usize>,
    waiting: RefCell<VecDeque<(u64, TaskId)>>,
    next_ticket: Cell<u64>,
}

impl ConnectQueue {
    fn has_room(&self) -> bool {
        self.running.get() < CONNECTING_MAX
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
pub struct ConnectPermitWait {
    handle: Handle,
    ticket: Option<u64>,
}

impl ConnectPermitWait {
    pub(crate) fn new(handle: Handle) -> Self {
        Self { handle, ticket: None }
    }

    /// Leaves the queue, if it is in it.
    fn leave_queue(&mut self) {
        if let Some(ticket) = self.ticket.take() {
            self.handle.connect_queue().give_back(ticket);
            wake_next(&self.handle);
        }
    }
}

impl Future for ConnectPermitWait {
    type Output = ConnectPermit;

    fn poll(mut self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<ConnectPermit> {
        let handle = self.handle.clone();
        let connect_queue = handle.connect_queue();
        if connect_queue.has_room() {
            connect_queue.running.set(connect_queue.running.get() + 1);
            self.leave_queue();
            return Poll::Ready(ConnectPermit(handle));
        }
        if self.ticket.is_none() {
            self.ticket = Some(connect_queue.draw_ticket(handle.current()));
        }
        Poll::Pending
    }
}

impl Drop for ConnectPermitWait {
    fn drop(&mut self) {
        self.leave_queue();
    }
}

/// Permission to open a connection. Dropping it gives it to the next in the queue.
pub struct ConnectPermit(Handle);

impl Drop for ConnectPermit {
    fn drop(&mut self) {
        let running = &self.0.connect_queue().running;
        running.set(running.get() - 1);
        wake_next(&self.0);
    }
}

/// Wakes the first in the queue, if the limit allows it.
fn wake_next(handle: &Handle) {
    let connect_queue = handle.connect_queue();
    if connect_queue.has_room()
        && let Some((_, task)) = connect_queue.waiting.borrow().front()
    {
        handle.wake(*task);
    }
}

#[cfg(test)]
mod tests;
