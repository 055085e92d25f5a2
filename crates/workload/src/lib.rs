//! What one client does: the sysbench set, YCSB, one's own SQL, and the random distributions below them.
//!
//! [`read`] turns a workload of the plan into a [`Workload`]; [`catalogue`] says which there are. A
//! workload asks the driver's capability record what a system can do, never the product's name.

mod catalogue;
mod crewed;
mod export;
mod loading;
mod policy;
mod progress;
pub mod random;
mod reconnect;
mod shared;
mod sql;
mod sysbench;
#[cfg(test)]
mod testing;
mod tpcc;
mod turns;
mod workload;
mod ycsb;

pub use catalogue::{OptionInfo, WorkloadInfo, catalogue, read};
pub use export::Export;
pub use progress::Progress;
pub use workload::{Occasion, Site, Workload};
