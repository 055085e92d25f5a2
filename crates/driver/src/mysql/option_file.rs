//! The option file that MySQL's own clients read, `~/.my.cnf`: its `[client]` section.
//!
//! Source: MySQL Reference Manual, "Using Option Files"; MariaDB's knowledge base, "Securing Connections for Client
//! and Server", for the switches that only MariaDB's clients have.

use std::path::PathBuf;

use plan::Password;

use super::rsa_key::RsaKeyOptions;
use crate::ssl_options::{SslMode, SslOptions};

/// The file's options for the address and the login.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct OptionFile {
    pub(super) user: Option<String>,
    pub(super) password: Option<Password>,
    pub(super) host: Option<String>,
    pub(super) port: Option<u16>,
    pub(super) socket: Option<PathBuf>,
    pub(super) ssl: SslOptions,
    pub(super) rsa_key: RsaKeyOptions,
    pub(super) enable_cleartext_plugin: Option<bool>,
    /// A value of `ssl-mode` that is not a mode. It is an error: a typing mistake must not silently weaken the
    /// encryption that the user wants.
    pub(super) unknown_mode: Option<String>,
}

impl OptionFile {
    /// Reads the text of an option file; skips unknown options, as the clients skip other programs' sections.
    pub(super) fn parse(text: &str) -> Self {
        let mut options = Self::default();
        let mut is_ours = false;
        for line in text.lines().map(str::trim) {
            if let Some(section) = line.strip_prefix('[') {
                // A comment may follow the bracket.
                is_ours = section.split(']').next().is_some_and(|name| name.trim() == "client");
            } else if is_ours && !line.starts_with(['#', ';', '!']) {
                options.read_line(line);
            }
        }
        options
    }

    fn read_line(&mut self, line: &str) {
        let Some((name, value)) = line.split_once('=') else {
            return self.read_switch(line.trim(), "1");
        };
        let value = unquote(value.trim());
        match name.trim().replace('_', "-").as_str() {
            "user" => self.user = Some(value),
            "password" => self.password = Some(Password::new(value)),
            "host" => self.host = Some(value),
            "port" => self.port = value.parse().ok(),
            "socket" => self.socket = Some(value.into()),
            "ssl-mode" => match SslMode::from_name(&value) {
                Some(mode) => self.ssl.mode = Some(mode),
                None => self.unknown_mode = Some(value),
            },
            "server-public-key-path" => self.rsa_key.path = Some(value.into()),
            "ssl-ca" => self.ssl.ca = Some(value.into()),
            "ssl-cert" => self.ssl.cert = Some(value.into()),
            "ssl-key" => self.ssl.key = Some(value.into()),
            name => self.read_switch(name, &value),
        }
    }

    /// Reads options that need no value. MariaDB's clients have some in place of MySQL's `ssl-mode`. An option that
    /// lowers the protection is on only when its value says so explicitly.
    fn read_switch(&mut self, name: &str, value: &str) {
        let is_one_of =
            |words: [&str; 3]| words.iter().any(|word| value.eq_ignore_ascii_case(word));
        let is_on = !is_one_of(["0", "off", "false"]);
        let is_surely_on = is_one_of(["1", "on", "true"]);
        let mode = match (name.replace('_', "-").as_str(), is_on) {
            ("get-server-public-key", _) => return self.rsa_key.get = Some(is_surely_on),
            ("enable-cleartext-plugin", _) => {
                return self.enable_cleartext_plugin = Some(is_surely_on);
            }
            ("ssl", true) => SslMode::Required,
            ("ssl", false) | ("skip-ssl", true) => SslMode::Disabled,
            ("ssl-verify-server-cert", true) => SslMode::VerifyIdentity,
            _ => return,
        };
        // `ssl` does not weaken `ssl-verify-server-cert`.
        if self.ssl.mode != Some(SslMode::VerifyIdentity) || mode == SslMode::Disabled {
            self.ssl.mode = Some(mode);
        }
    }
}

/// Removes quotes, or a comment when there are none, and resolves escapes.
fn unquote(value: &str) -> String {
    let inner = match value.chars().next() {
        Some(quote @ ('"' | '\'')) => {
            let body = &value[1..];
            &body[..body.rfind(quote).unwrap_or(body.len())]
        }
        _ => value.split('#').next().unwrap_or_default().trim_end(),
    };
    let mut text = String::with_capacity(inner.len());
    let mut rest = inner.chars();
    while let Some(next) = rest.next() {
        match next {
            '\\' => match rest.next() {
                Some('b') => text.push('\u{8}'),
                Some('t') => text.push('\t'),
                Some('n') => text.push('\n'),
                Some('r') => text.push('\r'),
                Some('s') => text.push(' '),
                Some('\\') | None => text.push('\\'),
                // An unknown escape stays as it is, with its backslash.
                Some(other) => text.extend(['\\', other]),
            },
            other => text.push(other),
        }
    }
    text
}
