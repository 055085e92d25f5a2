//! User-defined SQL as a workload: files like pgbench's scripts.
//!
//! A file goes through three modules and [`crate::expression`]: [`source`] splits it into statements and backslash
//! commands, `expression` parses and evaluates `\set`, [`script`] combines both into transactions and sections, and
//! [`client`] runs them.
//! docs/sql-workloads.md is the user documentation.

mod client;
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
mod tests;

pub(crate) use workload::SqlWorkload;
