//! User-defined SQL as a workload: files like pgbench's scripts.
//!
//! A file goes through four modules and [`crate::expression`]: [`source`] splits it into statements and backslash
//! commands, `expression` parses and evaluates `\set`, [`script`] combines both into sections,
//! [`body`] into transactions, [`mix`] has those of several files, and [`client`] runs them.
//! docs/sql-workloads.md is the user documentation.

mod body;
mod client;
mod mix;
mod operations;
mod ready;
mod receive;
mod script;
mod section;
mod source;
mod statement;
mod workload;

#[cfg(test)]
mod database_tests;
#[cfg(test)]
mod fuzz;
#[cfg(test)]
mod pgbench_tests;
#[cfg(test)]
mod tests;

pub(crate) use client::{LoadOptions, SqlLoad};
pub(crate) use mix::Mix;
pub(crate) use workload::SqlWorkload;
