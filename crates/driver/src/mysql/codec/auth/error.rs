//! Errors of logins.

use super::method::unknown;
use super::{BadKey, Method};
use crate::mysql::codec::{Malformed, ServerError};

/// How to verify a server's certificate, for both places where a user can set it.
const VERIFY: &str = "ssl-mode=VERIFY_CA and ssl-ca=FILE in the URL (in the plan ssl_mode = \
                      \"verify_ca\" and ssl_ca = \"FILE\")";
/// How a user allows dyno to send the password itself.
const ALLOW: &str =
    "enable-cleartext-plugin=1 in the URL (in the plan enable_cleartext_plugin = true)";

/// Why a login failed; all but the first two messages are dyno's own.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum LoginError {
    #[error("{}", .0.message)]
    Refused(ServerError),
    /// The server's message does not follow the protocol.
    #[error(transparent)]
    Malformed(#[from] Malformed),
    /// A method that dyno does not know.
    #[error("{}", unknown(.0))]
    UnknownMethod(String),
    /// The server changed the method too often.
    #[error("the server asks for one login method after the other, {0} for the last")]
    EndlessSwitches(String),
    /// The server asks for the password itself where anyone on the network path could read it.
    #[error(
        "the server asks for the password itself (mysql_clear_password), and the connection is not \
         encrypted: anyone on the way could read the password; encrypt the connection by {}, and allow \
         this method by {}",
        VERIFY,
        ALLOW
    )]
    ClearPasswordOnOpenChannel,
    /// The server asks for the password itself, and the user has not allowed this.
    #[error(
        "the server asks for the password itself (mysql_clear_password): if this server is not the one \
         that you mean, its owner would have your password; allow this method by {}, and verify who \
         answers by {}",
        ALLOW,
        VERIFY
    )]
    ClearPasswordNotAllowed,
    /// The method needs the password itself, and the server's certificate has not been verified.
    #[error(
        "{} needs the password itself this time, and the server's certificate was not verified: anyone \
         who answers in the server's place would have your password; verify the certificate by {}, or \
         send the password all the same by {}", .0.name(), VERIFY, ALLOW
    )]
    UnverifiedServer(Method),
    /// The password has to be encrypted with a key, but none is given and dyno may not request it.
    #[error(
        "{} needs the password itself this time, and the connection is not encrypted: anyone on the \
         way could read the password; encrypt the connection by {}, or name the server's RSA key by \
         server-public-key-path=FILE in the URL (in the plan server_public_key_path = \"FILE\"), or \
         accept any key that comes, even an attacker's, by get-server-public-key=1 in the URL (in the \
         plan get_server_public_key = true)", .0.name(), VERIFY
    )]
    NoKey(Method),
    /// The server refused to send its key.
    #[error(
        "{} ({}), when asked for its RSA key; a server that has none, such as TiDB, takes this \
         password only over TLS: encrypt the connection by {}", .0.message, .0.code, VERIFY
    )]
    KeyRefused(ServerError),
    /// The key that was given or sent cannot be used.
    #[error(
        "what the server sent to encrypt the password with is {0}: encrypt the connection by {VERIFY}"
    )]
    BadKey(#[from] BadKey),
}
