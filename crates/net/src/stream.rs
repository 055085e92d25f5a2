//! Stream sockets: TCP and unix, plain or with TLS. Plain reads are not copied.

use std::fmt;
use std::future::poll_fn;
use std::io::{self, ErrorKind};
use std::net::{Shutdown, SocketAddr};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};
use std::task::Poll;
use std::time::Duration;

use mio::net::{TcpStream, UnixStream};
use mio::{Token, event};
use rustix::net::{RecvFlags, SendFlags, recv, send};
use serde::{Deserialize, Serialize};

use crate::Handle;
use crate::listener::Accepted;
use crate::tls::{Cipher, Machine, TlsClient};

mod secured;

/// The address of a peer.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Endpoint {
    Tcp(SocketAddr),
    Unix(PathBuf),
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(f),
            Self::Unix(path) => path.display().fmt(f),
        }
    }
}

enum Socket {
    Tcp(TcpStream),
    Unix(UnixStream),
}

/// A connected stream socket, owned by one future of one [`crate::Runtime`].
pub struct Stream {
    wire: Wire,
    /// The TLS state; `None` while the stream is plain.
    tls: Option<Box<Machine>>,
}

struct Wire {
    socket: Socket,
    token: Token,
    handle: Handle,
}

impl Stream {
    /// Connects; TCP without Nagle's delay.
    ///
    /// # Errors
    /// The kernel's error: refused, no route, no such socket file, too many open files.
    pub async fn connect(handle: &Handle, endpoint: &Endpoint) -> io::Result<Self> {
        let mut socket = match endpoint {
            Endpoint::Tcp(address) => Socket::Tcp(TcpStream::connect(*address)?),
            Endpoint::Unix(path) => Socket::Unix(connect_unix(handle, path).await?),
        };
        let token = handle.register(socket.source())?;
        let wire = Wire { socket, token, handle: handle.clone() };
        wire.writable().await;
        if let Some(error) = wire.take_error()? {
            return Err(error);
        }
        if let Socket::Tcp(tcp) = &wire.socket {
            tcp.peer_addr()?;
            tcp.set_nodelay(true)?;
        }
        Ok(Self { wire, tls: None })
    }

    /// Serves a connection that a [`crate::Listener`] has accepted, without Nagle's delay.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn accepted(handle: &Handle, accepted: Accepted) -> io::Result<Self> {
        accepted.0.set_nodelay(true)?;
        let mut socket = Socket::Tcp(accepted.0);
        let token = handle.register(socket.source())?;
        Ok(Self { wire: Wire { socket, token, handle: handle.clone() }, tls: None })
    }

    /// Starts TLS on the stream. The peer must expect the handshake, and all bytes that it has sent must have been
    /// read. `host` is the name or address that the certificate must be for, if the client checks that.
    ///
    /// # Errors
    /// The kernel's error, or one that contains a [`crate::tls::TlsFault`]. The stream is unusable then.
    pub async fn secure(&mut self, client: &TlsClient, host: &str) -> io::Result<()> {
        let machine = self.tls.insert(Box::new(Machine::new(client, host)?));
        let wire = &mut self.wire;
        poll_fn(|_| secured::poll_handshake(wire, machine)).await
    }

    /// The TLS version and cipher suite; `None` while the stream is plain.
    pub fn cipher(&self) -> Option<Cipher> {
        self.tls.as_ref()?.cipher()
    }

    /// The hash of the server's certificate that a proof of a password can be bound to (RFC 5929, `tls-server-end-point`);
    /// `None` while the stream is plain, and where none is defined for the certificate.
    pub fn certificate_hash(&self) -> Option<Vec<u8>> {
        self.tls.as_ref()?.certificate_hash()
    }

    pub fn handle(&self) -> &Handle {
        &self.wire.handle
    }

    /// Waits for bytes and passes them to `body`, in the loop's own buffer. An empty slice means that the
    /// peer has closed. Returns the result of `body`.
    ///
    /// # Errors
    /// The kernel's error, such as a reset by the peer.
    #[inline]
    pub async fn read_with<T>(&mut self, mut body: impl FnMut(&[u8]) -> T) -> io::Result<T> {
        poll_fn(|_| self.poll_read_with(&mut body)).await
    }

    /// As [`Stream::read_with`], for futures that are written by hand. After `Pending` the future is polled again
    /// when bytes have arrived; or in the next turn of the loop, when it has read as much as one poll may.
    ///
    /// # Errors
    /// The kernel's error, such as a reset by the peer; on a secured stream, also one that contains a
    /// [`crate::tls::TlsFault`].
    #[inline]
    pub fn poll_read_with<T>(&mut self, mut body: impl FnMut(&[u8]) -> T) -> Poll<io::Result<T>> {
        match &mut self.tls {
            None => self.wire.poll_read(|bytes| body(bytes)),
            Some(machine) => secured::poll_read(&mut self.wire, machine, body),
        }
    }

    /// Sends all of `bytes`.
    ///
    /// # Errors
    /// The kernel's error, such as a broken pipe.
    pub async fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut sent = 0;
        poll_fn(|_| self.poll_write(bytes, &mut sent)).await
    }

    /// Sends `bytes` from index `sent` on, as far as the kernel accepts them, and advances `sent`. After `Pending`
    /// the future is polled again when the kernel can accept more, and must call again with the same bytes.
    ///
    /// # Errors
    /// The kernel's error, such as a broken pipe; on a secured stream, also one that contains a
    /// [`crate::tls::TlsFault`].
    #[inline]
    pub fn poll_write(&mut self, bytes: &[u8], sent: &mut usize) -> Poll<io::Result<()>> {
        match &mut self.tls {
            None => self.wire.poll_write(bytes, sent),
            Some(machine) => secured::poll_write(&mut self.wire, machine, bytes, sent),
        }
    }

    /// Whether the peer has closed the connection, or it is broken, as far as the loop has heard of it.
    #[inline]
    pub fn is_hung_up(&self) -> bool {
        self.wire.handle.is_hung_up(self.wire.token)
    }

    /// Closes the connection now, for an owner that keeps the value for a while.
    pub fn hang_up(&mut self) {
        // An error means that the peer has closed first; there is nothing left to do.
        let _ = match &self.wire.socket {
            Socket::Tcp(socket) => socket.shutdown(Shutdown::Both),
            Socket::Unix(socket) => socket.shutdown(Shutdown::Both),
        };
    }
}

impl Wire {
    /// Passes received bytes to `body`, in the loop's own buffer, which it may change.
    #[inline]
    fn poll_read<T>(&mut self, mut body: impl FnMut(&mut [u8]) -> T) -> Poll<io::Result<T>> {
        let Self { socket, token, handle } = self;
        while handle.is_readable(*token) {
            if !handle.may_read() {
                return Poll::Pending;
            }
            let done = handle.with_scratch(|scratch| match socket.read(scratch) {
                Ok(length) => {
                    // A short read means that the kernel has no more bytes. Later bytes are a new event, so another
                    // read is not needed.
                    if length > 0 && length < scratch.len() {
                        handle.clear_readable(*token);
                    }
                    Some(Ok(body(&mut scratch[..length])))
                }
                Err(error) => unread(handle, *token, error).map(Err),
            });
            if let Some(result) = done {
                return Poll::Ready(result);
            }
        }
        Poll::Pending
    }

    #[inline]
    fn poll_write(&mut self, bytes: &[u8], sent: &mut usize) -> Poll<io::Result<()>> {
        while *sent < bytes.len() {
            match self.socket.write(&bytes[*sent..]) {
                Ok(0) => return Poll::Ready(Err(ErrorKind::WriteZero.into())),
                Ok(length) => *sent += length,
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.handle.clear_writable(self.token);
                    return Poll::Pending;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
        Poll::Ready(Ok(()))
    }

    async fn writable(&self) {
        poll_fn(
            |_| {
                if self.handle.is_writable(self.token) { Poll::Ready(()) } else { Poll::Pending }
            },
        )
        .await;
    }

    fn take_error(&self) -> io::Result<Option<io::Error>> {
        match &self.socket {
            Socket::Tcp(socket) => socket.take_error(),
            Socket::Unix(socket) => socket.take_error(),
        }
    }
}

/// The meaning of a failed read: an error, or nothing to read for now. When the peer has closed and there is nothing
/// to read, the connection was reset; no further event would report it.
#[cold]
fn unread(handle: &Handle, token: Token, error: io::Error) -> Option<io::Error> {
    match error.kind() {
        ErrorKind::WouldBlock => {
            handle.clear_readable(token);
            handle.is_readable(token).then(|| ErrorKind::ConnectionReset.into())
        }
        ErrorKind::Interrupted => None,
        _ => Some(error),
    }
}

/// Unlike TCP, a unix socket does not wait while its listener's queue is full, but fails with `WouldBlock`.
async fn connect_unix(handle: &Handle, path: &Path) -> io::Result<UnixStream> {
    loop {
        match UnixStream::connect(path) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                handle.sleep(Duration::from_millis(1)).await;
            }
            done => return done,
        }
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        self.handle.deregister(self.socket.source(), self.token);
    }
}

impl Socket {
    fn source(&mut self) -> &mut dyn event::Source {
        match self {
            Self::Tcp(socket) => socket,
            Self::Unix(socket) => socket,
        }
    }

    // Both make the system call directly: the C library's wrappers make each call a cancellation point of the thread,
    // which takes as many instructions as everything else.

    #[inline]
    fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        let (length, _) = recv(self, buffer, RecvFlags::empty())?;
        Ok(length)
    }

    #[inline]
    fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        Ok(send(self, bytes, SendFlags::NOSIGNAL)?)
    }
}

impl AsFd for Socket {
    #[inline]
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Tcp(socket) => socket.as_fd(),
            Self::Unix(socket) => socket.as_fd(),
        }
    }
}

#[cfg(test)]
mod tests;
