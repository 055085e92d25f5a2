//! Selects the records of operations: `requestdistribution`.

use plan::OptionReader;
use plan::declared::{Choice, Number, choice, number};

pub(super) const DISTRIBUTION: Choice<Name> = choice(
    "requestdistribution",
    ("uniform", Name::Uniform),
    &[
        ("uniform", Name::Uniform),
        ("zipfian", Name::Zipfian),
        ("latest", Name::Latest),
        ("hotspot", Name::Hotspot),
        ("sequential", Name::Sequential),
        ("exponential", Name::Exponential),
    ],
    "uniform, zipfian, latest, hotspot, sequential, exponential",
);
pub(super) const ZIPFIAN: Choice<Zipf> = choice(
    "zipfian",
    ("exact", Zipf::Exact),
    &[("exact", Zipf::Exact), ("ycsb", Zipf::Ycsb)],
    "exact: ranks of the records there are; ycsb: of 10^10, hashed to records, as both tools do",
);
pub(super) const HOTSPOT_DATA: Number<f64> =
    number("hotspotdatafraction", 0.2, 0.0..=1.0, "hotspot: share of the records that are hot");
pub(super) const HOTSPOT_OPERATIONS: Number<f64> =
    number("hotspotopnfraction", 0.8, 0.0..=1.0, "hotspot: share of the operations that they get");
pub(super) const EXPONENTIAL_PERCENTILE: Number<f64> = number(
    "exponential_percentile",
    95.0,
    0.001..=99.999_999,
    "exponential: percent of the operations ..",
);
pub(super) const EXPONENTIAL_FRACTION: Number<f64> = number(
    "exponential_frac",
    0.857_142_857_1,
    0.000_001..=1.0,
    ".. that fall on this newest share of recordcount",
);

/// How records are chosen. In these definitions the range has n records, numbered from its first one. The last record
/// is the newest for which the insert, and all inserts before it, were acknowledged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Request {
    /// Each record is equally likely.
    Uniform,
    /// All clients together take the records in order, and start again after the last.
    Sequential,
    /// Zipf's law with exponent 0.99, whose ranks are spread over the records.
    Zipfian(Zipf),
    /// The record of rank i, i = 1..n, with a probability proportional to 1 / i^0.99, with rank 1 for the last record, rank 2 for the one before it, and so on.
    Latest,
    /// The first `data` n records (rounded down) get a share `operations` of all choices, the others the rest. Within
    /// each part every record is equally likely.
    Hotspot { data: f64, operations: f64 },
    /// The k-th record before the last, k = 0, 1, .., with a probability proportional to e^(-g k), where g = -ln(1 -
    /// `percentile` / 100) / (`fraction` recordcount): `percentile` % of all choices fall on that fraction.
    Exponential { percentile: f64, fraction: f64 },
}

/// How the ranks of Zipf's law become records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Zipf {
    /// n ranks, each of which a permutation assigns to a record of its own.
    Exact,
    /// As YCSB and go-ycsb draw: one of 10^10 + 1 ranks, whose hash modulo n + 1 is the record. So a record has the
    /// popularity of all ranks that meet there.
    Ycsb,
}

#[derive(Clone, Copy)]
pub(super) enum Name {
    Uniform,
    Sequential,
    Zipfian,
    Latest,
    Hotspot,
    Exponential,
}

impl Request {
    pub(super) fn read(reader: &mut OptionReader<'_>) -> Self {
        let name = DISTRIBUTION.read(reader);
        let (data, operations) = (HOTSPOT_DATA.read(reader), HOTSPOT_OPERATIONS.read(reader));
        let percentile = EXPONENTIAL_PERCENTILE.read(reader);
        let fraction = EXPONENTIAL_FRACTION.read(reader);
        let zipf = ZIPFIAN.read(reader);
        match name {
            Name::Uniform => Self::Uniform,
            Name::Sequential => Self::Sequential,
            Name::Zipfian => Self::Zipfian(zipf),
            Name::Latest => Self::Latest,
            Name::Hotspot => Self::Hotspot { data, operations },
            Name::Exponential => Self::Exponential { percentile, fraction },
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Uniform => "uniform",
            Self::Sequential => "sequential",
            Self::Zipfian(_) => "zipfian",
            Self::Latest => "latest",
            Self::Hotspot { .. } => "hotspot",
            Self::Exponential { .. } => "exponential",
        }
    }

    pub(super) fn describe(self) -> String {
        match self {
            Self::Zipfian(Zipf::Ycsb) => {
                "zipfian requests as YCSB draws them, of 10^10 ranks".to_owned()
            }
            _ => format!("{} requests", self.name()),
        }
    }
}
