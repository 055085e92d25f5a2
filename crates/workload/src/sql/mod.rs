//! User-defined SQL as a workload: files like pgbench's scripts.
//!
//! A file goes through three modules and [`crate::expression`]: [`source`] splits it into statements and backslash
//! commands, `expression` parses and evaluates `\set`, [`script`] combines both into transactions and sections, [`mix`] has those
//! of several files, and [`client`] runs them.
//! docs/sql-workloads.md is the user documentation.

mod client;
mod mix;
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

pub(crate) use client::SqlLoad;
pub(crate) use mix::Mix;
pub(crate) use workload::SqlWorkload;
