//! The loop of a connected client: turns, and the handling of turns that fail.

use engine::{Seat, Turn};
use measure::{Disposition, Failure, OperationId, OperationKind, Traffic};

use net::Nanos;

use crate::policy::{ErrorPolicy, Verdict};
use crate::reconnect::Away;

/// The work of a client in its turns.
pub(crate) trait Work {
    /// How long the client itself waits before its next transaction; 0 for most workloads.
    fn pause_ns(&mut self) -> Nanos {
        0
    }

    /// Draws the inputs of the next transaction that must stay the same in a retry.
    fn draw(&mut self);

    /// Runs the transaction that was drawn.
    ///
    /// # Errors
    /// What the server says; a transaction may then be open.
    async fn transact(&mut self, seat: &mut Seat) -> Result<OperationId, FailedTransaction>;

    /// Ends a transaction that failed, if one is open.
    ///
    /// # Errors
    /// If the session cannot be used any more.
    async fn roll_back(&mut self, _seat: &mut Seat) -> Result<(), Failure> {
        Ok(())
    }

    /// Opens a new connection and prepares the statements of the transactions; drops the old connection.
    ///
    /// # Errors
    /// When the server cannot be reached or refuses something.
    async fn reconnect(&mut self, seat: &Seat) -> Result<(), Failure>;

    /// The kind of the transaction's only statement, where a transaction has one statement that is not timed
    /// apart from it.
    fn single_statement(&self) -> Option<OperationKind> {
        None
    }

    /// Bytes since the last call.
    fn take_traffic(&mut self) -> Traffic;

    /// Closes the connection in good order.
    async fn close(self);
}

/// A transaction that failed.
pub(crate) struct FailedTransaction {
    /// Which operation it was.
    pub(crate) operation: OperationId,
    /// Why.
    pub(crate) failure: Failure,
}

/// Takes turns until the load is over.
///
/// Rare branches are boxed, so that the memory of a successful turn lies close together: with many clients the
/// load path waits for memory more than for anything else.
///
/// # Errors
/// The failure that ends the client.
pub(crate) async fn take_turns<W: Work>(
    seat: &mut Seat,
    work: &mut W,
    policy: &ErrorPolicy,
) -> Result<(), Failure> {
    let mut away = None;
    while let Some(turn) = seat.next_after(work.pause_ns()).await {
        work.draw();
        let end = loop {
            let result = work.transact(seat).await;
            // A statement counts in the interval in which its transaction ends.
            if let Some(kind) = work.single_statement() {
                seat.count(kind);
            }
            let failed = match result {
                Ok(operation) => {
                    seat.finish(turn, operation);
                    break TurnEnd::Answered;
                }
                Err(failed) => failed,
            };
            if let Some(end) = Box::pin(after_failure(seat, turn, work, policy, failed)).await {
                break end;
            }
        };
        seat.traffic(work.take_traffic());
        match end {
            TurnEnd::Answered if away.is_none() => {}
            TurnEnd::Answered => {
                away = None;
                seat.is_back();
            }
            TurnEnd::Lost(failure) => {
                let away = away.get_or_insert_with(|| Away::since(seat.now()));
                Box::pin(away.reconnect(seat, work, failure)).await?;
            }
            TurnEnd::Fatal(failure) => return Err(failure),
        }
    }
    Ok(())
}

/// How a turn ended.
enum TurnEnd {
    /// The server answered the transaction, with success or failure.
    Answered,
    /// The client needs another connection.
    Lost(Failure),
    /// The client must end.
    Fatal(Failure),
}

/// Handles a failed transaction by the policy; `None` if it is to be retried.
async fn after_failure<W: Work>(
    seat: &mut Seat,
    turn: Turn,
    work: &mut W,
    policy: &ErrorPolicy,
    failed: FailedTransaction,
) -> Option<TurnEnd> {
    let FailedTransaction { operation, failure } = failed;
    let key = &failure.key;
    let verdict = policy.verdict(key);
    if verdict == Verdict::Fatal {
        seat.fail(turn, operation, key, Disposition::Fatal);
        return Some(TurnEnd::Fatal(failure));
    }
    if verdict == Verdict::Reconnect {
        return Some(lose(seat, turn, operation, failure));
    }
    if let Err(broken) = work.roll_back(seat).await {
        return Some(lose(seat, turn, operation, broken));
    }
    if verdict == Verdict::Ignore {
        seat.fail(turn, operation, key, Disposition::Ignored);
        return Some(TurnEnd::Answered);
    }
    seat.retry(key);
    // Yields to the event loop, which checks the time and requests to stop: a blocking driver would otherwise
    // retry for as long as another process keeps the database busy.
    seat.net().sleep_until(seat.now() + 1).await;
    None
}

/// Abandons the transaction together with its connection.
#[cold]
fn lose(seat: &mut Seat, turn: Turn, operation: OperationId, failure: Failure) -> TurnEnd {
    let goes_on = seat.reconnect_limit_ns().is_some();
    let how = if goes_on { Disposition::Ignored } else { Disposition::Fatal };
    seat.fail(turn, operation, &failure.key, how);
    TurnEnd::Lost(failure)
}
