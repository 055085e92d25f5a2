//! The functions of expressions, named as in pgbench if pgbench has them.

use super::evaluation::Cell;
use crate::random::{Draw, Random, Shape};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Function {
    Random,
    RandomGaussian,
    RandomExponential,
    RandomZipfian,
    RandomPareto,
    RandomSpecial,
    Template,
    Abs,
    Int,
    Double,
    Least,
    Greatest,
}

impl Function {
    const ALL: [(&'static str, Self); 12] = [
        ("random", Self::Random),
        ("random_gaussian", Self::RandomGaussian),
        ("random_exponential", Self::RandomExponential),
        ("random_zipfian", Self::RandomZipfian),
        ("random_pareto", Self::RandomPareto),
        ("random_special", Self::RandomSpecial),
        ("template", Self::Template),
        ("abs", Self::Abs),
        ("int", Self::Int),
        ("double", Self::Double),
        ("least", Self::Least),
        ("greatest", Self::Greatest),
    ];

    /// The function of that name, in upper or lower case.
    pub(crate) fn of(name: &str) -> Option<Self> {
        let is_named = |(known, _): &&(&str, Self)| known.eq_ignore_ascii_case(name);
        Self::ALL.iter().find(is_named).map(|(_, function)| *function)
    }

    pub(crate) fn names() -> Vec<&'static str> {
        Self::ALL.iter().map(|(name, _)| *name).collect()
    }

    pub(crate) fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, function)| *function == self).map_or("", |(name, _)| name)
    }

    pub(crate) fn arguments(self) -> (std::ops::RangeInclusive<usize>, &'static str) {
        match self {
            Self::Random | Self::RandomSpecial => (2..=2, "(low, high)"),
            Self::RandomGaussian => (2..=3, "(low, high) or (low, high, deviations)"),
            Self::RandomExponential => (3..=3, "(low, high, decay)"),
            Self::RandomZipfian => (3..=3, "(low, high, exponent)"),
            Self::RandomPareto => (3..=3, "(low, high, h)"),
            Self::Template => (1..=1, "('text with # for digits and @ for letters')"),
            Self::Abs | Self::Int | Self::Double => (1..=1, "(number)"),
            Self::Least | Self::Greatest => (1..=100, "(number, ...)"),
        }
    }

    /// Whether two calls with the same arguments may differ.
    pub(crate) fn is_random(self) -> bool {
        !matches!(self, Self::Abs | Self::Int | Self::Double | Self::Least | Self::Greatest)
    }

    /// The distribution that a `random...` call draws from; `None` for other functions.
    pub(crate) fn draw(self, arguments: &[Cell]) -> Option<Result<Draw, String>> {
        let parameter = arguments.get(2).and_then(Cell::as_f64);
        let checked = |shape, is_right: bool, wanted: &str| {
            if is_right { Ok(shape) } else { Err(format!("{} asks for {wanted}", self.name())) }
        };
        let value = parameter.unwrap_or(f64::NAN);
        let shape = match self {
            Self::Random => Ok(Shape::Uniform),
            Self::RandomSpecial => Ok(Shape::SPECIAL),
            Self::RandomGaussian if parameter.is_none() => Ok(Shape::Gaussian { rounds: 12 }),
            Self::RandomGaussian => checked(
                Shape::Normal { deviations: value },
                value >= 2.0,
                "deviations of at least 2",
            ),
            Self::RandomExponential => {
                let is_right = value > 0.0 && value.is_finite();
                checked(Shape::Exponential { decay: value }, is_right, "a decay above 0")
            }
            Self::RandomZipfian => {
                let is_right = value >= 0.0 && value.is_finite();
                checked(Shape::Zipfian { exponent: value }, is_right, "an exponent of 0 or more")
            }
            Self::RandomPareto => {
                let is_right = value > 0.0 && value < 1.0;
                checked(Shape::Pareto { h: value }, is_right, "h between 0 and 1")
            }
            _ => return None,
        };
        Some(shape.and_then(|shape| self.range(shape, arguments)))
    }

    fn range(self, shape: Shape, arguments: &[Cell]) -> Result<Draw, String> {
        match (&arguments[0], &arguments[1]) {
            (Cell::Int(low), Cell::Int(high)) if low <= high => Ok(Draw::new(shape, *low, *high)),
            (Cell::Int(low), Cell::Int(high)) => {
                Err(format!("{}({low}, {high}): the range is empty", self.name()))
            }
            _ => Err(format!("the range of {} is of whole numbers", self.name())),
        }
    }

    /// The value of a call without random draws.
    pub(crate) fn compute(self, arguments: &[Cell]) -> Result<Cell, String> {
        let numbers = || {
            let all: Option<Vec<f64>> = arguments.iter().map(Cell::as_f64).collect();
            all.ok_or_else(|| format!("{} works on numbers", self.name()))
        };
        let first = numbers()?[0];
        Ok(match self {
            Self::Abs => match arguments[0] {
                Cell::Int(number) => Cell::Int(number.saturating_abs()),
                _ => Cell::Float(first.abs()),
            },
            Self::Int => match arguments[0] {
                Cell::Int(number) => Cell::Int(number),
                _ => Cell::Int(first as i64),
            },
            Self::Double => Cell::Float(first),
            _ => self.extreme(arguments, &numbers()?),
        })
    }

    /// The least or greatest argument, with the type of that argument.
    fn extreme(self, arguments: &[Cell], numbers: &[f64]) -> Cell {
        let sign = if self == Self::Least { 1.0 } else { -1.0 };
        let best = (0..numbers.len())
            .min_by(|&a, &b| (sign * numbers[a]).total_cmp(&(sign * numbers[b])))
            .unwrap_or(0);
        arguments[best].clone()
    }
}

/// Appends `pattern`, with a random digit for each `#` and a random lower-case letter for each `@`.
pub(crate) fn append_template(pattern: &str, random: &mut Random, text: &mut String) {
    for letter in pattern.chars() {
        text.push(match letter {
            '#' => char::from(b'0' + random.below(10) as u8),
            '@' => char::from(b'a' + random.below(26) as u8),
            other => other,
        });
    }
}
