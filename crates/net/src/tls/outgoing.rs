//! The buffer of TLS records to send.

use rustls::Error;
use rustls::unbuffered::{EncodeError, EncryptError, InsufficientSizeError};

/// A larger buffer is shrunk once all is sent.
const KEPT_BYTES: usize = 128 * 1024;
/// The most bytes that a record adds to its plaintext, with a key update before it (RFC 8446, section 5.2).
const RECORD_EXTRA_BYTES: usize = 320;
const RECORD_BYTES: usize = 16 * 1024;

/// TLS records to send. The buffer is kept, so that a request does not allocate.
#[derive(Default)]
pub(crate) struct Outgoing {
    room: Vec<u8>,
    sent: usize,
    filled: usize,
}

impl Outgoing {
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.room[self.sent..self.filled]
    }

    /// The first `length` bytes were sent.
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

    #[cfg(test)]
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
