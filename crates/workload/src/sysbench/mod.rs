//! The sysbench set: its tables, values and transactions, with the same statements.
//!
//! The scripts' behaviour was learnt from sysbench 1.0.20 and is checked against its query log; all text here is our
//! own. A script is a [`script::Script`], a value. One client loop runs all scripts except `bulk_insert` and the two
//! `select_random_*`, which have loops of their own.

mod bulk_insert;
mod bulk_workload;
mod client;
mod connection;
mod created_tables;
mod fill;
mod inspection;
mod load;
mod oltp;
mod prepare;
mod query;
mod rows;
mod scans;
mod schema;
mod script;
mod settings;
mod unique;
mod values;
mod verify;
mod warm_cache;

#[cfg(test)]
mod log_tests;
#[cfg(test)]
mod tests;

pub(crate) use bulk_workload::{BULK_OPTIONS, BulkInsert};
pub(crate) use oltp::Oltp;
pub(crate) use script::Script;
pub(crate) use settings::OPTIONS;
