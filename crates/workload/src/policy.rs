//! How a client handles an error.

use measure::{ErrorClass, ErrorKey};
use plan::OptionReader;

use crate::options::{Choice, Text, choice, text};

/// The option for errors that a retry may avoid.
pub(crate) const TRANSIENT_ERRORS: Choice<bool> = choice(
    "transient_errors",
    ("retry", true),
    &[("retry", true), ("ignore", false)],
    "deadlocks, conflicts and lock time-outs: retry the same transaction, or ignore it",
);
/// The option that lists errors to ignore.
pub(crate) const IGNORE_ERRORS: Text =
    text("ignore_errors", "", "codes of errors that only end their transaction, or all");

/// The options for errors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ErrorPolicy {
    /// Whether transactions are retried after deadlocks, write conflicts, lock time-outs and busy answers.
    pub(crate) retries_transient: bool,
    /// Codes of errors that only end their transaction, which counts as ignored; `all` means every code.
    pub(crate) ignored: Vec<String>,
}

/// How one error is handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Retry the same transaction.
    Retry,
    /// Abandon the transaction and continue with the next one.
    Ignore,
    /// Abandon the transaction and continue on a new connection.
    Reconnect,
    /// End the client.
    Fatal,
}

impl ErrorPolicy {
    /// Reads [`TRANSIENT_ERRORS`] and [`IGNORE_ERRORS`].
    pub(crate) fn read(reader: &mut OptionReader<'_>) -> Self {
        Self {
            retries_transient: TRANSIENT_ERRORS.read(reader),
            ignored: IGNORE_ERRORS.read_list(reader),
        }
    }

    /// How to handle an error of this kind. A duplicate key is always ignored, because a retry would meet it
    /// again. An error that breaks the connection is never ignored, and a refused login ends the client.
    pub(crate) fn verdict(&self, key: &ErrorKey) -> Verdict {
        let is_listed = self.ignored.iter().any(|code| code == "all" || *code == key.code);
        if key.class.breaks_connection() {
            Verdict::Reconnect
        } else if key.class == ErrorClass::Login {
            Verdict::Fatal
        } else if is_listed || key.class == ErrorClass::DuplicateKey {
            Verdict::Ignore
        } else if !key.class.is_transient() {
            Verdict::Fatal
        } else if self.retries_transient {
            Verdict::Retry
        } else {
            Verdict::Ignore
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conflicts_are_retried_listed_codes_ignored_and_the_rest_is_fatal() {
        let policy = ErrorPolicy { retries_transient: true, ignored: vec!["1146".to_owned()] };
        let verdict = |class, code| policy.verdict(&ErrorKey::new(class, code));
        assert_eq!(verdict(ErrorClass::Deadlock, "1213"), Verdict::Retry);
        assert_eq!(verdict(ErrorClass::Busy, "SQLITE_BUSY"), Verdict::Retry);
        assert_eq!(verdict(ErrorClass::DuplicateKey, "1062"), Verdict::Ignore);
        assert_eq!(verdict(ErrorClass::Server, "1146"), Verdict::Ignore);
        assert_eq!(verdict(ErrorClass::Server, "1054"), Verdict::Fatal);
        assert_eq!(verdict(ErrorClass::Connection, "1146"), Verdict::Reconnect);
    }

    #[test]
    fn conflicts_are_ignored_when_that_is_asked_for() {
        let policy = ErrorPolicy { retries_transient: false, ignored: Vec::new() };
        let verdict = |class| policy.verdict(&ErrorKey::new(class, "x"));
        assert_eq!(verdict(ErrorClass::WriteConflict), Verdict::Ignore);
        assert_eq!(verdict(ErrorClass::Timeout), Verdict::Reconnect);
    }

    #[test]
    fn all_ignores_whatever_the_server_says() {
        let policy = ErrorPolicy { retries_transient: true, ignored: vec!["all".to_owned()] };
        let verdict = |class| policy.verdict(&ErrorKey::new(class, "x"));
        assert_eq!(verdict(ErrorClass::Server), Verdict::Ignore);
        assert_eq!(verdict(ErrorClass::Connection), Verdict::Reconnect);
        assert_eq!(verdict(ErrorClass::Login), Verdict::Fatal);
    }
}
