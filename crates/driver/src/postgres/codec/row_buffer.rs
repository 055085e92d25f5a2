//! Rows of an answer on the load path, in the server's text form.

use super::wire::{Cursor, Malformed};
use crate::Rows;

/// Longer answers are refused: on the load path, answers have few rows.
const ANSWER_BYTES_MAX: usize = 64 << 20;

/// Buffers the rows of one answer while they arrive.
#[derive(Debug, Default)]
pub(crate) struct RowBuffer {
    rows: Rows,
}

impl RowBuffer {
    #[inline]
    pub(crate) fn begin(&mut self) {
        self.rows.begin(0);
    }

    pub(crate) fn rows(&self) -> &Rows {
        &self.rows
    }

    #[inline]
    pub(crate) fn row(&mut self, body: &[u8]) -> Result<(), Malformed> {
        if self.rows.size_bytes() + body.len() > ANSWER_BYTES_MAX {
            return Err(Malformed("more than 64 MiB of rows where few were due"));
        }
        let mut cursor = Cursor(body);
        let columns = usize::from(cursor.u16()?);
        if self.rows.columns() == 0 {
            self.rows.begin(columns);
        } else if self.rows.columns() != columns {
            return Err(Malformed("rows of one answer with different numbers of columns"));
        }
        for _ in 0..columns {
            match cursor.value()? {
                Some(value) => self.rows.push_text(value),
                None => self.rows.push_null(),
            }
        }
        Ok(())
    }
}
