//! Expressions and their evaluation.

use super::cell::Cell;
use super::function::{Function, append_template};
use super::operator::{Operator, apply, negative};
use crate::random::{Draw, Random};

/// A parsed expression; variables are slots in the client's memory.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Expression {
    Constant(Cell),
    /// A variable that was set before.
    Slot(usize),
    Negative(Box<Expression>),
    Not(Box<Expression>),
    Binary(Operator, Box<Expression>, Box<Expression>),
    /// Conditions with the value where each is the first that is true, and the value where none is.
    Case(Vec<(Expression, Expression)>, Box<Expression>),
    /// A draw with constant range and shape.
    Draw(Draw),
    Template(String),
    Call(Function, Vec<Expression>),
}

/// The slot that holds the client's number.
pub(crate) const CLIENT_ID: usize = 0;
/// In SQL files: the slots of the seed of the plan, and of the seed of hashes.
pub(crate) const RANDOM_SEED: usize = 1;
pub(crate) const HASH_SEED: usize = 2;

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
            Expression::Not(inner) => match self.compute(inner)?.as_truth()? {
                Some(truth) => Cell::Bool(!truth),
                None => Cell::Null,
            },
            Expression::Binary(operator @ (Operator::And | Operator::Or), left, right) => {
                self.compute_logic(*operator, left, right)?
            }
            Expression::Binary(operator, left, right) => {
                let (left, right) = (self.compute(left)?, self.compute(right)?);
                apply(*operator, &left, &right)?
            }
            Expression::Case(cases, otherwise) => {
                for (condition, value) in cases {
                    if self.compute(condition)?.is_true()? {
                        return self.compute(value);
                    }
                }
                self.compute(otherwise)?
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

    /// AND and OR; the right side is computed only if it matters. As in pgbench, and not as in SQL, NULL on a side that is
    /// computed gives NULL, whatever the other is.
    fn compute_logic(
        &mut self,
        operator: Operator,
        left: &Expression,
        right: &Expression,
    ) -> Result<Cell, String> {
        // One such side decides: TRUE of OR, FALSE of AND.
        let decides = operator == Operator::Or;
        let truth = match self.compute(left)?.as_truth()? {
            Some(left) if left != decides => self.compute(right)?.as_truth()?,
            truth => truth,
        };
        Ok(truth.map_or(Cell::Null, Cell::Bool))
    }
}
