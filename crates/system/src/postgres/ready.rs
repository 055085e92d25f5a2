//! Whether a server of the PostgreSQL protocol takes logins. It says nothing first, so a login is begun.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use crate::ports::{ANSWER_BOUND, local};

/// The begin of a session: its length, protocol 3.0, a user, and a zero at the end.
const START: &[u8] = b"\0\0\0\x13\0\x03\0\0user\0dyno\0\0";
/// The first byte of a request for a proof of the password. A server that starts or stops answers with an error.
const PROVE: u8 = b'R';

/// Whether a server asks for a password on this port of 127.0.0.1.
pub(super) fn takes_logins(port: u16) -> bool {
    takes_logins_within(ANSWER_BOUND, port)
}

fn takes_logins_within(bound: Duration, port: u16) -> bool {
    let Ok(mut stream) = TcpStream::connect_timeout(&local(port), bound) else {
        return false;
    };
    let mut first = [0];
    stream.set_read_timeout(Some(bound)).is_ok()
        && stream.write_all(START).is_ok()
        && stream.read_exact(&mut first).is_ok()
        && first[0] == PROVE
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, TcpListener};
    use std::thread;

    use super::*;

    #[test]
    fn only_a_server_that_asks_for_a_password_takes_logins() {
        assert_eq!(usize::from(START[3]), START.len());
        for (said, takes) in
            [(&b"R\0\0\0\x08\0\0\0\x0a"[..], true), (b"E\0\0\0\x09", false), (b"", false)]
        {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
            let port = listener.local_addr().unwrap().port();
            let server = thread::spawn(move || {
                let mut stream = listener.accept().unwrap().0;
                let mut start = [0; START.len()];
                stream.read_exact(&mut start).unwrap();
                stream.write_all(said)
            });
            assert_eq!(takes_logins_within(Duration::from_secs(100), port), takes, "{said:?}");
            server.join().unwrap().unwrap();
        }
    }
}
