//! A managed TiDB cluster: PD, stores and TiDB from the user's own programs, each with temporary data.
//!
//! They start in the order of their dependencies and stop in reverse. TiDB comes last, once every store is up and
//! every region has its replicas: otherwise the data that TiDB writes during its own setup would be replicated in the
//! middle of a measurement.

mod cluster;
#[cfg(test)]
mod fuzz;
mod identity;
mod kind;
mod loss;
mod member;
mod pd;
mod placement;
mod program;
mod store;

pub(crate) use kind::KIND;
