//! SQLite, embedded: calls block, so each client has a thread of its own.

mod config;
mod dialect;
mod error;
mod loader;
mod probe;
mod session;
mod time_limit;

pub use config::{Config, Synchronous};
pub use dialect::DIALECT;
pub(crate) use loader::Loader;
pub(crate) use probe::probe;
pub(crate) use session::Session;

#[cfg(test)]
mod tests;
