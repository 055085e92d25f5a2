//! A managed TiDB: found or built, started, watched, stopped and removed.

mod build;
mod managed;
mod members;
mod panels;
mod password;
mod playground;
mod server;
mod setup;
mod source;

pub use crate::mysql::{DATABASE, USER};
pub use build::{BuildOptions, provide};
pub(crate) use managed::KIND;
pub(crate) use panels::{COUNTED_BY_TIDB, server_kinds};
pub(crate) use server::{RESERVED_ARGUMENTS, Storage, TiDb, joined};
pub use server::{Settings, start};
pub(crate) use setup::{SETTINGS, ServerSetup};
