//! A server's error message, and its class.

use measure::ErrorClass;

use super::wire::{Cursor, Malformed};

/// Servers of this protocol write at most 512 bytes; a longer message cannot be from one of them.
const MESSAGE_CHARACTERS_MAX: usize = 1_024;
const STATE_CHARACTERS: usize = 5;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ServerError {
    /// The server's number, such as 1213.
    pub(crate) code: u16,
    /// The five characters of SQLSTATE; empty before the handshake is over.
    pub(crate) state: String,
    /// The server's message, at most 1,024 characters, without control characters.
    pub(crate) message: String,
}

impl ServerError {
    /// ER_CLIENT_INTERACTION_TIMEOUT: no request came within `wait_timeout`, and the server closes the connection. It may
    /// be read as the answer to a request that crossed it and was not begun.
    pub(crate) const IDLE_TOO_LONG: u16 = 4031;

    /// Reads a payload that begins with 0xff.
    pub(crate) fn parse(payload: &[u8]) -> Result<Self, Malformed> {
        let mut cursor = Cursor(payload);
        if cursor.u8()? != 0xff {
            return Err(Malformed("an error packet was due"));
        }
        let code = cursor.u16()?;
        let mut state = String::new();
        if cursor.0.first() == Some(&b'#') && cursor.0.len() >= 6 {
            state = shown(&cursor.bytes(6)?[1..], STATE_CHARACTERS);
        }
        let message = shown(cursor.0, MESSAGE_CHARACTERS_MAX);
        Ok(Self { code, state, message })
    }

    /// Its class for counting. Numbers: MySQL's and MariaDB's server error reference, TiDB's "Error Codes and
    /// Troubleshooting".
    pub(crate) fn class(&self) -> ErrorClass {
        match self.code {
            1213 => ErrorClass::Deadlock,
            1205 | 3572 => ErrorClass::LockTimeout,
            // 1412, 1615, 8027 and 8028: the tables were altered meanwhile. 3101: a conflict in a replicated group.
            1020 | 1412 | 1615 | 3101 | 8002 | 8005 | 8022 | 8027 | 8028 | 9007 => {
                ErrorClass::WriteConflict
            }
            // TiDB has no separate number for a statement that met too many conflicts in a row (max-retry-count of
            // its pessimistic transactions), nor for other errors that it marks.
            1105 if self.message.contains("pessimistic lock retry limit reached")
                || self.message.contains("try again later") =>
            {
                ErrorClass::WriteConflict
            }
            // Parts of a TiDB cluster are overloaded, or have moved.
            9001..=9005 => ErrorClass::Busy,
            1062 => ErrorClass::DuplicateKey,
            1044 | 1045 | 1049 | 1130 | 1251 | 1524 | 1698 | 3118 | 3159 | 4151 => {
                ErrorClass::Login
            }
            1040 | 1053 | 1129 | 1152 | 1203 | 1226 | 1927 | 2013 | Self::IDLE_TOO_LONG => {
                ErrorClass::Connection
            }
            1047 | 1156 => ErrorClass::Protocol,
            _ => ErrorClass::Server,
        }
    }

    pub(crate) fn remedy(&self) -> Option<&'static str> {
        Some(match self.code {
            1040 | 1203 => "raise it: SET GLOBAL max_connections = N, or use fewer clients",
            1044 => "grant the user access to the database",
            1045 => {
                "check user and password: it is read from DYNO_PASSWORD, MYSQL_PWD, \
                 `--system-option password_file=FILE` or ~/.my.cnf"
            }
            1049 => {
                "create it with `--create-database` (create_database = true), or name another in the URL"
            }
            1129 => "unblock this host on the server: FLUSH HOSTS",
            1130 => "create a user for this host on the server",
            1153 => {
                "raise it: SET GLOBAL max_allowed_packet = 16777216, and in the server's file for the next start"
            }
            1148 | 3948 | 4166 => {
                "allow it: SET GLOBAL local_infile = ON, or leave load_data_local out to load with INSERT"
            }
            1290 | 1792 | 1836 => "the server only reads: use the one that takes writes",
            1698 => {
                "the server knows this user by its account on the machine (unix_socket, auth_socket): \
                 connect through the socket as that account (URL option socket=PATH), or use a user \
                 with a password"
            }
            3159 => "the server takes encrypted connections only: do not set ssl-mode=DISABLED",
            1173 | 3750 => {
                "the server wants a primary key in every table: take the workload's option for it (`primary_key = true` of \
                 history, `secondary` left out), or lift the rule (SET GLOBAL sql_require_primary_key = OFF, \
                 innodb_force_primary_key = OFF)"
            }
            1461 => "raise it: SET GLOBAL max_prepared_stmt_count = N, or use `--ps off`",
            _ => return None,
        })
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
