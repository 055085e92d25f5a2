//! Decodes histograms from the texts of a log. A large run has hundreds of thousands of them, so that those of dyno
//! become packed histograms directly, without a counter for each bin. The library reads all others, within bounds: a
//! text of a few characters can ask for gigabytes.

use std::io::Read as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::read::ZlibDecoder;
use flate2::{Decompress, FlushDecompress, Status};
use hdrhistogram::serialization::Deserializer;
use measure::{LatencyHistogram, SIGNIFICANT_DIGITS};

/// The first bytes of a compressed histogram and of one that is not. Source: HdrHistogram, V2 encoding.
pub(crate) const COMPRESSED: u32 = 0x1c84_9314;
pub(crate) const PLAIN: u32 = 0x1c84_9313;
/// Before the compressed bytes: the mark above and their number.
const COMPRESSED_HEAD: usize = 8;
/// Before the counts: the mark, their number of bytes, the offset of the first bin, the significant digits (4 bytes
/// each), the smallest and the largest value and the ratio of stored to true values (8 bytes each).
const PLAIN_HEAD: usize = 40;

/// The most bytes of a histogram that is not compressed. With three digits there are 56,000 bins at most, of up to 9
/// bytes each.
const PLAIN_MAX: usize = 1 << 20;

/// How the most negative number is written among the counts, where negative ones stand for as many empty bins. Source:
/// HdrHistogram, V2 encoding: zigzag, then LEB128 of nine bytes at most.
const LEAST_COUNT: [u8; 9] = [0xff; 9];

/// Room for the counts of most histograms; larger ones are left to the library.
const ROOM: usize = 128 * 1024;

/// Decodes one text after the other in the same memory.
pub(crate) struct Decoder {
    inflate: Decompress,
    compressed: Vec<u8>,
    plain: Vec<u8>,
}

impl Decoder {
    pub(crate) fn new() -> Self {
        Self { inflate: Decompress::new(true), compressed: Vec::new(), plain: vec![0; ROOM] }
    }

    /// Decodes a histogram.
    ///
    /// # Errors
    /// A description of the error in the text.
    pub(crate) fn decode(&mut self, text: &str) -> Result<LatencyHistogram, String> {
        self.compressed.clear();
        STANDARD
            .decode_vec(text, &mut self.compressed)
            .map_err(|error| format!("base64: {error}"))?;
        match self.packed() {
            Some(histogram) => Ok(histogram),
            None => by_library(&self.compressed),
        }
    }

    /// The histogram in `compressed`; `None` when it is not as dyno writes it.
    fn packed(&mut self) -> Option<LatencyHistogram> {
        let (head, rest) = self.compressed.split_at_checked(COMPRESSED_HEAD)?;
        let deflated = rest.get(..number(&head[4..])?)?;
        self.inflate.reset(true);
        let status = self.inflate.decompress(deflated, &mut self.plain, FlushDecompress::Finish);
        let length = usize::try_from(self.inflate.total_out()).ok()?;
        let (plain_head, counts) = self.plain.get(..length)?.split_at_checked(PLAIN_HEAD)?;
        let is_dyno_s = status.is_ok_and(|status| status == Status::StreamEnd)
            && head[..4] == COMPRESSED.to_be_bytes()
            && plain_head[..4] == PLAIN.to_be_bytes()
            && number(&plain_head[8..])? == 0
            && number(&plain_head[12..])? == usize::from(SIGNIFICANT_DIGITS)
            && plain_head[16..24] == 1_u64.to_be_bytes()
            && plain_head[32..] == 1_f64.to_be_bytes();
        let counts = counts.get(..number(&plain_head[4..])?)?;
        let most = plain_head[24..].first_chunk().copied().map(u64::from_be_bytes)?;
        // The library refuses a range that does not double its smallest value.
        (is_dyno_s && most >= 2).then(|| LatencyHistogram::from_encoded(counts, most)).flatten()
    }
}

fn number(bytes: &[u8]) -> Option<usize> {
    let bytes = bytes.first_chunk().copied()?;
    usize::try_from(u32::from_be_bytes(bytes)).ok()
}

/// A histogram in any of the formats that the library reads.
fn by_library(bytes: &[u8]) -> Result<LatencyHistogram, String> {
    let failed = |error: String| format!("histogram: {error}");
    let plain = plain(bytes).map_err(failed)?;
    let counts = Deserializer::new()
        .deserialize::<u64, _>(&mut &plain[..])
        .map_err(|error| failed(error.to_string()))?;
    // A deserialized histogram cannot grow; a new one into which it is merged can.
    let mut histogram = LatencyHistogram::new();
    histogram.merge(&LatencyHistogram::from_hdr(counts));
    histogram.pack();
    Ok(histogram)
}

/// The bytes without compression, once it is certain that the library needs little memory for them: it reserves as
/// much as the head asks for.
fn plain(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let is_compressed = bytes.starts_with(&COMPRESSED.to_be_bytes());
    let mut plain = Vec::new();
    if let Some(deflated) = bytes.get(COMPRESSED_HEAD..).filter(|_| is_compressed) {
        let deflated =
            ZlibDecoder::new(deflated).take(PLAIN_MAX as u64 + 1).read_to_end(&mut plain);
        deflated.map_err(|error| error.to_string())?;
    } else {
        plain.extend_from_slice(bytes);
    }
    if plain.len() > PLAIN_MAX {
        return Err(format!("it has more than {PLAIN_MAX} bytes"));
    }
    let Some((head, counts)) = plain.split_at_checked(PLAIN_HEAD) else {
        return Err("it is cut".to_owned());
    };
    let Some(counts) = number(&head[4..]).and_then(|length| counts.get(..length)) else {
        return Err("it has fewer counts than its head says".to_owned());
    };
    // The library negates it, which does not fit.
    if numbers(counts).any(|bytes| bytes == LEAST_COUNT) {
        return Err("it has a count that is out of range".to_owned());
    }
    if number(&head[12..]).is_none_or(|digits| digits > usize::from(SIGNIFICANT_DIGITS)) {
        return Err(format!("it has more than {SIGNIFICANT_DIGITS} significant digits"));
    }
    Ok(plain)
}

fn numbers(mut counts: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let most = counts.len().min(LEAST_COUNT.len());
        let end = counts[..most].iter().position(|byte| byte & 0x80 == 0);
        let (number, rest) = counts.split_at(end.map_or(most, |end| end + 1));
        counts = rest;
        (!number.is_empty()).then_some(number)
    })
}

#[cfg(test)]
mod tests {
    use hdrhistogram::Histogram;
    use hdrhistogram::serialization::{Serializer, V2DeflateSerializer, V2Serializer};

    use super::*;
    use crate::hlog;

    #[test]
    fn histograms_of_dyno_are_decoded_as_the_library_does() {
        let mut decoder = Decoder::new();
        for histogram in [
            LatencyHistogram::from_iter([0]),
            LatencyHistogram::from_iter([5, 70_000, 3]),
            LatencyHistogram::from_iter((1..50_000_u64).map(|step| step * step * 997)),
            LatencyHistogram::from_iter((0..45).map(|power| 1 << power)),
        ] {
            let text = hlog::encode(&histogram);
            decoder.compressed = STANDARD.decode(&text).unwrap();
            let packed = decoder.packed().expect("it is one of dyno's");
            assert_eq!(packed, histogram);
            assert_eq!(packed, by_library(&decoder.compressed).unwrap());
            assert_eq!(decoder.decode(&text).unwrap(), histogram);
        }
    }

    #[test]
    fn histograms_of_other_programs_are_left_to_the_library() {
        let mut coarse = Histogram::<u64>::new_with_bounds(1_000, 60_000_000_000, 2).unwrap();
        (1..=100).for_each(|step| coarse.record(step * 1_000_000).unwrap());
        let (mut plain, mut deflated) = (Vec::new(), Vec::new());
        V2Serializer::new().serialize(&coarse, &mut plain).unwrap();
        V2DeflateSerializer::new().serialize(&coarse, &mut deflated).unwrap();
        let mut decoder = Decoder::new();
        for bytes in [plain, deflated] {
            decoder.compressed.clone_from(&bytes);
            assert!(decoder.packed().is_none());
            let histogram = decoder.decode(&STANDARD.encode(&bytes)).unwrap();
            assert_eq!(histogram.count(), 100);
            // Two digits.
            assert!((histogram.max_ns() as f64 / 1e8 - 1.0).abs() < 0.01, "{histogram:?}");
        }
    }

    /// A histogram with one value, with a head that says otherwise.
    fn with_head(length: u32, digits: u32, counts: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for number in [PLAIN, length, 0, digits] {
            bytes.extend_from_slice(&number.to_be_bytes());
        }
        for number in [1, u64::MAX >> 1] {
            bytes.extend_from_slice(&number.to_be_bytes());
        }
        bytes.extend_from_slice(&1_f64.to_be_bytes());
        bytes.extend_from_slice(counts);
        bytes
    }

    #[test]
    fn a_short_text_cannot_ask_for_gigabytes() {
        let mut decoder = Decoder::new();
        let mut decode = |bytes: &[u8]| decoder.decode(&STANDARD.encode(bytes));
        assert_eq!(decode(&with_head(1, 3, &[2])).unwrap().count(), 1);
        let error = decode(&with_head(u32::MAX, 3, &[2])).unwrap_err();
        assert_eq!(error, "histogram: it has fewer counts than its head says");
        let error = decode(&with_head(1, 5, &[2])).unwrap_err();
        assert_eq!(error, "histogram: it has more than 3 significant digits");
        // 100 MB of zeros in 100 kB.
        let long = with_head(100_000_000, 3, &vec![0; 100_000_000]);
        let mut deflated = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::Write::write_all(&mut deflated, &long).unwrap();
        let deflated = deflated.finish().unwrap();
        let mut bomb = COMPRESSED.to_be_bytes().to_vec();
        bomb.extend_from_slice(&u32::try_from(deflated.len()).unwrap().to_be_bytes());
        bomb.extend_from_slice(&deflated);
        assert_eq!(decode(&bomb).unwrap_err(), "histogram: it has more than 1048576 bytes");
    }

    #[test]
    fn counts_are_told_apart_by_their_bytes() {
        let counts: Vec<&[u8]> = vec![&[2], &[0xfe; 9], &LEAST_COUNT, &[0x80, 1], &[0x80]];
        assert_eq!(numbers(&counts.concat()).collect::<Vec<_>>(), counts);
    }

    #[test]
    fn a_damaged_histogram_is_an_error_or_another_histogram_and_never_a_panic() {
        let histogram = LatencyHistogram::from_iter((1..500_u64).map(|step| step * 7_919));
        let whole = STANDARD.decode(hlog::encode(&histogram)).unwrap();
        let mut decoder = Decoder::new();
        let cut = (0..whole.len()).map(|end| whole[..end].to_vec());
        let flipped = (0..whole.len()).map(|at| {
            let mut bytes = whole.clone();
            bytes[at] ^= 0x10;
            bytes
        });
        for bytes in cut.chain(flipped) {
            let decoded = decoder.decode(&STANDARD.encode(&bytes));
            assert_eq!(decoded, by_library(&bytes), "{bytes:02x?}");
        }
        assert!(decoder.decode(&STANDARD.encode(&whole[..100])).is_err());
        assert!(decoder.decode("no base64!").unwrap_err().starts_with("base64: "));
    }
}
