//! The load of one trial: the state that its clients share.

use measure::{Operation, OperationId, OperationKind, Rules, Score, Share};

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

/// The operation of a transaction type.
pub(super) fn operation(kind: Kind) -> OperationId {
    OperationId(kind as u16)
}

/// The highest rate of New-Orders per minute and warehouse with the waits of clause 5.2.5: ten terminals, 18 s of
/// keying and 12 s of thinking, and the rest of the mix (clause 4.2.2, comment 1).
const NEW_ORDERS_PER_WAREHOUSE: f64 = 12.86;

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

/// tpmC, and the mix of clause 5.2.3.
pub(super) fn rules(settings: &Settings) -> Rules {
    let all_of = |kind: Kind| match kind {
        Kind::NewOrder => vec![operation(kind), ROLLED_BACK],
        Kind::Delivery => vec![operation(kind), SKIPPED],
        Kind::Payment | Kind::OrderStatus | Kind::StockLevel => vec![operation(kind)],
    };
    let tpmc = Score {
        name: "tpmC".to_owned(),
        meaning: "New-Order transactions per minute, those rolled back by intent included; no TPC result, \
                  and not comparable with one"
            .to_owned(),
        operations: all_of(Kind::NewOrder),
        period_s: 60,
        most: settings.waits.then_some(NEW_ORDERS_PER_WAREHOUSE * settings.warehouses as f64),
    };
    let share = |kind: Kind| Share {
        name: kind.name().to_owned(),
        operations: all_of(kind),
        least_percent: kind.least_percent().unwrap_or(0.0),
    };
    Rules {
        scores: vec![tpmc],
        shares: Kind::ALL.into_iter().map(share).collect(),
        has_waits: settings.waits,
    }
}
