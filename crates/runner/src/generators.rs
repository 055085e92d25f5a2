//! Loads that several processes share, the generators, which may be on other hosts.
//!
//! The process of the run coordinates them: [`Fleet`] starts them once for a run, and gives each its part of every
//! trial's load. [`run_generator`] is the other side. `engine` decides what is offered, and `remote` reaches the
//! places.

mod division;
mod fleet;
#[cfg(test)]
mod fuzz;
pub(crate) mod job;
pub(crate) mod job_workload;
mod known;
mod member;
mod message;
mod own_connections;
mod process;
pub(crate) mod unfit;

pub(crate) use division::divide;
pub(crate) use fleet::Fleet;
pub(crate) use known::KnownGenerators;
pub use process::run_generator;
