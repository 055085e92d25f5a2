//! A TiDB of our own: found or built, started, watched, stopped and thrown away.

mod build;
mod counters;
mod greeting;
mod managed;
mod members;
mod playground;
mod server;
mod source;

pub use build::{BuildOptions, provide};
pub use counters::StatementCounters;
pub(crate) use greeting::Greeting;
pub(crate) use managed::read;
pub use server::{Server, Settings};
pub(crate) use server::{Storage, joined};

/// The account that a fresh TiDB has; it needs no password.
pub const USER: &str = "root";
/// The database that a fresh TiDB has.
pub const DATABASE: &str = "test";
