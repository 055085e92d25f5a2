//! Performs acts in real time, in threads for connections of TCP on the loopback interface.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::thread;

use crate::{Act, Framing, Wire, WireSocket};

/// A flood ends after so many bytes, so that a test fails instead of going on.
const FLOOD_BYTES: usize = 4 << 30;

/// Behaves in this way on every connection, until the process ends. Returns the address.
///
/// # Errors
/// When there is no free port.
pub fn serve(acts: Vec<Act>) -> io::Result<SocketAddr> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let address = listener.local_addr()?;
    thread::spawn(move || {
        for stream in listener.incoming() {
            let (Ok(stream), acts) = (stream, acts.clone()) else { continue };
            // The way in which the other side ends the connection does not matter here.
            thread::spawn(move || drop(play(stream, &acts)));
        }
    });
    Ok(address)
}

/// Performs acts on a connection, and closes it.
///
/// # Errors
/// When the other side has ended the connection before the last act.
pub fn play(socket: impl WireSocket, acts: &[Act]) -> io::Result<()> {
    let mut wire = Wire::new(socket);
    for act in acts {
        match act {
            Act::Send(bytes) => wire.write_all(bytes)?,
            Act::Drip(bytes, pause) => {
                for byte in bytes {
                    wire.write_all(&[*byte])?;
                    thread::sleep(*pause);
                }
            }
            Act::Repeat(unit) => repeat(&mut wire, unit)?,
            Act::Receive(framing) => receive(&mut wire, *framing, &mut Vec::new())?,
            Act::Wait => drop(io::copy(&mut wire, &mut io::sink())?),
            Act::Hold => loop {
                thread::park();
            },
            Act::Encrypt => wire.encrypt().and_then(|()| wire.flush())?,
            Act::Decrypt => wire.decrypt(),
            Act::HalfClose => wire.half_close()?,
            // The first byte is read, and those behind it are not.
            Act::Reset => return wire.read_exact(&mut [0]),
        }
    }
    Ok(())
}

fn repeat(stream: &mut impl Write, unit: &[u8]) -> io::Result<()> {
    for _ in 0..FLOOD_BYTES / unit.len().max(1) {
        stream.write_all(unit)?;
    }
    Err(ErrorKind::FileTooLarge.into())
}

/// Reads one message of the other side and appends it to an empty `message`.
///
/// # Errors
/// When the other side has ended the connection before.
pub fn receive(stream: &mut impl Read, framing: Framing, message: &mut Vec<u8>) -> io::Result<()> {
    loop {
        let missing = framing.missing(message);
        if missing == 0 {
            return Ok(());
        }
        let end = message.len();
        message.resize(end + missing, 0);
        stream.read_exact(&mut message[end..])?;
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpStream;
    use std::time::Duration;

    use super::*;

    /// What a client receives that sends `request` to such a peer.
    fn received(acts: Vec<Act>, request: &[u8]) -> io::Result<Vec<u8>> {
        let mut stream = TcpStream::connect(serve(acts)?)?;
        stream.write_all(request)?;
        let mut all = Vec::new();
        stream.read_to_end(&mut all).map(|_| all)
    }

    #[test]
    fn acts_follow_each_other_and_then_the_peer_closes() {
        let acts = vec![
            Act::Send(b"one".to_vec()),
            Act::Receive(Framing::MySqlPacket),
            Act::Drip(b"two".to_vec(), Duration::ZERO),
        ];
        assert_eq!(received(acts, b"\x01\0\0\0x").unwrap(), b"onetwo");
        let half = vec![Act::Send(b"one".to_vec()), Act::HalfClose, Act::Wait];
        assert_eq!(received(half, b"").unwrap(), b"one");
    }

    #[test]
    fn a_reset_is_one_to_the_other_side() {
        let error = received(vec![Act::Reset], b"unread").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    }
}
