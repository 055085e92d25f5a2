//! The answer to a query or an execution: counted, and skipped by packet headers.
//!
//! The load path runs this for every statement. Bytes are parsed where the kernel put them. Only a partial header, or
//! a partial short message that must be read whole, is kept for the next read. Rows and column definitions are
//! skipped without decoding, unless the rows are kept.

use super::row_buffer::{RowBuffer, RowFormat};
use super::wire::{Cursor, Malformed, payload_length};
use super::{PACKET_BYTES_MAX, ServerError, status};
use crate::{Answer, Rows};

/// A message that must be read whole (OK, error, end of rows) may not be longer than this.
const WHOLE_BYTES_MAX: usize = 64 * 1024;
/// More columns than any server of this protocol has.
pub(super) const COLUMNS_MAX: u64 = 65_535;
/// Memory that a session may keep for the next partial answer.
const KEPT_BYTES: usize = 512;

/// How much of an answer has been received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ReplyProgress {
    More,
    Done,
    /// The server asks for the rows of a LOAD DATA LOCAL INFILE.
    WantsRows,
    Refused(Box<ServerError>),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum ReplyStage {
    /// OK, error, or the number of columns.
    #[default]
    First,
    /// This many column definitions follow.
    Columns(u64),
    ColumnsEnd,
    /// Rows up to the packet that ends them.
    Rows,
}

/// Parses one answer as it arrives.
#[derive(Debug, Default)]
pub(crate) struct Reply {
    stage: ReplyStage,
    /// Rows end with an OK packet, and no packet ends the column definitions.
    has_deprecated_eof: bool,
    /// The next packet continues the message of the last one.
    is_continued: bool,
    /// Bytes of a payload that are still to be skipped.
    skip: usize,
    kept: Vec<u8>,
    answer: Answer,
    status: u16,
    /// Whether rows of this answer are kept.
    is_catching: bool,
    /// The buffer for the rows; created when rows are first requested.
    row_buffer: Option<Box<RowBuffer>>,
}

impl Reply {
    /// A parser for a session that begins with these status bits.
    pub(crate) fn new(has_deprecated_eof: bool, status: u16) -> Self {
        Self { has_deprecated_eof, status, ..Self::default() }
    }

    #[inline]
    pub(crate) fn reset(&mut self) {
        self.stage = ReplyStage::First;
        self.is_continued = false;
        self.skip = 0;
        self.answer = Answer::default();
        self.is_catching = false;
        if !self.kept.is_empty() {
            self.kept.clear();
        }
    }

    /// Keeps the rows of the next answer; call it after [`Reply::reset`].
    #[inline]
    pub(crate) fn row_buffer(&mut self, format: RowFormat) {
        self.is_catching = true;
        self.row_buffer.get_or_insert_with(|| Box::new(RowBuffer::new())).begin(format);
    }

    /// The rows that were kept last; `None` when none were ever kept.
    #[inline]
    pub(crate) fn buffered(&self) -> Option<&Rows> {
        self.row_buffer.as_ref().map(|row_buffer| row_buffer.rows())
    }

    #[inline]
    pub(crate) fn answer(&self) -> Answer {
        self.answer
    }

    /// The server's status bits at the end of the last answer.
    pub(crate) fn status(&self) -> u16 {
        self.status
    }

    #[cfg(test)]
    pub(crate) fn kept_bytes(&self) -> usize {
        self.kept.len()
    }

    /// The memory for bytes that are kept.
    #[cfg(test)]
    pub(crate) fn kept_capacity(&self) -> usize {
        self.kept.capacity()
    }

    #[inline]
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> Result<ReplyProgress, Malformed> {
        if !self.kept.is_empty() {
            return self.feed_kept(bytes);
        }
        let (used, step) = self.consume(bytes)?;
        if used < bytes.len() {
            goes_on(&step)?;
            self.kept.extend_from_slice(&bytes[used..]);
        }
        Ok(step)
    }

    #[cold]
    fn feed_kept(&mut self, bytes: &[u8]) -> Result<ReplyProgress, Malformed> {
        let mut kept = std::mem::take(&mut self.kept);
        kept.extend_from_slice(bytes);
        let (used, step) = self.consume(&kept)?;
        if used < kept.len() {
            goes_on(&step)?;
            // What is left is the message that these bytes began, or nothing moves: each byte moves at most twice,
            // in however many pieces a message comes.
            kept.drain(..used);
            self.kept = kept;
        } else if kept.capacity() <= KEPT_BYTES {
            kept.clear();
            self.kept = kept;
        }
        Ok(step)
    }

    /// Parses the whole packets at the front of `bytes`; returns how many bytes are done.
    #[inline]
    fn consume(&mut self, bytes: &[u8]) -> Result<(usize, ReplyProgress), Malformed> {
        let mut at = 0;
        loop {
            let passed = self.skip.min(bytes.len() - at);
            self.skip -= passed;
            at += passed;
            let Some(header) = bytes.get(at..at + 5) else {
                return self.short(bytes, at);
            };
            let length = payload_length(header);
            if self.is_continued || !self.is_whole(header[4], length) {
                self.pass(length)?;
                at += 4;
                continue;
            }
            if length > self.whole_bytes_max() || length == 0 {
                return Err(Malformed("an empty or overlong message where a short one was due"));
            }
            let Some(payload) = bytes.get(at + 4..at + 4 + length) else {
                return Ok((at, ReplyProgress::More));
            };
            at += 4 + length;
            if let Some(step) = self.message(payload)? {
                return Ok((at, step));
            }
        }
    }

    /// Less than a header and one byte is left: more bytes follow, except after the empty packet that may end a
    /// message of several packets.
    fn short(&mut self, bytes: &[u8], at: usize) -> Result<(usize, ReplyProgress), Malformed> {
        if bytes.len() - at == 4 && self.is_continued && payload_length(&bytes[at..]) == 0 {
            self.is_continued = false;
            return Ok((at + 4, ReplyProgress::More));
        }
        Ok((at, ReplyProgress::More))
    }

    #[inline]
    fn whole_bytes_max(&self) -> usize {
        if self.is_catching { PACKET_BYTES_MAX - 1 } else { WHOLE_BYTES_MAX }
    }

    /// Whether a packet must be read whole rather than passed over.
    #[inline]
    fn is_whole(&self, first: u8, length: usize) -> bool {
        match self.stage {
            _ if self.is_catching => true,
            ReplyStage::First | ReplyStage::ColumnsEnd => true,
            ReplyStage::Columns(_) => first == 0xff,
            // A row of text may also begin with 0xfe, but then it is longer than one packet, which the end of rows
            // never is.
            ReplyStage::Rows => first == 0xff || first == 0xfe && length < PACKET_BYTES_MAX,
        }
    }

    #[inline]
    fn pass(&mut self, length: usize) -> Result<(), Malformed> {
        if !self.is_continued {
            if length == 0 {
                return Err(Malformed("an empty packet among rows"));
            }
            match self.stage {
                ReplyStage::Columns(1) if self.has_deprecated_eof => self.stage = ReplyStage::Rows,
                ReplyStage::Columns(1) => self.stage = ReplyStage::ColumnsEnd,
                ReplyStage::Columns(left) => self.stage = ReplyStage::Columns(left - 1),
                _ => self.answer.rows += 1,
            }
        }
        self.is_continued = length == PACKET_BYTES_MAX;
        self.skip = length;
        Ok(())
    }

    /// Reads a whole message; `None` means that the answer continues.
    #[inline]
    fn message(&mut self, payload: &[u8]) -> Result<Option<ReplyProgress>, Malformed> {
        let first = payload[0];
        if first == 0xff {
            return Ok(Some(ReplyProgress::Refused(Box::new(ServerError::parse(payload)?))));
        }
        match self.stage {
            ReplyStage::First => match first {
                0x00 => self.end(payload, true),
                0xfb => Ok(Some(ReplyProgress::WantsRows)),
                _ => self.columns(payload),
            },
            ReplyStage::ColumnsEnd if first == 0xfe => {
                self.stage = ReplyStage::Rows;
                Ok(None)
            }
            // A row of text may begin with 0xfe only when it is longer than a packet can be.
            ReplyStage::Rows if first == 0xfe || !self.is_catching => {
                self.end(payload, self.has_deprecated_eof)
            }
            ReplyStage::Rows | ReplyStage::Columns(_) if self.is_catching => self.take(payload),
            _ => Err(Malformed("the end of column definitions was due")),
        }
    }

    #[inline]
    fn columns(&mut self, payload: &[u8]) -> Result<Option<ReplyProgress>, Malformed> {
        let count = Cursor(payload).length()?;
        if count == 0 || count > COLUMNS_MAX {
            return Err(Malformed("a result with an impossible number of columns"));
        }
        self.stage = ReplyStage::Columns(count);
        if let Some(row_buffer) = self.row_buffer.as_mut().filter(|_| self.is_catching) {
            row_buffer.columns(count);
        }
        Ok(None)
    }

    /// Reads a row that is kept, or a column's definition.
    #[inline]
    fn take(&mut self, payload: &[u8]) -> Result<Option<ReplyProgress>, Malformed> {
        let Some(row_buffer) = &mut self.row_buffer else { return Ok(None) };
        let ReplyStage::Columns(left) = self.stage else {
            self.answer.rows += 1;
            row_buffer.row(payload)?;
            return Ok(None);
        };
        row_buffer.column(payload)?;
        self.stage = match left {
            1 if self.has_deprecated_eof => ReplyStage::Rows,
            1 => ReplyStage::ColumnsEnd,
            _ => ReplyStage::Columns(left - 1),
        };
        Ok(None)
    }

    /// Reads the end of a result: an OK packet, or the older EOF packet.
    #[inline]
    fn end(
        &mut self,
        payload: &[u8],
        is_ok_packet: bool,
    ) -> Result<Option<ReplyProgress>, Malformed> {
        let mut cursor = Cursor(&payload[1..]);
        if is_ok_packet {
            self.answer.affected = self.answer.affected.saturating_add(cursor.length()?);
            let _last_insert_id = cursor.length()?;
            self.status = cursor.u16()?;
            let _warnings = cursor.u16()?;
        } else {
            let _warnings = cursor.u16()?;
            self.status = cursor.u16()?;
        }
        if self.status & status::MORE_RESULTS != 0 {
            self.stage = ReplyStage::First;
            return Ok(None);
        }
        Ok(Some(ReplyProgress::Done))
    }
}

/// Checks that an answer goes on, because bytes are left.
fn goes_on(step: &ReplyProgress) -> Result<(), Malformed> {
    match step {
        ReplyProgress::More => Ok(()),
        _ => Err(Malformed("bytes after the end of an answer")),
    }
}
