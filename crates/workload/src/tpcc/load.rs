//! The load of one trial: the state that its clients share.

use measure::{Operation, OperationId, OperationKind};

use super::deck::{Kind, TYPES};
use super::nurand::Constants;
use super::settings::Settings;
use crate::WorkloadContext;
use crate::session::Connector;

/// Orders that were rolled back intentionally: a separate operation after the five types, so that reports show their
/// number.
pub(super) const ROLLED_BACK: OperationId = OperationId(TYPES as u16);

/// Deliveries that skipped a district; separate for the same reason. With user-defined weights new orders may run
/// out, and a Delivery without new orders has little to do.
pub(super) const SKIPPED: OperationId = OperationId(TYPES as u16 + 1);

pub(super) fn operation(kind: Kind) -> OperationId {
    OperationId(kind as u16)
}

/// The load of TPC-C: the state that its clients share.
pub(super) struct TpccLoad {
    pub(super) operations: Vec<Operation>,
    pub(super) connector: Connector,
    pub(super) settings: Settings,
    pub(super) constants: Constants,
    /// The seed of the clients' draws, another one for each trial.
    pub(super) seed: u64,
}

impl TpccLoad {
    pub(super) fn new(settings: &Settings, context: &WorkloadContext<'_>) -> Self {
        let kinds = Kind::ALL.iter().map(|kind| kind.name());
        let kinds = kinds.chain(["new_order_rollback", "delivery_skipped"]);
        Self {
            operations: kinds.map(|it| Operation::new(it, OperationKind::Transaction)).collect(),
            connector: Connector::new(context, settings.isolation),
            settings: settings.clone(),
            constants: Constants::of_run(context.seed),
            seed: context.client_seed(),
        }
    }
}
