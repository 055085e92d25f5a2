//! Rows of the text protocol, decoded: for the few queries whose rows are needed.

use super::reply::{COLUMNS_MAX, ReplyStage};
use super::wire::{Cursor, Malformed};
use super::{PACKET_BYTES_MAX, ServerError, status};
use crate::Datum;
pub(crate) use crate::received::AnswerLimit;

/// How much of an answer with rows has been received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RowProgress {
    /// Another message must follow.
    More,
    Done,
    /// The server asks for a file, which dyno does not send.
    WantsRows,
    Refused(ServerError),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Int,
    Float,
    Text,
}

/// Collects the rows of one answer, message by message.
#[derive(Debug)]
pub(crate) struct RowSet {
    stage: ReplyStage,
    has_deprecated_eof: bool,
    kinds: Vec<Kind>,
    rows: Vec<Vec<Datum>>,
    size_bytes: usize,
    limit: AnswerLimit,
}

impl RowSet {
    pub(crate) fn new(has_deprecated_eof: bool) -> Self {
        Self {
            stage: ReplyStage::First,
            has_deprecated_eof,
            kinds: Vec::new(),
            rows: Vec::new(),
            size_bytes: 0,
            limit: AnswerLimit::default(),
        }
    }

    pub(crate) fn with_limit(self, limit: AnswerLimit) -> Self {
        Self { limit, ..self }
    }

    pub(crate) fn into_rows(self) -> Vec<Vec<Datum>> {
        self.rows
    }

    /// Parses the next whole message.
    pub(crate) fn message(&mut self, payload: &[u8]) -> Result<RowProgress, Malformed> {
        let first = *payload.first().ok_or(Malformed("an empty message in an answer"))?;
        if first == 0xff {
            return Ok(RowProgress::Refused(ServerError::parse(payload)?));
        }
        match self.stage {
            ReplyStage::First => match first {
                0x00 => self.end(payload, true),
                0xfb => Ok(RowProgress::WantsRows),
                _ => self.columns(payload),
            },
            ReplyStage::Columns(left) => self.column(payload, left),
            ReplyStage::ColumnsEnd if first == 0xfe => {
                self.stage = ReplyStage::Rows;
                Ok(RowProgress::More)
            }
            ReplyStage::ColumnsEnd => Err(Malformed("the end of column definitions was due")),
            ReplyStage::Rows if first == 0xfe && payload.len() < PACKET_BYTES_MAX => {
                self.end(payload, self.has_deprecated_eof)
            }
            ReplyStage::Rows => self.row(payload),
        }
    }

    fn columns(&mut self, payload: &[u8]) -> Result<RowProgress, Malformed> {
        let count = Cursor(payload).length()?;
        if count == 0 || count > COLUMNS_MAX {
            return Err(Malformed("a result with an impossible number of columns"));
        }
        self.kinds.clear();
        self.stage = ReplyStage::Columns(count);
        Ok(RowProgress::More)
    }

    fn column(&mut self, payload: &[u8], left: u64) -> Result<RowProgress, Malformed> {
        self.kinds.push(column_kind(payload)?);
        self.stage = match left {
            1 if self.has_deprecated_eof => ReplyStage::Rows,
            1 => ReplyStage::ColumnsEnd,
            _ => ReplyStage::Columns(left - 1),
        };
        Ok(RowProgress::More)
    }

    fn row(&mut self, payload: &[u8]) -> Result<RowProgress, Malformed> {
        self.size_bytes += payload.len() + self.kinds.len() * size_of::<Datum>();
        if self.size_bytes > self.limit.bytes() {
            return Err(self.limit.excess("more than 1 MiB of variables"));
        }
        let mut cursor = Cursor(payload);
        let cells = self.kinds.iter().map(|kind| Ok(datum(*kind, cursor.bytes_or_null()?)));
        let row = cells.collect::<Result<_, _>>()?;
        self.rows.push(row);
        Ok(RowProgress::More)
    }

    fn end(&mut self, payload: &[u8], is_ok_packet: bool) -> Result<RowProgress, Malformed> {
        let mut cursor = Cursor(&payload[1..]);
        let bits = if is_ok_packet {
            cursor.length()?;
            cursor.length()?;
            let bits = cursor.u16()?;
            let _warnings = cursor.u16()?;
            bits
        } else {
            let _warnings = cursor.u16()?;
            cursor.u16()?
        };
        if bits & status::MORE_RESULTS != 0 {
            self.stage = ReplyStage::First;
            return Ok(RowProgress::More);
        }
        Ok(RowProgress::Done)
    }
}

fn column_kind(payload: &[u8]) -> Result<Kind, Malformed> {
    let mut cursor = Cursor(payload);
    for _catalog_schema_table_and_names in 0..6 {
        cursor.bytes_or_null()?;
    }
    cursor.length()?;
    cursor.u16()?;
    cursor.u32()?;
    Ok(match cursor.u8()? {
        // TINY, SHORT, LONG, LONGLONG, INT24, YEAR.
        1 | 2 | 3 | 8 | 9 | 13 => Kind::Int,
        // FLOAT, DOUBLE.
        4 | 5 => Kind::Float,
        _ => Kind::Text,
    })
}

fn datum(kind: Kind, cell: Option<&[u8]>) -> Datum {
    let Some(cell) = cell else { return Datum::Null };
    let text = String::from_utf8_lossy(cell);
    let number = match kind {
        Kind::Int => text.parse().ok().map(Datum::Int),
        Kind::Float => text.parse().ok().map(Datum::Float),
        Kind::Text => None,
    };
    number.unwrap_or_else(|| Datum::Text(text.into_owned()))
}
