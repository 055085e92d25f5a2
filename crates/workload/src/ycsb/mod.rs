//! YCSB's core workload, A to F and user-defined: its properties, its table, its operations.
//!
//! Sources of its behaviour: the paper (B. Cooper et al., "Benchmarking Cloud Serving Systems with YCSB", SoCC 2010),
//! the core properties page of brianfrankcooper/YCSB and the published workload files. Comments name the differences
//! of go-ycsb 1.0.1. All text and code here are our own.

mod chooser;
mod client;
mod fill;
mod foreign;
#[cfg(test)]
mod fuzz;
mod inserts;
mod inspection;
mod key;
mod lengths;
mod load;
mod operations;
mod preset;
mod properties;
mod request;
mod resume;
mod schema;
mod settings;
mod statements;
mod values;
mod workload;

#[cfg(test)]
mod tests;

pub(crate) use preset::Preset;
pub(crate) use settings::options;
pub(crate) use workload::Ycsb;
