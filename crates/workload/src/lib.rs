//! Workloads: the sysbench set, YCSB, pgbench, TPC-C, TPC-H, users' SQL files and calls of RPC services, and the random distributions that they draw from.
//!
//! [`read`] turns a workload of the plan into a [`Workload`]; [`catalogue`] lists all workloads. A workload gets
//! the system's dialect and capabilities from the driver, and never depends on the product's name.

mod busy_sessions;
mod catalogue;
mod context;
mod created;
mod export;
mod expression;
mod load_part;
mod loading;
mod parallel;
mod parts;
mod pgbench;
mod policy;
mod progress;
pub mod random;
mod reconnect;
mod removal;
mod row_buffer;
mod rpc;
#[cfg(test)]
mod server_tests;
mod session;
mod shared;
mod sql;
mod sysbench;
mod tables;
#[cfg(test)]
mod testing;
mod tpcc;
mod tpch;
mod transaction_loop;
mod workload;
mod ycsb;

pub use busy_sessions::BusySessions;
pub use catalogue::{WorkloadInfo, catalogue, read, text_options, whole_name};
pub use context::{LoadKey, WorkloadContext};
pub use export::Export;
pub use load_part::LoadPart;
pub use parts::{LoadInParts, Sharing};
pub use progress::LoadProgress;
pub use rpc::{Mistake, Request, Rpc};
pub use workload::Workload;
