//! A property of histograms of another dyno that holds for any bytes.

use super::{LatencyHistogram, MAX_NS, bin};

fuzzing::targets! {
    generator_histogram: histogram;
}

/// Percentiles that are compared.
const PERCENTS: [f64; 4] = [0.0, 50.0, 99.9, 100.0];

/// Counts that are taken are values of at most an hour. They are the same when they are written and read again, unpacked,
/// and as a part of a sum; others are refused with a reason.
fn histogram(bytes: &[u8]) -> Option<()> {
    // Postcard writes a list of bytes as it does bytes.
    let written = postcard::to_stdvec(&bytes.to_vec()).expect("bytes have a form");
    let histogram: LatencyHistogram = match postcard::from_bytes(&written) {
        Ok(histogram) => histogram,
        Err(why) => {
            assert!(!why.to_string().is_empty(), "no reason");
            return None;
        }
    };
    assert_eq!(histogram.is_empty(), bytes.is_empty());
    let count = histogram.values().fold(0_u64, |sum, (_, count)| sum.saturating_add(count));
    assert_eq!(histogram.count(), count, "the values are not as many as are counted");
    assert!(histogram.max_ns() <= bin::highest(bin::of(MAX_NS)), "a value of more than an hour");
    assert!(histogram.values().is_sorted_by(|one, next| one.0 < next.0));
    assert_eq!(crossed(&histogram), histogram, "it is not written as it was read");
    let mut unpacked = LatencyHistogram::from_hdr(histogram.as_hdr().into_owned());
    let figures =
        |it: &LatencyHistogram| (it.count(), it.min_ns(), it.max_ns(), it.percentiles_ns(PERCENTS));
    assert_eq!(
        figures(&unpacked),
        figures(&histogram),
        "it has other figures with a counter a bin"
    );
    assert_eq!(crossed(&unpacked), histogram);
    if histogram.count() <= i64::MAX.unsigned_abs() / 2 {
        unpacked.merge(&histogram);
        let sum = LatencyHistogram::sum([&histogram, &histogram]);
        assert_eq!((&unpacked, sum.count()), (&sum, 2 * histogram.count()), "sums differ");
        unpacked.subtract(&histogram);
        assert_eq!(unpacked, histogram, "a part is not taken away");
    }
    Some(())
}

fn crossed(histogram: &LatencyHistogram) -> LatencyHistogram {
    let written = postcard::to_stdvec(histogram).expect("a histogram has a form");
    postcard::from_bytes(&written).expect("what was written is read")
}
