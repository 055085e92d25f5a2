//! The load of an OLTP script: the state that its clients share.

use std::sync::atomic::{AtomicBool, Ordering};

use super::connection::Operations;
use super::script::{Script, ScriptStep, TransactionFrame};
use super::settings::Settings;
use super::unique::UniqueNumbers;
use crate::random::Draw;
use crate::session::Connector;
use crate::{LoadPart, WorkloadContext};

/// The state that the clients of one trial share.
pub(super) struct OltpLoad {
    pub(super) connector: Connector,
    pub(super) settings: Settings,
    pub(super) steps: Vec<ScriptStep>,
    pub(super) bracket: TransactionFrame,
    pub(super) operations: Operations,
    pub(super) seed: u64,
    pub(super) id: Draw,
    /// The distance from the first id of a range to its last.
    pub(super) range_reach: i64,
    /// Whether INSERT omits the id, so that the table numbers the row.
    pub(super) omits_id: bool,
    /// Whether clients generate ids, because the table does not number its rows.
    pub(super) makes_ids: bool,
    pub(super) unique: UniqueNumbers,
    /// Whether a client of this process looks for ids that exist.
    is_looking: AtomicBool,
}

impl OltpLoad {
    pub(super) fn new(
        script: Script,
        settings: &Settings,
        (context, part): (&WorkloadContext<'_>, LoadPart),
    ) -> Self {
        let steps = script.steps(settings);
        let bracket = script.bracket(settings);
        let is_insert = script == Script::Insert;
        let makes_ids = is_insert && !settings.auto_inc;
        Self {
            connector: Connector::new(context, settings.isolation),
            operations: Operations::of(script, &steps, bracket),
            steps,
            bracket,
            seed: context.client_seed(),
            id: Draw::new(settings.shape, 1, settings.table_size.cast_signed()),
            range_reach: settings.range_size.cast_signed() - 1,
            omits_id: is_insert
                && settings.auto_inc
                && !context.target.dialect().zero_means_next_id,
            makes_ids,
            unique: UniqueNumbers::new(context.seed, part),
            is_looking: AtomicBool::new(!makes_ids),
            settings: settings.clone(),
        }
    }

    /// Whether the calling client is to look for ids that exist: the first one of a load that makes ids.
    pub(super) fn looks_first(&self) -> bool {
        !self.is_looking.swap(true, Ordering::Relaxed)
    }
}
