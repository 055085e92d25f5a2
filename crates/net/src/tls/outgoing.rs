//! Records that wait to be sent.

use rustls::Error;
use rustls::unbuffered::{EncodeError, EncryptError, InsufficientSizeError};

/// More room than this is given back once all is sent.
const KEPT_BYTES: usize = 128 * 1024;
/// What a record takes beside its plaintext, at most, and a key update before it (RFC 8446, section 5.2).
const RECORD_EXTRA_BYTES: usize = 320;
/// Plaintext of one record.
const RECORD_BYTES: usize = 16 * 1024;

/// Records that wait to be sent. Its room stays, so that a request does not allocate it.
#[derive(Default)]
pub(crate) struct Outgoing {
    room: Vec<u8>,
    sent: usize,
    filled: usize,
}

impl Outgoing {
    /// What is to be sent.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.room[self.sent..self.filled]
    }

    /// The first `length` bytes of it are on their way.
    pub(crate) fn advance(&mut self, length: usize) {
        self.sent += length;
        if self.sent == self.filled {
            (self.sent, self.filled) = (0, 0);
            if self.room.len() > KEPT_BYTES {
                self.room = Vec::new();
            }
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.sent == self.filled
    }

    /// Memory that is held.
    pub(crate) fn capacity_bytes(&self) -> usize {
        self.room.capacity()
    }

    /// Appends a record of the handshake that `encode` writes.
    pub(crate) fn encode(
        &mut self,
        mut encode: impl FnMut(&mut [u8]) -> Result<usize, EncodeError>,
    ) -> Result<(), Error> {
        let written = match encode(self.room(0)) {
            Err(EncodeError::InsufficientSize(wanted)) => encode(self.room(wanted.required_size)),
            done => done,
        };
        self.filled += written.map_err(|error| Error::General(error.to_string()))?;
        Ok(())
    }

    /// Appends the records that `encrypt` makes of `length` bytes.
    pub(crate) fn encrypt(
        &mut self,
        length: usize,
        mut encrypt: impl FnMut(&mut [u8]) -> Result<usize, EncryptError>,
    ) -> Result<(), EncryptError> {
        let guess = length + (length / RECORD_BYTES + 1) * RECORD_EXTRA_BYTES;
        let written = match encrypt(self.room(guess)) {
            Err(EncryptError::InsufficientSize(InsufficientSizeError { required_size })) => {
                encrypt(self.room(required_size))
            }
            done => done,
        };
        self.filled += written?;
        Ok(())
    }

    fn room(&mut self, length: usize) -> &mut [u8] {
        if self.room.len() < self.filled + length {
            self.room.resize(self.filled + length, 0);
        }
        &mut self.room[self.filled..]
    }
}
