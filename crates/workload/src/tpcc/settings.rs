//! The options of TPC-C.

use driver::Isolation;
use plan::OptionReader;
use plan::declared::{Flag, Number, OptionList, Texts, flag, number, texts};

use super::deck::{Mix, TYPES};
use crate::policy::{ErrorPolicy, IGNORE_ERRORS, TRANSIENT_ERRORS};
use crate::session::ISOLATION;

/// More than fits on any test bed; numbers stay far below the limit of INT.
const MOST_WAREHOUSES: u64 = 1_000_000;
const MOST_PARTITIONS: u64 = 8_192;

const WAREHOUSES: Number<u64> =
    number("warehouses", 1, 1..=MOST_WAREHOUSES, "warehouses, the scale: each is about 75 MB");
const PARTITIONS: Number<u64> = number(
    "partitions",
    1,
    1..=MOST_PARTITIONS,
    "partitions of each table but item, by a hash of the warehouse",
);
const FOREIGN_KEYS: Flag =
    flag("foreign_keys", false, "tables have the foreign keys of clause 1.3");
const PRIMARY_KEY: Flag = flag(
    "primary_key",
    false,
    "history has a primary key of its own (h_id), for servers that want one in every table; clause 1.4 asks for none",
);
const MIX: Texts = texts(
    "mix",
    "deck",
    "deck: a shuffled deck of 23 cards (clause 5.2.4.2); or five weights, such as 45,43,4,4,4, of \
     new_order, payment, order_status, delivery and stock_level, drawn at random",
);
const HOME_WAREHOUSE: Flag = flag(
    "home_warehouse",
    true,
    "each client keeps to one warehouse (clause 2.4.1.1); false: any, drawn for each transaction",
);
const WAITS: Flag = flag(
    "waits",
    false,
    "clients wait as terminals do: keying times before, think times after (clause 5.2.5)",
);
const CHECK: Flag = flag(
    "check",
    true,
    "the twelve consistency conditions (clause 3.3.2) are checked before and after the load",
);

pub(crate) const OPTIONS: OptionList = &[
    &WAREHOUSES,
    &PARTITIONS,
    &FOREIGN_KEYS,
    &PRIMARY_KEY,
    &MIX,
    &HOME_WAREHOUSE,
    &WAITS,
    &CHECK,
    &ISOLATION,
    &TRANSIENT_ERRORS,
    &IGNORE_ERRORS,
];

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Settings {
    pub(super) warehouses: u64,
    pub(super) partitions: u64,
    pub(super) foreign_keys: bool,
    pub(super) primary_key: bool,
    pub(super) mix: Mix,
    pub(super) home_warehouse: bool,
    pub(super) waits: bool,
    pub(super) check: bool,
    pub(super) isolation: Option<Isolation>,
    pub(super) errors: ErrorPolicy,
}

impl Settings {
    pub(super) fn read(reader: &mut OptionReader<'_>) -> Self {
        let settings = Self {
            warehouses: WAREHOUSES.read(reader),
            partitions: PARTITIONS.read(reader),
            foreign_keys: FOREIGN_KEYS.read(reader),
            primary_key: PRIMARY_KEY.read(reader),
            mix: read_mix(reader),
            home_warehouse: HOME_WAREHOUSE.read(reader),
            waits: WAITS.read(reader),
            check: CHECK.read(reader),
            isolation: ISOLATION.read(reader),
            errors: ErrorPolicy::read(reader),
        };
        if settings.foreign_keys && settings.partitions > 1 {
            let message = "tables with partitions cannot have foreign keys";
            reader.reject("foreign_keys", message, "leave `partitions` or `foreign_keys` out");
        }
        settings
    }
}

fn read_mix(reader: &mut OptionReader<'_>) -> Mix {
    let parts = MIX.read_list(reader);
    if parts.is_empty() || parts == [MIX.default] {
        return Mix::Deck;
    }
    let weights: Option<Vec<u32>> = parts.iter().map(|part| weight(part)).collect();
    let message = match weights.and_then(|all| <[u32; TYPES]>::try_from(all).ok()) {
        Some(weights) if weights.iter().any(|weight| *weight > 0) => return Mix::Weights(weights),
        Some(_) => "all weights of `mix` are 0: no transaction would run",
        None => "`mix` is neither `deck` nor five weights from 0 to 1000000",
    };
    reader.reject(MIX.name, message, "write \"deck\" or such as \"45,43,4,4,4\"");
    Mix::Deck
}

/// A weight in thousandths: BenchBase has fractions.
fn weight(text: &str) -> Option<u32> {
    let weight: f64 = text.parse().ok()?;
    (0.0..=1e6).contains(&weight).then(|| (weight * 1_000.0).round() as u32)
}
