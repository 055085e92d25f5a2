//! pgbench: its four tables, its three built-in scripts, and the sum of the balances that must agree.
//!
//! Tables and statements are those of pgbench 15, seen on a server that logs statements, so that each tool runs on the
//! other's data. The scripts are read and run as own SQL ([`crate::sql`]). docs/pgbench.md is the user documentation.

mod balances;
mod fill;
mod prepare;
mod schema;
mod scripts;
mod settings;
mod verify;
mod workload;

#[cfg(test)]
mod exchange_tests;
#[cfg(test)]
mod tests;

pub(crate) use settings::OPTIONS;
pub(crate) use workload::Pgbench;
