//! A TCP socket that accepts connections, for servers of dyno's own.

use std::future::poll_fn;
use std::io::{self, ErrorKind};
use std::net;
use std::task::Poll;
use std::time::Duration;

use mio::Token;
use mio::net::{TcpListener, TcpStream};

use crate::Handle;

/// Time before the next try when the kernel cannot accept a connection, such as with too many open files.
const RETRY_PERIOD: Duration = Duration::from_millis(10);

/// A listening TCP socket, owned by one future of one [`crate::Runtime`].
pub struct Listener {
    socket: TcpListener,
    token: Token,
    handle: Handle,
}

/// A connection that was accepted and belongs to no loop yet: another thread may serve it.
#[derive(Debug)]
pub struct Accepted(pub(crate) TcpStream);

impl Listener {
    /// Accepts the connections of a bound socket.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn new(handle: &Handle, socket: net::TcpListener) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        let mut socket = TcpListener::from_std(socket);
        let token = handle.register(&mut socket)?;
        Ok(Self { socket, token, handle: handle.clone() })
    }

    /// Waits for the next connection. While the kernel has no file or no memory for one, connections wait in its
    /// queue.
    pub async fn accept(&mut self) -> Accepted {
        loop {
            match poll_fn(|_| self.poll_accept()).await {
                Ok(stream) => return Accepted(stream),
                Err(_) => self.handle.sleep(RETRY_PERIOD).await,
            }
        }
    }

    fn poll_accept(&mut self) -> Poll<io::Result<TcpStream>> {
        while self.handle.is_readable(self.token) {
            match self.socket.accept() {
                Ok((stream, _)) => return Poll::Ready(Ok(stream)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.handle.clear_readable(self.token);
                }
                // The peer of this one has gone; the next one may be there.
                Err(error) if is_of_one_peer(&error) => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
        Poll::Pending
    }
}

/// Source: accept(2), errors that are those of the new connection.
fn is_of_one_peer(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::ConnectionAborted
            | ErrorKind::Interrupted
            | ErrorKind::NetworkDown
            | ErrorKind::NetworkUnreachable
            | ErrorKind::HostUnreachable
    )
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.handle.deregister(&mut self.socket, self.token);
    }
}

#[cfg(test)]
mod tests;
