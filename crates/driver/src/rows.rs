//! The rows of one answer, for workloads whose next step depends on values that they read.

/// Rows in memory that the next answer reuses, so that reading allocates nothing once the memory has grown to
/// the workload's largest answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rows {
    columns: usize,
    cells: Vec<Cell>,
    bytes: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Cell {
    Null,
    Int(i64),
    Float(f64),
    /// The range of the cell in the bytes.
    Text(u32, u32),
}

impl Rows {
    pub(crate) const fn empty() -> Self {
        Self { columns: 0, cells: Vec::new(), bytes: Vec::new() }
    }

    #[inline]
    pub fn len(&self) -> usize {
        self.cells.len().checked_div(self.columns).unwrap_or(0)
    }

    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// An integer; `None` if the cell is missing, NULL or not an integer.
    #[inline]
    pub fn int(&self, row: usize, column: usize) -> Option<i64> {
        match self.cell(row, column)? {
            Cell::Int(number) => Some(number),
            Cell::Float(number) if number.fract() == 0.0 => Some(number as i64),
            Cell::Text(..) => self.text(row, column)?.trim().parse().ok(),
            Cell::Float(_) | Cell::Null => None,
        }
    }

    /// A number of any type; one that the server sends as text, as it may do with DECIMAL, is parsed.
    #[inline]
    pub fn float(&self, row: usize, column: usize) -> Option<f64> {
        match self.cell(row, column)? {
            Cell::Int(number) => Some(number as f64),
            Cell::Float(number) => Some(number),
            Cell::Text(..) => self.text(row, column)?.trim().parse().ok(),
            Cell::Null => None,
        }
    }

    /// A text; `None` if the cell is missing, NULL or not UTF-8.
    #[inline]
    pub fn text(&self, row: usize, column: usize) -> Option<&str> {
        let Cell::Text(from, to) = self.cell(row, column)? else { return None };
        std::str::from_utf8(self.bytes.get(from as usize..to as usize)?).ok()
    }

    #[inline]
    pub fn is_null(&self, row: usize, column: usize) -> bool {
        self.cell(row, column).is_none_or(|cell| cell == Cell::Null)
    }

    #[inline]
    fn cell(&self, row: usize, column: usize) -> Option<Cell> {
        if column >= self.columns {
            return None;
        }
        self.cells.get(row * self.columns + column).copied()
    }

    /// How many columns its rows have.
    #[inline]
    pub(crate) fn columns(&self) -> usize {
        self.columns
    }

    /// Clears the rows for an answer with `columns` columns.
    #[inline]
    pub(crate) fn begin(&mut self, columns: usize) {
        self.columns = columns;
        self.cells.clear();
        self.bytes.clear();
    }

    pub(crate) fn push_null(&mut self) {
        self.cells.push(Cell::Null);
    }

    #[inline]
    pub(crate) fn push_int(&mut self, number: i64) {
        self.cells.push(Cell::Int(number));
    }

    pub(crate) fn push_float(&mut self, number: f64) {
        self.cells.push(Cell::Float(number));
    }

    #[inline]
    pub(crate) fn push_text(&mut self, text: &[u8]) {
        let from = self.bytes.len() as u32;
        self.bytes.extend_from_slice(text);
        self.cells.push(Cell::Text(from, self.bytes.len() as u32));
    }

    pub(crate) fn size_bytes(&self) -> usize {
        self.bytes.len() + self.cells.len() * size_of::<Cell>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_convert_to_the_requested_type() {
        let mut rows = Rows::default();
        rows.begin(4);
        rows.push_int(7);
        rows.push_text(b"12.50");
        rows.push_null();
        rows.push_float(3.0);
        assert_eq!(rows.len(), 1);
        assert_eq!(rows.int(0, 0), Some(7));
        assert_eq!(rows.float(0, 1), Some(12.5));
        assert_eq!(rows.int(0, 1), None);
        assert_eq!(rows.text(0, 1), Some("12.50"));
        assert!(rows.is_null(0, 2) && rows.is_null(1, 0) && rows.is_null(0, 4));
        assert_eq!(rows.int(0, 3), Some(3));
        rows.begin(2);
        assert!(rows.is_empty());
    }
}
