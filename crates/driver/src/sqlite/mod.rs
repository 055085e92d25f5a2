//! SQLite, embedded: calls block, so each client has a thread of its own.

mod config;
mod dialect;
mod error;
mod foreign_changes;
mod loader;
mod probe;
mod session;
mod snapshot;
mod time_limit;
mod written_tables;

pub use config::{Config, Synchronous};
pub use dialect::DIALECT;
pub(crate) use loader::Loader;
pub(crate) use probe::probe;
pub(crate) use session::Session;
pub use snapshot::{Copied, Snapshot};
pub use written_tables::WrittenTables;

#[cfg(test)]
mod tests;
