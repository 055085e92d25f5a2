//! What the URLs of several protocols have in common: their parts, hosts with ports, and percent-encoding.

/// The parts of a database's URL, not decoded: `scheme://user:password@hosts/database?options`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UrlParts<'t> {
    /// The user, and the password when there is one.
    pub(crate) login: Option<(&'t str, Option<&'t str>)>,
    pub(crate) hosts: &'t str,
    pub(crate) database: &'t str,
    options: &'t str,
}

impl<'t> UrlParts<'t> {
    /// `None` for another scheme.
    pub(crate) fn of(text: &'t str, schemes: &[&str]) -> Option<Self> {
        let rest = schemes.iter().find_map(|scheme| text.strip_prefix(scheme))?;
        let (place, options) = rest.split_once('?').unwrap_or((rest, ""));
        // An unescaped password may hold any character, so the last `@` is the separator.
        let (login, place) = match place.rsplit_once('@') {
            Some((login, place)) => (Some(login), place),
            None => (None, place),
        };
        let login = login.map(|login| match login.split_once(':') {
            Some((user, password)) => (user, Some(password)),
            None => (login, None),
        });
        let (hosts, database) = place.split_once('/').unwrap_or((place, ""));
        Some(Self { login, hosts, database, options })
    }

    /// Text before an `@` may be the rest of a password with a question mark, so it is not to be repeated.
    pub(crate) fn may_hold_password(&self) -> bool {
        self.options.contains('@')
    }

    pub(crate) fn options(&self) -> impl Iterator<Item = &'t str> {
        self.options.split('&').filter(|option| !option.is_empty())
    }
}

/// A host and its port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// A name or an address.
    pub name: String,
    /// The port; the protocol's default port when absent.
    pub port: Option<u16>,
}

/// An error in a host of a URL.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HostError {
    /// The port of a host is not a number. It may be a password whose `@` is missing.
    #[error("the port of host `{0}` is no number from 1 to 65535")]
    Port(String),
    /// A host that is empty or cannot be distinguished from its port.
    #[error("write each host as host:port, with an IPv6 address in brackets, as [::1]:3306")]
    Host,
}

impl Host {
    /// Hosts between commas; none in an empty text.
    pub(crate) fn read_all(text: &str) -> Result<Vec<Self>, HostError> {
        if text.is_empty() {
            return Ok(Vec::new());
        }
        text.split(',').map(Self::read).collect()
    }

    /// `host`, `host:port`, `[address]` or `[address]:port`.
    pub(crate) fn read(text: &str) -> Result<Self, HostError> {
        let (name, port) = match text.strip_prefix('[') {
            Some(rest) => {
                let (name, port) = rest.split_once(']').ok_or(HostError::Host)?;
                let port = if port.is_empty() { None } else { port.strip_prefix(':') };
                (name, port)
            }
            None => match text.split_once(':') {
                Some((name, port)) => (name, Some(port)),
                None => (text, None),
            },
        };
        let is_ambiguous = port.is_some_and(|port| port.contains(':'));
        let is_name = !name.is_empty() && !name.contains(['[', ']']);
        if !is_name || !text.starts_with('[') && is_ambiguous {
            return Err(HostError::Host);
        }
        let number = |port: &str| port.parse().ok().filter(|&port: &u16| port != 0);
        let port = port.map(|port| number(port).ok_or_else(|| HostError::Port(name.to_owned())));
        Ok(Self { name: name.to_owned(), port: port.transpose()? })
    }

    pub(crate) fn is_localhost(&self) -> bool {
        self.name.eq_ignore_ascii_case("localhost") && self.port.is_none()
    }

    /// Its form in a URL, with this port when it has none.
    pub fn with_port(&self, default: u16) -> String {
        let port = self.port.unwrap_or(default);
        let is_address = self.name.contains(':');
        if is_address { format!("[{}]:{port}", self.name) } else { format!("{}:{port}", self.name) }
    }
}

/// Decodes percent-encoding; `None` if two hexadecimal digits are missing, or the bytes are not UTF-8.
pub(crate) fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || rest.next().and_then(|digit| char::from(digit).to_digit(16));
        let (high, low) = (digit()?, digit()?);
        bytes.push((high * 16 + low) as u8);
    }
    String::from_utf8(bytes).ok()
}
