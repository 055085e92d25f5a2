//! A server's error message, and its class.

use measure::ErrorClass;

use super::wire::{Cursor, Malformed};

/// Longer messages are cut: servers repeat values and statements in them.
const MESSAGE_CHARACTERS_MAX: usize = 1_024;
const STATE_CHARACTERS: usize = 5;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ServerError {
    /// The five characters of SQLSTATE.
    pub(crate) state: String,
    /// The server's message, at most 1,024 characters, without control characters.
    pub(crate) message: String,
    /// What the server says in addition, such as the two sides of a deadlock or what to do.
    pub(crate) detail: Option<String>,
    pub(crate) hint: Option<String>,
    /// The server ends the session after it.
    pub(crate) is_fatal: bool,
}

impl ServerError {
    /// The session was idle for longer than the server allows: no answer to the statement that crossed it.
    pub(crate) const IDLE_TOO_LONG: [&str; 2] = ["57P05", "25P03"];

    /// A statement that writes where nothing may be written.
    pub(crate) const READS_ONLY: &str = "25006";

    /// Reads the body of an ErrorResponse or a NoticeResponse: fields, each with a letter, up to a zero.
    pub(crate) fn parse(body: &[u8]) -> Result<Self, Malformed> {
        let mut cursor = Cursor(body);
        let mut error = Self::default();
        let mut severity = [None, None];
        loop {
            let letter = cursor.bytes(1)?[0];
            if letter == 0 {
                break;
            }
            let text = cursor.text()?;
            let said = || shown(text, MESSAGE_CHARACTERS_MAX);
            match letter {
                // In the server's language, and in English.
                b'S' => severity[0] = Some(text),
                b'V' => severity[1] = Some(text),
                b'C' => error.state = shown(text, STATE_CHARACTERS),
                b'M' => error.message = said(),
                b'D' => error.detail = Some(said()),
                b'H' => error.hint = Some(said()),
                _ => {}
            }
        }
        let severity = severity[1].or(severity[0]).unwrap_or_default();
        error.is_fatal = matches!(severity, b"FATAL" | b"PANIC");
        Ok(error)
    }

    /// Its class for counting. Source: PostgreSQL's documentation, "PostgreSQL Error Codes".
    pub(crate) fn class(&self) -> ErrorClass {
        match self.state.as_str() {
            "40P01" => ErrorClass::Deadlock,
            "55P03" => ErrorClass::LockTimeout,
            // 0A000 has many causes; this one is that the table was altered meanwhile.
            // A standby ends sessions with it too.
            "40001" if !self.is_fatal => ErrorClass::WriteConflict,
            "0A000" if self.message.contains("cached plan must not change result type") => {
                ErrorClass::WriteConflict
            }
            "23505" => ErrorClass::DuplicateKey,
            "28000" | "28P01" | "3D000" => ErrorClass::Login,
            "53300" | "57P01" | "57P02" | "57P03" | "57P05" | "25P03" | "25P04" => {
                ErrorClass::Connection
            }
            state if state.starts_with("08") => ErrorClass::Connection,
            _ if self.is_fatal => ErrorClass::Connection,
            _ => ErrorClass::Server,
        }
    }

    pub(crate) fn remedy(&self) -> Option<&'static str> {
        Some(match self.state.as_str() {
            "28P01" => {
                "check user and password: it is read from DYNO_PASSWORD, PGPASSWORD, \
                 `--system-option password_file=FILE` or ~/.pgpass"
            }
            "28000" => "the server's pg_hba.conf decides which users may log in from where and how",
            "3D000" => {
                "create it with `--create-database` (create_database = true), or name another in the URL"
            }
            "53300" => "raise max_connections and restart the server, or use fewer clients",
            "57P03" => "the server starts or stops: try again",
            "42501" => {
                "grant the user that right: since PostgreSQL 15 only its owner may create tables in schema \
                 public (GRANT CREATE ON SCHEMA public TO ...)"
            }
            Self::READS_ONLY => {
                "the server or the session only reads: use a primary that takes writes"
            }
            "26000" | "42P05" => {
                "a pooler between dyno and the server gives each transaction another session: use `--ps \
                 unnamed`"
            }
            "42P18" | "42725" => {
                "the server cannot tell a parameter's type from its place: write its type behind it, such as \
                 :name::bigint"
            }
            _ => return None,
        })
    }

    /// The message with what the server adds to it, and the state.
    pub(crate) fn text(&self) -> String {
        let mut text = self.message.clone();
        for (label, more) in [("detail", &self.detail), ("hint", &self.hint)] {
            if let Some(more) = more {
                text += &format!(" ({label}: {more})");
            }
        }
        text + &format!(" ({})", self.state)
    }
}

/// A peer's text in a form that is safe on a terminal: bounded, and without control characters.
pub(crate) fn shown(bytes: &[u8], characters_max: usize) -> String {
    // A character has at most four bytes.
    let head = &bytes[..bytes.len().min(4 * characters_max)];
    let text = String::from_utf8_lossy(head);
    let printable = text.chars().map(|letter| if letter.is_control() { ' ' } else { letter });
    printable.take(characters_max).collect()
}
