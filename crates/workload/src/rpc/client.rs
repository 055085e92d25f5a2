//! One client: its calls, one after the other.

use std::time::Duration;

use driver::rpc::Slot;
use engine::ClientHandle;
use measure::{ErrorClass, Failure, OperationId, OperationKind, Traffic};

use super::metadata::DrawnMetadata;
use super::payload::Body;
use crate::transaction_loop::{FailedTransaction, WorkloadClient, transacted};

/// The only operation.
const CALL: OperationId = OperationId(0);
/// How often a call is sent again that the service has not begun.
const RESENDS_MAX: usize = 5;

pub(super) struct RpcClient {
    slot: Slot,
    body: Body,
    metadata: DrawnMetadata,
}

impl RpcClient {
    pub(super) fn new(slot: Slot, body: Body, metadata: DrawnMetadata) -> Self {
        Self { slot, body, metadata }
    }

    /// Sends the request that was drawn.
    ///
    /// # Errors
    /// The expression that has no value, which has no code; those of the call.
    #[inline]
    async fn call(&mut self) -> Result<(), Failure> {
        let (body, metadata) = match (self.body.bytes(), self.metadata.values()) {
            (Ok(body), Ok(metadata)) => (body, metadata),
            (Err(trouble), _) | (_, Err(trouble)) => {
                return Err(Failure::new(ErrorClass::Server, "", trouble));
            }
        };
        self.slot.call_with(body, metadata).await
    }

    /// Waits for the connection.
    ///
    /// # Errors
    /// When the service cannot be reached.
    pub(super) async fn connect(&self) -> Result<(), Failure> {
        self.slot.connect().await.map(drop)
    }

    /// Sends a call again that the service has not begun, as other clients of gRPC do: on another connection when the
    /// server has closed this one, or once more on this one when it has refused the call there. A service that goes on so
    /// fails the call.
    #[cold]
    async fn call_again(
        &mut self,
        handle: &mut ClientHandle,
        mut failure: Failure,
    ) -> Result<(), Failure> {
        let Some(limit_ns) = handle.reconnect_limit_ns() else { return Err(failure) };
        let mut was_refused = false;
        for _ in 0..RESENDS_MAX {
            if self.slot.is_connected() {
                if std::mem::replace(&mut was_refused, true) {
                    break;
                }
            } else {
                let limit = Duration::from_nanos(limit_ns);
                let connected = net::within(handle.net(), limit, self.slot.connect()).await;
                let connected = connected.unwrap_or_else(|| Err(failure.clone()));
                if connected? {
                    handle.replaced_idle_connection();
                }
            }
            match self.call().await {
                Err(again) if !self.slot.was_begun() => failure = again,
                result => return result,
            }
        }
        Err(failure)
    }
}

impl WorkloadClient for RpcClient {
    fn draw(&mut self) {
        self.body.draw();
        self.metadata.draw();
    }

    async fn transact(
        &mut self,
        handle: &mut ClientHandle,
    ) -> Result<OperationId, FailedTransaction> {
        let result = match self.call().await {
            Err(failure) if !self.slot.was_begun() && failure.key.class != ErrorClass::Server => {
                Box::pin(self.call_again(handle, failure)).await
            }
            result => result,
        };
        transacted(CALL, result)
    }

    /// A call that timed out leaves the connection as it was; one with an answer may have had the last of a connection
    /// that the server has closed since.
    fn has_lost_connection(&self, failure: &Failure) -> bool {
        failure.key.class.breaks_connection() && !self.slot.is_connected()
    }

    async fn reconnect(&mut self, _handle: &ClientHandle) -> Result<(), Failure> {
        self.connect().await
    }

    fn single_statement(&self) -> Option<OperationKind> {
        Some(OperationKind::Other)
    }

    fn take_traffic(&mut self) -> Traffic {
        self.slot.take_traffic()
    }

    async fn close(self) {}
}
