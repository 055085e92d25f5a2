//! Reading and writing through TLS: the steps of the state machine, and the wire below it.

use std::io::{self, ErrorKind};
use std::task::{Poll, ready};

use super::Wire;
use crate::tls::{Machine, Opened, TlsFault};

/// The number of bytes in a row that hold no plain ones, after which the peer counts as flooding dyno. A record is
/// far shorter.
const FRUITLESS_BYTES_MAX: usize = 6 << 20;

/// Continues the handshake as far as the wire allows.
pub(super) fn poll_handshake(wire: &mut Wire, machine: &mut Machine) -> Poll<io::Result<()>> {
    loop {
        ready!(poll_flush(wire, machine))?;
        if machine.is_secure() {
            return Poll::Ready(Ok(()));
        }
        let opened = ready!(wire.poll_read(|bytes| match bytes {
            [] => Ok(Opened::Closed),
            bytes => machine.shake_hands(bytes),
        }))?;
        match opened {
            Ok(Opened::Plain(()) | Opened::Wanting) => {}
            Ok(Opened::Closed) => return Poll::Ready(Err(TlsFault::Closed.into())),
            Err(fault) => return Poll::Ready(Err(failed(wire, machine, fault))),
        }
    }
}

/// Passes the plain bytes of a record to `body`. An empty slice means that the peer has closed, with a TLS
/// alert or without one: database messages carry their own lengths. Not inlined, so that plain reads stay
/// short.
#[inline(never)]
pub(super) fn poll_read<T>(
    wire: &mut Wire,
    machine: &mut Machine,
    mut body: impl FnMut(&[u8]) -> T,
) -> Poll<io::Result<T>> {
    let mut opened = match machine.has_leftover() {
        true => machine.open(&mut [], &mut body),
        false => Ok(Opened::Wanting),
    };
    while *machine.fruitless_bytes() < FRUITLESS_BYTES_MAX {
        match opened {
            Ok(Opened::Plain(value)) => {
                *machine.fruitless_bytes() = 0;
                return Poll::Ready(Ok(value));
            }
            Ok(Opened::Closed) => return Poll::Ready(Ok(body(&[]))),
            Ok(Opened::Wanting) => {}
            Err(fault) => return Poll::Ready(Err(failed(wire, machine, fault))),
        }
        opened = ready!(wire.poll_read(|bytes| match bytes {
            [] => Ok(Opened::Closed),
            bytes => {
                *machine.fruitless_bytes() += bytes.len();
                machine.open(bytes, &mut body)
            }
        }))?;
        // The answer to a key update need not wait for the next request.
        if !machine.outgoing().is_empty() {
            let _ = poll_flush(wire, machine)?;
        }
    }
    Poll::Ready(Err(TlsFault::Broken("records without end that hold nothing".into()).into()))
}

/// Sends `bytes` from index `sent` on. Encrypted bytes count as sent when the kernel has taken all of them.
#[inline(never)]
pub(super) fn poll_write(
    wire: &mut Wire,
    machine: &mut Machine,
    bytes: &[u8],
    sent: &mut usize,
) -> Poll<io::Result<()>> {
    loop {
        ready!(poll_flush(wire, machine))?;
        *sent += machine.take_sealed();
        if *sent >= bytes.len() {
            return Poll::Ready(Ok(()));
        }
        match machine.seal(&bytes[*sent..]) {
            Ok(()) => {}
            Err(TlsFault::Closed) => return Poll::Ready(Err(ErrorKind::BrokenPipe.into())),
            Err(fault) => return Poll::Ready(Err(failed(wire, machine, fault))),
        }
    }
}

fn poll_flush(wire: &mut Wire, machine: &mut Machine) -> Poll<io::Result<()>> {
    let outgoing = machine.outgoing();
    if outgoing.is_empty() {
        return Poll::Ready(Ok(()));
    }
    let mut sent = 0;
    let polled = wire.poll_write(outgoing.bytes(), &mut sent);
    outgoing.advance(sent);
    polled
}

/// Sends the peer an alert, if it still reads.
#[cold]
fn failed(wire: &mut Wire, machine: &mut Machine, fault: TlsFault) -> io::Error {
    let _ = poll_flush(wire, machine);
    fault.into()
}

#[cfg(test)]
mod tests;
