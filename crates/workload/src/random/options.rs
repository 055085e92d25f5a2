//! The options that choose a distribution, with sysbench's names and ranges.

use plan::OptionReader;
use plan::declared::{Choice, Number, OptionList, choice, number};

use super::Shape;

const RAND_TYPE: Choice<Name> = choice(
    "rand_type",
    ("special", Name::Special),
    &NAMES,
    "distribution of row ids: special, uniform, gaussian, pareto, zipfian",
);
const RAND_SPEC_ITER: Number<u64> =
    number("rand_spec_iter", 12, 1..=1000, "special, gaussian: uniform draws that are averaged");
const RAND_SPEC_PCT: Number<f64> = number(
    "rand_spec_pct",
    1.0,
    0.0..=100.0,
    "special: width of the busy middle, percent of the range",
);
const RAND_SPEC_RES: Number<f64> = number(
    "rand_spec_res",
    75.0,
    0.0..=99.0,
    "special: share of draws in the busy middle, percent",
);
const RAND_PARETO_H: Number<f64> = number(
    "rand_pareto_h",
    0.2,
    0.000_001..=0.999_999,
    "pareto: a share h of the rows gets 1 - h of the draws",
);
const RAND_ZIPFIAN_EXP: Number<f64> = number(
    "rand_zipfian_exp",
    0.8,
    0.0..=100.0,
    "zipfian: exponent; 0 is uniform, larger is more skewed",
);

/// Options of every workload that draws from a selectable distribution.
pub(crate) const OPTIONS: OptionList = &[
    &RAND_TYPE,
    &RAND_SPEC_ITER,
    &RAND_SPEC_PCT,
    &RAND_SPEC_RES,
    &RAND_PARETO_H,
    &RAND_ZIPFIAN_EXP,
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

pub(crate) fn read_shape(reader: &mut OptionReader<'_>) -> Shape {
    let name = RAND_TYPE.read(reader);
    let rounds = u32::try_from(RAND_SPEC_ITER.read(reader)).unwrap_or(u32::MAX);
    let center_width_percent = RAND_SPEC_PCT.read(reader);
    let center_share_percent = RAND_SPEC_RES.read(reader);
    let h = RAND_PARETO_H.read(reader);
    let exponent = RAND_ZIPFIAN_EXP.read(reader);
    match name {
        Name::Special => Shape::Special { rounds, center_width_percent, center_share_percent },
        Name::Uniform => Shape::Uniform,
        Name::Gaussian => Shape::Gaussian { rounds },
        Name::Pareto => Shape::Pareto { h },
        Name::Zipfian => Shape::Zipfian { exponent },
    }
}
