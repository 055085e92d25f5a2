//! The server at the other end of a connection: its address, the protection of the connection, how the login was made,
//! and what it tells of itself.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use net::Endpoint;

use super::codec::{Cursor, MessageReader, shown};
use super::config::{Config, StatementProtocol};
use super::secured::Secured;
use super::session_counts::KnownSessions;
use crate::Address;

/// More settings than any server tells by itself.
const SETTINGS_MAX: usize = 64;
const SETTING_CHARACTERS_MAX: usize = 256;

/// How the password was proven.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LoginMethod {
    /// The server asked for none.
    None,
    Cleartext,
    Md5,
    Scram,
    ScramPlus,
}

/// The facts that a session knows about its server, and what it needs off the load path.
#[derive(Debug)]
pub(super) struct Peer {
    pub(super) address: Address,
    pub(super) protocol: StatementProtocol,
    /// How the connection was encrypted; `None` when it is not.
    pub(super) secured: Option<Secured>,
    pub(super) login: LoginMethod,
    /// What the server told of itself, such as its version.
    pub(super) settings: BTreeMap<String, String>,
    /// What it takes to end a statement of this session; empty when the server told nothing.
    pub(super) key: Vec<u8>,
    /// The query time-out that has passed, if one has.
    pub(super) timed_out: Option<Duration>,
    pub(super) reader: MessageReader,
    /// What all sessions of the configuration have done.
    pub(super) sessions: KnownSessions,
    /// Whether this session is one of them.
    pub(super) is_known: bool,
    /// The texts of the session's statements, shortened.
    pub(super) texts: Vec<Rc<str>>,
}

impl Peer {
    pub(super) fn new(address: Address, config: &Config) -> Self {
        Self {
            address,
            protocol: config.protocol,
            secured: None,
            login: LoginMethod::None,
            settings: BTreeMap::new(),
            key: Vec::new(),
            timed_out: None,
            reader: MessageReader::default(),
            sessions: config.sessions.clone(),
            is_known: false,
            texts: Vec::new(),
        }
    }

    /// The number of the server's process that serves this session; `None` when the server told nothing.
    pub(super) fn process(&self) -> Option<u32> {
        let number = self.key.first_chunk::<4>()?;
        Some(u32::from_be_bytes(*number))
    }

    pub(super) fn is_on_unix_socket(&self) -> bool {
        matches!(self.address.endpoint, Endpoint::Unix(_))
    }

    /// Whether nobody else can read what is sent: nobody listens on this machine.
    pub(super) fn is_private(&self) -> bool {
        match &self.address.endpoint {
            Endpoint::Unix(_) => true,
            Endpoint::Tcp(address) => self.secured.is_some() || address.ip().is_loopback(),
        }
    }

    /// Takes note of a ParameterStatus; a malformed one tells nothing.
    pub(super) fn told(&mut self, body: &[u8]) {
        let mut cursor = Cursor(body);
        if let (Ok(name), Ok(value)) = (cursor.text(), cursor.text())
            && self.settings.len() < SETTINGS_MAX
        {
            let shown = |text| shown(text, SETTING_CHARACTERS_MAX);
            self.settings.insert(shown(name), shown(value));
        }
    }

    pub(super) fn setting(&self, name: &str) -> Option<&str> {
        self.settings.get(name).map(String::as_str)
    }

    /// For the record: the protection of the connection, and how the login was made.
    pub(super) fn facts(&self) -> Vec<(String, String)> {
        let connection = match &self.secured {
            _ if self.is_on_unix_socket() => "unix socket".to_owned(),
            None => "not encrypted".to_owned(),
            Some(secured) => format!("encrypted, {}", secured.tls.check.description()),
        };
        let login = match self.login {
            LoginMethod::None => "none: the server asked for no password",
            LoginMethod::Cleartext => "password: the password itself was sent",
            LoginMethod::Md5 => "md5: the password was not sent, only a weak proof of it",
            LoginMethod::Scram => "scram-sha-256: the password was not sent, only a proof of it",
            LoginMethod::ScramPlus => {
                "scram-sha-256-plus: the password was not sent, only a proof of it, bound to the server's certificate"
            }
        };
        vec![("connection".to_owned(), connection), ("login".to_owned(), login.to_owned())]
    }
}
