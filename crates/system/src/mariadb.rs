//! A managed MariaDB: installation of its data, start, watch, stop and removal.

mod install;
mod managed;
mod server;

pub use crate::process::parse_cpus;
pub use crate::secret::{DATABASE, USER};
pub(crate) use managed::KIND;
pub use server::{Settings, start};
