//! Which record an operation is about: `requestdistribution`.

use super::sheet::Sheet;

/// How records are chosen. In the definitions n records are in the range, numbered from its first one,
/// and the last one is the newest whose insert, and that of all before it, was acknowledged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Request {
    /// Each as likely.
    Uniform,
    /// One after the other, over all clients, from the first again after the last.
    Sequential,
    /// The record of rank i, i = 1..n, with a probability proportional to 1 / i^0.99; a permutation
    /// decides which record has which rank.
    Zipfian,
    /// The same law, with rank 1 for the last record, rank 2 for the one before it, and so on.
    Latest,
    /// A share `operations` of all choices falls on the first `data` n records (rounded down), the
    /// others on the rest; within both each is as likely.
    Hotspot { data: f64, operations: f64 },
    /// The k-th record before the last, k = 0, 1, .., with a probability proportional to e^(-g k), where
    /// g = -ln(1 - `percentile` / 100) / (`fraction` recordcount): `percentile` % of all choices fall on
    /// that fraction.
    Exponential { percentile: f64, fraction: f64 },
}

#[derive(Clone, Copy)]
enum Name {
    Uniform,
    Sequential,
    Zipfian,
    Latest,
    Hotspot,
    Exponential,
}

impl Request {
    pub(super) fn read(sheet: &mut Sheet<'_>) -> Self {
        let names = [
            ("uniform", Name::Uniform),
            ("zipfian", Name::Zipfian),
            ("latest", Name::Latest),
            ("hotspot", Name::Hotspot),
            ("sequential", Name::Sequential),
            ("exponential", Name::Exponential),
        ];
        let name = sheet.choice("requestdistribution", Name::Uniform, &names);
        let data = sheet.float("hotspotdatafraction", 0.2, 0.0..=1.0);
        let operations = sheet.float("hotspotopnfraction", 0.8, 0.0..=1.0);
        let percentile = sheet.float("exponential.percentile", 95.0, 0.001..=99.999_999);
        let fraction = sheet.float("exponential.frac", 0.857_142_857_1, 0.000_001..=1.0);
        match name {
            Name::Uniform => Self::Uniform,
            Name::Sequential => Self::Sequential,
            Name::Zipfian => Self::Zipfian,
            Name::Latest => Self::Latest,
            Name::Hotspot => Self::Hotspot { data, operations },
            Name::Exponential => Self::Exponential { percentile, fraction },
        }
    }

    /// Its name in options and texts.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Uniform => "uniform",
            Self::Sequential => "sequential",
            Self::Zipfian => "zipfian",
            Self::Latest => "latest",
            Self::Hotspot { .. } => "hotspot",
            Self::Exponential { .. } => "exponential",
        }
    }
}
