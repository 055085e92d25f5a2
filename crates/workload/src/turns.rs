//! The life of a client once it is connected: turns, and what is done when one goes wrong.

use engine::{Seat, Turn};
use measure::{Disposition, Failure, OperationId, OperationKind, Traffic};

use net::Nanos;

use crate::policy::{ErrorPolicy, Verdict};
use crate::reconnect::Away;

/// What a client does in its turns.
pub(crate) trait Work {
    /// How long the client itself waits before its next transaction; nothing for most workloads.
    fn pause_ns(&mut self) -> Nanos {
        0
    }

    /// Draws what the next transaction will do, as far as it must stay the same when it is tried
    /// again.
    fn draw(&mut self);

    /// Does the transaction that was drawn.
    ///
    /// # Errors
    /// What the server says; a transaction may then be open.
    async fn transact(&mut self, seat: &mut Seat) -> Result<OperationId, FailedTransaction>;

    /// Ends a transaction that failed, if one is open.
    ///
    /// # Errors
    /// When the session is of no use any more.
    async fn roll_back(&mut self, _seat: &mut Seat) -> Result<(), Failure> {
        Ok(())
    }

    /// Connects afresh and makes ready everything that transactions need; what was there is given up.
    ///
    /// # Errors
    /// When the server cannot be reached or refuses something.
    async fn reconnect(&mut self, seat: &Seat) -> Result<(), Failure>;

    /// What the transaction in hand counts as a statement, when it is a single one that is not timed
    /// apart from its transaction.
    fn single_statement(&self) -> Option<OperationKind> {
        None
    }

    /// Bytes since the last call.
    fn take_traffic(&mut self) -> Traffic;

    /// Says goodbye to the server.
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
/// # Errors
/// The failure that the client cannot go on after.
pub(crate) async fn take_turns<W: Work>(
    seat: &mut Seat,
    work: &mut W,
    policy: &ErrorPolicy,
) -> Result<(), Failure> {
    let mut away = None;
    while let Some(turn) = seat.next_after(work.pause_ns()).await {
        work.draw();
        let result = take_turn(seat, turn, work, policy).await;
        seat.traffic(work.take_traffic());
        match result? {
            Connection::Holds if away.is_none() => {}
            Connection::Holds => {
                away = None;
                seat.is_back();
            }
            Connection::Lost(failure) => {
                let away = away.get_or_insert_with(|| Away::since(seat.now()));
                away.reconnect(seat, work, failure).await?;
            }
        }
    }
    Ok(())
}

/// What a transaction leaves behind.
enum Connection {
    /// It was answered, well or not.
    Holds,
    /// The client needs another connection.
    Lost(Failure),
}

async fn take_turn<W: Work>(
    seat: &mut Seat,
    turn: Turn,
    work: &mut W,
    policy: &ErrorPolicy,
) -> Result<Connection, Failure> {
    loop {
        let result = work.transact(seat).await;
        // A statement falls into the interval of the next event: the end of its transaction.
        if let Some(kind) = work.single_statement() {
            seat.count(kind);
        }
        let FailedTransaction { operation, failure } = match result {
            Ok(operation) => {
                seat.finish(turn, operation);
                return Ok(Connection::Holds);
            }
            Err(failed) => failed,
        };
        let key = &failure.key;
        let verdict = policy.verdict(key);
        if verdict == Verdict::Fatal {
            seat.fail(turn, operation, key, Disposition::Fatal);
            return Err(failure);
        }
        if verdict == Verdict::Reconnect {
            return Ok(lose(seat, turn, operation, failure));
        }
        if let Err(broken) = work.roll_back(seat).await {
            return Ok(lose(seat, turn, operation, broken));
        }
        if verdict == Verdict::Ignore {
            seat.fail(turn, operation, key, Disposition::Ignored);
            return Ok(Connection::Holds);
        }
        seat.retry(key);
        // Lets the event loop look at the time and at requests to stop: a driver that blocks would
        // otherwise try for as long as another process keeps the database busy.
        seat.net().sleep_until(seat.now() + 1).await;
    }
}

/// The transaction is given up with its connection.
#[cold]
fn lose(seat: &mut Seat, turn: Turn, operation: OperationId, failure: Failure) -> Connection {
    let goes_on = seat.reconnect_limit_ns().is_some();
    let how = if goes_on { Disposition::Ignored } else { Disposition::Fatal };
    seat.fail(turn, operation, &failure.key, how);
    Connection::Lost(failure)
}
