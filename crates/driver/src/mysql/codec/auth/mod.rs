//! Logins without sockets: how each method proves a password, and the conversation around it.
//!
//! Sources: MySQL's source documentation, "Authentication Methods" and "Caching_sha2_password
//! information"; MariaDB's knowledge base, "Connection" and "Authentication Plugin - ed25519".

mod conversation;
mod ed25519;
mod error;
mod method;
mod native_password;
mod rsa;
mod sha2_password;

pub(crate) use conversation::{Channel, Credentials, Login, LoginAction, PasswordSent, PublicKey};
pub(crate) use error::LoginError;
pub(crate) use method::Method;
pub(crate) use rsa::BadKey;
pub use rsa::ServerKey;

#[cfg(test)]
mod tests;
