//! The operations of the core workload and their shares.

use measure::{Operation, OperationId, OperationKind};
use plan::OptionReader;
use plan::declared::{Number, number};

use crate::random::Random;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OperationChoice {
    Read,
    Update,
    Insert,
    Scan,
    ReadModifyWrite,
}

impl OperationChoice {
    pub(super) const ALL: [Self; 5] =
        [Self::Read, Self::Update, Self::Insert, Self::Scan, Self::ReadModifyWrite];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Update => "update",
            Self::Insert => "insert",
            Self::Scan => "scan",
            Self::ReadModifyWrite => "read_modify_write",
        }
    }

    fn plural(self) -> &'static str {
        match self {
            Self::Read => "reads",
            Self::Update => "updates",
            Self::Insert => "inserts",
            Self::Scan => "scans",
            Self::ReadModifyWrite => "read-modify-writes",
        }
    }

    pub(super) fn statement(self) -> Option<OperationKind> {
        match self {
            Self::Read | Self::Scan => Some(OperationKind::Read),
            Self::Update | Self::Insert => Some(OperationKind::Write),
            Self::ReadModifyWrite => None,
        }
    }
}

pub(super) const READS: Number<f64> = share("readproportion", 0.95, "share of reads");
pub(super) const UPDATES: Number<f64> = share("updateproportion", 0.05, "share of updates");
pub(super) const INSERTS: Number<f64> = share("insertproportion", 0.0, "share of inserts");
pub(super) const SCANS: Number<f64> = share("scanproportion", 0.0, "share of scans");
pub(super) const READ_MODIFY_WRITES: Number<f64> =
    share("readmodifywriteproportion", 0.0, "share of reads of a record with an update after it");

const fn share(name: &'static str, default: f64, meaning: &'static str) -> Number<f64> {
    number(name, default, 0.0..=1e9, meaning)
}

/// Why a load cannot begin.
pub(super) const NOTHING_TO_RUN: &str =
    "no operation has a share: set one of the proportions above 0 to run a load";

/// Shares of operations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Mix {
    /// In the order of [`OperationChoice::ALL`]; their sum is 1, or 0 where all are 0.
    shares: [f64; 5],
}

impl Mix {
    pub(super) fn read(reader: &mut OptionReader<'_>) -> Self {
        let options = [READS, UPDATES, INSERTS, SCANS, READ_MODIFY_WRITES];
        let shares = options.map(|option| option.read(reader));
        let sum: f64 = shares.iter().sum();
        Self { shares: shares.map(|share| share / sum.max(f64::MIN_POSITIVE)) }
    }

    pub(super) fn share(&self, act: OperationChoice) -> f64 {
        self.shares[act as usize]
    }

    /// Whether it only has data to load, as YCSB's files for the load alone.
    pub(super) fn is_empty(&self) -> bool {
        self.acts().next().is_none()
    }

    pub(super) fn has(&self, act: OperationChoice) -> bool {
        self.share(act) > 0.0
    }

    /// Whether values are written.
    pub(super) fn writes(&self) -> bool {
        use OperationChoice::{Insert, ReadModifyWrite, Update};
        [Insert, ReadModifyWrite, Update].into_iter().any(|act| self.has(act))
    }

    pub(super) fn share_of_inserts(&self) -> f64 {
        self.share(OperationChoice::Insert)
    }

    /// The shares in words, such as `50 % reads, 50 % updates`.
    pub(super) fn describe(&self) -> String {
        let percent = |act| (self.share(act) * 10_000.0).round() / 100.0;
        let part = |act: OperationChoice| format!("{} % {}", percent(act), act.plural());
        if self.is_empty() {
            return "no operations".to_owned();
        }
        self.acts().map(part).collect::<Vec<String>>().join(", ")
    }

    /// Operations with a share above 0, in their order.
    pub(super) fn acts(&self) -> impl Iterator<Item = OperationChoice> {
        let mix = *self;
        OperationChoice::ALL.into_iter().filter(move |act| mix.has(*act))
    }

    #[inline]
    pub(super) fn draw(&self, random: &mut Random) -> OperationChoice {
        let mut left = random.next_f64();
        let mut last = OperationChoice::Read;
        for act in self.acts() {
            last = act;
            left -= self.share(act);
            if left < 0.0 {
                break;
            }
        }
        last
    }
}

#[derive(Clone, Debug)]
pub(super) struct OperationTimes {
    pub(super) list: Vec<Operation>,
    ids: [OperationId; 5],
    /// The two statements of a read-modify-write.
    pub(super) parts: [OperationId; 2],
}

impl OperationTimes {
    pub(super) fn of(mix: &Mix) -> Self {
        let mut timed =
            Self { list: Vec::new(), ids: [OperationId(0); 5], parts: [OperationId(0); 2] };
        for act in mix.acts() {
            timed.ids[act as usize] = timed.add(act.name(), OperationKind::Transaction);
        }
        if mix.has(OperationChoice::ReadModifyWrite) {
            timed.parts = [
                timed.add("read_modify_write.read", OperationKind::Read),
                timed.add("read_modify_write.update", OperationKind::Write),
            ];
        }
        timed
    }

    fn add(&mut self, name: &str, kind: OperationKind) -> OperationId {
        self.list.push(Operation::new(name, kind));
        OperationId((self.list.len() - 1) as u16)
    }

    #[inline]
    pub(super) fn id(&self, act: OperationChoice) -> OperationId {
        self.ids[act as usize]
    }
}
