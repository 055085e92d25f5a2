//! One client: its calls, one after the other.

use driver::rpc::Slot;
use engine::ClientHandle;
use measure::{ErrorClass, Failure, OperationId, OperationKind, Traffic};

use super::payload::Body;
use crate::transaction_loop::{FailedTransaction, WorkloadClient, transacted};

/// The only operation.
const CALL: OperationId = OperationId(0);

pub(super) struct RpcClient {
    slot: Slot,
    body: Body,
}

impl RpcClient {
    pub(super) fn new(slot: Slot, body: Body) -> Self {
        Self { slot, body }
    }

    /// Waits for the connection.
    ///
    /// # Errors
    /// When the service cannot be reached.
    pub(super) async fn connect(&self) -> Result<(), Failure> {
        self.slot.connect().await
    }
}

impl WorkloadClient for RpcClient {
    fn draw(&mut self) {
        self.body.draw();
    }

    async fn transact(
        &mut self,
        _handle: &mut ClientHandle,
    ) -> Result<OperationId, FailedTransaction> {
        let result = match self.body.bytes() {
            Ok(body) => self.slot.call(body).await,
            Err(trouble) => Err(Failure::new(ErrorClass::Server, "", trouble)),
        };
        transacted(CALL, result)
    }

    /// A call that timed out leaves the connection as it was.
    fn has_lost_connection(&self, _failure: &Failure) -> bool {
        !self.slot.is_connected()
    }

    async fn reconnect(&mut self, _handle: &ClientHandle) -> Result<(), Failure> {
        self.slot.connect().await
    }

    fn single_statement(&self) -> Option<OperationKind> {
        Some(OperationKind::Other)
    }

    fn take_traffic(&mut self) -> Traffic {
        self.slot.take_traffic()
    }

    async fn close(self) {}
}
