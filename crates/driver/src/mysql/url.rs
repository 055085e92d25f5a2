//! URLs such as `mysql://user@host:3306/database`, parsed without access to the network.

use std::fmt;
use std::path::PathBuf;

use plan::Password;

use super::StatementProtocol;
use super::rsa_key::RsaKeyOptions;
use crate::ssl_options::{SslMode, SslOptions};
use crate::url_parts::{self, Host, HostError, UrlParts};

const SCHEME: &str = "mysql://";
/// The schemes of URLs: products that speak the protocol may be named.
const SCHEMES: [&str; 3] = [SCHEME, "mariadb://", "tidb://"];
/// The default port of servers of this protocol.
pub(super) const PORT: u16 = 3306;

/// A parsed URL: `mysql://[user[:password]@][host[:port],...]/[database][?socket=path&ps=on|off]`, with more options,
/// as the fields of [`Url`] show. Characters with a special meaning are written as `%40` and the like.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Url {
    pub user: Option<String>,
    pub password: Option<Password>,
    /// Hosts and ports; empty when other sources set them.
    pub hosts: Vec<Host>,
    /// A unix socket instead of hosts.
    pub socket: Option<PathBuf>,
    pub database: Option<String>,
    pub protocol: Option<StatementProtocol>,
    /// Options for the RSA key that encrypts a password on an open connection.
    pub rsa_key: RsaKeyOptions,
    /// Whether the password itself may be sent ([`Config::enable_cleartext_plugin`]).
    ///
    /// [`Config::enable_cleartext_plugin`]: super::Config::enable_cleartext_plugin
    pub enable_cleartext_plugin: Option<bool>,
    pub ssl: SslOptions,
}

/// An error in a URL. It never repeats the part that may hold a password.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UrlError {
    #[error("expected a URL such as mysql://user@host:3306/database")]
    Scheme,
    /// A host or its port.
    #[error(transparent)]
    Host(#[from] HostError),
    /// An option that is not known.
    #[error(
        "unknown option `{0}`; known are socket=PATH, ps=on or ps=off, ssl-mode=MODE, ssl-ca=FILE, \
             ssl-cert=FILE, ssl-key=FILE, get-server-public-key=1, server-public-key-path=FILE and \
             enable-cleartext-plugin=1"
    )]
    Option(String),
    /// A value that the option does not take.
    #[error("`{option}` cannot be `{value}`; {allowed}")]
    Value { option: &'static str, value: String, allowed: &'static str },
    /// A percent sign without two hexadecimal digits, or bytes that are not UTF-8.
    #[error("a percent sign in the {0} must be followed by two hexadecimal digits (%25 is `%`)")]
    Percent(&'static str),
    /// Options that look like the end of a login.
    #[error("write a question mark in a password as %3F")]
    QuestionMark,
    /// A socket and hosts at once.
    #[error(
        "give either hosts or a socket, not both; only `localhost` without a port goes with one"
    )]
    HostsAndSocket,
}

impl Url {
    /// Reads a URL.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Self, UrlError> {
        let parts = UrlParts::of(text, &SCHEMES).ok_or(UrlError::Scheme)?;
        let mut url = Self::default();
        let wrong = |error| if parts.may_hold_password() { UrlError::QuestionMark } else { error };
        url.hosts = Host::read_all(parts.hosts).map_err(|error| wrong(error.into()))?;
        url.database = some_text(parts.database, "database").map_err(wrong)?;
        if let Some((user, password)) = parts.login {
            url.user = some_text(user, "user").map_err(wrong)?;
            let decoded = password.map(|password| decode(password, "password")).transpose();
            url.password = decoded.map_err(wrong)?.map(Password::new);
        }
        for option in parts.options() {
            url.read_option(option).map_err(wrong)?;
        }
        if url.socket.is_some() {
            // To clients of this protocol `localhost` means the socket.
            if !url.hosts.iter().all(Host::is_localhost) {
                return Err(UrlError::HostsAndSocket);
            }
            url.hosts.clear();
        }
        Ok(url)
    }

    fn read_option(&mut self, option: &str) -> Result<(), UrlError> {
        let (name, value) = option.split_once('=').unwrap_or((option, ""));
        let value = decode(value, "options")?;
        match name {
            "socket" => self.socket = Some(PathBuf::from(value)),
            "ps" => self.protocol = Some(read_protocol(value)?),
            "get-server-public-key" => {
                self.rsa_key.get = Some(read_switch("get-server-public-key", value)?);
            }
            "enable-cleartext-plugin" => {
                self.enable_cleartext_plugin = Some(read_switch("enable-cleartext-plugin", value)?);
            }
            "server-public-key-path" => self.rsa_key.path = Some(PathBuf::from(value)),
            "ssl-mode" => self.ssl.mode = Some(read_mode(value)?),
            "ssl-ca" => self.ssl.ca = Some(PathBuf::from(value)),
            "ssl-cert" => self.ssl.cert = Some(PathBuf::from(value)),
            "ssl-key" => self.ssl.key = Some(PathBuf::from(value)),
            _ => return Err(UrlError::Option(name.to_owned())),
        }
        Ok(())
    }
}

/// The URL without its password.
impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(SCHEME)?;
        if let Some(user) = &self.user {
            write!(f, "{user}@")?;
        }
        let hosts: Vec<String> = self.hosts.iter().map(|host| host.with_port(PORT)).collect();
        write!(f, "{}/{}", hosts.join(","), self.database.as_deref().unwrap_or_default())?;
        match &self.socket {
            Some(socket) => write!(f, "?socket={}", socket.display()),
            None => Ok(()),
        }
    }
}

fn read_protocol(value: String) -> Result<StatementProtocol, UrlError> {
    match value.as_str() {
        "on" => Ok(StatementProtocol::Prepared),
        "off" => Ok(StatementProtocol::Text),
        _ => Err(UrlError::Value { option: "ps", value, allowed: "allowed are on and off" }),
    }
}

fn read_mode(value: String) -> Result<SslMode, UrlError> {
    let wrong = |value| UrlError::Value { option: "ssl-mode", value, allowed: SslMode::ALLOWED };
    SslMode::from_name(&value).ok_or_else(|| wrong(value))
}

/// Reads an on/off value in the forms that MySQL's clients accept.
fn read_switch(option: &'static str, value: String) -> Result<bool, UrlError> {
    match value.as_str() {
        "1" | "on" => Ok(true),
        "0" | "off" => Ok(false),
        _ => Err(UrlError::Value { option, value, allowed: "allowed are 1 and 0" }),
    }
}

fn some_text(text: &str, part: &'static str) -> Result<Option<String>, UrlError> {
    let decoded = decode(text, part)?;
    Ok((!decoded.is_empty()).then_some(decoded))
}

fn decode(text: &str, part: &'static str) -> Result<String, UrlError> {
    url_parts::decoded(text).ok_or(UrlError::Percent(part))
}
