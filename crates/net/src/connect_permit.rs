//! Limits how many connections one loop opens at a time, so that it does not overflow a server's accept
//! queue.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::Handle;

pub struct ConnectPermitWait {
    handle: Handle,
    ticket: Option<u64>,
}

impl Handle {
    /// Waits for permission to open a connection. Keep it until the peer has answered.
    pub fn connect_permit(&self) -> ConnectPermitWait {
        ConnectPermitWait { handle: self.clone(), ticket: None }
    }
}

impl ConnectPermitWait {
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
            connect_queue.begin();
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
        self.0.connect_queue().end();
        wake_next(&self.0);
    }
}

/// Wakes the first in the queue, if the limit allows it.
fn wake_next(handle: &Handle) {
    if let Some(task) = handle.connect_queue().next() {
        handle.wake(task);
    }
}

#[cfg(test)]
mod tests;
