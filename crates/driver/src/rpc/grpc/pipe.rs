//! The two directions of a connection as buffers in memory, in the place of a socket.

use std::cell::RefCell;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// A larger buffer for received bytes is not kept once it is empty.
const KEPT_BYTES: usize = 64 * 1024;

/// With this many bytes to send, no more are taken.
const OUTGOING_BYTES_MAX: usize = 256 * 1024;
/// So many received bytes may wait until answers of the protocol itself can be sent.
const WAITING_BYTES_MAX: usize = 1024 * 1024;

/// One end of a connection. Its clones are the same end.
#[derive(Clone, Default)]
pub(super) struct Pipe(Rc<RefCell<Buffers>>);

#[derive(Default)]
struct Buffers {
    /// Received bytes; those from index `taken` on have not been read.
    incoming: Vec<u8>,
    taken: usize,
    outgoing: Vec<u8>,
}

impl Pipe {
    pub(super) fn receive(&self, bytes: &[u8]) {
        let Buffers { incoming, taken, .. } = &mut *self.0.borrow_mut();
        // A peer that reads as slowly as it sends keeps some waiting for ever.
        incoming.drain(..*taken);
        *taken = 0;
        incoming.extend_from_slice(bytes);
    }

    /// The memory of both buffers.
    #[cfg(test)]
    pub(super) fn kept_bytes(&self) -> usize {
        let Buffers { incoming, outgoing, .. } = &*self.0.borrow();
        incoming.capacity() + outgoing.capacity()
    }

    /// Whether more bytes wait than a peer that reads can cause.
    pub(super) fn is_flooded(&self) -> bool {
        let Buffers { incoming, taken, .. } = &*self.0.borrow();
        incoming.len() - taken > WAITING_BYTES_MAX
    }

    /// Exchanges the buffer of bytes to send for another one, which later bytes are appended to.
    pub(super) fn exchange_outgoing(&self, outgoing: &mut Vec<u8>) {
        std::mem::swap(&mut self.0.borrow_mut().outgoing, outgoing);
    }

    /// Appends the bytes to send to `out`.
    pub(super) fn drain_into(&self, out: &mut Vec<u8>) {
        out.append(&mut self.0.borrow_mut().outgoing);
    }
}

impl AsyncRead for Pipe {
    /// Waits while there is nothing to read. Nobody is woken: the reader is polled after each [`Pipe::receive`].
    fn poll_read(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        target: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let Buffers { incoming, taken, .. } = &mut *self.0.borrow_mut();
        let unread = &incoming[*taken..];
        if unread.is_empty() {
            return Poll::Pending;
        }
        let length = unread.len().min(target.remaining());
        target.put_slice(&unread[..length]);
        *taken += length;
        if *taken == incoming.len() {
            incoming.clear();
            incoming.shrink_to(KEPT_BYTES);
            *taken = 0;
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Pipe {
    /// Waits while many bytes are to be sent. Nobody is woken: the writer is polled after they were taken.
    fn poll_write(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let outgoing = &mut self.0.borrow_mut().outgoing;
        if outgoing.len() >= OUTGOING_BYTES_MAX {
            return Poll::Pending;
        }
        outgoing.extend_from_slice(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let outgoing = &mut self.0.borrow_mut().outgoing;
        if outgoing.len() >= OUTGOING_BYTES_MAX {
            return Poll::Pending;
        }
        slices.iter().for_each(|slice| outgoing.extend_from_slice(slice));
        Poll::Ready(Ok(slices.iter().map(|slice| slice.len()).sum()))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
