//! The bins of HdrHistogram with three significant digits and values from 1: 2,048 bins of width 1, then 1,024 for
//! each doubling. Source: Gil Tene, HdrHistogram, `countsArrayIndex` and `valueFromIndex`.

use crate::Nanos;

/// log2 of the bins of one doubling.
const HALF_BITS: u32 = 10;

/// How many bins there are for all values of 64 bits.
pub(super) const COUNT: usize = ((u64::BITS - HALF_BITS) as usize + 1) << HALF_BITS;

pub(super) fn of(value: Nanos) -> usize {
    // Values below 2,048 belong to the doubling 0.
    let doubling = (value >> (HALF_BITS + 1)).checked_ilog2().map_or(0, |bits| bits + 1);
    ((doubling as usize) << HALF_BITS) + (value >> doubling) as usize
}

/// The smallest value of a bin, and how many values it holds as a power of two.
fn place(bin: usize) -> (Nanos, u32) {
    let doubling = (bin >> HALF_BITS).saturating_sub(1);
    let steps = (bin - (doubling << HALF_BITS)) as u64;
    (steps << doubling, doubling as u32)
}

pub(super) fn lowest(bin: usize) -> Nanos {
    place(bin).0
}

pub(super) fn highest(bin: usize) -> Nanos {
    let (lowest, doubling) = place(bin);
    lowest + ((1 << doubling) - 1)
}

/// The value in the middle of a bin, which a mean is computed from.
pub(super) fn middle(bin: usize) -> Nanos {
    let (lowest, doubling) = place(bin);
    lowest + ((1 << doubling) >> 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_are_those_of_the_library() {
        let library = hdrhistogram::Histogram::<u64>::new_with_max(u64::MAX / 2, 3).unwrap();
        let mut values: Vec<u64> = (0..4_200).collect();
        let powers = (11..63).map(|power| 1_u64 << power);
        values.extend(powers.flat_map(|it| [it - 1, it, it + 1, it + it / 3, it + it / 2 - 1]));
        for value in values {
            let bin = of(value);
            assert_eq!(lowest(bin), library.lowest_equivalent(value), "{value}");
            assert_eq!(highest(bin), library.highest_equivalent(value), "{value}");
            assert_eq!(middle(bin), library.median_equivalent(value), "{value}");
            assert_eq!([of(lowest(bin)), of(highest(bin))], [bin; 2], "{value}");
        }
        assert_eq!((of(u64::MAX), highest(COUNT - 1)), (COUNT - 1, u64::MAX));
    }
}
