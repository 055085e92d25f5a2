//! Rows on their way into a table or a file, in memory that is used again.

use driver::Value;

/// Cells of rows, one after the other.
#[derive(Debug, Default)]
pub(super) struct RowBuffer {
    cells: Vec<Cell>,
    text: String,
}

#[derive(Clone, Copy, Debug)]
enum Cell {
    Null,
    Int(i64),
    /// A number of so many hundredths.
    Hundredths(i64),
    /// A number of so many ten-thousandths.
    TenThousandths(i64),
    /// From and up to these places in the text.
    Text(usize, usize),
}

impl RowBuffer {
    /// Forgets everything but its memory.
    pub(super) fn clear(&mut self) {
        self.cells.clear();
        self.text.clear();
    }

    pub(super) fn cells(&self) -> usize {
        self.cells.len()
    }

    /// Forgets the first cells. Their texts are forgotten with the last ones.
    pub(super) fn drop_front(&mut self, cells: usize) {
        self.cells.drain(..cells.min(self.cells.len()));
        if self.cells.is_empty() {
            self.text.clear();
        }
    }

    pub(super) fn null(&mut self) {
        self.cells.push(Cell::Null);
    }

    #[inline]
    pub(super) fn int(&mut self, number: i64) {
        self.cells.push(Cell::Int(number));
    }

    /// Money.
    #[inline]
    pub(super) fn cents(&mut self, cents: i64) {
        self.cells.push(Cell::Hundredths(cents));
    }

    /// A tax or a discount.
    pub(super) fn ten_thousandths(&mut self, number: i64) {
        self.cells.push(Cell::TenThousandths(number));
    }

    #[inline]
    pub(super) fn text(&mut self, text: &str) {
        self.written(|out| out.push_str(text));
    }

    /// A text that `write` appends.
    #[inline]
    pub(super) fn written(&mut self, write: impl FnOnce(&mut String)) {
        let from = self.text.len();
        write(&mut self.text);
        self.cells.push(Cell::Text(from, self.text.len()));
    }

    /// Every cell, lent to a driver.
    pub(super) fn values(&self) -> impl Iterator<Item = Value<'_>> {
        self.cells.iter().map(|cell| match *cell {
            Cell::Null => Value::Null,
            Cell::Int(number) => Value::Int(number),
            // Both are the numbers nearest to what was meant, which every DECIMAL rounds back to it.
            Cell::Hundredths(number) => Value::Float(number as f64 / 100.0),
            Cell::TenThousandths(number) => Value::Float(number as f64 / 10_000.0),
            Cell::Text(from, to) => Value::Text(&self.text[from..to]),
        })
    }

    /// Appends the rows as CSV (RFC 4180, lines ended by LF, NULL as `\N`, which bulk loaders of the MySQL
    /// world take for it). No text of ours holds a character that needs quotes.
    pub(super) fn append_csv(&self, out: &mut Vec<u8>, columns: usize) {
        for row in self.cells.chunks(columns) {
            for (place, cell) in row.iter().enumerate() {
                if place > 0 {
                    out.push(b',');
                }
                self.append_cell(out, *cell);
            }
            out.push(b'\n');
        }
    }

    fn append_cell(&self, out: &mut Vec<u8>, cell: Cell) {
        let text = match cell {
            Cell::Null => "\\N".to_owned(),
            Cell::Int(number) => number.to_string(),
            Cell::Hundredths(number) => fixed(number, 100, 2),
            Cell::TenThousandths(number) => fixed(number, 10_000, 4),
            Cell::Text(from, to) => {
                out.extend_from_slice(&self.text.as_bytes()[from..to]);
                return;
            }
        };
        out.extend_from_slice(text.as_bytes());
    }
}

fn fixed(number: i64, unit: u64, digits: usize) -> String {
    let sign = if number < 0 { "-" } else { "" };
    let size = number.unsigned_abs();
    format!("{sign}{}.{:0digits$}", size / unit, size % unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_lent_and_written() {
        let mut buffer = RowBuffer::default();
        for _ in 0..2 {
            buffer.clear();
            buffer.int(7);
            buffer.cents(-1_005);
            buffer.ten_thousandths(1_999);
            buffer.null();
            buffer.text("abc");
        }
        let values: Vec<Value<'_>> = buffer.values().collect();
        let wanted = [
            Value::Int(7),
            Value::Float(-10.05),
            Value::Float(0.1999),
            Value::Null,
            Value::Text("abc"),
        ];
        assert_eq!(values, wanted);
        let mut out = Vec::new();
        buffer.append_csv(&mut out, 5);
        assert_eq!(out, b"7,-10.05,0.1999,\\N,abc\n");
    }
}
