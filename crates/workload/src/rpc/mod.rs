//! Calls of an RPC service: one method, called again and again.

mod client;
#[cfg(test)]
mod fuzz;
mod load;
mod message;
mod payload;
mod settings;
mod template;
mod types;
mod workload;

pub(crate) use settings::OPTIONS;
pub use workload::Rpc;
