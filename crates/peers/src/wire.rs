//! A peer's end of a connection, which may go on within TLS.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::unix::net::UnixStream;

use rustls::{ServerConnection, Stream};

use crate::tls::own_certificate;

/// A socket that can send the end of its direction.
pub trait WireSocket: Read + Write {
    /// Sends it.
    ///
    /// # Errors
    /// When the other side has ended the connection.
    fn half_close(&mut self) -> io::Result<()>;
}

impl WireSocket for TcpStream {
    fn half_close(&mut self) -> io::Result<()> {
        self.shutdown(Shutdown::Write)
    }
}

impl WireSocket for UnixStream {
    fn half_close(&mut self) -> io::Result<()> {
        self.shutdown(Shutdown::Write)
    }
}

/// A socket, whose bytes are in records of TLS from some time on. It may be one that does not block: what was written is
/// with the kernel after a flush.
#[derive(Debug)]
pub struct Wire<S> {
    socket: S,
    tls: Option<Box<ServerConnection>>,
}

impl<S: WireSocket> Wire<S> {
    /// Without TLS.
    pub fn new(socket: S) -> Self {
        Self { socket, tls: None }
    }

    /// Goes on within TLS, whose handshake the other side begins. It is over after a flush.
    ///
    /// # Errors
    /// When no certificate can be made.
    pub fn encrypt(&mut self) -> io::Result<()> {
        let server = ServerConnection::new(own_certificate()?).map_err(io::Error::other)?;
        self.tls = Some(Box::new(server));
        Ok(())
    }

    /// Goes on outside of TLS.
    pub fn decrypt(&mut self) {
        self.tls = None;
    }

    /// Sends the end of its direction, without one of TLS.
    ///
    /// # Errors
    /// When the other side has ended the connection.
    pub fn half_close(&mut self) -> io::Result<()> {
        self.socket.half_close()
    }
}

impl<S: WireSocket> Read for Wire<S> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.tls {
            None => self.socket.read(buffer),
            Some(tls) => Stream::new(&mut **tls, &mut self.socket).read(buffer),
        }
    }
}

impl<S: WireSocket> Write for Wire<S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.tls {
            None => self.socket.write(bytes),
            Some(tls) => Stream::new(&mut **tls, &mut self.socket).write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.tls {
            None => self.socket.flush(),
            Some(tls) => Stream::new(&mut **tls, &mut self.socket).flush(),
        }
    }
}
