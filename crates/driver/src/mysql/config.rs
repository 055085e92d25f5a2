//! The address of a server of the MySQL protocol, and the login.

use std::fmt;

use measure::Failure;
use net::Endpoint;
use plan::Password;
use serde::{Deserialize, Serialize};

use super::rsa_key::RsaKeySource;
use crate::Address;
use crate::ssl_options::Encryption;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum StatementProtocol {
    /// Prepared on the server, and executed with binary parameters.
    #[default]
    Prepared,
    /// As text, with the parameters filled in by the client.
    Text,
}

/// All settings of a connection. What is secret, or has secrets, is not written with the others.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Config {
    /// At least one; client `i` uses address `i % n`.
    pub addresses: Vec<Address>,
    pub user: String,
    /// Its password.
    #[serde(skip)]
    pub password: Password,
    /// The database to use; none when absent.
    pub database: Option<String>,
    pub protocol: StatementProtocol,
    /// The source of the RSA key that encrypts the password on an open connection.
    pub rsa_key: RsaKeySource,
    /// Whether the password itself may be sent in TLS to a server that asks for it with `mysql_clear_password`, or
    /// whose certificate is not verified.
    pub enable_cleartext_plugin: bool,
    /// Whether connections are encrypted.
    #[serde(skip)]
    pub encryption: Encryption,
}

impl Config {
    /// These settings without what is secret.
    pub(crate) fn without_secrets(&self) -> Self {
        let (password, encryption) = (Password::default(), Encryption::default());
        Self { password, encryption, ..self.clone() }
    }

    /// The address of client `index`.
    pub(crate) fn address(&self, index: usize) -> Option<&Address> {
        self.addresses.get(index.checked_rem(self.addresses.len())?)
    }
}

/// A URL without the password.
/// The server's number for a statement without a database.
const NO_DATABASE: &str = "1046";

impl Config {
    /// The failure of a statement, with the remedy when it needs a database.
    pub(crate) fn explain(&self, failure: Failure) -> Failure {
        if failure.key.code != NO_DATABASE {
            return failure;
        }
        let whole = Self { database: Some("DATABASE".to_owned()), ..self.clone() };
        let message = format!("{}; name a database in the URL: {whole}", failure.message);
        failure.with_message(message)
    }
}

impl fmt::Display for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let database = self.database.as_deref().unwrap_or_default();
        let names: Vec<&str> = self.addresses.iter().map(|address| address.name.as_str()).collect();
        match self.addresses.first().map(|address| &address.endpoint) {
            Some(Endpoint::Unix(path)) => {
                write!(f, "mysql://{}@/{database}?socket={}", self.user, path.display())
            }
            _ => write!(f, "mysql://{}@{}/{database}", self.user, names.join(",")),
        }
    }
}
