//! What all users of a connection share, and the thread that writes.

use std::io::{ErrorKind, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::Context;

use crate::frame::Frame;
use crate::problem::{LinkError, Problem};
use crate::queue::{Popped, Pushed, Queue};

/// A side that has sent nothing for this long sends a heartbeat.
const HEARTBEAT_PERIOD: Duration = Duration::from_millis(500);
/// How long to wait at a pipe that another program has set to not block.
const UNBLOCKED_PAUSE: Duration = Duration::from_millis(1);
/// How often a wait for room, or for the reason of an end, looks again.
const LOOK_PERIOD: Duration = Duration::from_millis(100);
/// How often it looks for the reason.
const LOOKS: usize = 20;

/// What all users of a connection share.
pub(crate) struct Shared {
    pub(crate) outgoing: Queue,
    pub(crate) written: AtomicU64,
    /// Whether frames are sent: only then there are heartbeats.
    pub(crate) is_framed: AtomicBool,
    pub(crate) messages: Queue,
    error: Mutex<Option<LinkError>>,
}

impl Shared {
    /// Starts to write to `target`: bytes as they are, until frames are sent.
    ///
    /// # Errors
    /// When no thread can be started.
    pub(crate) fn write_to(target: impl Write + Send + 'static) -> anyhow::Result<Arc<Self>> {
        let shared = Arc::new(Self {
            outgoing: Queue::default(),
            written: AtomicU64::new(0),
            is_framed: AtomicBool::new(false),
            messages: Queue::default(),
            error: Mutex::new(None),
        });
        let own = Arc::clone(&shared);
        let thread = thread::Builder::new().name("remote writer".to_owned());
        thread.spawn(move || own.write(target)).context("no thread to write to another dyno")?;
        Ok(shared)
    }

    fn error(&self) -> MutexGuard<'_, Option<LinkError>> {
        self.error.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The connection has ended with this error.
    pub(crate) fn end(&self, error: LinkError) {
        *self.error() = Some(error);
        // Whoever receives the error can send no more.
        self.outgoing.break_off();
        // What came before is still received.
        self.messages.close();
    }

    /// The error that has ended the connection. It may take a moment until it is known.
    pub(crate) fn reason(&self) -> LinkError {
        for _ in 0..LOOKS {
            if let Some(error) = self.error().clone() {
                return error;
            }
            thread::sleep(LOOK_PERIOD);
        }
        Problem::Closed.into()
    }

    /// Sends a frame behind those that wait, as soon as there is room for it.
    ///
    /// # Errors
    /// When it is too large, or the connection has ended.
    pub(crate) fn send(&self, frame: &Frame) -> Result<(), LinkError> {
        let mut bytes = frame.encode()?;
        loop {
            match self.outgoing.push(bytes, LOOK_PERIOD) {
                Pushed::Yes => return Ok(()),
                Pushed::Full(again) => bytes = again,
                Pushed::Ended => return Err(self.reason()),
            }
        }
    }

    /// The writer's thread.
    fn write(&self, mut target: impl Write) {
        loop {
            let bytes = match self.outgoing.pop(HEARTBEAT_PERIOD) {
                Popped::Item(bytes) => bytes,
                Popped::None if self.is_framed.load(Ordering::Acquire) => {
                    let Ok(bytes) = Frame::Heartbeat.encode() else { continue };
                    bytes
                }
                Popped::None => continue,
                Popped::Ended => return,
            };
            if !self.write_all(&mut target, &bytes) {
                self.outgoing.break_off();
                return;
            }
            self.outgoing.done();
        }
    }

    fn write_all(&self, target: &mut impl Write, mut bytes: &[u8]) -> bool {
        while !bytes.is_empty() {
            match target.write(bytes) {
                Ok(0) => return false,
                Ok(length) => {
                    self.written.fetch_add(length as u64, Ordering::AcqRel);
                    bytes = &bytes[length..];
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    if self.outgoing.is_broken() {
                        return false;
                    }
                    thread::sleep(UNBLOCKED_PAUSE);
                }
                Err(_) => return false,
            }
        }
        target.flush().is_ok()
    }
}
