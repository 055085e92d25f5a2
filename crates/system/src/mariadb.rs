//! A managed MariaDB: installation of its data, start, watch, stop and removal.

mod install;
mod managed;
mod server;

pub use crate::mysql::{DATABASE, USER};
pub use crate::process::parse_cpus;
pub(crate) use managed::KIND;
pub use server::{Settings, start};
