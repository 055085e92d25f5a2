//! The values of columns `c` and `pad`: groups of eleven random digits, joined by dashes.

use crate::random::Random;

const GROUP_DIGITS: usize = 11;
/// 10^11: the number of different groups.
const GROUPS: u64 = 100_000_000_000;
/// Every pair of digits, 00 to 99.
const PAIRS: [u8; 200] = pairs();

const fn pairs() -> [u8; 200] {
    let mut pairs = [b'0'; 200];
    let mut i = 0;
    while i < 100 {
        pairs[2 * i] = b'0' + (i / 10) as u8;
        pairs[2 * i + 1] = b'0' + (i % 10) as u8;
        i += 1;
    }
    pairs
}

/// Length of `c`: ten groups.
pub(super) const C_LENGTH: usize = 119;
/// Length of `pad`: five groups.
pub(super) const PAD_LENGTH: usize = 59;

/// A value of a template, in memory that is reused for each row.
#[derive(Clone, Debug)]
pub(super) struct Digits<const LENGTH: usize>([u8; LENGTH]);

impl<const LENGTH: usize> Digits<LENGTH> {
    pub(super) fn new() -> Self {
        Self([b'-'; LENGTH])
    }

    #[inline]
    pub(super) fn fill(&mut self, random: &mut Random) {
        for group in self.0.chunks_mut(GROUP_DIGITS + 1) {
            write_group(group, random.below(GROUPS));
        }
    }

    #[inline]
    pub(super) fn as_str(&self) -> &str {
        // Digits and dashes are always valid UTF-8.
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

/// Writes eleven digits, and keeps the dash after them.
#[inline]
fn write_group(group: &mut [u8], mut number: u64) {
    for at in [9, 7, 5, 3, 1] {
        let pair = 2 * (number % 100) as usize;
        group[at..at + 2].copy_from_slice(&PAIRS[pair..pair + 2]);
        number /= 100;
    }
    group[0] = b'0' + number as u8;
}

/// Whether a value matches the template of that length. Some systems pad columns of fixed width with spaces.
pub(super) fn fits_template(value: &str, length: usize) -> bool {
    let value = value.trim_end_matches(' ');
    value.len() == length
        && value.bytes().enumerate().all(|(i, byte)| {
            let is_dash = i % (GROUP_DIGITS + 1) == GROUP_DIGITS;
            if is_dash { byte == b'-' } else { byte.is_ascii_digit() }
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use statrs::distribution::{ChiSquared, ContinuousCDF};

    #[test]
    fn values_are_groups_of_eleven_digits() {
        let mut random = Random::new(7);
        let (mut c, mut pad) = (Digits::<C_LENGTH>::new(), Digits::<PAD_LENGTH>::new());
        for _ in 0..1000 {
            c.fill(&mut random);
            pad.fill(&mut random);
            assert!(fits_template(c.as_str(), C_LENGTH), "{}", c.as_str());
            assert!(fits_template(pad.as_str(), PAD_LENGTH), "{}", pad.as_str());
        }
        assert!(!fits_template(c.as_str(), PAD_LENGTH));
        assert!(fits_template("12345678901-12345678901 ", 23));
        assert!(!fits_template("1234567890-123456789012", 23));
    }

    #[test]
    fn every_digit_is_as_likely_in_every_place() {
        let mut random = Random::new(11);
        let mut pad = Digits::<PAD_LENGTH>::new();
        let mut seen = [[0_u32; 10]; PAD_LENGTH];
        for _ in 0..10_000 {
            pad.fill(&mut random);
            for (place, digit) in pad.as_str().bytes().enumerate().filter(|(_, b)| *b != b'-') {
                seen[place][usize::from(digit - b'0')] += 1;
            }
        }
        let cells = seen.iter().enumerate().filter(|(place, _)| place % 12 != 11);
        let statistic: f64 = cells
            .flat_map(|(_, digits)| digits)
            .map(|&count| (f64::from(count) - 1000.0).powi(2) / 1000.0)
            .sum();
        let p = 1.0 - ChiSquared::new(55.0 * 9.0).unwrap().cdf(statistic);
        assert!(p > 0.01, "p = {p}");
    }
}
