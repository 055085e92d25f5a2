//! The kernel's statistics of TCP connections (TCP_INFO), read over netlink, without touching the sockets or
//! threads of the load.
//!
//! Source: sock_diag(7); `include/uapi/linux/{inet_diag,sock_diag,tcp}.h` of Linux.

mod message;

use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::Duration;

use nix::errno::Errno;
use nix::sys::socket::{
    AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType, bind, recv, send,
    setsockopt, socket, sockopt,
};
use nix::sys::time::TimeVal;

use message::{Message, messages, request};
pub use message::{TcpConnection, TcpInfo};

/// The bit of `SKNLGRP_INET_TCP_DESTROY` and of `SKNLGRP_INET6_TCP_DESTROY`: closed TCP sockets.
const CLOSE_GROUPS: u32 = 1 | 1 << 2;
/// Receive buffer for notifications of closed connections; the kernel may grant less.
const CLOSE_BUFFER_BYTES: usize = 8 << 20;
/// The kernel's largest message.
const MESSAGE_BYTES_MAX: usize = 32 << 10;
/// How long to wait for the kernel, which answers at once.
const ANSWER_BOUND: TimeVal = TimeVal::new(2, 0);

/// Reads the TCP connections of this network namespace, and receives notifications of those that close.
#[derive(Debug)]
pub struct TcpDiagnosis {
    asked: OwnedFd,
    ended: OwnedFd,
    /// Number of the last request; remaining answers to earlier requests are skipped.
    sequence: u32,
    buffer: Vec<u8>,
}

/// The result of waiting for a connection to close.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CloseNotice {
    /// This connection has closed; its counters are final.
    Connection(TcpConnection),
    /// No connection closed in that time.
    None,
    /// So many closed at once that the kernel dropped notifications.
    Missed,
}

impl TcpDiagnosis {
    /// Subscribes to notifications of closed connections.
    ///
    /// # Errors
    /// When the kernel does not offer them: it was built without `inet_diag`, or a container forbids it.
    pub fn open() -> io::Result<Self> {
        let ended = diagnosis_socket(CLOSE_GROUPS)?;
        if setsockopt(&ended, sockopt::RcvBufForce, &CLOSE_BUFFER_BYTES).is_err() {
            setsockopt(&ended, sockopt::RcvBuf, &CLOSE_BUFFER_BYTES)?;
        }
        let asked = diagnosis_socket(0)?;
        setsockopt(&asked, sockopt::ReceiveTimeout, &ANSWER_BOUND)?;
        Ok(Self { asked, ended, sequence: 0, buffer: vec![0; MESSAGE_BYTES_MAX] })
    }

    /// All established connections to `remote`, of all processes.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn connections_to(&mut self, remote: SocketAddr) -> io::Result<Vec<TcpConnection>> {
        self.sequence = self.sequence.wrapping_add(1);
        send(self.asked.as_raw_fd(), &request(remote, self.sequence), MsgFlags::empty())?;
        let mut found = Vec::new();
        loop {
            let length = receive(&self.asked, &mut self.buffer)?;
            for (sequence, message) in messages(&self.buffer[..length]) {
                match message {
                    _ if sequence != self.sequence => {}
                    Message::Connection(it) if is_at(it.remote, remote) => found.push(it),
                    Message::Connection(_) | Message::Other => {}
                    Message::Done => return Ok(found),
                    Message::Error(errno) => return Err(io::Error::from_raw_os_error(errno)),
                }
            }
        }
    }

    /// Waits at most `bound` for a connection to close, of any process and to any address.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn next_ended(&mut self, bound: Duration) -> io::Result<CloseNotice> {
        // A time-out of 0 means no time-out.
        let micros = i64::try_from(bound.as_micros()).unwrap_or(i64::MAX).max(1);
        let bound = TimeVal::new(micros / 1_000_000, micros % 1_000_000);
        setsockopt(&self.ended, sockopt::ReceiveTimeout, &bound)?;
        match receive(&self.ended, &mut self.buffer) {
            Ok(length) => {
                let found =
                    messages(&self.buffer[..length]).find_map(|(_, message)| match message {
                        Message::Connection(connection) => {
                            Some(CloseNotice::Connection(connection))
                        }
                        _ => None,
                    });
                Ok(found.unwrap_or(CloseNotice::None))
            }
            Err(Errno::EAGAIN) => Ok(CloseNotice::None),
            Err(Errno::ENOBUFS) => Ok(CloseNotice::Missed),
            Err(errno) => Err(errno.into()),
        }
    }
}

/// Compares two addresses without the scope, which the kernel leaves out.
fn is_at(one: SocketAddr, other: SocketAddr) -> bool {
    (one.ip(), one.port()) == (other.ip(), other.port())
}

fn diagnosis_socket(groups: u32) -> nix::Result<OwnedFd> {
    let socket = socket(
        AddressFamily::Netlink,
        SockType::Datagram,
        SockFlag::SOCK_CLOEXEC,
        SockProtocol::NetlinkSockDiag,
    )?;
    bind(socket.as_raw_fd(), &NetlinkAddr::new(0, groups))?;
    Ok(socket)
}

/// Receives, and tries again after a signal.
fn receive(socket: &OwnedFd, buffer: &mut [u8]) -> nix::Result<usize> {
    loop {
        match recv(socket.as_raw_fd(), buffer, MsgFlags::empty()) {
            Err(Errno::EINTR) => {}
            result => return result,
        }
    }
}

#[cfg(test)]
mod tests;
