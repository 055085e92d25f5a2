//! Random texts of clause 4.3.2.

use crate::random::Random;

/// Letters and digits of an a-string (clause 4.3.2.2).
const ALPHANUMERIC: &[u8; 62] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
/// The characters of an n-string.
const DIGITS: &[u8; 10] = b"0123456789";
/// The word in the data of one item in ten, and of one stock in ten (clause 4.3.3.1).
pub(super) const ORIGINAL: &str = "ORIGINAL";

/// The syllables of last names (clause 4.3.2.3).
const SYLLABLES: [&str; 10] =
    ["BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING"];

/// The last name with a number from 0 to 999: a syllable for each of its three digits.
#[inline]
pub(super) fn push_last_name(out: &mut String, number: u64) {
    for digit in [number / 100 % 10, number / 10 % 10, number % 10] {
        out.push_str(SYLLABLES[digit as usize]);
    }
}

/// An a-string of `least` to `most` letters and digits.
#[inline]
pub(super) fn push_alphanumeric(out: &mut String, random: &mut Random, least: u64, most: u64) {
    let length = least + random.below(most - least + 1);
    push_of(out, random, ALPHANUMERIC, length);
}

/// An a-string of the given length: "letters" of clause 4.3.3.1 are such strings, digits included.
#[inline]
pub(super) fn push_letters(out: &mut String, random: &mut Random, length: u64) {
    push_of(out, random, ALPHANUMERIC, length);
}

#[inline]
pub(super) fn push_digits(out: &mut String, random: &mut Random, length: u64) {
    push_of(out, random, DIGITS, length);
}

/// A zip code: four digits and `11111` (clause 4.3.2.7).
pub(super) fn push_zip(out: &mut String, random: &mut Random) {
    push_digits(out, random, 4);
    out.push_str("11111");
}

/// An a-string of 26 to 50; an original one contains [`ORIGINAL`] at a random place.
#[inline]
pub(super) fn push_data(out: &mut String, random: &mut Random, is_original: bool) {
    if !is_original {
        return push_alphanumeric(out, random, 26, 50);
    }
    let length = 26 + random.below(25);
    let rest = length - ORIGINAL.len() as u64;
    let before = random.below(rest + 1);
    push_of(out, random, ALPHANUMERIC, before);
    out.push_str(ORIGINAL);
    push_of(out, random, ALPHANUMERIC, rest - before);
}

/// Each character uses 16 random bits. With at most 62 characters to choose from, none is more likely than another by
/// more than one part in a thousand.
#[inline]
fn push_of<const N: usize>(out: &mut String, random: &mut Random, of: &[u8; N], length: u64) {
    let mut left = length;
    while left > 0 {
        let mut bits = random.next_u64();
        for _ in 0..left.min(4) {
            out.push(char::from(of[((bits & 0xffff) as usize * N) >> 16]));
            bits >>= 16;
        }
        left -= left.min(4);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use statrs::distribution::{ChiSquared, ContinuousCDF};

    fn text(mut make: impl FnMut(&mut String)) -> String {
        let mut out = String::new();
        make(&mut out);
        out
    }

    #[test]
    fn last_names_are_syllables_of_digits() {
        assert_eq!(text(|out| push_last_name(out, 371)), "PRICALLYOUGHT");
        assert_eq!(text(|out| push_last_name(out, 40)), "BARPRESBAR");
        assert_eq!(text(|out| push_last_name(out, 999)), "EINGEINGEING");
    }

    #[test]
    fn every_character_is_as_likely_and_so_is_every_length() {
        let mut random = Random::new(5);
        let (mut characters, mut lengths) = ([0_u64; 128], [0_u64; 11]);
        for _ in 0..20_000 {
            let text = text(|out| push_alphanumeric(out, &mut random, 10, 20));
            lengths[text.len() - 10] += 1;
            text.bytes().for_each(|byte| characters[usize::from(byte)] += 1);
        }
        let seen: Vec<u64> = characters.into_iter().filter(|count| *count > 0).collect();
        assert_eq!(seen.len(), 62);
        for seen in [&seen[..], &lengths] {
            let p = p_of_even(seen);
            assert!(p > 0.001, "p = {p}: {seen:?}");
        }
    }

    #[test]
    fn strings_of_fixed_length_have_both_cases_and_digits() {
        let mut random = Random::new(6);
        let text = text(|out| push_letters(out, &mut random, 2_000));
        assert_eq!(text.len(), 2_000);
        for is_one in [u8::is_ascii_lowercase, u8::is_ascii_uppercase, u8::is_ascii_digit] {
            assert!(text.bytes().any(|byte| is_one(&byte)), "{text}");
        }
    }

    fn p_of_even(seen: &[u64]) -> f64 {
        let expected = seen.iter().sum::<u64>() as f64 / seen.len() as f64;
        let off = seen.iter().map(|count| (*count as f64 - expected).powi(2) / expected);
        1.0 - ChiSquared::new(seen.len() as f64 - 1.0).unwrap().cdf(off.sum())
    }

    #[test]
    fn original_data_contains_the_word_at_any_position() {
        let mut random = Random::new(9);
        let (mut places, mut lengths) = (Vec::new(), Vec::new());
        for _ in 0..5_000 {
            let data = text(|out| push_data(out, &mut random, true));
            places.push(data.find(ORIGINAL).unwrap());
            lengths.push(data.len());
            let plain = text(|out| push_data(out, &mut random, false));
            assert!((26..=50).contains(&plain.len()));
        }
        assert_eq!((lengths.iter().min(), lengths.iter().max()), (Some(&26), Some(&50)));
        assert_eq!((places.iter().min(), places.iter().max()), (Some(&0), Some(&42)));
    }

    #[test]
    fn zip_codes_end_in_ones() {
        let zip = text(|out| push_zip(out, &mut Random::new(1)));
        assert!(zip.len() == 9 && zip.ends_with("11111"), "{zip}");
    }
}
