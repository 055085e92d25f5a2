//! The number of statements that dyno has sent: the soak test's own count, which no restart resets.
//!
//! It is kept for each connection by the time at which it was opened, because a connection belongs to one trial: when
//! its last bytes are counted, the next trial may have begun.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;

/// The statements of all connections.
#[derive(Debug, Default)]
pub(super) struct Meter(Mutex<Vec<Connection>>);

#[derive(Debug)]
struct Connection {
    opened: Timestamp,
    statements: Arc<AtomicU64>,
}

impl Meter {
    /// The counter of a connection that was opened at `opened`.
    pub(super) fn connection(&self, opened: Timestamp) -> Arc<AtomicU64> {
        let statements = Arc::<AtomicU64>::default();
        let connection = Connection { opened, statements: Arc::clone(&statements) };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
        statements
    }

    /// The statements of connections that were opened after `from`, until `until`.
    pub(super) fn between(&self, from: Timestamp, until: Timestamp) -> u64 {
        let connections = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let inside = connections.iter().filter(|it| from < it.opened && it.opened <= until);
        inside.map(|it| it.statements.load(Ordering::Relaxed)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_assigned_to_their_connections_open_time() {
        let at = |second: i64| Timestamp::from_second(1_000_000 + second).unwrap();
        let meter = Meter::default();
        let first = meter.connection(at(1));
        let second = meter.connection(at(5));
        first.fetch_add(10, Ordering::Relaxed);
        second.fetch_add(100, Ordering::Relaxed);
        // Counted late: the connection was opened earlier.
        first.fetch_add(1, Ordering::Relaxed);
        assert_eq!(meter.between(at(0), at(4)), 11);
        assert_eq!(meter.between(at(1), at(5)), 100);
        assert_eq!(meter.between(at(5), at(9)), 0);
    }
}
