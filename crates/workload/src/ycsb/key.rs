//! Keys of records: the values of the table's key column.

/// The tool that defines the data. The tools hash numbers into keys differently, and generate different values for
/// `dataintegrity`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyScheme {
    /// go-ycsb 1.0.1: hashes the bytes of the number from the highest to the lowest.
    GoYcsb,
    /// brianfrankcooper/YCSB: from the lowest to the highest.
    Ycsb,
}

impl KeyScheme {
    pub(super) const ALL: [Self; 2] = [Self::GoYcsb, Self::Ycsb];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::GoYcsb => "go-ycsb",
            Self::Ycsb => "ycsb",
        }
    }

    /// The tool's hash of a number: FNV-1a of its eight bytes, without the sign.
    #[inline]
    pub(super) fn hash(self, number: u64) -> u64 {
        let bytes = match self {
            Self::GoYcsb => number.to_be_bytes(),
            Self::Ycsb => number.to_le_bytes(),
        };
        // Both tools read the hash as a signed number and drop the sign.
        fnv(&bytes).cast_signed().unsigned_abs()
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct KeyFormat {
    /// `user` by default.
    pub(super) prefix: String,
    /// The fewest digits, with leading zeros.
    pub(super) padding: usize,
    /// The tool whose hash of the number is used; `None` for the number itself (`insertorder=ordered`).
    pub(super) hash: Option<KeyScheme>,
}

/// FNV-1a in 64 bits: its offset basis and its prime. Source: G. Fowler, L. Noll, K.-P. Vo, D. Eastlake,
/// "The FNV Non-Cryptographic Hash Algorithm".
const FNV_BASIS: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0000_0100_0000_01b3;

/// FNV-1a of bytes, continued from `hash`.
#[inline]
pub(super) fn fnv_on(hash: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(hash, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(FNV_PRIME))
}

/// FNV-1a of bytes.
#[inline]
pub(super) fn fnv(bytes: &[u8]) -> u64 {
    fnv_on(FNV_BASIS, bytes)
}

impl KeyFormat {
    /// Replaces the content of `key` by the key of record `number`.
    #[inline]
    pub(super) fn write(&self, number: u64, key: &mut String) {
        let shown = self.hash.map_or(number, |key_scheme| key_scheme.hash(number));
        key.clear();
        key.push_str(&self.prefix);
        let mut digits = [b'0'; MOST_DIGITS];
        let digits = decimal(shown, &mut digits);
        (digits.len()..self.padding).for_each(|_| key.push('0'));
        key.push_str(digits);
    }

    pub(super) fn key(&self, number: u64) -> String {
        let mut key = String::new();
        self.write(number, &mut key);
        key
    }
}

/// The number of decimal digits of 2^64 - 1.
const MOST_DIGITS: usize = 20;

#[inline]
fn decimal(mut number: u64, digits: &mut [u8; MOST_DIGITS]) -> &str {
    let mut at = MOST_DIGITS;
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    // ASCII digits are always valid UTF-8.
    std::str::from_utf8(&digits[at..]).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format(hash: Option<KeyScheme>, padding: usize) -> KeyFormat {
        KeyFormat { prefix: "user".to_owned(), padding, hash }
    }

    #[test]
    fn fnv_gives_its_published_test_values() {
        // From the reference code's test vectors, 64 bits, FNV-1a: of "", "a" and "foobar".
        assert_eq!(fnv(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv(b"foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn keys_are_those_of_the_tools() {
        // YCSB's record 0 appears in many traces: user6284781860667377211.
        assert_eq!(format(Some(KeyScheme::Ycsb), 1).key(0), "user6284781860667377211");
        assert_eq!(format(Some(KeyScheme::GoYcsb), 1).key(0), "user6284781860667377211");
        assert_ne!(
            format(Some(KeyScheme::Ycsb), 1).key(1),
            format(Some(KeyScheme::GoYcsb), 1).key(1),
            "the order of bytes differs"
        );
        assert_eq!(format(None, 1).key(42), "user42");
        assert_eq!(format(None, 6).key(42), "user000042");
        assert_eq!(format(None, 1).key(u64::MAX), "user18446744073709551615");
    }
}
