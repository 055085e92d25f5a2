//! Draws the records of one client's operations.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::key::KeyScheme;
use super::lengths::ZIPFIAN_EXPONENT;
use super::request::{Request, Zipf};
use crate::LoadPart;
use crate::random::{GrayZipfian, Permutation, Random, Zipfian};

/// Draws numbers of records as [`Request`] defines.
#[derive(Clone, Debug)]
pub(super) struct Chooser {
    first: u64,
    way: Distribution,
}

#[derive(Clone, Debug)]
enum Distribution {
    Uniform { count: u64 },
    Sequential { count: u64, next: Arc<AtomicU64>, part: LoadPart },
    Zipfian { ranks: Zipfian, spread: Permutation, extent: Extent, seed: u64 },
    YcsbZipfian { ranks: GrayZipfian, hash: KeyScheme, extent: Extent },
    Latest { ranks: Zipfian, count: u64 },
    Hotspot { hot: u64, count: u64, operations: f64 },
    Exponential { mean: f64 },
}

/// The ranks of YCSB's zipfian: 0 to 10^10. Source: `ITEM_COUNT` of its ScrambledZipfianGenerator, whose range ends
/// with that number.
const YCSB_RANKS: u64 = 10_000_000_001;
/// The sum of the weights of 10^10 ranks: `ZETAN` of the same class.
const YCSB_WEIGHTS: f64 = 26.469_028_201_783_02;

/// The number of records that a zipfian draws from: those that are there and those that inserts will add, but less than
/// twice those that are there. A draw of a record that does not exist yet is repeated, so beyond that most draws would
/// be.
#[derive(Clone, Copy, Debug)]
struct Extent {
    records: u64,
    /// Loaded records and expected inserts.
    most: u64,
}

impl Extent {
    fn new(range: Range) -> Self {
        let most = range.count.saturating_add(range.expected);
        Self { records: range.count.max(1).saturating_mul(2).min(most), most }
    }

    /// Doubles it until it has the records that are there. All clients come through the same numbers, so that they
    /// agree on the popular records.
    fn grow(&mut self, there: u64) {
        while self.records < there.min(self.most) {
            self.records = self.records.saturating_mul(2).min(self.most);
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) first: u64,
    /// Number of loaded records, at least 1.
    pub(super) count: u64,
    /// Expected number of records that inserts will add.
    pub(super) expected: u64,
    /// `recordcount`.
    pub(super) records: u64,
}

/// Which records are popular.
#[derive(Clone, Copy, Debug)]
pub(super) struct Popular {
    /// Selects the permutation of the ranks.
    pub(super) seed: u64,
    /// The tool whose hash maps the ranks of YCSB's zipfian to records.
    pub(super) hash: KeyScheme,
}

impl Chooser {
    /// Creates the chooser of one client. All clients of a generator share `sequence`.
    pub(super) fn new(
        request: Request,
        range: Range,
        popular: Popular,
        (sequence, part): (&Arc<AtomicU64>, LoadPart),
    ) -> Self {
        let Range { first, count, .. } = range;
        let way = match request {
            Request::Uniform => Distribution::Uniform { count },
            Request::Sequential => {
                Distribution::Sequential { count, next: Arc::clone(sequence), part }
            }
            Request::Zipfian(Zipf::Exact) => {
                let extent = Extent::new(range);
                let ranks = Zipfian::new(extent.records, ZIPFIAN_EXPONENT);
                let spread = Permutation::new(extent.records, popular.seed);
                Distribution::Zipfian { ranks, spread, extent, seed: popular.seed }
            }
            Request::Zipfian(Zipf::Ycsb) => Distribution::YcsbZipfian {
                ranks: GrayZipfian::new(YCSB_RANKS, ZIPFIAN_EXPONENT, YCSB_WEIGHTS),
                hash: popular.hash,
                extent: Extent::new(range),
            },
            Request::Latest => {
                Distribution::Latest { ranks: Zipfian::new(count, ZIPFIAN_EXPONENT), count }
            }
            Request::Hotspot { data, operations } => {
                let hot = (count as f64 * data) as u64;
                // If one of the two parts is empty, the other gets all requests.
                let operations = match hot {
                    0 => 0.0,
                    hot if hot == count => 1.0,
                    _ => operations,
                };
                Distribution::Hotspot { hot, count, operations }
            }
            Request::Exponential { percentile, fraction } => {
                let gamma = -(1.0 - percentile / 100.0).ln() / (fraction * range.records as f64);
                Distribution::Exponential { mean: 1.0 / gamma }
            }
        };
        Self { first, way }
    }

    /// The number of a record below `end`, the first record without an acknowledged insert.
    #[inline]
    pub(super) fn draw(&mut self, random: &mut Random, end: u64) -> u64 {
        let first = self.first;
        let there = end.saturating_sub(first).max(1);
        match &mut self.way {
            Distribution::Uniform { count } => first + random.below((*count).min(there)),
            Distribution::Sequential { count, next, part } => {
                first + part.position(next.fetch_add(1, Ordering::Relaxed)) % (*count).min(there)
            }
            Distribution::Zipfian { ranks, spread, extent, seed } => {
                if extent.records < there {
                    extent.grow(there);
                    if extent.records != ranks.count() {
                        ranks.resize(extent.records);
                        *spread = Permutation::new(extent.records, *seed);
                    }
                }
                loop {
                    let record = spread.of(ranks.draw(random) - 1);
                    if record < there {
                        return first + record;
                    }
                }
            }
            Distribution::YcsbZipfian { ranks, hash, extent } => {
                extent.grow(there);
                // Both tools count one record more than there are; a draw of it is repeated.
                let places = extent.records.saturating_add(1);
                loop {
                    let record = hash.hash(ranks.draw(random) - 1) % places;
                    if record < there {
                        return first + record;
                    }
                }
            }
            Distribution::Latest { ranks, count } => {
                if there != *count {
                    *count = there;
                    ranks.resize(there);
                }
                first + there - ranks.draw(random)
            }
            Distribution::Hotspot { hot, count, operations } => {
                if random.next_f64() < *operations {
                    first + random.below(*hot)
                } else {
                    first + *hot + random.below(*count - *hot)
                }
            }
            Distribution::Exponential { mean } => {
                // The law cut off at the oldest record, by inversion: no draw is repeated, however few records there
                // are. U is below 1, so the logarithm is finite.
                let cut_off = (-(there as f64) / *mean).exp_m1();
                let age = -(random.next_f64() * cut_off).ln_1p() * *mean;
                first + there - 1 - (age as u64).min(there - 1)
            }
        }
    }
}

#[cfg(test)]
mod tests;
