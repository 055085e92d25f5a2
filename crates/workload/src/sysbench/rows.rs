//! The rows that tables are filled with: each can be made by itself, from seed, table and id.

use driver::Value;

use super::values::{C_LENGTH, Digits, PAD_LENGTH};
use crate::random::{Draw, Random};

/// Columns of a row, in the order of [`RowMaker::make`].
pub(super) const COLUMNS: [&str; 4] = ["id", "k", "c", "pad"];

/// Makes rows one after the other in the same place.
#[derive(Clone, Debug)]
pub(super) struct RowMaker {
    seed: u64,
    k: Draw,
    c: Digits<C_LENGTH>,
    pad: Digits<PAD_LENGTH>,
}

impl RowMaker {
    /// `k` says how column k is drawn.
    pub(super) fn new(seed: u64, k: Draw) -> Self {
        Self { seed, k, c: Digits::new(), pad: Digits::new() }
    }

    /// Row `id` of table `sbtest{table}`.
    #[inline]
    pub(super) fn make(&mut self, table: u64, id: u64) -> [Value<'_>; 4] {
        let mut random = Random::of_part(self.seed, &[table, id]);
        let k = self.k.draw(&mut random);
        self.c.fill(&mut random);
        self.pad.fill(&mut random);
        let id = Value::Int(id.cast_signed());
        [id, Value::Int(k), Value::Text(self.c.as_str()), Value::Text(self.pad.as_str())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Shape;

    #[test]
    fn a_row_depends_on_seed_table_and_id_alone() {
        let row = |seed, table, id| {
            let mut maker = RowMaker::new(seed, Draw::new(Shape::SPECIAL, 1, 1000));
            maker.make(9, 9);
            format!("{:?}", maker.make(table, id))
        };
        assert_eq!(row(1, 2, 3), row(1, 2, 3));
        assert_ne!(row(1, 2, 3), row(2, 2, 3));
        assert_ne!(row(1, 2, 3), row(1, 3, 3));
        assert_ne!(row(1, 2, 3)[10..], row(1, 2, 4)[10..]);
    }
}
