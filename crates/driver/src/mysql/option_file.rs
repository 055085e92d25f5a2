//! The option file that MySQL's own clients read, `~/.my.cnf`: its `[client]` section.
//!
//! Source: MySQL Reference Manual, "Using Option Files".

use std::path::PathBuf;

use crate::Password;

/// What the file says about where to log in and how.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct OptionFile {
    pub(super) user: Option<String>,
    pub(super) password: Option<Password>,
    pub(super) host: Option<String>,
    pub(super) port: Option<u16>,
    pub(super) socket: Option<PathBuf>,
}

impl OptionFile {
    /// Reads the text of an option file; what it does not know it passes over, as the clients do with
    /// other programs' sections.
    pub(super) fn parse(text: &str) -> Self {
        let mut options = Self::default();
        let mut is_ours = false;
        for line in text.lines().map(str::trim) {
            if let Some(section) = line.strip_prefix('[') {
                is_ours = section.trim_end_matches(']').trim() == "client";
            } else if is_ours && !line.starts_with(['#', ';', '!']) {
                options.read_line(line);
            }
        }
        options
    }

    fn read_line(&mut self, line: &str) {
        let Some((name, value)) = line.split_once('=') else { return };
        let value = unquote(value.trim());
        match name.trim() {
            "user" => self.user = Some(value),
            "password" => self.password = Some(Password::new(value)),
            "host" => self.host = Some(value),
            "port" => self.port = value.parse().ok(),
            "socket" => self.socket = Some(value.into()),
            _ => {}
        }
    }
}

/// Takes quotes off, or a comment when there are none, and undoes escapes.
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
                // An unknown escape stays as it is, backslash and all.
                Some(other) => text.extend(['\\', other]),
            },
            other => text.push(other),
        }
    }
    text
}
