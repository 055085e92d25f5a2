//! One's own SQL as a workload: files in the manner of pgbench's scripts.
//!
//! A file goes through four hands: [`source`] splits it into statements and backslash commands,
//! [`expression`] parses and computes what `\set` draws, [`script`] puts both together into
//! transactions and sections, and [`client`] runs them. The page docs/sql-workloads.md tells users.

mod client;
mod diagnostic;
mod expression;
mod function;
mod parser;
mod script;
mod section;
mod source;
mod statement;
mod token;
mod workload;

#[cfg(test)]
mod database_tests;
#[cfg(test)]
mod tests;

pub(crate) use workload::SqlWorkload;
