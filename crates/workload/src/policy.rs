//! How a client handles an error.

use measure::{ErrorClass, ErrorKey, Failure};
use plan::OptionReader;
use plan::declared::{Choice, Flag, Number, Texts, choice, flag, number, texts};

/// The option for errors that a retry may avoid.
pub(crate) const TRANSIENT_ERRORS: Choice<bool> = choice(
    "transient_errors",
    ("retry", true),
    &[("retry", true), ("ignore", false)],
    "deadlocks, conflicts and lock time-outs: retry the same transaction, or ignore it",
);
pub(crate) const IGNORE_ERRORS: Texts =
    texts("ignore_errors", "", "codes of errors that only end their transaction, or all");

/// The option for a bound on retries, of workloads that take pgbench's place.
pub(crate) const MAX_TRIES: Number<u64> = number(
    "max_tries",
    0,
    0..=1_000_000_000,
    "how often a transaction is tried after errors that a retry may avoid; 0: until it succeeds",
);

/// The option for a connection of each transaction.
pub(crate) const RECONNECT: Flag = flag(
    "reconnect",
    false,
    "each transaction opens a connection of its own, which is part of its latency, as by pgbench -C",
);

/// Errors that end one statement and say nothing of the next: it was killed (1317), it took longer than the server allows
/// (1969, 3024), both of these (57014), or the server takes no writes for now, as around a switch of its role (1290, 1836,
/// 25006). Numbers are those of the MySQL protocol, five characters are SQLSTATEs.
const ONE_STATEMENT: [&str; 7] = ["1317", "1969", "3024", "1290", "1836", "57014", "25006"];

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ErrorPolicy {
    /// Whether transactions are retried after deadlocks, write conflicts, lock time-outs and busy answers.
    pub(crate) retries_transient: bool,
    /// How often a transaction is tried at most; 0 for no bound.
    pub(crate) tries_max: u64,
    /// Codes of errors that only end their transaction, which counts as ignored; `all` means every code.
    pub(crate) ignored: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ErrorAction {
    /// Retry the same transaction.
    Retry,
    /// Abandon the transaction and continue with the next one.
    Ignore,
    Fatal,
}

impl ErrorPolicy {
    /// Reads [`TRANSIENT_ERRORS`] and [`IGNORE_ERRORS`].
    pub(crate) fn read(reader: &mut OptionReader<'_>) -> Self {
        Self {
            retries_transient: TRANSIENT_ERRORS.read(reader),
            tries_max: 0,
            ignored: IGNORE_ERRORS.read_list(reader),
        }
    }

    /// The same with [`MAX_TRIES`].
    pub(crate) fn read_with_tries(reader: &mut OptionReader<'_>) -> Self {
        let policy = Self { tries_max: MAX_TRIES.read(reader), ..Self::read(reader) };
        if policy.tries_max > 0 && !policy.retries_transient {
            let message = "`max_tries` has no effect with transient_errors = \"ignore\"";
            reader.reject(MAX_TRIES.name, message, "leave one of them out");
        }
        policy
    }

    /// The policy of loads whose errors are results: each is counted, and the client goes on.
    pub(crate) fn ignore_all() -> Self {
        Self { retries_transient: false, tries_max: 0, ignored: vec!["all".to_owned()] }
    }

    /// How to handle an error of this kind that leaves the connection usable. A duplicate key is always ignored,
    /// because a retry would meet it again, and so are errors that concern one statement. A refused login ends the client, and so does an expression that has no
    /// value, which no server has reported.
    pub(crate) fn action(&self, key: &ErrorKey) -> ErrorAction {
        let is_listed = self.ignored.iter().any(|code| code == "all" || *code == key.code);
        let is_one_statement =
            key.class == ErrorClass::Server && ONE_STATEMENT.contains(&key.code.as_str());
        let is_own = key.class == ErrorClass::Server && key.code.is_empty();
        if key.class == ErrorClass::Login || is_own {
            ErrorAction::Fatal
        } else if is_listed || is_one_statement || key.class == ErrorClass::DuplicateKey {
            ErrorAction::Ignore
        } else if !key.class.is_transient() {
            ErrorAction::Fatal
        } else if self.retries_transient {
            ErrorAction::Retry
        } else {
            ErrorAction::Ignore
        }
    }
}

/// The failure that ends a client, with the option that would let it go on.
pub(crate) fn with_option(failure: Failure) -> Failure {
    let ErrorKey { class, code } = &failure.key;
    if *class != ErrorClass::Server || code.is_empty() {
        return failure;
    }
    let message = format!(
        "{}; with `ignore_errors = [\"{code}\"]` (-o ignore_errors={code}) it would only end its \
         transaction",
        failure.message
    );
    failure.with_message(message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conflicts_are_retried_listed_codes_ignored_and_the_rest_is_fatal() {
        let policy =
            ErrorPolicy { retries_transient: true, tries_max: 0, ignored: vec!["1146".to_owned()] };
        let action = |class, code| policy.action(&ErrorKey::new(class, code));
        assert_eq!(action(ErrorClass::Deadlock, "1213"), ErrorAction::Retry);
        assert_eq!(action(ErrorClass::Busy, "SQLITE_BUSY"), ErrorAction::Retry);
        assert_eq!(action(ErrorClass::DuplicateKey, "1062"), ErrorAction::Ignore);
        assert_eq!(action(ErrorClass::Server, "1146"), ErrorAction::Ignore);
        assert_eq!(action(ErrorClass::Server, "1054"), ErrorAction::Fatal);
    }

    #[test]
    fn errors_of_one_statement_end_only_their_transaction() {
        let policy = ErrorPolicy { retries_transient: true, tries_max: 0, ignored: Vec::new() };
        for code in ONE_STATEMENT {
            let key = ErrorKey::new(ErrorClass::Server, code);
            assert_eq!(policy.action(&key), ErrorAction::Ignore, "{code}");
        }
    }

    #[test]
    fn the_failure_that_ends_a_client_names_the_option_that_lets_it_go_on() {
        let failure = with_option(Failure::new(ErrorClass::Server, "1146", "no such table"));
        assert!(failure.message.starts_with("no such table; with "), "{failure}");
        assert!(failure.message.contains("-o ignore_errors=1146"), "{failure}");
        for (class, code) in [(ErrorClass::Login, "1045"), (ErrorClass::Server, "")] {
            assert_eq!(&*with_option(Failure::new(class, code, "told")).message, "told");
        }
    }

    #[test]
    fn conflicts_are_ignored_when_that_is_asked_for() {
        let policy = ErrorPolicy { retries_transient: false, tries_max: 0, ignored: Vec::new() };
        let action = |class| policy.action(&ErrorKey::new(class, "x"));
        assert_eq!(action(ErrorClass::WriteConflict), ErrorAction::Ignore);
    }

    #[test]
    fn all_ignores_whatever_the_server_says() {
        let policy =
            ErrorPolicy { retries_transient: true, tries_max: 0, ignored: vec!["all".to_owned()] };
        let action = |class| policy.action(&ErrorKey::new(class, "x"));
        assert_eq!(action(ErrorClass::Server), ErrorAction::Ignore);
        assert_eq!(action(ErrorClass::Login), ErrorAction::Fatal);
        assert_eq!(policy.action(&ErrorKey::new(ErrorClass::Server, "")), ErrorAction::Fatal);
        assert_eq!(policy.action(&ErrorKey::new(ErrorClass::Timeout, "")), ErrorAction::Ignore);
    }
}
