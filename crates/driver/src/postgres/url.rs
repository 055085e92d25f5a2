//! URLs such as `postgresql://user@host:5432/database`, parsed without access to the network.
//!
//! Source: PostgreSQL's documentation, "Connection Strings" of libpq.

use std::path::PathBuf;

use plan::Password;

use super::config::{ChannelBinding, LoginMethods, Negotiation, StatementProtocol};
use crate::ssl_options::{SslMode, SslOptions, SslWords};
use crate::url_parts::{self, Host, HostError, UrlParts};

const SCHEMES: [&str; 2] = ["postgresql://", "postgres://"];
/// The default port of servers of this protocol.
pub(super) const PORT: u16 = 5432;
/// The names of libpq's options.
pub(super) static SSL_WORDS: SslWords = SslWords {
    mode: "sslmode",
    ca: "sslrootcert",
    cert: "sslcert",
    key: "sslkey",
    plain: "sslmode=disable",
    unchecked: "sslmode=require",
    unnamed: "sslmode=verify-ca",
};
/// Stands for the authorities that this machine trusts.
const SYSTEM: &str = "system";

/// A parsed URL: `postgresql://[user[:password]@][host[:port],...]/[database][?sslmode=MODE&ps=named|unnamed|text]`,
/// with more options, as the fields of [`Url`] show. Characters with a special meaning are written as `%40` and the
/// like.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Url {
    pub user: Option<String>,
    pub password: Option<Password>,
    /// Hosts and ports; empty when other sources set them.
    pub hosts: Vec<Host>,
    /// The folder of a unix socket instead of hosts, and the port in the socket's name.
    pub socket: Option<PathBuf>,
    pub port: Option<u16>,
    pub database: Option<String>,
    pub protocol: Option<StatementProtocol>,
    pub ssl: SslOptions,
    pub negotiation: Option<Negotiation>,
    pub channel_binding: Option<ChannelBinding>,
    pub methods: Option<LoginMethods>,
    pub options: Option<String>,
    /// The service whose entries in a file of services are used.
    pub service: Option<String>,
}

/// An error in a URL. It never repeats the part that may hold a password.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UrlError {
    #[error("expected a URL such as postgresql://user@host:5432/database")]
    Scheme,
    /// A host or its port.
    #[error(transparent)]
    Host(#[from] HostError),
    /// An option that is not known.
    #[error(
        "unknown option `{0}`; known are host=FOLDER and port=N of a socket, ps=named, ps=unnamed or ps=text, \
         service=NAME, sslmode=MODE, sslrootcert=FILE, sslcert=FILE, sslkey=FILE, sslnegotiation=direct, \
         channel_binding=require, require_auth=METHODS and options=-c NAME=VALUE"
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
    /// An option that is not in the URL.
    #[error("{place}: {error}")]
    Default { place: String, error: Box<UrlError> },
    #[error(
        "there is no service `{0}` in ~/.pg_service.conf, or in the file that PGSERVICEFILE names"
    )]
    Service(String),
    #[error("cannot read {file}: {error}")]
    Services { file: String, error: String },
    #[error("write name=value")]
    NoValue,
    /// A socket and hosts at once.
    #[error("give either hosts or the folder of a socket (host=FOLDER), not both")]
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
        url.read_hosts(parts.hosts).map_err(wrong)?;
        url.database = some_text(parts.database, "database").map_err(wrong)?;
        if let Some((user, password)) = parts.login {
            url.user = some_text(user, "user").map_err(wrong)?;
            let decoded = password.map(|password| decode(password, "password")).transpose();
            url.password = decoded.map_err(wrong)?.map(Password::new);
        }
        for option in parts.options() {
            url.read_option(option).map_err(wrong)?;
        }
        if url.socket.is_some() && !url.hosts.is_empty() {
            return Err(UrlError::HostsAndSocket);
        }
        Ok(url)
    }

    /// Hosts between commas, or one folder of a socket, whose slashes are written as `%2F`.
    fn read_hosts(&mut self, text: &str) -> Result<(), UrlError> {
        if text.get(..3).is_some_and(|start| start.eq_ignore_ascii_case("%2f")) {
            let (folder, port) = text.split_once(':').unwrap_or((text, ""));
            self.socket = Some(PathBuf::from(decode(folder, "host")?));
            if !port.is_empty() {
                let wrong = || HostError::Port(folder.to_owned());
                self.port = Some(port.parse().map_err(|_| wrong())?);
            }
            return Ok(());
        }
        self.hosts = Host::read_all(text)?;
        Ok(())
    }

    fn read_option(&mut self, option: &str) -> Result<(), UrlError> {
        let (name, value) = option.split_once('=').unwrap_or((option, ""));
        let value = decode(value, "options")?;
        if name == "service" {
            self.service = Some(value);
            return Ok(());
        }
        self.set_option(name, value)
    }

    pub(super) fn set_option(&mut self, name: &str, value: String) -> Result<(), UrlError> {
        match name {
            "host" if value.starts_with('/') => self.socket = Some(PathBuf::from(value)),
            "host" => self.hosts = Host::read_all(&value)?,
            "port" => {
                let allowed = "it is a number from 1 to 65535";
                let port = value.parse().ok().filter(|port| *port != 0);
                self.port = Some(port.ok_or(UrlError::Value { option: "port", value, allowed })?);
            }
            "ps" => {
                self.protocol = Some(one_of("ps", value, &PROTOCOLS, "named, unnamed and text")?);
            }
            "sslnegotiation" => {
                let allowed = "postgres and direct";
                self.negotiation = Some(one_of("sslnegotiation", value, &NEGOTIATIONS, allowed)?);
            }
            "channel_binding" => {
                let allowed = "disable, prefer and require";
                self.channel_binding = Some(one_of("channel_binding", value, &BINDINGS, allowed)?);
            }
            "require_auth" => {
                let allowed = "names are none, password, md5 and scram-sha-256, between commas, all \
                               with ! before them or none";
                let methods = LoginMethods::from_text(&value);
                let option = "require_auth";
                self.methods = Some(methods.ok_or(UrlError::Value { option, value, allowed })?);
            }
            "options" => self.options = Some(value),
            name => match SslOption::from_name(name) {
                Some(option) => option.set(&mut self.ssl, value)?,
                None => return Err(UrlError::Option(name.to_owned())),
            },
        }
        Ok(())
    }
}

const PROTOCOLS: [(&str, StatementProtocol); 3] = [
    ("named", StatementProtocol::Named),
    ("unnamed", StatementProtocol::Unnamed),
    ("text", StatementProtocol::Text),
];
const NEGOTIATIONS: [(&str, Negotiation); 2] =
    [("postgres", Negotiation::Postgres), ("direct", Negotiation::Direct)];
const BINDINGS: [(&str, ChannelBinding); 3] = [
    ("disable", ChannelBinding::Disable),
    ("prefer", ChannelBinding::Prefer),
    ("require", ChannelBinding::Require),
];

fn one_of<T: Copy>(
    option: &'static str,
    value: String,
    values: &[(&str, T)],
    allowed: &'static str,
) -> Result<T, UrlError> {
    let found = values.iter().find(|(name, _)| *name == value);
    found.map(|(_, it)| *it).ok_or(UrlError::Value { option, value, allowed })
}

/// libpq's options for TLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SslOption {
    Mode,
    RootCert,
    Cert,
    Key,
}

impl SslOption {
    fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "sslmode" => Self::Mode,
            "sslrootcert" => Self::RootCert,
            "sslcert" => Self::Cert,
            "sslkey" => Self::Key,
            _ => return None,
        })
    }

    /// Sets this option.
    ///
    /// # Errors
    /// A mode that is none.
    pub fn set(self, ssl: &mut SslOptions, value: String) -> Result<(), UrlError> {
        match self {
            Self::Mode => ssl.mode = Some(ssl_mode(value)?),
            // This machine's authorities sign for everybody, so the name has to be right.
            Self::RootCert if value == SYSTEM => ssl.mode = Some(SslMode::VerifyIdentity),
            Self::RootCert => ssl.ca = Some(PathBuf::from(value)),
            Self::Cert => ssl.cert = Some(PathBuf::from(value)),
            Self::Key => ssl.key = Some(PathBuf::from(value)),
        }
        Ok(())
    }
}

/// The mode of this name of libpq's.
///
/// # Errors
/// When there is no such mode.
pub fn ssl_mode(value: String) -> Result<SslMode, UrlError> {
    const MODES: [(&str, SslMode); 6] = [
        ("disable", SslMode::Disabled),
        ("allow", SslMode::Allowed),
        ("prefer", SslMode::Preferred),
        ("require", SslMode::Required),
        ("verify-ca", SslMode::VerifyCa),
        ("verify-full", SslMode::VerifyIdentity),
    ];
    let allowed = "allowed are disable, allow, prefer, require, verify-ca and verify-full";
    let found = MODES.iter().find(|(name, _)| *name == value);
    found.map(|(_, mode)| *mode).ok_or(UrlError::Value { option: "sslmode", value, allowed })
}

fn some_text(text: &str, part: &'static str) -> Result<Option<String>, UrlError> {
    let decoded = decode(text, part)?;
    Ok((!decoded.is_empty()).then_some(decoded))
}

fn decode(text: &str, part: &'static str) -> Result<String, UrlError> {
    url_parts::decoded(text).ok_or(UrlError::Percent(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_read_as_libpq_reads_them() {
        let url = Url::parse(
            "postgres://us%40er:p%2Fw@db1:1,[::1]/da%20ta?sslmode=verify-full&ps=unnamed&require_auth=!md5,!password",
        )
        .unwrap();
        assert_eq!(url.user.as_deref(), Some("us@er"));
        assert_eq!(url.password, Some(Password::new("p/w")));
        let hosts: Vec<String> = url.hosts.iter().map(|host| host.with_port(PORT)).collect();
        assert_eq!(hosts, ["db1:1", "[::1]:5432"]);
        assert_eq!(url.database.as_deref(), Some("da ta"));
        assert_eq!(url.ssl.mode, Some(SslMode::VerifyIdentity));
        assert_eq!(url.protocol, Some(StatementProtocol::Unnamed));
        let methods = LoginMethods { md5: false, password: false, ..LoginMethods::default() };
        assert_eq!(url.methods, Some(methods));
        let only = LoginMethods::from_text("scram-sha-256").unwrap();
        assert!(only.scram && !only.none && !only.md5 && !only.password);
        for socket in ["postgresql://%2Frun%2Fpg:5433/t", "postgresql:///t?host=/run/pg&port=5433"]
        {
            let url = Url::parse(socket).unwrap();
            assert_eq!((url.socket, url.port), (Some(PathBuf::from("/run/pg")), Some(5433)));
        }
        let system = Url::parse("postgresql://h/?sslrootcert=system").unwrap();
        assert_eq!((system.ssl.mode, system.ssl.ca), (Some(SslMode::VerifyIdentity), None));
    }

    #[test]
    fn wrong_urls_are_refused_without_a_part_of_the_password() {
        let told: Vec<String> = [
            "mysql://h/d",
            "postgres://u@h:0/d",
            "postgres://h/d?target=any",
            "postgres://h/d?sslmode=on",
            "postgres://h/d?ps=on",
            "postgres://h/d?require_auth=md5,!none",
            "postgres://h/d?host=/run",
            "postgres://u:secret?x@h/d",
            "postgres://u:%zz@h/d",
        ]
        .iter()
        .map(|url| Url::parse(url).unwrap_err().to_string())
        .collect();
        assert!(told.iter().all(|text| !text.contains("secret")), "{told:?}");
        insta::assert_snapshot!(told.join("\n"));
    }
}
