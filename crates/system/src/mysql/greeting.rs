//! Whether a server sends the greeting of the MySQL protocol: then it takes logins.

use std::io::Read;
use std::net::TcpStream;
use std::time::Duration;

use crate::ports::{ANSWER_BOUND, local};

/// First byte of the greeting of protocol version 10, after the packet's header of 4 bytes.
const GREETING: u8 = 10;

/// Whether a server sends its greeting on this port of 127.0.0.1.
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
    use std::net::{Ipv4Addr, TcpListener};
    use std::thread;

    use super::*;

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
