//! The values of fields.

use super::key::{KeyScheme, fnv};
use super::lengths::Lengths;
use crate::random::Random;

/// The 64 letters of random values, six bits each. No character set and no quoting changes them.
const LETTERS: &[u8; 64] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_";
/// The number of letters from 64 random bits.
const LETTERS_A_DRAW: usize = 10;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct ValueGenerator {
    pub(super) lengths: Lengths,
    /// With `dataintegrity`, values follow from key and field as this tool defines it; `None`: random values.
    pub(super) checkable: Option<KeyScheme>,
}

impl ValueGenerator {
    /// Replaces the content of `value` by a value for field `field` (in lower case) of the record `key`.
    #[inline]
    pub(super) fn write(&self, key: &str, field: &str, random: &mut Random, value: &mut String) {
        let length = self.lengths.draw(random);
        value.clear();
        match self.checkable {
            None => write_random(length, random, value),
            Some(key_scheme) => write_checkable(key_scheme, key, field, length, value),
        }
    }
}

#[inline]
fn write_random(length: usize, random: &mut Random, value: &mut String) {
    let mut left = length;
    while left > 0 {
        let mut bits = random.next_u64();
        let letters: [u8; LETTERS_A_DRAW] = std::array::from_fn(|_| {
            let letter = LETTERS[(bits & 63) as usize];
            bits >>= 6;
            letter
        });
        let taken = left.min(LETTERS_A_DRAW);
        // These letters are always valid UTF-8.
        value.push_str(std::str::from_utf8(&letters[..taken]).unwrap_or_default());
        left -= taken;
    }
}

/// `key:field`, then repeatedly a colon and the hash of the text so far, cut at the length.
fn write_checkable(
    key_scheme: KeyScheme,
    key: &str,
    field: &str,
    length: usize,
    value: &mut String,
) {
    value.push_str(key);
    value.push(':');
    value.push_str(field);
    while value.len() < length {
        value.push(':');
        let hash = match key_scheme {
            KeyScheme::GoYcsb => fnv(value.as_bytes()).to_string(),
            KeyScheme::Ycsb => java_hash(value).to_string(),
        };
        value.push_str(&hash);
    }
    value.truncate(length);
}

/// `String.hashCode` of Java, for ASCII.
fn java_hash(text: &str) -> i32 {
    text.bytes().fold(0, |hash: i32, byte| hash.wrapping_mul(31).wrapping_add(i32::from(byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(checkable: Option<KeyScheme>, length: usize) -> String {
        let key_scheme = ValueGenerator { lengths: Lengths::Constant(length), checkable };
        let mut value = "what was there".to_owned();
        key_scheme.write("user1", "field0", &mut Random::new(1), &mut value);
        value
    }

    #[test]
    fn random_values_have_their_length_and_letters() {
        for length in [1, 9, 10, 11, 100] {
            let value = value(None, length);
            assert_eq!(value.len(), length);
            assert!(value.bytes().all(|byte| LETTERS.contains(&byte)), "{value}");
        }
    }

    #[test]
    fn values_that_can_be_checked_follow_from_key_and_field() {
        assert_eq!(value(Some(KeyScheme::Ycsb), 12), "user1:field0");
        assert_eq!(value(Some(KeyScheme::Ycsb), 5), "user1");
        // Java hashes "a" to 97 and "ab" to 31 * 97 + 98.
        assert_eq!((java_hash("a"), java_hash("ab")), (97, 3105));
        let long = value(Some(KeyScheme::Ycsb), 100);
        assert!(
            long.starts_with(&format!("user1:field0:{}:", java_hash("user1:field0:"))),
            "{long}"
        );
        assert_eq!(long.len(), 100);
        let theirs = value(Some(KeyScheme::GoYcsb), 100);
        assert!(
            theirs.starts_with(&format!("user1:field0:{}:", fnv(b"user1:field0:"))),
            "{theirs}"
        );
    }
}
