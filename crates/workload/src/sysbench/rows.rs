//! The rows of the tables: each depends only on seed, table and id.

use driver::Value;

use super::values::{C_LENGTH, Digits, PAD_LENGTH};
use crate::random::{Draw, Random};

/// Columns of a row, in the order of [`Row::values`].
pub(super) const COLUMNS: [&str; 4] = ["id", "k", "c", "pad"];

#[derive(Clone, Copy, Debug)]
pub(super) struct RowGenerator {
    pub(super) seed: u64,
    pub(super) k: Draw,
}

/// A row in reused memory.
#[derive(Clone, Debug)]
pub(super) struct Row {
    id: i64,
    k: i64,
    c: Digits<C_LENGTH>,
    pad: Digits<PAD_LENGTH>,
}

impl Row {
    pub(super) fn new() -> Self {
        Self { id: 0, k: 0, c: Digits::new(), pad: Digits::new() }
    }

    /// Generates row `id` of table `sbtest{table}` in place.
    #[inline]
    pub(super) fn make(&mut self, generator: &RowGenerator, table: u64, id: u64) {
        let mut random = Random::of_part(generator.seed, &[table, id]);
        self.id = id.cast_signed();
        self.k = generator.k.draw(&mut random);
        self.c.fill(&mut random);
        self.pad.fill(&mut random);
    }

    #[inline]
    pub(super) fn values(&self) -> [Value<'_>; 4] {
        let texts = [Value::Text(self.c.as_str()), Value::Text(self.pad.as_str())];
        [Value::Int(self.id), Value::Int(self.k), texts[0], texts[1]]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Shape;

    #[test]
    fn a_row_depends_on_seed_table_and_id_alone() {
        let row = |seed, table, id| {
            let generator = RowGenerator { seed, k: Draw::new(Shape::SPECIAL, 1, 1000) };
            let mut row = Row::new();
            row.make(&generator, 9, 9);
            row.make(&generator, table, id);
            format!("{:?}", row.values())
        };
        assert_eq!(row(1, 2, 3), row(1, 2, 3));
        assert_ne!(row(1, 2, 3), row(2, 2, 3));
        assert_ne!(row(1, 2, 3), row(1, 3, 3));
        assert_ne!(row(1, 2, 3)[10..], row(1, 2, 4)[10..]);
    }
}
