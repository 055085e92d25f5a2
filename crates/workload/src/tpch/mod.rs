//! TPC-H 3.0.1, clauses 1, 2, 4 and 5 as far as a driver can implement them: eight tables with the rows of dbgen, 22
//! queries with their substitution parameters, the answers to the validation parameters, streams in the specified
//! order, and the refresh functions.
//!
//! Comments name the clauses that the code implements. No figure of dyno's is a TPC result
//! (docs/tpch.md).

mod answers;
mod client;
mod compare;
mod export;
mod load;
mod parameters;
mod plans;
mod prepare;
mod queries;
mod refresh;
mod rows;
mod rules;
mod schema;
mod settings;
mod streams;
mod style;
mod verdicts;
mod verify;
mod workload;

#[cfg(test)]
mod tests;

pub(crate) use settings::OPTIONS;
pub(crate) use workload::Tpch;
