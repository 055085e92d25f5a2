//! Rows for a table or a file, in reused memory.

use driver::Value;

#[derive(Debug, Default)]
pub(crate) struct RowBuffer {
    cells: Vec<Cell>,
    text: String,
}

#[derive(Clone, Copy, Debug)]
enum Cell {
    Null,
    Int(i64),
    Text(usize, usize),
}

impl RowBuffer {
    /// Removes all rows and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.cells.clear();
        self.text.clear();
    }

    pub(crate) fn null(&mut self) {
        self.cells.push(Cell::Null);
    }

    #[inline]
    pub(crate) fn int(&mut self, number: i64) {
        self.cells.push(Cell::Int(number));
    }

    /// Money as decimal digits, which a server parses faster than a binary fraction.
    #[inline]
    pub(crate) fn cents(&mut self, cents: i64) {
        self.written(|out| push_fixed(out, cents, 100));
    }

    pub(crate) fn ten_thousandths(&mut self, number: i64) {
        self.written(|out| push_fixed(out, number, 10_000));
    }

    #[inline]
    pub(crate) fn text(&mut self, text: &str) {
        self.written(|out| out.push_str(text));
    }

    /// A text that `write` appends.
    #[inline]
    pub(crate) fn written(&mut self, write: impl FnOnce(&mut String)) {
        let from = self.text.len();
        write(&mut self.text);
        self.cells.push(Cell::Text(from, self.text.len()));
    }

    /// All rows; their cells are lent to a driver.
    pub(crate) fn rows(
        &self,
        columns: usize,
    ) -> impl Iterator<Item = impl Iterator<Item = Value<'_>>> {
        self.cells.chunks(columns).map(|row| {
            row.iter().map(|cell| match *cell {
                Cell::Null => Value::Null,
                Cell::Int(number) => Value::Int(number),
                Cell::Text(from, to) => Value::Text(&self.text[from..to]),
            })
        })
    }

    /// Appends the rows as CSV (RFC 4180, lines ended by LF, NULL as `\N`, which bulk loaders of MySQL-compatible
    /// systems read as NULL). No generated text contains a character that needs quotes.
    pub(crate) fn append_csv(&self, out: &mut Vec<u8>, columns: usize) {
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
        match cell {
            Cell::Null => out.extend_from_slice(b"\\N"),
            Cell::Int(number) => out.extend_from_slice(number.to_string().as_bytes()),
            Cell::Text(from, to) => out.extend_from_slice(&self.text.as_bytes()[from..to]),
        }
    }
}

/// Appends a number in units of 1 / `units`, where `units` is a power of ten, as a decimal fraction.
fn push_fixed(out: &mut String, number: i64, units: u64) {
    if number < 0 {
        out.push('-');
    }
    let mut size = number.unsigned_abs();
    // The most digits of a 64-bit number, and the point.
    let mut places = [b'0'; 21];
    let (mut at, mut unit) = (places.len(), units);
    while size > 0 || unit > 0 {
        at -= 1;
        places[at] = b'0' + (size % 10) as u8;
        size /= 10;
        unit /= 10;
        if unit == 1 {
            at -= 1;
            places[at] = b'.';
        }
    }
    out.extend(places[at..].iter().map(|digit| char::from(*digit)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_borrowed_and_written() {
        let mut buffer = RowBuffer::default();
        for _ in 0..2 {
            buffer.clear();
            buffer.int(7);
            buffer.cents(-1_005);
            buffer.ten_thousandths(1_999);
            buffer.null();
            buffer.text("abc");
        }
        let values: Vec<Vec<Value<'_>>> = buffer.rows(5).map(Iterator::collect).collect();
        let wanted = [
            Value::Int(7),
            Value::Text("-10.05"),
            Value::Text("0.1999"),
            Value::Null,
            Value::Text("abc"),
        ];
        assert_eq!(values, [wanted]);
        let mut out = Vec::new();
        buffer.append_csv(&mut out, 5);
        assert_eq!(out, b"7,-10.05,0.1999,\\N,abc\n");
    }

    #[test]
    fn numbers_have_their_decimal_point_and_zeros() {
        let fixed = |number, units| {
            let mut out = String::new();
            push_fixed(&mut out, number, units);
            out
        };
        let cents = [0, 7, -10, 99, 100, -5_000_000].map(|number| fixed(number, 100));
        assert_eq!(cents, ["0.00", "0.07", "-0.10", "0.99", "1.00", "-50000.00"]);
        assert_eq!(fixed(i64::MIN, 10_000), "-922337203685477.5808");
    }
}
