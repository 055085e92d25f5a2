//! Failures and their classes.

use std::fmt;
use std::ops::Deref;

use serde::{Deserialize, Serialize};

/// What kind of failure a database, a service or the way to it reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorClass {
    /// The server chose this transaction to break a deadlock.
    Deadlock,
    /// Waiting for a lock took longer than the server allows.
    LockTimeout,
    /// Another transaction changed the same data, or a statement the tables, first.
    WriteConflict,
    /// The database was busy with another writer.
    Busy,
    /// A row with the same key is there already.
    DuplicateKey,
    /// No answer came within the time-out.
    Timeout,
    /// The connection broke or could not be made.
    Connection,
    /// The server refused the login: the user, its password, the host or the database.
    Login,
    Protocol,
    /// The RPC framework answered in the method's place: unknown method, overload, a time-out of the server.
    Framework,
    /// The method that was called answered with an error.
    Function,
    /// Any other error that the server reported.
    Server,
}

impl ErrorClass {
    pub const ALL: [Self; 12] = [
        Self::Deadlock,
        Self::LockTimeout,
        Self::WriteConflict,
        Self::Busy,
        Self::DuplicateKey,
        Self::Timeout,
        Self::Connection,
        Self::Login,
        Self::Protocol,
        Self::Framework,
        Self::Function,
        Self::Server,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Deadlock => "deadlock",
            Self::LockTimeout => "lock-timeout",
            Self::WriteConflict => "write-conflict",
            Self::Busy => "busy",
            Self::DuplicateKey => "duplicate-key",
            Self::Timeout => "timeout",
            Self::Connection => "connection",
            Self::Login => "login",
            Self::Protocol => "protocol",
            Self::Framework => "framework",
            Self::Function => "function",
            Self::Server => "server",
        }
    }

    /// Whether the same transaction may succeed when it is tried again at once.
    pub fn is_transient(self) -> bool {
        matches!(self, Self::Deadlock | Self::LockTimeout | Self::WriteConflict | Self::Busy)
    }

    /// Whether the connection is unusable afterwards, while a new one may work.
    pub fn breaks_connection(self) -> bool {
        matches!(self, Self::Connection | Self::Protocol | Self::Timeout)
    }
}

impl fmt::Display for ErrorClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One kind of failure: its class and the code that the peer gave (`1213`, `SQLITE_BUSY`), empty
/// when it gave none.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ErrorKey {
    pub class: ErrorClass,
    /// The peer's own code.
    pub code: String,
}

impl ErrorKey {
    /// A class with the peer's code.
    pub fn new(class: ErrorClass, code: impl Into<String>) -> Self {
        Self { class, code: code.into() }
    }
}

impl fmt::Display for ErrorKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.code.is_empty() {
            return self.class.fmt(f);
        }
        write!(f, "{} {}", self.class, self.code)
    }
}

/// How a client handled a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Disposition {
    /// The same transaction was tried again.
    Retried,
    /// The transaction was given up and the client went on with the next, as the workload says.
    Ignored,
    /// The client could not go on.
    Fatal,
}

/// A failure: a class and code for the caller to act on, and a message for people.
///
/// It is one pointer wide, because results that can hold a failure pass through all layers of the load path,
/// and nearly all of them hold none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure(Box<FailureParts>);

/// The content of a [`Failure`], which dereferences to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailureParts {
    /// Its class and the peer's code.
    #[serde(flatten)]
    pub key: ErrorKey,
    /// What happened, where, and what to do about it.
    pub message: String,
}

impl Deref for Failure {
    type Target = FailureParts;

    fn deref(&self) -> &FailureParts {
        &self.0
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

impl Failure {
    /// A failure of `class` with the peer's `code` (empty when there is none).
    pub fn new(class: ErrorClass, code: impl Into<String>, message: impl Into<String>) -> Self {
        Self(Box::new(FailureParts { key: ErrorKey::new(class, code), message: message.into() }))
    }

    /// The same failure with another message.
    #[must_use]
    pub fn with_message(mut self, message: impl Into<String>) -> Self {
        self.0.message = message.into();
        self
    }

    /// Whether the same transaction may succeed when it is tried again at once.
    pub fn is_transient(&self) -> bool {
        self.key.class.is_transient()
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FailureExamples(Vec<Failure>);

impl FailureExamples {
    /// How many are kept, so that a server with ever new codes does not fill the memory.
    pub const KINDS_MAX: usize = 64;
    /// The length to which a longer message is cut, bytes.
    pub const MESSAGE_MAX: usize = 1_024;

    /// Keeps a failure if there is none of its class and code.
    pub fn add(&mut self, failure: &Failure) {
        if self.0.len() < Self::KINDS_MAX && self.of(&failure.key).is_none() {
            let message = &failure.message;
            let most = message.len().min(Self::MESSAGE_MAX);
            let end = (0..=most).rev().find(|at| message.is_char_boundary(*at)).unwrap_or_default();
            self.0.push(failure.clone().with_message(&message[..end]));
        }
    }

    /// The failure of a class and code.
    pub fn of(&self, key: &ErrorKey) -> Option<&Failure> {
        self.0.iter().find(|failure| failure.key == *key)
    }

    /// All of them, in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = &Failure> {
        self.0.iter()
    }

    /// The same failures with other messages.
    #[must_use]
    pub fn map_messages(self, message: impl Fn(&str) -> String) -> Self {
        let mapped = self.0.into_iter().map(|failure| {
            let message = message(&failure.message);
            failure.with_message(message)
        });
        Self(mapped.collect())
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<'a> FromIterator<&'a Failure> for FailureExamples {
    fn from_iter<I: IntoIterator<Item = &'a Failure>>(failures: I) -> Self {
        let mut all = Self::default();
        all.extend(failures);
        all
    }
}

impl<'a> Extend<&'a Failure> for FailureExamples {
    fn extend<I: IntoIterator<Item = &'a Failure>>(&mut self, failures: I) {
        failures.into_iter().for_each(|failure| self.add(failure));
    }
}
