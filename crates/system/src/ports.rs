//! Free ports on the loopback interface, and whether a server of the MySQL protocol greets on one.

use std::io::{self, Read};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

/// First byte of a greeting of the protocol's version 10, after the packet's header of 4 bytes.
const GREETING: u8 = 10;

/// Where a server listens on 127.0.0.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ports {
    /// Where it serves.
    pub(crate) main: u16,
    /// Where it shows its state, or speaks to others of its kind.
    pub(crate) second: u16,
}

impl Ports {
    /// Two that nobody uses now; somebody may a moment later.
    pub(crate) fn free() -> io::Result<Self> {
        let any = || TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
        // Both are held until they are known, so that they are not the same.
        let (one, other) = (any()?, any()?);
        Ok(Self { main: one.local_addr()?.port(), second: other.local_addr()?.port() })
    }
}

/// The address of a port of this machine.
pub(crate) fn local(port: u16) -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, port))
}

/// Whether a server of the MySQL protocol greets on this port of 127.0.0.1.
pub(crate) fn greets(port: u16) -> bool {
    let Ok(mut stream) = TcpStream::connect_timeout(&local(port), Duration::from_secs(1)) else {
        return false;
    };
    let mut head = [0; 5];
    stream.set_read_timeout(Some(Duration::from_secs(5))).is_ok()
        && stream.read_exact(&mut head).is_ok()
        && head[4] == GREETING
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::thread;

    use super::*;

    #[test]
    fn free_ports_differ_and_can_be_used() {
        let ports = Ports::free().unwrap();
        let listeners = [ports.main, ports.second].map(|port| TcpListener::bind(local(port)));
        assert!(listeners.iter().all(Result::is_ok), "{ports:?}");
    }

    #[test]
    fn only_a_greeting_of_the_protocol_counts() {
        for (said, is_greeting) in
            [(&b"\x4a\0\0\0\x0a8.0"[..], true), (b"HTTP/1.1 400", false), (b"", false)]
        {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
            let port = listener.local_addr().unwrap().port();
            let server = thread::spawn(move || listener.accept().unwrap().0.write_all(said));
            assert_eq!(greets(port), is_greeting, "{said:?}");
            server.join().unwrap().unwrap();
        }
    }
}
