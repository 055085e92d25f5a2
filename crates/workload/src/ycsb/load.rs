//! The load of one trial: the state that its clients share.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use super::chooser::{Chooser, Range};
use super::inserts::Inserts;
use super::key::{KeyFormat, Maker};
use super::operations::{Act, Timed};
use super::settings::Settings;
use super::values::ValueMaker;
use crate::Site;
use crate::session::Connector;

/// The state that the clients of one trial share.
pub(super) struct YcsbLoad {
    pub(super) connector: Connector,
    pub(super) settings: Settings,
    pub(super) format: KeyFormat,
    pub(super) values: ValueMaker,
    pub(super) timed: Timed,
    pub(super) seed: u64,
    /// The seed of random values, another one for each trial. A server writes nothing when the new value equals
    /// the old one, so a second trial with the values of the first would measure something else. Records, fields
    /// and operations come from the plan's seed.
    pub(super) value_seed: u64,
    pub(super) inserts: Arc<Inserts>,
    /// Approximate number of the first new record.
    pub(super) next_guess: u64,
    sequence: Arc<AtomicU64>,
}

impl YcsbLoad {
    pub(super) fn new(settings: &Settings, site: &Site<'_>, maker: Maker, next_guess: u64) -> Self {
        let inserts = Inserts::new(settings.records, settings.mix.has(Act::Insert));
        Self {
            connector: Connector::new(site, settings.isolation),
            format: settings.format(maker),
            values: value_maker(settings, maker),
            timed: Timed::of(&settings.mix),
            seed: site.seed,
            value_seed: RandomState::new().hash_one(site.seed),
            inserts: Arc::new(inserts),
            next_guess,
            sequence: Arc::default(),
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
        Chooser::new(*request, range, self.seed, &self.sequence)
    }
}

/// Generates the values of this data.
pub(super) fn value_maker(settings: &Settings, maker: Maker) -> ValueMaker {
    let checkable = settings.checks_integrity.then_some(maker);
    ValueMaker { lengths: settings.lengths.clone(), checkable }
}
