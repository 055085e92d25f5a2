//! The bytes that come from the other side, read by a thread of their own, each part with the time at which it came.

use std::io::{ErrorKind, Read};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use anyhow::Context;
use zeroize::{Zeroize, Zeroizing};

use crate::problem::Problem;
use crate::queue::Bytes;

const READ_BYTES: usize = 64 << 10;
/// Parts that wait to be dealt with.
const PARTS_MAX: usize = 4;
/// How long to wait at a pipe that another program has set to not block.
const UNBLOCKED_PAUSE: Duration = Duration::from_millis(1);
/// A line of the conversation with the shell is not longer.
pub(crate) const LINE_BYTES_MAX: usize = 4 << 10;
/// What login shells and wrappers may print before the conversation begins.
pub(crate) const NOISE_BYTES_MAX: usize = 64 << 10;

/// Bytes that came together.
#[derive(Debug)]
pub(crate) struct Part {
    /// When, on the kernel's monotonic clock.
    pub(crate) at_ns: u64,
    pub(crate) bytes: Bytes,
}

/// What comes from the other side.
#[derive(Debug)]
pub(crate) struct Incoming {
    parts: mpsc::Receiver<Part>,
    /// Bytes that came and were not used yet.
    rest: Bytes,
}

/// What came of a wait for bytes.
#[derive(Debug)]
pub(crate) enum Came {
    Part(Part),
    Nothing,
    /// There will be no more.
    End,
}

impl Incoming {
    /// Reads from `source` from now on, until it ends or this is dropped and the source says something.
    ///
    /// # Errors
    /// When no thread can be started.
    pub(crate) fn read_from(mut source: impl Read + Send + 'static) -> anyhow::Result<Self> {
        let (sender, parts) = mpsc::sync_channel(PARTS_MAX);
        let pump = move || {
            let mut buffer = Zeroizing::new(vec![0; READ_BYTES]);
            while let Some(bytes) = read(&mut source, &mut buffer) {
                if sender.send(Part { at_ns: net::kernel_ns(), bytes }).is_err() {
                    return;
                }
            }
        };
        let thread = thread::Builder::new().name("remote reader".to_owned());
        thread.spawn(pump).context("no thread to read from another dyno")?;
        Ok(Self { parts, rest: Bytes::default() })
    }

    pub(crate) fn wait(&mut self, bound: Duration) -> Came {
        if !self.rest.is_empty() {
            let bytes = std::mem::take(&mut self.rest);
            return Came::Part(Part { at_ns: net::kernel_ns(), bytes });
        }
        match self.parts.recv_timeout(bound) {
            Ok(part) => Came::Part(part),
            Err(RecvTimeoutError::Timeout) => Came::Nothing,
            Err(RecvTimeoutError::Disconnected) => Came::End,
        }
    }

    /// Gives back bytes that were not used.
    pub(crate) fn put_back(&mut self, bytes: Bytes) {
        self.rest = bytes;
    }
}

/// The bytes that come next; `None` when there are no more. Nothing of them is left in the buffer: they may be a
/// secret, and the buffer lives as long as the connection.
fn read(source: &mut impl Read, buffer: &mut [u8]) -> Option<Bytes> {
    loop {
        match source.read(buffer) {
            Ok(0) => return None,
            Ok(length) => {
                let bytes = Zeroizing::new(buffer[..length].to_vec());
                buffer[..length].zeroize();
                return Some(bytes);
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => thread::sleep(UNBLOCKED_PAUSE),
            Err(_) => return None,
        }
    }
}

/// Finds lines among bytes, and gives up when they are too long or there are too many.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    bytes: Bytes,
    passed: usize,
}

impl Lines {
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// The next line without its end, when it is whole. Bytes that are no UTF-8 are replaced.
    ///
    /// # Errors
    /// When there are too many bytes in all, or in a line.
    pub(crate) fn next(&mut self) -> Result<Option<String>, Problem> {
        let end = self.bytes.iter().position(|byte| *byte == b'\n');
        let length = end.map_or(self.bytes.len(), |end| end + 1);
        if self.passed + length > NOISE_BYTES_MAX {
            let shown = String::from_utf8_lossy(&self.bytes[..length.min(80)]).into_owned();
            return Err(Problem::Garbage(format!(
                "more than {NOISE_BYTES_MAX} bytes came before it, such as {shown:?}"
            )));
        }
        let Some(end) = end else { return Ok(None) };
        self.passed += length;
        // What matters of a line is at its end: a prompt or a greeting without a line end may be before it.
        let line = &self.bytes[end.saturating_sub(LINE_BYTES_MAX)..end];
        let line = String::from_utf8_lossy(line).into_owned();
        self.bytes.drain(..=end);
        Ok(Some(line))
    }

    pub(crate) fn rest(self) -> Bytes {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_were_read_are_not_left_in_the_buffer() {
        let (mut source, mut buffer) = (&b"secret"[..], [0; 4]);
        for expected in [&b"secr"[..], b"et"] {
            assert_eq!(**read(&mut source, &mut buffer).unwrap(), *expected);
            assert_eq!(buffer, [0; 4]);
        }
        assert_eq!(read(&mut source, &mut buffer), None);
    }

    #[test]
    fn lines_are_found_across_cuts_and_the_rest_is_kept() {
        let mut lines = Lines::default();
        lines.push(b"one\ntw");
        assert_eq!(lines.next(), Ok(Some("one".to_owned())));
        assert_eq!(lines.next(), Ok(None));
        lines.push(b"o\n\xffframes\n\0");
        assert_eq!(lines.next(), Ok(Some("two".to_owned())));
        assert_eq!(lines.next(), Ok(Some("\u{fffd}frames".to_owned())));
        assert_eq!(lines.next(), Ok(None));
        assert_eq!(**lines.rest(), [0]);
    }

    #[test]
    fn noise_has_a_bound_in_lines_and_without_any() {
        let mut lines = Lines::default();
        lines.push(&b"motd\n".repeat(NOISE_BYTES_MAX / 5));
        let read = std::iter::from_fn(|| lines.next().unwrap()).count();
        assert_eq!(read, NOISE_BYTES_MAX / 5);
        lines.push(b"motd\n");
        let why = lines.next().unwrap_err().to_string();
        assert!(why.contains("65536 bytes came before it, such as \"motd"), "{why}");
        let mut lines = Lines::default();
        lines.push(&vec![0; NOISE_BYTES_MAX]);
        assert_eq!(lines.next(), Ok(None));
        lines.push(&[0]);
        assert!(lines.next().is_err());
    }
}
