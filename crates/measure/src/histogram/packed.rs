//! A histogram in little memory: a few bytes for each bin that has values, where a counter for each bin takes more
//! than a hundred kilobytes. For histograms that are kept, not added to.

use super::bin;

/// The counts of the bins in their order: a count is a positive number, a run of empty bins a negative one, both in
/// zigzag LEB128 of at most nine bytes. Source: HdrHistogram, the counts of its V2 encoding.
#[derive(Clone, Debug)]
pub(super) struct Packed {
    pub(super) bytes: Box<[u8]>,
    pub(super) total: u64,
    pub(super) highest: usize,
}

/// Bytes of the longest number; the last of them holds eight bits.
const NUMBER_MAX: usize = 9;

impl Packed {
    /// Reads counts that another program may have written. `None` when they are cut off, have no values, or have
    /// some above the bin `most`.
    pub(super) fn read(bytes: &[u8], most: usize) -> Option<Self> {
        let mut bins = Bins { bytes, next: 0 };
        let (mut total, mut highest) = (0_u64, 0);
        for (bin, count) in bins.by_ref() {
            total = total.checked_add(count)?;
            highest = bin;
        }
        let is_whole = bins.bytes.is_empty() && total > 0 && highest <= most;
        is_whole.then(|| Self { bytes: bytes.into(), total, highest })
    }

    /// The packed form of bins in ascending order; `None` without values.
    pub(super) fn of(bins: impl Iterator<Item = (usize, u64)>) -> Option<Self> {
        let (mut bytes, mut total, mut next) = (Vec::new(), 0_u64, 0);
        for (bin, count) in bins.filter(|(_, count)| *count > 0) {
            let count = count.min(i64::MAX.unsigned_abs());
            if bin > next {
                // A negative number in zigzag.
                write(2 * (bin - next) as u64 - 1, &mut bytes);
            }
            write(2 * count, &mut bytes);
            total = total.saturating_add(count);
            next = bin + 1;
        }
        let highest = next.checked_sub(1)?;
        Some(Self { bytes: bytes.into(), total, highest })
    }

    /// The bins that have values, ascending, each with its count.
    pub(super) fn bins(&self) -> Bins<'_> {
        Bins { bytes: &self.bytes, next: 0 }
    }
}

fn write(mut number: u64, bytes: &mut Vec<u8>) {
    for _ in 1..NUMBER_MAX {
        if number < 0x80 {
            break;
        }
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

#[inline]
fn read(bytes: &[u8]) -> Option<(u64, usize)> {
    let first = *bytes.first()?;
    if first < 0x80 {
        return Some((u64::from(first), 1));
    }
    let mut number = u64::from(first & 0x7f);
    for (place, byte) in bytes.iter().enumerate().take(NUMBER_MAX).skip(1) {
        if *byte < 0x80 || place == NUMBER_MAX - 1 {
            return Some((number | u64::from(*byte) << (7 * place), place + 1));
        }
        number |= u64::from(byte & 0x7f) << (7 * place);
    }
    None
}

/// Reads the bins. It ends before a number that is cut off or points beyond the last bin, and leaves it in `bytes`.
#[derive(Clone, Debug)]
pub(super) struct Bins<'a> {
    bytes: &'a [u8],
    next: usize,
}

impl Iterator for Bins<'_> {
    type Item = (usize, u64);

    #[inline]
    fn next(&mut self) -> Option<(usize, u64)> {
        loop {
            let (number, length) = read(self.bytes)?;
            let (is_gap, count) = (number & 1 == 1, number >> 1);
            let bins = if is_gap { usize::try_from(count).ok()?.checked_add(1)? } else { 1 };
            let bin = self.next;
            self.next = bin.checked_add(bins).filter(|next| *next <= bin::COUNT)?;
            self.bytes = &self.bytes[length..];
            if !is_gap && count > 0 {
                return Some((bin, count));
            }
        }
    }
}

/// A counter for each bin up to the highest, to add histograms up.
#[derive(Debug, Default)]
pub(super) struct Counters {
    counts: Vec<u64>,
    /// The lowest bin that was added to.
    first: Option<usize>,
}

impl Counters {
    pub(super) fn add(&mut self, packed: &Packed) {
        if self.counts.len() <= packed.highest {
            self.counts.resize(packed.highest + 1, 0);
        }
        let lowest = packed.bins().next().map(|(bin, _)| bin);
        self.first = self.first.into_iter().chain(lowest).min();
        for (bin, count) in packed.bins() {
            self.counts[bin] = self.counts[bin].saturating_add(count);
        }
    }

    /// Takes counts away; `None` when they were never added.
    pub(super) fn subtract(&mut self, mut bins: impl Iterator<Item = (usize, u64)>) -> Option<()> {
        bins.try_for_each(|(bin, count)| {
            let counter = self.counts.get_mut(bin)?;
            *counter = counter.checked_sub(count)?;
            Some(())
        })
    }

    /// `None` without values.
    pub(super) fn packed(&self) -> Option<Packed> {
        let first = self.first?;
        Packed::of((first..).zip(self.counts[first..].iter().copied()))
    }
}
