//! The load of one trial: the state that its clients share.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::chooser::{Chooser, Popular, Range};
use super::inserts::Inserts;
use super::key::{KeyFormat, KeyScheme};
use super::operations::{OperationChoice, OperationTimes};
use super::settings::Settings;
use super::values::ValueGenerator;
use crate::session::Connector;
use crate::{LoadPart, WorkloadContext};

/// The state that the clients of one trial share.
pub(super) struct YcsbLoad {
    pub(super) connector: Connector,
    pub(super) settings: Settings,
    pub(super) format: KeyFormat,
    pub(super) values: ValueGenerator,
    pub(super) timed: OperationTimes,
    /// The seed of the clients' draws of operations, records and fields: another one for each trial.
    pub(super) seed: u64,
    /// The same records are popular in each trial.
    popular: Popular,
    /// The seed of random values, different for each run too. A server writes nothing when the new value equals the old
    /// one, so a second run on the same table would measure something else with the values of the first.
    pub(super) value_seed: u64,
    pub(super) inserts: Arc<Inserts>,
    /// Whether a client of this process looks for the end of the records.
    is_looking: AtomicBool,
    /// Approximate number of the first new record.
    pub(super) next_guess: u64,
    sequence: Arc<AtomicU64>,
    part: LoadPart,
}

impl YcsbLoad {
    pub(super) fn new(
        settings: &Settings,
        (context, part): (&WorkloadContext<'_>, LoadPart),
        key_scheme: KeyScheme,
        next_guess: u64,
    ) -> Self {
        let ends = (settings.records, next_guess);
        let are_offered = settings.mix.has(OperationChoice::Insert);
        let inserts = Inserts::new(part, ends, are_offered);
        Self {
            connector: Connector::new(context, settings.isolation),
            format: settings.format(key_scheme),
            values: value_generator(settings, key_scheme),
            timed: OperationTimes::of(&settings.mix),
            seed: context.client_seed(),
            popular: Popular { seed: context.seed, hash: key_scheme },
            value_seed: RandomState::new().hash_one(context.seed),
            inserts: Arc::new(inserts),
            next_guess,
            is_looking: AtomicBool::new(!are_offered),
            sequence: Arc::default(),
            part,
            settings: settings.clone(),
        }
    }

    pub(super) fn chooser(&self) -> Chooser {
        let Settings { insert_start, insert_count, records, request, .. } = &self.settings;
        let range = Range {
            first: *insert_start,
            count: *insert_count,
            expected: self.settings.expected_inserts(),
            records: *records,
        };
        Chooser::new(*request, range, self.popular, (&self.sequence, self.part))
    }

    /// Whether the calling client is to look for the end of the records: the first one of a load with inserts.
    pub(super) fn looks_first(&self) -> bool {
        !self.is_looking.swap(true, Ordering::Relaxed)
    }
}

pub(super) fn value_generator(settings: &Settings, key_scheme: KeyScheme) -> ValueGenerator {
    let checkable = settings.checks_integrity.then_some(key_scheme);
    ValueGenerator { lengths: settings.lengths.clone(), checkable }
}
