//! The loop of a connected client: its turns, and the handling of failed turns.

use std::time::Duration;

use driver::{CLOSED_WHILE_IDLE, Session};
use engine::{ClientHandle, Turn};
use measure::{Disposition, Failure, OperationId, OperationKind, Traffic};

use net::Nanos;

use crate::policy::{ErrorAction, ErrorPolicy, with_option};
use crate::reconnect::ReconnectBackoff;

pub(crate) trait WorkloadClient {
    /// How long the client itself waits before its next transaction; 0 for most workloads.
    fn pause_ns(&mut self) -> Nanos {
        0
    }

    /// Asks the server something that is no part of the load. An answer that does not come is left to the next
    /// transaction.
    async fn ask(&mut self, _statement: &str) {}

    /// Draws those inputs of the next transaction that must stay the same in a retry.
    fn draw(&mut self);

    /// Runs the transaction that was drawn.
    ///
    /// # Errors
    /// The server's error; a transaction may then be open.
    async fn transact(
        &mut self,
        handle: &mut ClientHandle,
    ) -> Result<OperationId, FailedTransaction>;

    /// Ends a transaction that failed, if one is open.
    ///
    /// # Errors
    /// If the session cannot be used any more.
    async fn roll_back(&mut self, _handle: &mut ClientHandle) -> Result<(), Failure> {
        Ok(())
    }

    /// Whether the connection cannot be used after this failure.
    fn has_lost_connection(&self, failure: &Failure) -> bool {
        failure.key.class.breaks_connection()
    }

    /// Opens a new connection and prepares the statements of the transactions; drops the old connection.
    ///
    /// # Errors
    /// If the server cannot be reached or refuses a request.
    async fn reconnect(&mut self, handle: &ClientHandle) -> Result<(), Failure>;

    /// The kind of the transaction's only statement, if it has only one and this is not timed separately.
    fn single_statement(&self) -> Option<OperationKind> {
        None
    }

    /// Bytes since the last call.
    fn take_traffic(&mut self) -> Traffic;

    /// Closes the connection in an orderly way.
    async fn close(self);
}

pub(crate) struct FailedTransaction {
    pub(crate) operation: OperationId,
    pub(crate) failure: Failure,
}

/// The result of a transaction, by the result of its statements.
#[inline]
pub(crate) fn transacted<T>(
    operation: OperationId,
    done: Result<T, Failure>,
) -> Result<OperationId, FailedTransaction> {
    done.map(|_| operation).map_err(|failure| FailedTransaction { operation, failure })
}

/// Counts a statement that was answered.
#[inline]
pub(crate) fn record<T>(
    handle: &mut ClientHandle,
    operation: OperationId,
    started: Nanos,
    answer: &Result<T, Failure>,
) {
    match answer {
        Ok(_) => handle.statement(operation, started),
        // It was not sent.
        Err(failure) if failure.key.code == CLOSED_WHILE_IDLE => {}
        Err(failure) => handle.statement_failed(operation, started, failure.key.class),
    }
}

/// Rolls back the transaction of a session, if one is open.
pub(crate) async fn roll_back(
    session: &mut Session,
    is_open: &mut bool,
    handle: &mut ClientHandle,
) -> Result<(), Failure> {
    if !std::mem::take(is_open) {
        return Ok(());
    }
    let answer = session.run("ROLLBACK").await;
    handle.count(OperationKind::Other);
    answer.map(drop)
}

/// Runs turns until the load ends.
///
/// Rare branches are boxed, so that the state of a successful turn is compact in memory: with many clients the load
/// path waits for memory more than for anything else.
///
/// # Errors
/// The failure that ends the client.
pub(crate) async fn run_transactions<W: WorkloadClient>(
    handle: &mut ClientHandle,
    client: &mut W,
    policy: &ErrorPolicy,
) -> Result<(), Failure> {
    let mut backoff = None;
    // Those of the login. From here on, received bytes are of the client's current turn.
    handle.traffic(client.take_traffic());
    while let Some(turn) = handle.next_after(client.pause_ns()).await {
        if let Some(statement) = handle.slowing_statement() {
            Box::pin(client.ask(&statement)).await;
        }
        client.draw();
        let mut tries = Tries { count: 1, is_renewed: false };
        let end = loop {
            let result = client.transact(handle).await;
            // A statement counts in the interval in which its transaction ends.
            if let Some(kind) = client.single_statement().filter(|_| is_sent(&result)) {
                handle.count(kind);
            }
            let failed = match result {
                Ok(operation) => {
                    handle.finish(turn, operation);
                    break TransactionEnd::Answered;
                }
                Err(failed) => failed,
            };
            let handled = after_failure(handle, turn, client, policy, (failed, &mut tries));
            if let Some(end) = Box::pin(handled).await {
                break end;
            }
        };
        handle.traffic(client.take_traffic());
        match end {
            TransactionEnd::Unanswered => {}
            TransactionEnd::Answered if backoff.is_none() => {}
            TransactionEnd::Answered => {
                backoff = None;
                handle.is_back();
            }
            TransactionEnd::Lost(failure) => {
                let backoff = backoff.get_or_insert_with(|| ReconnectBackoff::since(handle.now()));
                Box::pin(backoff.reconnect(handle, client, failure)).await?;
            }
            TransactionEnd::Fatal(failure) => return Err(failure),
        }
    }
    Ok(())
}

/// The tries of one transaction.
struct Tries {
    count: u64,
    /// Whether its connection was replaced because the server had closed it before.
    is_renewed: bool,
}

enum TransactionEnd {
    /// The server answered the transaction, with success or failure.
    Answered,
    /// There was no answer, but the client has a connection that it can use.
    Unanswered,
    /// The client needs another connection.
    Lost(Failure),
    /// The client must end.
    Fatal(Failure),
}

/// Handles a failed transaction by the policy; `None` if it is to be retried.
async fn after_failure<W: WorkloadClient>(
    handle: &mut ClientHandle,
    turn: Turn,
    client: &mut W,
    policy: &ErrorPolicy,
    (failed, tries): (FailedTransaction, &mut Tries),
) -> Option<TransactionEnd> {
    let FailedTransaction { operation, failure } = failed;
    if !std::mem::replace(&mut tries.is_renewed, true) {
        match renew(handle, client, &failure).await {
            Some(Ok(())) => return None,
            Some(Err(failure)) => return Some(lose(handle, turn, operation, failure)),
            None => {}
        }
    }
    if client.has_lost_connection(&failure) {
        return Some(lose(handle, turn, operation, failure));
    }
    let action = match policy.action(&failure.key) {
        ErrorAction::Retry if tries.count == policy.tries_max => ErrorAction::Ignore,
        action => action,
    };
    if action == ErrorAction::Fatal {
        let failure = with_option(failure);
        handle.fail(turn, operation, &failure, Disposition::Fatal);
        return Some(TransactionEnd::Fatal(failure));
    }
    if let Err(broken) = client.roll_back(handle).await {
        return Some(lose(handle, turn, operation, broken));
    }
    if action == ErrorAction::Ignore {
        handle.fail(turn, operation, &failure, Disposition::Ignored);
        let is_answered = !failure.key.class.breaks_connection();
        let end = if is_answered { TransactionEnd::Answered } else { TransactionEnd::Unanswered };
        return Some(end);
    }
    tries.count += 1;
    handle.retry(&failure);
    // Yields to the event loop, which checks the time and requests to stop: a blocking driver would otherwise
    // retry for as long as another process keeps the database busy.
    handle.net().sleep_until(handle.now() + 1).await;
    None
}

#[inline]
fn is_sent<T>(result: &Result<T, FailedTransaction>) -> bool {
    result.as_ref().err().is_none_or(|failed| failed.failure.key.code != CLOSED_WHILE_IDLE)
}

/// Replaces a connection that the server had closed when the transaction began, as pools do. `None` when that is not what
/// happened: the transaction had begun, or reconnecting is off.
async fn renew<W: WorkloadClient>(
    handle: &mut ClientHandle,
    client: &mut W,
    failure: &Failure,
) -> Option<Result<(), Failure>> {
    if failure.key.code != CLOSED_WHILE_IDLE {
        return None;
    }
    let limit = Duration::from_nanos(handle.reconnect_limit_ns()?);
    let traffic = client.take_traffic();
    handle.traffic(traffic);
    if traffic.received_bytes > 0 {
        return None;
    }
    let connected = net::within(handle.net(), limit, client.reconnect(handle)).await;
    let connected = connected.unwrap_or_else(|| Err(failure.clone()));
    if connected.is_ok() {
        handle.replaced_idle_connection();
    }
    Some(connected)
}

/// Abandons the transaction together with its connection.
#[cold]
fn lose(
    handle: &mut ClientHandle,
    turn: Turn,
    operation: OperationId,
    failure: Failure,
) -> TransactionEnd {
    let goes_on = handle.reconnect_limit_ns().is_some();
    let how = if goes_on { Disposition::Ignored } else { Disposition::Fatal };
    handle.fail(turn, operation, &failure, how);
    TransactionEnd::Lost(failure)
}
