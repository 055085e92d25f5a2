//! SQLite, embedded: calls block, so each client has a thread of its own.

mod config;
mod error;
mod loader;
mod probe;
mod session;

pub use config::{Config, Synchronous};
pub(crate) use loader::Loader;
pub(crate) use probe::{capabilities, probe};
pub(crate) use session::Session;

#[cfg(test)]
mod tests;
