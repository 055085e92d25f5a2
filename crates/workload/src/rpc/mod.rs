//! Calls of an RPC service: one method, called again and again.

mod client;
#[cfg(test)]
mod fuzz;
mod load;
mod message;
mod message_file;
mod metadata;
mod mistakes;
mod payload;
mod settings;
mod template;
mod types;
mod workload;

pub use mistakes::Mistake;
pub(crate) use settings::OPTIONS;
pub use workload::{Request, Rpc};
