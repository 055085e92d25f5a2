//! The lengths of field values.

use plan::declared::{Choice, Number, Text, choice, number, text};
use plan::{Files, OptionReader};

use crate::random::{Random, Zipfian};

/// The exponent of Zipf's law: YCSB's constant.
pub(super) const ZIPFIAN_EXPONENT: f64 = 0.99;
/// The longest value that fits into one packet with the servers' defaults.
pub(super) const MOST_BYTES: u64 = 1 << 20;

pub(super) const FIELD_LENGTH: Number<u64> =
    number("fieldlength", 100, 1..=MOST_BYTES, "bytes of a field, at most");
pub(super) const MIN_FIELD_LENGTH: Number<u64> =
    number("minfieldlength", 1, 1..=MOST_BYTES, "bytes of a field, at least, where they vary");
pub(super) const DISTRIBUTION: Choice<Name> = choice(
    "fieldlengthdistribution",
    ("constant", Name::Constant),
    &[
        ("constant", Name::Constant),
        ("uniform", Name::Uniform),
        ("zipfian", Name::Zipfian),
        ("histogram", Name::Histogram),
    ],
    "constant, uniform, zipfian, histogram",
);
pub(super) const HISTOGRAM: Text =
    text("fieldlengthhistogram", "hist.txt", "file of the histogram");

/// `fieldlengthdistribution`.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Lengths {
    /// All values have the same length.
    Constant(usize),
    /// From the first to the second, each equally likely.
    Uniform(usize, usize),
    /// At least `low`; the i-th length is drawn with a probability proportional to 1 / i^0.99.
    Zipfian { low: usize, ranks: Zipfian },
    /// Each length with the cumulated number of draws up to it, from a file.
    Histogram(Vec<(usize, u64)>),
}

#[derive(Clone, Copy)]
pub(super) enum Name {
    Constant,
    Uniform,
    Zipfian,
    Histogram,
}

impl Lengths {
    pub(super) fn read(reader: &mut OptionReader<'_>, files: &Files) -> Self {
        let name = DISTRIBUTION.read(reader);
        let most = FIELD_LENGTH.read(reader) as usize;
        let low = MIN_FIELD_LENGTH.read(reader) as usize;
        let file = HISTOGRAM.read(reader);
        if low > most && matches!(name, Name::Uniform | Name::Zipfian) {
            let message = format!("`minfieldlength` is {low}, more than `fieldlength`, {most}");
            reader.reject(MIN_FIELD_LENGTH.name, message, "say at most `fieldlength`");
        }
        match name {
            Name::Constant => Self::Constant(most),
            Name::Uniform => Self::Uniform(low, most.max(low)),
            Name::Zipfian => {
                let count = most.saturating_sub(low) as u64 + 1;
                Self::Zipfian { low, ranks: Zipfian::new(count, ZIPFIAN_EXPONENT) }
            }
            Name::Histogram => Self::read_histogram(reader, files, &file),
        }
    }

    fn read_histogram(reader: &mut OptionReader<'_>, files: &Files, file: &str) -> Self {
        let read = files.read_text(file).map_err(|error| error.to_string());
        match read.and_then(|text| histogram(&text)) {
            Ok(buckets) => Self::Histogram(buckets),
            Err(why) => {
                let help = "its first line is `BlockSize<TAB>bytes`, each other one \
                            `bucket<TAB>count`; a value of bucket i is (i + 1) blocks long";
                reader.reject(HISTOGRAM.name, format!("{file}: {why}"), help);
                Self::Constant(1)
            }
        }
    }

    /// The longest length that can be drawn.
    pub(super) fn most(&self) -> usize {
        match self {
            Self::Constant(length) | Self::Uniform(_, length) => *length,
            Self::Zipfian { low, ranks } => low + ranks.count() as usize - 1,
            Self::Histogram(buckets) => {
                buckets.iter().map(|(length, _)| *length).max().unwrap_or(1)
            }
        }
    }

    #[inline]
    pub(super) fn draw(&self, random: &mut Random) -> usize {
        match self {
            Self::Constant(length) => *length,
            Self::Uniform(low, high) => low + random.below((high - low + 1) as u64) as usize,
            Self::Zipfian { low, ranks } => low + ranks.draw(random) as usize - 1,
            Self::Histogram(buckets) => {
                let total = buckets.last().map_or(0, |(_, until)| *until);
                let draw = random.below(total);
                let at = buckets.partition_point(|(_, until)| *until <= draw);
                buckets.get(at).map_or(1, |(length, _)| *length)
            }
        }
    }
}

/// Lengths with cumulated counts, from the text of a histogram file.
pub(super) fn histogram(text: &str) -> Result<Vec<(usize, u64)>, String> {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let number = |word: Option<&str>| word.and_then(|word| word.parse::<u64>().ok());
    let mut head = lines.next().unwrap_or_default().split_whitespace();
    let is_head = head.next() == Some("BlockSize");
    let block = number(head.next()).filter(|block| is_head && *block > 0);
    let block = block.ok_or("its first line names no block size")?;
    let (mut buckets, mut until) = (Vec::new(), 0_u64);
    for line in lines {
        let mut words = line.split_whitespace();
        let pair = number(words.next()).zip(number(words.next()));
        let (bucket, count) =
            pair.ok_or_else(|| format!("{line:?} is not a bucket with a count"))?;
        let length = bucket.saturating_add(1).saturating_mul(block);
        if length > MOST_BYTES {
            return Err(format!("{line:?} asks for values of {length} bytes, over {MOST_BYTES}"));
        }
        until = until.checked_add(count).ok_or("its counts have no sum that fits")?;
        buckets.push((length as usize, until));
    }
    if until == 0 { Err("it counts nothing".to_owned()) } else { Ok(buckets) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_histogram_draws_lengths_as_often_as_it_counted_them() {
        let lengths = Lengths::Histogram(histogram("BlockSize\t10\n0\t1\n2\t3\n\n4 0\n").unwrap());
        assert_eq!(lengths.most(), 50);
        let mut random = Random::new(1);
        let drawn: Vec<usize> = (0..4000).map(|_| lengths.draw(&mut random)).collect();
        let share = |length| drawn.iter().filter(|seen| **seen == length).count();
        assert_eq!(share(10) + share(30), 4000);
        assert!((900..1100).contains(&share(10)), "{}", share(10));
    }

    #[test]
    fn an_invalid_histogram_file_is_reported() {
        for text in ["", "1\t2", "BlockSize\t0\n0\t1", "BlockSize\t4\n0\tx", "BlockSize\t4\n0\t0"] {
            assert!(histogram(text).is_err(), "{text:?}");
        }
        assert!(histogram("BlockSize\t99999999\n9\t1").unwrap_err().contains("over"));
    }

    #[test]
    fn counts_without_a_sum_are_refused_because_the_last_lengths_would_never_be_drawn() {
        let text = format!("BlockSize\t1\n0\t{}\n1\t5", u64::MAX);
        assert_eq!(histogram(&text), Err("its counts have no sum that fits".to_owned()));
    }

    #[test]
    fn lengths_stay_within_their_bounds() {
        let mut random = Random::new(1);
        let zipfian = Lengths::Zipfian { low: 3, ranks: Zipfian::new(5, ZIPFIAN_EXPONENT) };
        assert_eq!(zipfian.most(), 7);
        for lengths in [zipfian, Lengths::Uniform(3, 7)] {
            let drawn: Vec<usize> = (0..1000).map(|_| lengths.draw(&mut random)).collect();
            assert_eq!(drawn.iter().min().zip(drawn.iter().max()), Some((&3, &7)), "{lengths:?}");
        }
    }
}
