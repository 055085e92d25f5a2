//! Free ports on the loopback interface, and whether a server sends the greeting of the MySQL protocol on one.

use std::io::{self, Read};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::net::{
    AddressFamily, SocketFlags, SocketType, bind, getsockname, socket_with, sockopt,
};

/// First byte of the greeting of protocol version 10, after the packet's header of 4 bytes.
const GREETING: u8 = 10;

/// How long a server of this machine may take for each step of one check. The next check asks again, and between
/// two a stop can be requested.
pub(crate) const ANSWER_BOUND: Duration = Duration::from_millis(900);

/// The ports of a server on 127.0.0.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ports {
    pub(crate) main: u16,
    /// The port that is not for clients: for its status, or for the other servers of its cluster.
    pub(crate) internal: u16,
}

/// Ports that are reserved while a server listens on them and also between two of its starts. The kernel does not
/// hand out a port that is bound. It lets several sockets bind a port by its number when all set `SO_REUSEADDR`, as
/// servers do, and only one listens. Source: socket(7).
#[derive(Debug)]
pub(crate) struct Reserved {
    pub(crate) ports: Ports,
    _sockets: [OwnedFd; 2],
}

impl Reserved {
    /// Reserves two free ports. A program that asks for them by their numbers may still take them.
    pub(crate) fn free() -> io::Result<Self> {
        let (one, other) = (Self::any()?, Self::any()?);
        let ports = Ports { main: one.1, internal: other.1 };
        Ok(Self { ports, _sockets: [one.0, other.0] })
    }

    /// A socket that is bound but does not listen, and its port.
    fn any() -> io::Result<(OwnedFd, u16)> {
        let kept = tcp_socket()?;
        sockopt::set_socket_reuseaddr(&kept, true)?;
        bind(&kept, &local(0))?;
        let address = SocketAddr::try_from(getsockname(&kept)?)?;
        Ok((kept, address.port()))
    }
}

/// A socket that child processes do not inherit.
fn tcp_socket() -> io::Result<OwnedFd> {
    Ok(socket_with(AddressFamily::INET, SocketType::STREAM, SocketFlags::CLOEXEC, None)?)
}

pub(crate) fn local(port: u16) -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, port))
}

/// Whether a server of the MySQL protocol sends its greeting on this port of 127.0.0.1.
pub(crate) fn sends_greeting(port: u16) -> bool {
    sends_greeting_within(ANSWER_BOUND, port)
}

fn sends_greeting_within(bound: Duration, port: u16) -> bool {
    let Ok(mut stream) = TcpStream::connect_timeout(&local(port), bound) else {
        return false;
    };
    let mut head = [0; 5];
    stream.set_read_timeout(Some(bound)).is_ok()
        && stream.read_exact(&mut head).is_ok()
        && head[4] == GREETING
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::TcpListener;
    use std::thread;

    use super::*;

    #[test]
    fn reserved_ports_are_distinct_and_reusable() {
        let reserved = Reserved::free().unwrap();
        let both = [reserved.ports.main, reserved.ports.internal];
        for _ in 0..3 {
            assert!(both.iter().all(|port| TcpStream::connect(local(*port)).is_err()));
            let listeners = both.map(|port| TcpListener::bind(local(port)).unwrap());
            // The side that has served a connection leaves it in the kernel for a while.
            for (port, listener) in both.iter().zip(&listeners) {
                let client = TcpStream::connect(local(*port)).unwrap();
                drop(listener.accept().unwrap());
                drop(client);
            }
        }
    }

    #[test]
    fn a_reserved_port_is_in_use_for_other_processes() {
        let reserved = Reserved::free().unwrap();
        for port in [reserved.ports.main, reserved.ports.internal] {
            let bound = bind(tcp_socket().unwrap(), &local(port));
            assert_eq!(bound, Err(rustix::io::Errno::ADDRINUSE));
        }
    }

    #[test]
    fn only_a_greeting_of_the_protocol_counts() {
        for (said, is_greeting) in
            [(&b"\x4a\0\0\0\x0a8.0"[..], true), (b"HTTP/1.1 400", false), (b"", false)]
        {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
            let port = listener.local_addr().unwrap().port();
            let server = thread::spawn(move || listener.accept().unwrap().0.write_all(said));
            let bound = Duration::from_secs(100);
            assert_eq!(sends_greeting_within(bound, port), is_greeting, "{said:?}");
            server.join().unwrap().unwrap();
        }
    }
}
