//! The form of a histogram between two dynos: the bytes of its packed counts, which are checked when they are read.

use std::fmt;

use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::packed::Packed;
use super::{LatencyHistogram, MAX_NS};

impl Serialize for LatencyHistogram {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.packed {
            Some(packed) => serializer.serialize_bytes(&packed.bytes),
            None => {
                let packed = Packed::of(self.bins());
                serializer.serialize_bytes(packed.as_ref().map_or(&[], |packed| &packed.bytes))
            }
        }
    }
}

impl<'de> Deserialize<'de> for LatencyHistogram {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_bytes(Counts)
    }
}

/// Reads packed counts; none at all are an empty histogram.
struct Counts;

impl Visitor<'_> for Counts {
    type Value = LatencyHistogram;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the packed counts of a histogram")
    }

    fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<LatencyHistogram, E> {
        if bytes.is_empty() {
            return Ok(LatencyHistogram::new());
        }
        LatencyHistogram::from_encoded(bytes, MAX_NS)
            .ok_or_else(|| E::custom("the counts of a histogram are not whole"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn crossed(histogram: &LatencyHistogram) -> LatencyHistogram {
        postcard::from_bytes(&postcard::to_stdvec(histogram).unwrap()).unwrap()
    }

    #[test]
    fn a_histogram_has_the_same_values_on_the_other_side() {
        let wide = (0..42).flat_map(|power| [1 << power, (1 << power) + (1 << (power / 2))]);
        for values in [vec![], vec![0], vec![5, 70_000, 5, u64::MAX], wide.collect()] {
            let mut histogram = LatencyHistogram::from_iter(values);
            assert_eq!(crossed(&histogram), histogram);
            histogram.pack();
            assert_eq!(crossed(&histogram), histogram);
        }
    }

    #[test]
    fn counts_that_no_histogram_has_are_refused() {
        // A gap beyond an hour, a number that is cut off, and no value.
        for counts in [&[0xff, 0xff, 0xff, 0x7f, 0x02][..], &[0x80], &[0x00]] {
            // Postcard writes a list of bytes as it does bytes.
            let bytes = postcard::to_stdvec(&counts.to_vec()).unwrap();
            assert!(postcard::from_bytes::<LatencyHistogram>(&bytes).is_err(), "{counts:?}");
        }
    }
}
