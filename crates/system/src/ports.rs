//! Free ports on the loopback interface.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::net::{
    AddressFamily, SocketFlags, SocketType, bind, getsockname, socket_with, sockopt,
};

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

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

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
}
