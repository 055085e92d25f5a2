//! The operators, with the types of their results as in pgbench.

use super::cell::{Cell, too_large};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    And,
    Or,
    /// Whether two values are the same; NULL is NULL.
    Is,
    BitAnd,
    BitOr,
    BitXor,
    ShiftLeft,
    ShiftRight,
}

impl Operator {
    /// Whether it works on the bits of whole numbers, or needs whole numbers for another reason.
    fn is_of_whole_numbers(self) -> bool {
        matches!(
            self,
            Self::Remainder
                | Self::BitAnd
                | Self::BitOr
                | Self::BitXor
                | Self::ShiftLeft
                | Self::ShiftRight
        )
    }
}

pub(super) fn negative(cell: &Cell) -> Result<Cell, String> {
    match cell.read()? {
        Cell::Int(number) => number.checked_neg().map(Cell::Int).ok_or_else(too_large),
        Cell::Float(number) => Ok(Cell::Float(-number)),
        Cell::Null => Ok(Cell::Null),
        other => Err(format!("{other} is no number")),
    }
}

/// Whole numbers give a whole number, as in pgbench: 7 / 2 is 3. NULL gives NULL.
pub(super) fn apply(operator: Operator, left: &Cell, right: &Cell) -> Result<Cell, String> {
    if operator == Operator::Is {
        // A text that is no number is not NULL either.
        let same = left.read().is_ok_and(|left| right.read().is_ok_and(|right| left == right));
        return Ok(Cell::Bool(same));
    }
    let (left, right) = (left.read()?, right.read()?);
    if left == Cell::Null || right == Cell::Null {
        return Ok(Cell::Null);
    }
    let has_fraction = matches!(left, Cell::Float(_)) || matches!(right, Cell::Float(_));
    if !has_fraction || operator.is_of_whole_numbers() {
        return apply_whole(operator, left.as_whole()?, right.as_whole()?);
    }
    let number = |cell: &Cell| cell.as_f64().ok_or_else(|| format!("{cell} is no number"));
    let (left, right) = (number(&left)?, number(&right)?);
    Ok(match operator {
        Operator::Add => Cell::Float(left + right),
        Operator::Subtract => Cell::Float(left - right),
        Operator::Multiply => Cell::Float(left * right),
        Operator::Divide if right == 0.0 => return Err("division by 0".to_owned()),
        Operator::Divide => Cell::Float(left / right),
        Operator::Equal => Cell::Bool(left == right),
        Operator::NotEqual => Cell::Bool(left != right),
        Operator::Less => Cell::Bool(left < right),
        Operator::LessOrEqual => Cell::Bool(left <= right),
        _ => return Err("this operator works on whole numbers".to_owned()),
    })
}

fn apply_whole(operator: Operator, left: i64, right: i64) -> Result<Cell, String> {
    let is_division = matches!(operator, Operator::Divide | Operator::Remainder);
    if is_division && right == 0 {
        return Err("division by 0".to_owned());
    }
    let bits = u32::try_from(right).ok().filter(|bits| *bits < i64::BITS);
    let shift = || bits.ok_or_else(|| "a shift is by 0 to 63 bits".to_owned());
    let result = match operator {
        Operator::Add => left.checked_add(right),
        Operator::Subtract => left.checked_sub(right),
        Operator::Multiply => left.checked_mul(right),
        Operator::Divide => left.checked_div(right),
        // The lowest integer has no positive counterpart, but its remainder with -1 is 0.
        Operator::Remainder => Some(left.wrapping_rem(right)),
        Operator::BitAnd => Some(left & right),
        Operator::BitOr => Some(left | right),
        Operator::BitXor => Some(left ^ right),
        Operator::ShiftLeft => Some(left << shift()?),
        Operator::ShiftRight => Some(left >> shift()?),
        Operator::Equal => return Ok(Cell::Bool(left == right)),
        Operator::NotEqual => return Ok(Cell::Bool(left != right)),
        Operator::Less => return Ok(Cell::Bool(left < right)),
        Operator::LessOrEqual => return Ok(Cell::Bool(left <= right)),
        Operator::And | Operator::Or | Operator::Is => {
            return Err("a number is no truth".to_owned());
        }
    };
    result.map(Cell::Int).ok_or_else(too_large)
}
