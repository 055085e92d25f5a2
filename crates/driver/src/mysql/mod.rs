//! The MySQL protocol, for TiDB, MySQL and MariaDB: a codec without sockets, a session on top of it, and one file for
//! each conversation (login, query, execute, insert, probe).

mod codec;
mod config;
mod counters;
mod dialect;
mod execute;
#[doc(hidden)]
#[cfg(test)]
mod fuzz;
mod insert;
mod local_rows;
mod login;
mod option_file;
mod peer;
mod prepared_insert;
mod probe;
mod query;
mod resolve;
mod rsa_key;
mod secure;
mod session;
mod url;

pub use codec::ServerKey;
pub use config::{Config, StatementProtocol};
pub(crate) use counters::read_counters;
pub use dialect::DIALECT;
pub(crate) use insert::{MultiRowInsert, PACKET_BYTES_MIN};
pub(crate) use local_rows::LocalRows;
pub(crate) use prepared_insert::PreparedInsert;
pub(crate) use probe::probe;
pub use resolve::CLIENT_DEFAULTS;
pub use rsa_key::{RsaKeyOptions, RsaKeySource};
pub(crate) use session::Session;
pub use url::{Url, UrlError};

#[cfg(test)]
mod hostile_phases;
#[cfg(test)]
mod hostile_tests;
#[cfg(test)]
mod login_tests;
