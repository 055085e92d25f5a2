//! Expressions of numbers, texts and random draws, which SQL files and the templates of requests share.
//!
//! [`token`] splits the text of an expression, [`parser`] reads it, and [`evaluation`] computes it with the functions
//! of [`function`]. docs/sql-workloads.md tells what they mean.

mod diagnostic;
mod evaluation;
mod function;
#[cfg(test)]
mod fuzz;
mod parser;
mod token;

pub(crate) use diagnostic::Diagnostic;
pub(crate) use evaluation::{CLIENT_ID, Cell, Expression, Variables};
pub(crate) use function::append_template;
pub(crate) use parser::{Scope, find, parse};
pub(crate) use token::{Token, name_length, tokens};
