//! TPC-C 5.11, clauses 1 to 4 as far as a driver can implement them: nine tables, their population, five transactions
//! from terminals with a home warehouse, and the twelve consistency conditions.
//!
//! Comments name the clauses that the code implements. The further requirements of an audited result (pricing, ACID
//! tests, steady state of two hours, terminals and screens) are not implemented: no figure of dyno's is a TPC result
//! (docs/tpcc.md).

mod check;
mod client;
mod csv;
mod deck;
mod delivery;
mod figures;
mod fill;
mod inputs;
mod load;
mod new_order;
mod nurand;
mod order_status;
mod payment;
mod prepare;
mod rows;
mod rules;
mod schema;
mod session;
mod settings;
mod statements;
mod stock_level;
mod text;
mod verify;
mod waits;
mod workload;

#[cfg(test)]
mod check_tests;
#[cfg(test)]
mod tests;

pub(crate) use settings::OPTIONS;
pub(crate) use workload::Tpcc;
