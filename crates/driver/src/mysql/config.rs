//! Where a server of the MySQL protocol listens and how to log in.

use std::fmt;

use net::Endpoint;

use super::rsa_key::RsaKeySource;
use super::ssl_options::Encryption;
use crate::Password;

/// One address of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// As a person wrote it, such as `db1:4000`; messages name it so.
    pub name: String,
    /// What it resolved to.
    pub endpoint: Endpoint,
}

impl Address {
    /// The host by which a certificate names the server: without the port; on a unix socket, this one.
    pub(super) fn host(&self) -> &str {
        match &self.endpoint {
            Endpoint::Unix(_) => "localhost",
            Endpoint::Tcp(_) => {
                let host = self.name.rsplit_once(':').map_or(self.name.as_str(), |(host, _)| host);
                host.trim_start_matches('[').trim_end_matches(']')
            }
        }
    }
}

/// How statements with parameters travel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StatementProtocol {
    /// Prepared on the server, executed with binary parameters.
    #[default]
    Prepared,
    /// Text, with the parameters filled in by the client.
    Text,
}

/// Everything that a connection needs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Config {
    /// At least one; client `i` takes address `i % n`.
    pub addresses: Vec<Address>,
    /// The user to log in as.
    pub user: String,
    /// Its password.
    pub password: Password,
    /// The database to use; none is chosen when absent.
    pub database: Option<String>,
    /// How statements with parameters travel.
    pub protocol: StatementProtocol,
    /// Where the RSA key comes from that encrypts the password on an open connection.
    pub rsa_key: RsaKeySource,
    /// Whether the password itself may be sent in TLS to a server that asks for it by
    /// `mysql_clear_password`, or whose certificate is not verified.
    pub enable_cleartext_plugin: bool,
    /// Whether everything is encrypted.
    pub encryption: Encryption,
}

impl Config {
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
            Some(Endpoint::Unix(path)) => {
                write!(f, "mysql://{}@/{database}?socket={}", self.user, path.display())
            }
            _ => write!(f, "mysql://{}@{}/{database}", self.user, names.join(",")),
        }
    }
}
