//! The protocol of PostgreSQL and its relatives: a codec without sockets, a session on top of it, and one file for each
//! conversation (login, query, execute, copy, cancel, probe).

mod cancel;
mod codec;
mod config;
mod copy;
mod counters;
mod defaults;
mod dialect;
mod execute;
mod figures;
#[doc(hidden)]
#[cfg(test)]
mod fuzz;
mod login;
mod password_file;
mod peer;
mod pipeline;
mod probe;
mod query;
mod remarks;
mod resolve;
mod secure;
mod secured;
mod session;
mod session_counts;
mod statements;
mod url;

pub use config::{ChannelBinding, Config, LoginMethods, Negotiation, StatementProtocol};
pub(crate) use copy::CopyRows;
pub(crate) use counters::read_counters;
pub use dialect::DIALECT;
pub(crate) use figures::Figures;
pub(crate) use probe::probe;
pub use resolve::CLIENT_DEFAULTS;
pub(crate) use session::Session;
pub use session_counts::KnownSessions;
pub(crate) use session_counts::SessionCounts;
pub(crate) use statements::StatementReading;
pub use url::{SslOption, Url, UrlError, ssl_mode};

#[cfg(test)]
mod hostile_tests;
#[cfg(test)]
mod server_tests;
