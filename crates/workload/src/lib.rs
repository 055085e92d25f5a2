//! Workloads: the sysbench set, YCSB, TPC-C and SQL files of users, and the random distributions they draw from.
//!
//! [`read`] turns a workload of the plan into a [`Workload`]; [`catalogue`] says which there are. A
//! workload asks the driver for the system's dialect and capabilities, never for the product's name.

mod catalogue;
mod crewed;
mod export;
mod loading;
mod options;
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
mod turns;
mod workload;
mod ycsb;

pub use catalogue::{WorkloadInfo, catalogue, read};
pub use export::Export;
pub use options::OptionInfo;
pub use progress::Progress;
pub use workload::{Occasion, Site, Workload};
