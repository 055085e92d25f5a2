//! A TiDB cluster of our own: PD, stores and TiDB from the user's own programs, each on throw-away data.
//!
//! They are started in the order in which they need each other and stopped in reverse. TiDB comes last,
//! once every store is up and every region has its replicas: what it writes while it sets itself up would
//! otherwise be copied about in the middle of a measurement.

mod cluster;
mod identity;
mod kind;
mod member;
mod pd;
mod placement;
mod program;
mod store;

pub(crate) use kind::read;
