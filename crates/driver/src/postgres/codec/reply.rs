//! The answer to a request: counted, and skipped by the heads of its messages.
//!
//! The load path runs this for every statement. Bytes are parsed where the kernel put them. Only a partial head, or a
//! partial message that must be read whole, is kept for the next read. Rows are skipped without decoding, unless they
//! are kept.

use super::row_buffer::RowBuffer;
use super::wire::{HEAD_BYTES, Malformed, head};
use super::{ServerError, kind};
use crate::{Answer, Rows};

/// An error message may not be longer than this.
const ERROR_BYTES_MAX: usize = 64 * 1024;
/// A command's tag, such as `INSERT 0 1`.
const TAG_BYTES_MAX: usize = 1_024;
/// A row that is kept.
const ROW_BYTES_MAX: usize = 16 << 20;
/// Memory that a session may keep for the next partial answer.
const KEPT_BYTES: usize = 512;

/// How much of an answer has been received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ReplyProgress {
    More,
    Done,
    /// The server asks for the rows of a COPY.
    WantsRows,
    Refused(Box<ServerError>),
}

/// What the answer belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Request {
    /// A text, which may have several statements.
    #[default]
    Text,
    /// Bind and Execute.
    Execute,
    /// Parse, Bind and Execute.
    ParseAndExecute,
    /// The end of the rows of a COPY.
    Rows,
}

/// What is due next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    Parsed,
    Bound,
    /// The result of a statement.
    #[default]
    Result,
    /// Another statement's result, or the end.
    Ended,
    /// The server waits for rows.
    Copying,
}

/// The state of a session that the end of each answer tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum TransactionState {
    #[default]
    None,
    Open,
    Failed,
}

/// Parses one answer as it arrives.
#[derive(Debug, Default)]
pub(crate) struct Reply {
    request: Request,
    stage: Stage,
    state: TransactionState,
    /// How many transactions have ended, as the server counts them.
    transactions: u64,
    /// How many statements have ended without an error.
    statements: u64,
    /// A command's tag was ROLLBACK.
    has_rolled_back: bool,
    /// Whether rows of this answer are kept.
    is_catching: bool,
    /// Bytes of a message that are still to be skipped.
    skip: usize,
    kept: Vec<u8>,
    answer: Answer,
    error: Option<Box<ServerError>>,
    /// The buffer for the rows; created when rows are first requested.
    row_buffer: Option<Box<RowBuffer>>,
}

impl Reply {
    #[inline]
    pub(crate) fn begin(&mut self, request: Request) {
        self.request = request;
        self.stage = match request {
            Request::Text | Request::Rows => Stage::Result,
            Request::Execute => Stage::Bound,
            Request::ParseAndExecute => Stage::Parsed,
        };
        self.has_rolled_back = false;
        self.is_catching = false;
        self.answer = Answer::default();
        self.error = None;
    }

    /// Keeps the rows of the next answer; call it after [`Reply::begin`].
    #[inline]
    pub(crate) fn row_buffer(&mut self) {
        self.is_catching = true;
        self.row_buffer.get_or_insert_default().begin();
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

    #[inline]
    pub(crate) fn state(&self) -> TransactionState {
        self.state
    }

    /// How many transactions have ended: whenever the server is ready outside of one, one has. The login is one.
    #[inline]
    pub(crate) fn transactions(&self) -> u64 {
        self.transactions
    }

    /// How many statements have ended without an error, those in the middle of a text too.
    #[inline]
    pub(crate) fn statements(&self) -> u64 {
        self.statements
    }

    /// Takes note of the end of a statement. The server counts one that is prepared by SQL when it is executed.
    #[inline]
    pub(crate) fn note_statement(&mut self, tag: &[u8]) {
        self.statements += u64::from(tag != b"PREPARE\0");
    }

    /// Whether a command of the last answer was ROLLBACK, or one that became it.
    #[inline]
    pub(crate) fn has_rolled_back(&self) -> bool {
        self.has_rolled_back
    }

    /// Takes what has come behind the last answer, for a conversation off the load path.
    pub(crate) fn take_kept(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.kept)
    }

    /// Takes the end of such a conversation, with what has come behind it.
    pub(crate) fn settle(&mut self, ready: &[u8], rest: Vec<u8>) -> Result<(), Malformed> {
        let step = self.note_ready(ready)?;
        if !rest.is_empty() {
            may_follow(&step, &rest)?;
        }
        self.kept = rest;
        Ok(())
    }

    /// Takes note of the end of one of several answers in such a conversation.
    pub(crate) fn note_ready(&mut self, ready: &[u8]) -> Result<ReplyProgress, Malformed> {
        self.stage = Stage::Ended;
        Ok(self.ready(ready)?.unwrap_or(ReplyProgress::Done))
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
            may_follow(&step, &bytes[used..])?;
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
            may_follow(&step, &kept[used..])?;
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

    /// Parses the whole messages at the front of `bytes`; returns how many bytes are done.
    #[inline]
    fn consume(&mut self, bytes: &[u8]) -> Result<(usize, ReplyProgress), Malformed> {
        let mut at = 0;
        loop {
            let passed = self.skip.min(bytes.len() - at);
            self.skip -= passed;
            at += passed;
            let Some(start) = bytes.get(at..at + HEAD_BYTES) else {
                return Ok((at, self.waiting()));
            };
            let (kind, length) = head(start)?;
            let Some(most) = self.whole_bytes_max(kind) else {
                self.pass(kind)?;
                self.skip = length;
                at += HEAD_BYTES;
                continue;
            };
            if length > most {
                return Err(Malformed("an overlong message where a short one was due"));
            }
            let Some(body) = bytes.get(at + HEAD_BYTES..at + HEAD_BYTES + length) else {
                return Ok((at, ReplyProgress::More));
            };
            at += HEAD_BYTES + length;
            if let Some(step) = self.message(kind, body)? {
                return Ok((at, step));
            }
        }
    }

    /// The longest body of a message of this kind, which must be read whole; `None` for one that is passed over.
    #[inline]
    fn whole_bytes_max(&self, kind: u8) -> Option<usize> {
        match kind {
            kind::DATA_ROW if self.is_catching => Some(ROW_BYTES_MAX),
            kind::COMMAND_COMPLETE => Some(TAG_BYTES_MAX),
            kind::READY => Some(1),
            kind::ERROR => Some(ERROR_BYTES_MAX),
            _ => None,
        }
    }

    /// Takes note of a message that is passed over.
    #[inline]
    fn pass(&mut self, kind: u8) -> Result<(), Malformed> {
        match (kind, self.stage) {
            (kind::DATA_ROW, Stage::Result) => self.answer.rows += 1,
            (kind::BIND_COMPLETE, Stage::Bound) => self.stage = Stage::Result,
            (kind::PARSE_COMPLETE, Stage::Parsed) => self.stage = Stage::Bound,
            (kind::EMPTY_QUERY, Stage::Result | Stage::Ended) => self.stage = Stage::Ended,
            (kind::ROW_DESCRIPTION | kind::COPY_OUT, Stage::Result | Stage::Ended)
                if self.request == Request::Text =>
            {
                self.stage = Stage::Result;
                // Of several statements, the rows of the last one are kept.
                if let Some(row_buffer) = self.row_buffer.as_mut().filter(|_| self.is_catching) {
                    row_buffer.begin();
                }
            }
            (kind::COPY_DATA | kind::COPY_DONE, Stage::Result) if self.request == Request::Text => {
            }
            (kind::COPY_IN, Stage::Result | Stage::Ended) if self.request == Request::Text => {
                self.stage = Stage::Copying;
            }
            (unasked, _) if kind::is_unasked(unasked) => {}
            _ => return Err(Malformed("a message that was not due in an answer")),
        }
        Ok(())
    }

    /// Where nothing more has come: the server may have asked for rows.
    #[inline]
    fn waiting(&self) -> ReplyProgress {
        match self.stage {
            Stage::Copying if self.skip == 0 => ReplyProgress::WantsRows,
            _ => ReplyProgress::More,
        }
    }

    /// Reads a whole message; `None` means that the answer continues.
    #[inline]
    fn message(&mut self, kind: u8, body: &[u8]) -> Result<Option<ReplyProgress>, Malformed> {
        match kind {
            kind::DATA_ROW => {
                let Some(row_buffer) = &mut self.row_buffer else { return Ok(None) };
                if self.stage != Stage::Result {
                    return Err(Malformed("a row that was not due in an answer"));
                }
                self.answer.rows += 1;
                row_buffer.row(body)?;
                Ok(None)
            }
            kind::COMMAND_COMPLETE => {
                self.note_statement(body);
                self.tag(body)?;
                Ok(None)
            }
            kind::READY => self.ready(body),
            _ => {
                let error = ServerError::parse(body)?;
                self.stage = Stage::Ended;
                if error.is_fatal {
                    return Ok(Some(ReplyProgress::Refused(Box::new(error))));
                }
                self.error = Some(Box::new(error));
                Ok(None)
            }
        }
    }

    /// Reads the end of a command: its name and, for most, a number of rows.
    #[inline]
    fn tag(&mut self, body: &[u8]) -> Result<(), Malformed> {
        let may_follow = self.stage == Stage::Ended && self.request == Request::Text;
        if self.stage != Stage::Result && !may_follow {
            return Err(Malformed("the end of a command that was not due in an answer"));
        }
        self.stage = Stage::Ended;
        let Some((0, tag)) = body.split_last() else {
            return Err(Malformed("a command's tag without its end"));
        };
        match tag.first() {
            // SELECT, SET, SAVEPOINT, SHOW: the rows of a SELECT were counted.
            Some(b'S') => {}
            Some(b'R') if tag == b"ROLLBACK" => self.has_rolled_back = true,
            _ => {
                let digits = tag.rsplit(|byte| *byte == b' ').next().unwrap_or_default();
                let count = std::str::from_utf8(digits).ok().and_then(|it| it.parse().ok());
                self.answer.affected = self.answer.affected.saturating_add(count.unwrap_or(0));
            }
        }
        Ok(())
    }

    #[inline]
    fn ready(&mut self, body: &[u8]) -> Result<Option<ReplyProgress>, Malformed> {
        if self.stage != Stage::Ended {
            return Err(Malformed("the end of an answer that has not begun"));
        }
        self.state = match body {
            b"I" => TransactionState::None,
            b"T" => TransactionState::Open,
            b"E" => TransactionState::Failed,
            _ => return Err(Malformed("an unknown state of a session")),
        };
        self.transactions += u64::from(self.state == TransactionState::None);
        Ok(Some(match self.error.take() {
            Some(error) => ReplyProgress::Refused(error),
            None => ReplyProgress::Done,
        }))
    }
}

/// Checks what follows: behind the end of an answer only what comes at any time, or the end of the session.
fn may_follow(step: &ReplyProgress, rest: &[u8]) -> Result<(), Malformed> {
    let is_unasked =
        rest.first().is_some_and(|&kind| kind::is_unasked(kind) || kind == kind::ERROR);
    match step {
        ReplyProgress::More => Ok(()),
        _ if is_unasked => Ok(()),
        _ => Err(Malformed("bytes after the end of an answer")),
    }
}
