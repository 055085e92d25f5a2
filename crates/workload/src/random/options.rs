//! The options that choose a distribution, named and ranged as sysbench's.

use plan::OptionReader;

use super::Shape;
use crate::OptionInfo;

/// Options of every workload that draws from a chosen distribution.
pub(crate) const OPTIONS: &[OptionInfo] = &[
    OptionInfo {
        name: "rand_type",
        default: "special",
        meaning: "distribution of row ids: special, uniform, gaussian, pareto, zipfian",
    },
    OptionInfo {
        name: "rand_spec_iter",
        default: "12",
        meaning: "special, gaussian: uniform draws that are averaged",
    },
    OptionInfo {
        name: "rand_spec_pct",
        default: "1",
        meaning: "special: width of the busy middle, percent of the range",
    },
    OptionInfo {
        name: "rand_spec_res",
        default: "75",
        meaning: "special: share of draws in the busy middle, percent",
    },
    OptionInfo {
        name: "rand_pareto_h",
        default: "0.2",
        meaning: "pareto: a share h of the rows gets 1 - h of the draws",
    },
    OptionInfo {
        name: "rand_zipfian_exp",
        default: "0.8",
        meaning: "zipfian: exponent; 0 is uniform, larger is more skewed",
    },
];

#[derive(Clone, Copy)]
enum Name {
    Special,
    Uniform,
    Gaussian,
    Pareto,
    Zipfian,
}

const NAMES: [(&str, Name); 5] = [
    ("special", Name::Special),
    ("uniform", Name::Uniform),
    ("gaussian", Name::Gaussian),
    ("pareto", Name::Pareto),
    ("zipfian", Name::Zipfian),
];

/// Reads the distribution that the options choose.
pub(crate) fn read_shape(reader: &mut OptionReader<'_>) -> Shape {
    let name = reader.choice("rand_type", Name::Special, &NAMES);
    let rounds = reader.integer("rand_spec_iter", 12, 1..=1000);
    let rounds = u32::try_from(rounds).unwrap_or(u32::MAX);
    let center_width_percent = reader.float("rand_spec_pct", 1.0, 0.0..=100.0);
    let center_share_percent = reader.float("rand_spec_res", 75.0, 0.0..=99.0);
    let h = reader.float("rand_pareto_h", 0.2, 0.000_001..=0.999_999);
    let exponent = reader.float("rand_zipfian_exp", 0.8, 0.0..=100.0);
    match name {
        Name::Special => Shape::Special { rounds, center_width_percent, center_share_percent },
        Name::Uniform => Shape::Uniform,
        Name::Gaussian => Shape::Gaussian { rounds },
        Name::Pareto => Shape::Pareto { h },
        Name::Zipfian => Shape::Zipfian { exponent },
    }
}
