//! Expressions and their evaluation.

use std::fmt;

use driver::Value;

use super::function::{Function, append_template};
use crate::random::{Draw, Random};

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cell {
    Int(i64),
    Float(f64),
    Text(String),
}

impl Cell {
    /// The value as a number; `None` for a text.
    pub(crate) fn as_f64(&self) -> Option<f64> {
        match self {
            Self::Int(number) => Some(*number as f64),
            Self::Float(number) => Some(*number),
            Self::Text(_) => None,
        }
    }

    #[inline]
    pub(crate) fn as_value(&self) -> Value<'_> {
        match self {
            Self::Int(number) => Value::Int(*number),
            Self::Float(number) => Value::Float(*number),
            Self::Text(text) => Value::Text(text),
        }
    }

    pub(crate) fn as_sql(&self) -> String {
        match self {
            Self::Int(number) => number.to_string(),
            Self::Float(number) => format!("{number:?}"),
            Self::Text(text) => format!("'{}'", text.replace('\'', "''")),
        }
    }
}

/// As in the text of a template.
impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(number) => write!(f, "{number}"),
            Self::Float(number) => write!(f, "{number:?}"),
            Self::Text(text) => f.write_str(text),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

/// A parsed expression; variables are slots in the client's memory.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Expression {
    Constant(Cell),
    /// A variable that was set before.
    Slot(usize),
    Negative(Box<Expression>),
    Binary(Operator, Box<Expression>, Box<Expression>),
    /// A draw with constant range and shape.
    Draw(Draw),
    Template(String),
    Call(Function, Vec<Expression>),
}

/// The slot that holds the client's number.
pub(crate) const CLIENT_ID: usize = 0;

/// The variables of a client, in which expressions are evaluated.
pub(crate) struct Variables {
    /// The values of variables; [`CLIENT_ID`] is the first.
    pub(crate) slots: Vec<Cell>,
    pub(crate) random: Random,
}

impl Variables {
    /// Evaluates `expression` into slot `slot`.
    ///
    /// # Errors
    /// Division by 0, numbers that are too large, empty ranges.
    pub(crate) fn set(&mut self, slot: usize, expression: &Expression) -> Result<(), String> {
        if let (Expression::Template(pattern), Cell::Text(text)) =
            (expression, &mut self.slots[slot])
        {
            // The text is written into the existing buffer, so that nothing is allocated.
            text.clear();
            append_template(pattern, &mut self.random, text);
            return Ok(());
        }
        self.slots[slot] = self.compute(expression)?;
        Ok(())
    }

    /// The value of an expression.
    ///
    /// # Errors
    /// As [`Variables::set`].
    pub(crate) fn compute(&mut self, expression: &Expression) -> Result<Cell, String> {
        Ok(match expression {
            Expression::Constant(cell) => cell.clone(),
            Expression::Slot(slot) => self.slots[*slot].clone(),
            Expression::Draw(draw) => Cell::Int(draw.draw(&mut self.random)),
            Expression::Negative(inner) => negative(&self.compute(inner)?)?,
            Expression::Binary(operator, left, right) => {
                let (left, right) = (self.compute(left)?, self.compute(right)?);
                apply(*operator, &left, &right)?
            }
            Expression::Template(pattern) => {
                let mut text = String::new();
                append_template(pattern, &mut self.random, &mut text);
                Cell::Text(text)
            }
            Expression::Call(function, arguments) => {
                let arguments = arguments
                    .iter()
                    .map(|argument| self.compute(argument))
                    .collect::<Result<Vec<Cell>, String>>()?;
                match function.draw(&arguments) {
                    Some(draw) => Cell::Int(draw?.draw(&mut self.random)),
                    None => function.compute(&arguments)?,
                }
            }
        })
    }
}

pub(crate) fn negative(cell: &Cell) -> Result<Cell, String> {
    match cell {
        Cell::Int(number) => number.checked_neg().map(Cell::Int).ok_or_else(too_large),
        Cell::Float(number) => Ok(Cell::Float(-number)),
        Cell::Text(_) => Err(no_number()),
    }
}

/// Integer operands give an integer, as in pgbench: 7 / 2 is 3.
pub(crate) fn apply(operator: Operator, left: &Cell, right: &Cell) -> Result<Cell, String> {
    if let (Cell::Int(left), Cell::Int(right)) = (left, right) {
        return apply_whole(operator, *left, *right).map(Cell::Int);
    }
    let (Some(left), Some(right)) = (left.as_f64(), right.as_f64()) else {
        return Err(no_number());
    };
    Ok(Cell::Float(match operator {
        Operator::Add => left + right,
        Operator::Subtract => left - right,
        Operator::Multiply => left * right,
        Operator::Divide if right == 0.0 => return Err("division by 0".to_owned()),
        Operator::Divide => left / right,
        Operator::Remainder => return Err("% works on whole numbers".to_owned()),
    }))
}

fn apply_whole(operator: Operator, left: i64, right: i64) -> Result<i64, String> {
    let is_division = matches!(operator, Operator::Divide | Operator::Remainder);
    if is_division && right == 0 {
        return Err("division by 0".to_owned());
    }
    let result = match operator {
        Operator::Add => left.checked_add(right),
        Operator::Subtract => left.checked_sub(right),
        Operator::Multiply => left.checked_mul(right),
        Operator::Divide => left.checked_div(right),
        // The lowest integer has no positive counterpart, but its remainder with -1 is 0.
        Operator::Remainder => Some(left.wrapping_rem(right)),
    };
    result.ok_or_else(too_large)
}

fn too_large() -> String {
    "a whole number does not fit into 64 bits".to_owned()
}

fn no_number() -> String {
    "a text is no number".to_owned()
}
