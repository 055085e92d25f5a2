//! Rows of a text query, decoded: for the few queries whose rows are needed.

use super::wire::{Cursor, Malformed};
use super::{ServerError, kind};
use crate::Datum;
pub(crate) use crate::received::AnswerLimit;

/// How much of an answer with rows has been received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RowProgress {
    /// Another message must follow.
    More,
    Done,
    /// The server asks for the rows of a COPY.
    WantsRows,
    Refused(Box<ServerError>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Int,
    Float,
    Text,
}

impl Kind {
    /// The numbers are those of the catalogue pg_type, which do not change.
    fn of_type(number: i32) -> Self {
        match number {
            20 | 21 | 23 | 26 => Self::Int,
            700 | 701 => Self::Float,
            _ => Self::Text,
        }
    }
}

/// The names in the description of rows.
pub(crate) fn column_names(body: &[u8]) -> Result<Vec<String>, Malformed> {
    let mut cursor = Cursor(body);
    let mut names = Vec::new();
    for _ in 0..cursor.u16()? {
        names.push(String::from_utf8_lossy(cursor.text()?).into_owned());
        let _types_and_formats = cursor.bytes(18)?;
    }
    Ok(names)
}

/// Collects the rows of one answer, message by message. Of several statements, the last one with rows counts.
#[derive(Debug, Default)]
pub(crate) struct RowSet {
    kinds: Vec<Kind>,
    rows: Vec<Vec<Datum>>,
    size_bytes: usize,
    limit: AnswerLimit,
    error: Option<Box<ServerError>>,
    has_ended: bool,
}

impl RowSet {
    pub(crate) fn new(limit: AnswerLimit) -> Self {
        Self { limit, ..Self::default() }
    }

    pub(crate) fn into_rows(self) -> Vec<Vec<Datum>> {
        self.rows
    }

    /// Parses the next whole message.
    pub(crate) fn message(&mut self, kind: u8, body: &[u8]) -> Result<RowProgress, Malformed> {
        match kind {
            kind::ROW_DESCRIPTION => self.columns(body)?,
            kind::DATA_ROW => self.row(body)?,
            kind::COMMAND_COMPLETE | kind::EMPTY_QUERY => self.has_ended = true,
            kind::COPY_IN => return Ok(RowProgress::WantsRows),
            kind::ERROR => {
                self.has_ended = true;
                let error = Box::new(ServerError::parse(body)?);
                if error.is_fatal {
                    return Ok(RowProgress::Refused(error));
                }
                self.error = Some(error);
            }
            kind::READY if self.has_ended => {
                return Ok(match self.error.take() {
                    Some(error) => RowProgress::Refused(error),
                    None => RowProgress::Done,
                });
            }
            unasked if kind::is_unasked(unasked) => {}
            _ => return Err(Malformed("a message that was not due in an answer")),
        }
        Ok(RowProgress::More)
    }

    fn columns(&mut self, body: &[u8]) -> Result<(), Malformed> {
        let mut cursor = Cursor(body);
        self.kinds.clear();
        self.rows.clear();
        self.size_bytes = 0;
        for _ in 0..cursor.u16()? {
            let _name = cursor.text()?;
            let _table_and_column = cursor.bytes(6)?;
            self.kinds.push(Kind::of_type(cursor.i32()?));
            let _size_modifier_and_format = cursor.bytes(8)?;
        }
        Ok(())
    }

    fn row(&mut self, body: &[u8]) -> Result<(), Malformed> {
        let mut cursor = Cursor(body);
        if usize::from(cursor.u16()?) != self.kinds.len() {
            return Err(Malformed("a row with another number of columns than its description"));
        }
        // A value takes a place in memory even where it has no bytes.
        self.size_bytes += body.len() + self.kinds.len() * size_of::<Datum>();
        if self.size_bytes > self.limit.bytes() {
            return Err(self.limit.excess("more than 1 MiB of settings"));
        }
        let mut row = Vec::with_capacity(self.kinds.len());
        for kind in &self.kinds {
            row.push(cursor.value()?.map_or(Datum::Null, |value| datum(*kind, value)));
        }
        self.rows.push(row);
        Ok(())
    }
}

fn datum(kind: Kind, value: &[u8]) -> Datum {
    let text = String::from_utf8_lossy(value);
    let number = match kind {
        Kind::Int => text.parse().ok().map(Datum::Int),
        Kind::Float => text.parse().ok().map(Datum::Float),
        Kind::Text => None,
    };
    number.unwrap_or_else(|| Datum::Text(text.into_owned()))
}
