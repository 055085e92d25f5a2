//! The address of a server of the PostgreSQL protocol, and the login.

use std::fmt;

use net::Endpoint;
use plan::Password;
use serde::{Deserialize, Serialize};

use super::codec::KnownKeys;
use super::session_counts::KnownSessions;
use crate::Address;
use crate::ssl_options::Encryption;

/// How statements are sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum StatementProtocol {
    /// Prepared once by name, and executed with parameters.
    #[default]
    Named,
    /// Parsed with each execution, with parameters: for poolers that give each transaction another session.
    Unnamed,
    /// As text, with the parameters filled in by the client.
    Text,
}

/// How TLS begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Negotiation {
    /// The server is asked first.
    #[default]
    Postgres,
    /// At once, from PostgreSQL 17 on.
    Direct,
}

/// Whether a proof of the password is bound to the server's certificate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ChannelBinding {
    Disable,
    /// Where the server offers it.
    #[default]
    Prefer,
    Require,
}

/// The ways in which a server may ask for a password: all of them unless some are named.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoginMethods {
    pub none: bool,
    pub password: bool,
    pub md5: bool,
    pub scram: bool,
}

impl Default for LoginMethods {
    fn default() -> Self {
        Self { none: true, password: true, md5: true, scram: true }
    }
}

impl LoginMethods {
    /// Reads libpq's `require_auth`: names between commas, all of them with `!` or none.
    pub fn from_text(text: &str) -> Option<Self> {
        let are_excluded = text.starts_with('!');
        let all = |is_allowed| Self {
            none: is_allowed,
            password: is_allowed,
            md5: is_allowed,
            scram: is_allowed,
        };
        let mut methods = all(are_excluded);
        for name in text.split(',').map(str::trim) {
            if name.starts_with('!') != are_excluded {
                return None;
            }
            let method = match name.trim_start_matches('!') {
                "none" => &mut methods.none,
                "password" => &mut methods.password,
                "md5" => &mut methods.md5,
                "scram-sha-256" => &mut methods.scram,
                // dyno never uses them.
                "gss" | "sspi" => continue,
                _ => return None,
            };
            *method = !are_excluded;
        }
        Some(methods)
    }
}

/// All settings of a connection. What is secret, or has secrets, is not written with the others.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Config {
    /// At least one; client `i` uses address `i % n`.
    pub addresses: Vec<Address>,
    pub user: String,
    /// Its password; `None` for none.
    #[serde(skip)]
    pub password: Password,
    /// The database to use; the one with the user's name when absent.
    pub database: Option<String>,
    pub protocol: StatementProtocol,
    pub negotiation: Negotiation,
    pub channel_binding: ChannelBinding,
    pub methods: LoginMethods,
    /// Settings of each session, as `-c name=value`.
    pub options: Option<String>,
    /// Whether connections are encrypted.
    #[serde(skip)]
    pub encryption: Encryption,
    /// The keys that were made of the password.
    #[serde(skip)]
    pub keys: KnownKeys,
    /// Whether its sessions watch the server beside a load, under a name of their own.
    #[serde(skip)]
    pub is_for_watching: bool,
    /// What its sessions have done.
    #[serde(skip)]
    pub sessions: KnownSessions,
}

impl Config {
    /// These settings without what is secret.
    pub(crate) fn without_secrets(&self) -> Self {
        Self {
            password: Password::default(),
            encryption: Encryption::default(),
            keys: KnownKeys::default(),
            sessions: KnownSessions::default(),
            ..self.clone()
        }
    }

    /// The address of client `index`.
    pub(crate) fn address(&self, index: usize) -> Option<&Address> {
        self.addresses.get(index.checked_rem(self.addresses.len())?)
    }
}

/// A URL without the password.
impl fmt::Display for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let database = self.database.as_deref().unwrap_or_default();
        let names: Vec<&str> = self.addresses.iter().map(|address| address.name.as_str()).collect();
        match self.addresses.first().map(|address| &address.endpoint) {
            Some(Endpoint::Unix(_)) => {
                write!(f, "postgresql://{}@/{database}?host={}", self.user, names.join(","))
            }
            _ => write!(f, "postgresql://{}@{}/{database}", self.user, names.join(",")),
        }
    }
}
