//! Which part of a load this process offers, when several offer it together.

use serde::{Deserialize, Serialize};

/// One of the generators that offer a load together.
///
/// Numbers of which each may be taken once, such as those of new rows, are dealt out in turn: generator g of G takes the
/// positions g, g + G, g + 2 G and so on of the sequence that one process would take. So each generator has at least one
/// client: numbers of one without would never be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoadPart {
    /// Its number, from 0. The process that only coordinates them has the number behind the last: it offers nothing, and
    /// hears the news of all ([`engine::News::hear`]).
    pub generator: usize,
    /// How many there are, at least 1.
    pub generators: usize,
}

impl Default for LoadPart {
    fn default() -> Self {
        Self { generator: 0, generators: 1 }
    }
}

impl LoadPart {
    /// The part of the process that coordinates so many generators; with none of them, it offers the whole load.
    pub fn of_coordinator(generators: usize) -> Self {
        match generators {
            0 => Self::default(),
            _ => Self { generator: generators, generators },
        }
    }

    pub(crate) fn is_whole(self) -> bool {
        self == Self::default()
    }

    /// Whether it is that of the process that coordinates.
    pub(crate) fn is_coordinator(self) -> bool {
        self.generator >= self.generators
    }

    /// The position of the generator's `taken`-th number in the whole sequence, from 0.
    #[inline]
    pub(crate) fn position(self, taken: u64) -> u64 {
        self.generator as u64 + taken.wrapping_mul(self.step())
    }

    #[inline]
    pub(crate) fn step(self) -> u64 {
        self.generators.max(1) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generators_together_have_each_position_once() {
        for generators in 1..=7 {
            let parts = (0..generators).map(|generator| LoadPart { generator, generators });
            let mut all: Vec<u64> =
                parts.flat_map(|part| (0..5).map(move |taken| part.position(taken))).collect();
            all.sort_unstable();
            assert_eq!(all, (0..5 * generators as u64).collect::<Vec<u64>>());
        }
        assert_eq!(LoadPart::of_coordinator(0), LoadPart::default());
        assert!(LoadPart::of_coordinator(2).is_coordinator() && LoadPart::default().is_whole());
    }
}
