//! A MariaDB of our own: made, started, watched, stopped and thrown away.

mod install;
mod managed;
mod server;

pub use crate::daemon::{DATABASE, USER};
pub use crate::process::parse_cpus;
pub(crate) use managed::read;
pub use server::{Settings, start};
