//! The options of TPC-C.

use plan::OptionReader;

use super::deck::{Mix, TYPES};
use crate::OptionInfo;
use crate::policy::ErrorPolicy;
use crate::sysbench::{IGNORE_ERRORS, ISOLATION, TRANSIENT_ERRORS, option, read_isolation};

/// The options of `tpcc`.
pub(crate) const OPTIONS: &[OptionInfo] = &[
    option("warehouses", "1", "warehouses, the scale: each is about 75 MB"),
    option("partitions", "1", "partitions of each table but item, by a hash of the warehouse"),
    option("foreign_keys", "false", "tables have the foreign keys of clause 1.3"),
    option(
        "mix",
        "deck",
        "deck: a shuffled deck of 23 cards (clause 5.2.4.2); or five weights, such as 45,43,4,4,4, of \
         new_order, payment, order_status, delivery and stock_level, drawn at random",
    ),
    option(
        "home_warehouse",
        "true",
        "each client keeps to one warehouse (clause 2.4.1.1); false: any, drawn for each transaction",
    ),
    option(
        "waits",
        "false",
        "clients wait as terminals do: keying times before, think times after (clause 5.2.5)",
    ),
    option(
        "check",
        "true",
        "the twelve consistency conditions (clause 3.3.2) are checked before and after the load",
    ),
    ISOLATION,
    TRANSIENT_ERRORS,
    IGNORE_ERRORS,
];

/// More than any test bed holds; numbers stay far from the ends of INT.
const MOST_WAREHOUSES: u64 = 1_000_000;
/// The most that the servers have.
const MOST_PARTITIONS: u64 = 8_192;

/// Checked options.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Settings {
    pub(super) warehouses: u64,
    pub(super) partitions: u64,
    pub(super) foreign_keys: bool,
    pub(super) mix: Mix,
    pub(super) home_warehouse: bool,
    pub(super) waits: bool,
    pub(super) check: bool,
    pub(super) isolation: Option<&'static str>,
    pub(super) errors: ErrorPolicy,
}

impl Settings {
    pub(super) fn read(reader: &mut OptionReader<'_>) -> Self {
        let settings = Self {
            warehouses: reader.integer("warehouses", 1, 1..=MOST_WAREHOUSES),
            partitions: reader.integer("partitions", 1, 1..=MOST_PARTITIONS),
            foreign_keys: reader.boolean("foreign_keys", false),
            mix: read_mix(reader),
            home_warehouse: reader.boolean("home_warehouse", true),
            waits: reader.boolean("waits", false),
            check: reader.boolean("check", true),
            isolation: read_isolation(reader),
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
    let words = reader.texts("mix");
    let parts: Vec<&str> = words.iter().flat_map(|text| text.split(',')).map(str::trim).collect();
    if parts.is_empty() || parts == ["deck"] {
        return Mix::Deck;
    }
    let weights: Option<Vec<u32>> =
        parts.iter().map(|part| part.parse().ok().filter(|weight| *weight <= 1_000_000)).collect();
    match weights.and_then(|all| <[u32; TYPES]>::try_from(all).ok()) {
        Some(weights) if weights.iter().any(|weight| *weight > 0) => Mix::Weights(weights),
        _ => {
            let message = "`mix` is neither `deck` nor five weights";
            reader.reject("mix", message, "write \"deck\" or such as \"45,43,4,4,4\"");
            Mix::Deck
        }
    }
}
