//! A MariaDB of our own: made, started, watched, stopped and thrown away.

mod install;
mod managed;
mod server;

pub use crate::process::parse_cpus;
pub(crate) use managed::read;
pub use server::{Server, Settings};

/// The account that a fresh data folder has; it needs no password.
pub const USER: &str = "root";
/// The database that a fresh data folder has.
pub const DATABASE: &str = "test";
