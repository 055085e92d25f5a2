//! Expressions of numbers, texts and random draws, which SQL files and the templates of requests share.
//!
//! [`token`] splits the text of an expression, [`parser`] reads it, and [`evaluation`] computes it with the operators of
//! [`operator`] and the functions of [`function`]. docs/sql-workloads.md tells what they mean.

mod cell;
mod diagnostic;
mod evaluation;
mod function;
#[cfg(test)]
mod fuzz;
mod hash;
mod operator;
mod parser;
mod token;

pub(crate) use cell::Cell;
pub(crate) use diagnostic::Diagnostic;
pub(crate) use evaluation::{CLIENT_ID, Expression, HASH_SEED, RANDOM_SEED, Variables};
pub(crate) use function::append_template;
pub(crate) use parser::{DEFAULT_SEED, Scope, find, parse};
pub(crate) use token::{Token, name_length, tokens};
