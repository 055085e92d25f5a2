//! What the kernel tells of TCP connections (TCP_INFO), asked for over netlink: nothing of it touches the
//! sockets or the threads of the load.
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

/// The bit of `SKNLGRP_INET_TCP_DESTROY` and of `SKNLGRP_INET6_TCP_DESTROY`: TCP sockets that are gone.
const ENDED_GROUPS: u32 = 1 | 1 << 2;
/// Room for what ends at once; the kernel gives less where it must.
const ENDED_BUFFER_BYTES: usize = 8 << 20;
/// The kernel fills no more at once.
const MESSAGE_BYTES_MAX: usize = 32 << 10;
/// How long the kernel may take to answer: it does so at once.
const ANSWER_BOUND: TimeVal = TimeVal::new(2, 0);

/// Asks the kernel for the TCP connections of this network namespace, and hears of those that end.
#[derive(Debug)]
pub struct TcpDiagnosis {
    asked: OwnedFd,
    ended: OwnedFd,
    /// Of the question asked last: answers to earlier ones that were not read to their end are left out.
    sequence: u32,
    buffer: Vec<u8>,
}

/// What came of waiting for a connection to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// This one is gone; it was counted to its end.
    Connection(TcpConnection),
    /// None in that time.
    None,
    /// More ended at once than the kernel could tell of.
    Missed,
}

impl TcpDiagnosis {
    /// Begins to hear of connections that end.
    ///
    /// # Errors
    /// When the kernel does not tell: it was built without `inet_diag`, or a container forbids it.
    pub fn open() -> io::Result<Self> {
        let ended = diagnosis_socket(ENDED_GROUPS)?;
        if setsockopt(&ended, sockopt::RcvBufForce, &ENDED_BUFFER_BYTES).is_err() {
            setsockopt(&ended, sockopt::RcvBuf, &ENDED_BUFFER_BYTES)?;
        }
        let asked = diagnosis_socket(0)?;
        setsockopt(&asked, sockopt::ReceiveTimeout, &ANSWER_BOUND)?;
        Ok(Self { asked, ended, sequence: 0, buffer: vec![0; MESSAGE_BYTES_MAX] })
    }

    /// Every connection to `remote` that is made, whosever it is.
    ///
    /// # Errors
    /// When the kernel does not tell.
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

    /// Waits for a connection to end, whosever it is and wherever it went, at most as long as `bound`.
    ///
    /// # Errors
    /// When the kernel does not tell.
    pub fn next_ended(&mut self, bound: Duration) -> io::Result<Ended> {
        // A time-out of nothing means for ever.
        let micros = i64::try_from(bound.as_micros()).unwrap_or(i64::MAX).max(1);
        let bound = TimeVal::new(micros / 1_000_000, micros % 1_000_000);
        setsockopt(&self.ended, sockopt::ReceiveTimeout, &bound)?;
        match receive(&self.ended, &mut self.buffer) {
            Ok(length) => {
                let found =
                    messages(&self.buffer[..length]).find_map(|(_, message)| match message {
                        Message::Connection(connection) => Some(Ended::Connection(connection)),
                        _ => None,
                    });
                Ok(found.unwrap_or(Ended::None))
            }
            Err(Errno::EAGAIN) => Ok(Ended::None),
            Err(Errno::ENOBUFS) => Ok(Ended::Missed),
            Err(errno) => Err(errno.into()),
        }
    }
}

/// The kernel does not tell the scope of an address.
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

/// A signal in between is no answer.
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
