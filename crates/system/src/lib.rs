//! The systems under test: found or made, started, watched, stopped.
//!
//! [`read`] turns a system of the plan into a [`System`]; starting that gives a [`Running`], which
//! says how to speak to it ([`Access`]) and what it is ([`Identity`]). What is started here never
//! outlives this process. [`catalogue`] explains what there is.

mod argument;
mod ask;
mod catalogue;
mod contract;
mod copy;
mod kinds;
mod log_tail;
pub mod mariadb;
mod mysql;
mod process;
mod programs;
mod simulated;
mod sqlite;

pub use argument::from_argument;
pub use catalogue::{Kind, OptionHelp, catalogue};
pub use contract::{Access, Running, Stall, System};
pub use kinds::read;
pub use measure::Identity;
