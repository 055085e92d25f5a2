//! Loads that several processes share, the generators, which may be on other hosts.
//!
//! The process of the run coordinates them: [`Fleet`] starts them once for a run, and gives each its part of every
//! trial's load. [`run_generator`] is the other side. `runner` says what a trial needs, `engine` decides what is
//! offered, and `remote` reaches the places.

mod fleet;
#[cfg(test)]
mod fuzz;
mod job;
mod member;
mod message;
mod own_connections;
mod process;

pub use fleet::Fleet;
pub use process::run_generator;
