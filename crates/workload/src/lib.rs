//! Workloads: the sysbench set, YCSB, TPC-C and users' SQL files, and the random distributions that they draw from.
//!
//! [`read`] turns a workload of the plan into a [`Workload`]; [`catalogue`] lists all workloads. A workload gets
//! the system's dialect and capabilities from the driver, and never depends on the product's name.

mod catalogue;
mod export;
mod loading;
mod options;
mod parallel;
mod policy;
mod progress;
pub mod random;
mod reconnect;
mod session;
mod shared;
mod sql;
mod sysbench;
#[cfg(test)]
mod testing;
mod tpcc;
mod transaction_loop;
mod workload;
mod ycsb;

pub use catalogue::{WorkloadInfo, catalogue, read};
pub use export::Export;
pub use options::OptionInfo;
pub use progress::LoadProgress;
pub use workload::{LoadKey, Workload, WorkloadContext};
