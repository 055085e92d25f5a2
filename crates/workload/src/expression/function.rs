//! The functions of expressions, named as in pgbench if pgbench has them.

use super::cell::Cell;
use super::hash::{fnv1a, murmur2, permute};
use super::operator::{Operator, apply};
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
    Exp,
    Ln,
    Sqrt,
    Pi,
    Power,
    Mod,
    HashFnv1a,
    HashMurmur2,
    Permute,
}

impl Function {
    const ALL: [(&'static str, Self); 23] = [
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
        ("exp", Self::Exp),
        ("ln", Self::Ln),
        ("sqrt", Self::Sqrt),
        ("pi", Self::Pi),
        ("power", Self::Power),
        ("pow", Self::Power),
        ("mod", Self::Mod),
        ("hash_murmur2", Self::HashMurmur2),
        ("hash", Self::HashMurmur2),
        ("hash_fnv1a", Self::HashFnv1a),
        ("permute", Self::Permute),
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
            Self::Abs | Self::Int | Self::Double | Self::Exp | Self::Ln | Self::Sqrt => {
                (1..=1, "(number)")
            }
            Self::Pi => (0..=0, "()"),
            Self::Power | Self::Mod => (2..=2, "(number, number)"),
            Self::HashFnv1a | Self::HashMurmur2 => (1..=2, "(number) or (number, seed)"),
            Self::Permute => (2..=3, "(number, size) or (number, size, seed)"),
            Self::Least | Self::Greatest => (1..=100, "(number, ...)"),
        }
    }

    /// Whether two calls with the same arguments may differ.
    pub(crate) fn is_random(self) -> bool {
        matches!(
            self,
            Self::Random
                | Self::RandomGaussian
                | Self::RandomExponential
                | Self::RandomZipfian
                | Self::RandomPareto
                | Self::RandomSpecial
                | Self::Template
        )
    }

    /// With how many arguments a call has no seed of its own; `None` for functions without one.
    pub(crate) fn arguments_without_seed(self) -> Option<usize> {
        match self {
            Self::HashFnv1a | Self::HashMurmur2 => Some(1),
            Self::Permute => Some(2),
            _ => None,
        }
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
        match (arguments[0].read()?, arguments[1].read()?) {
            (Cell::Int(low), Cell::Int(high)) if low <= high => Ok(Draw::new(shape, low, high)),
            (Cell::Int(low), Cell::Int(high)) => {
                Err(format!("{}({low}, {high}): the range is empty", self.name()))
            }
            _ => Err(format!("the range of {} is of whole numbers", self.name())),
        }
    }

    /// The value of a call without random draws. NULL among the arguments gives NULL.
    pub(crate) fn compute(self, arguments: &[Cell]) -> Result<Cell, String> {
        if arguments.contains(&Cell::Null) {
            return Ok(Cell::Null);
        }
        let number = |place: usize| {
            let number = arguments.get(place).and_then(Cell::as_f64);
            number.ok_or_else(|| format!("{} works on numbers", self.name()))
        };
        let whole = |place: usize| arguments.get(place).map_or(Ok(0), Cell::as_whole);
        Ok(match self {
            Self::Abs => match arguments[0].read()? {
                Cell::Int(number) => Cell::Int(number.saturating_abs()),
                _ => Cell::Float(number(0)?.abs()),
            },
            Self::Int => Cell::Int(whole(0)?),
            Self::Double => Cell::Float(number(0)?),
            Self::Exp => Cell::Float(number(0)?.exp()),
            Self::Ln => Cell::Float(number(0)?.ln()),
            Self::Sqrt => Cell::Float(number(0)?.sqrt()),
            Self::Pi => Cell::Float(std::f64::consts::PI),
            Self::Power => Cell::Float(number(0)?.powf(number(1)?)),
            Self::Mod => apply(Operator::Remainder, &arguments[0], &arguments[1])?,
            Self::HashFnv1a => Cell::Int(fnv1a(whole(0)?, whole(1)?)),
            Self::HashMurmur2 => Cell::Int(murmur2(whole(0)?, whole(1)?)),
            Self::Permute => Cell::Int(permute(whole(0)?, whole(1)?, whole(2)?)?),
            _ => self.extreme(arguments)?,
        })
    }

    /// The least or greatest argument: a whole number if all are.
    fn extreme(self, arguments: &[Cell]) -> Result<Cell, String> {
        let numbers: Option<Vec<f64>> = arguments.iter().map(Cell::as_f64).collect();
        let numbers = numbers.ok_or_else(|| format!("{} works on numbers", self.name()))?;
        let whole: Result<Vec<Cell>, String> = arguments.iter().map(Cell::read).collect();
        let is_least = self == Self::Least;
        if let Some(whole) = whole?.iter().map(as_int).collect::<Option<Vec<i64>>>() {
            let best = if is_least { whole.iter().min() } else { whole.iter().max() };
            return Ok(best.map_or(Cell::Null, |best| Cell::Int(*best)));
        }
        let best = numbers.into_iter().reduce(if is_least { f64::min } else { f64::max });
        Ok(best.map_or(Cell::Null, Cell::Float))
    }
}

fn as_int(cell: &Cell) -> Option<i64> {
    match cell {
        Cell::Int(number) => Some(*number),
        _ => None,
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
