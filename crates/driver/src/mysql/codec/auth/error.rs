//! Why a login did not come about.

use super::method::unknown;
use super::{BadKey, Method};
use crate::mysql::codec::{Malformed, ServerError};

/// Why a login did not come about; all but the first two are dyno's own words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum LoginError {
    /// The server says no.
    #[error("{}", .0.message)]
    Refused(ServerError),
    /// What the server said does not follow the protocol.
    #[error(transparent)]
    Malformed(#[from] Malformed),
    /// A method that dyno does not know.
    #[error("{}", unknown(.0))]
    UnknownMethod(String),
    /// A change of the method too many.
    #[error("the server asks for one login method after the other, {0} for the last")]
    EndlessSwitches(String),
    /// A method that may only be used where nobody can read along.
    #[error(
        "the server asks for the password itself, by {0}, and others could read it on the way: log in \
         over TLS (ssl-mode=required) or a unix socket"
    )]
    NeedsPrivateChannel(&'static str),
    /// The password has to be encrypted with a key that is not there and must not be asked for.
    #[error(
        "{} needs the password itself once, and others could read it on the way: log in over TLS \
         (ssl-mode=required), or name the server's RSA key (server-public-key-path=FILE), or trust the \
         network with the key that the server sends (get-server-public-key=1)", .0.name()
    )]
    NoKey(Method),
    /// The server refused when it was asked for its key.
    #[error(
        "{} ({}), when asked for its RSA key; a server that has none, such as TiDB, takes this \
         password only over TLS (ssl-mode=required)", .0.message, .0.code
    )]
    KeyRefused(ServerError),
    /// The key that was given or sent cannot be used.
    #[error(
        "what the server sent to encrypt the password with is {0}: log in over TLS (ssl-mode=required)"
    )]
    BadKey(#[from] BadKey),
}
