//! How a client reconnects to an unavailable system.

use std::time::Duration;

use engine::ClientHandle;
use measure::{Failure, nanos};
use net::{Handle, Nanos};

use crate::transaction_loop::WorkloadClient;

/// The pause before the first attempt; it doubles with each attempt.
const PAUSE_FIRST_NS: Nanos = 10_000_000;
/// A longer pause would only delay noticing that the server is available again.
const PAUSE_MAX_NS: Nanos = 1_000_000_000;

/// The reconnect backoff of a client, from the loss of its connection to the next answered transaction.
#[derive(Debug)]
pub(crate) struct ReconnectBackoff {
    since: Nanos,
    pause_ns: Nanos,
}

impl ReconnectBackoff {
    pub(crate) fn since(since: Nanos) -> Self {
        Self { since, pause_ns: PAUSE_FIRST_NS }
    }

    /// Opens a new connection, with retries until the trial's reconnect limit.
    ///
    /// # Errors
    /// The last failure, if no connection was opened within the limit. There are no retries if the trial has no
    /// reconnect limit, or if the server refuses the login, as with a wrong password.
    pub(crate) async fn reconnect<W: WorkloadClient>(
        &mut self,
        handle: &mut ClientHandle,
        client: &mut W,
        failure: Failure,
    ) -> Result<(), Failure> {
        handle.lost_connection(&failure);
        let Some(limit_ns) = handle.reconnect_limit_ns() else { return Err(failure) };
        let deadline = self.since.saturating_add(limit_ns);
        let mut last = failure;
        loop {
            let next_try = handle.now().saturating_add(self.pause());
            handle.net().sleep_until(next_try.min(deadline)).await;
            let left = Duration::from_nanos(deadline.saturating_sub(handle.now()));
            if left.is_zero() {
                return Err(given_up(limit_ns, last));
            }
            match net::within(handle.net(), left, client.reconnect(handle)).await {
                Some(Ok(())) => {
                    handle.reconnected();
                    return Ok(());
                }
                Some(Err(failure)) if failure.key.class.breaks_connection() => last = failure,
                Some(Err(failure)) => return Err(failure),
                None => {}
            }
        }
    }

    /// Waits until the next attempt; `false` if the limit is reached.
    pub(crate) async fn wait(&mut self, handle: &Handle, limit: Duration) -> bool {
        let limit_ns = nanos(limit);
        let deadline = self.since.saturating_add(limit_ns);
        let next_try = handle.now().saturating_add(self.pause());
        handle.sleep_until(next_try.min(deadline)).await;
        handle.now() < deadline
    }

    fn pause(&mut self) -> Nanos {
        let pause = self.pause_ns;
        self.pause_ns = (pause * 2).min(PAUSE_MAX_NS);
        pause
    }
}

fn given_up(limit_ns: Nanos, last: Failure) -> Failure {
    let limit = Duration::from_nanos(limit_ns);
    let message = format!(
        "no connection within {limit:?}, the reconnect limit; the last try: {}",
        last.message
    );
    last.with_message(message)
}

#[cfg(test)]
mod tests {
    use measure::ErrorClass;

    use super::*;

    #[test]
    fn pauses_double_up_to_a_second() {
        let mut backoff = ReconnectBackoff::since(0);
        let pauses_ms: Vec<u64> = (0..9).map(|_| backoff.pause() / 1_000_000).collect();
        assert_eq!(pauses_ms, [10, 20, 40, 80, 160, 320, 640, 1_000, 1_000]);
    }

    #[test]
    fn giving_up_reports_the_limit_and_the_last_failure() {
        let last = Failure::new(ErrorClass::Connection, "", "db1:4000: nothing listens there");
        let failure = given_up(30_000_000_000, last);
        insta::assert_snapshot!(failure, @"no connection within 30s, the reconnect limit; the last try: db1:4000: nothing listens there");
        assert_eq!(failure.key.class, ErrorClass::Connection);
    }
}
