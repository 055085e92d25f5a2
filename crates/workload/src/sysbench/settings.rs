//! The options of the OLTP scripts, named as in sysbench.

use driver::Isolation;
use plan::OptionReader;
use plan::declared::{Flag, Number, OptionList, Text, flag, number, text};

use crate::policy::{ErrorPolicy, IGNORE_ERRORS, TRANSIENT_ERRORS};
use crate::random::{Shape, read_shape};
use crate::session::ISOLATION;

/// Ids and k are 32-bit integers, as in sysbench.
const MOST_ROWS: u64 = i32::MAX as u64;
const MOST_STATEMENTS: u64 = 1_000_000;

const TABLES: Number<u64> = number("tables", 1, 1..=100_000, "number of tables, sbtest1 and so on");
const TABLE_SIZE: Number<u64> = number("table_size", 10_000, 1..=MOST_ROWS, "rows in each table");
const POINT_SELECTS: Number<u64> = times("point_selects", 10, "point selects in a transaction");
const RANGE_SELECTS: Flag = flag("range_selects", true, "whether transactions read ranges");
const SIMPLE_RANGES: Number<u64> = times("simple_ranges", 1, "simple range reads in a transaction");
const SUM_RANGES: Number<u64> = times("sum_ranges", 1, "range sums in a transaction");
const ORDER_RANGES: Number<u64> = times("order_ranges", 1, "ordered range reads in a transaction");
const DISTINCT_RANGES: Number<u64> =
    times("distinct_ranges", 1, "ordered distinct range reads in a transaction");
const RANGE_SIZE: Number<u64> =
    number("range_size", 100, 1..=MOST_ROWS, "rows that a range read covers");
const INDEX_UPDATES: Number<u64> =
    times("index_updates", 1, "updates of an indexed column in a transaction");
const NON_INDEX_UPDATES: Number<u64> =
    times("non_index_updates", 1, "updates of a column without index in a transaction");
const DELETE_INSERTS: Number<u64> =
    times("delete_inserts", 1, "rows deleted and put back in a transaction");
const SKIP_TRX: Flag =
    flag("skip_trx", false, "no BEGIN and COMMIT: each statement commits itself");
const AUTO_INC: Flag = flag("auto_inc", true, "the table numbers its rows itself");
const SECONDARY: Flag =
    flag("secondary", false, "a secondary index on id in place of the primary key");
const CREATE_SECONDARY: Flag = flag("create_secondary", true, "an index on k");
const WARM_CACHE: Flag = flag(
    "warm_cache",
    false,
    "all tables are read once before the first load, as by sysbench's command prewarm",
);
pub(super) const ENGINE: Text =
    text("engine", "innodb", "storage engine, where CREATE TABLE has one");
pub(super) const CREATE_TABLE_OPTIONS: Text =
    text("create_table_options", "", "text at the end of CREATE TABLE");
const RANDOM_POINTS: Number<u64> =
    number("random_points", 10, 1..=60_000, "select_random_points: values of k in a query");
const NUMBER_OF_RANGES: Number<u64> =
    number("number_of_ranges", 10, 1..=30_000, "select_random_ranges: ranges of k in a query");
const DELTA: Number<u64> =
    number("delta", 5, 0..=MOST_ROWS, "select_random_ranges: width of a range");

/// How often a statement occurs in a transaction.
const fn times(name: &'static str, default: u64, meaning: &'static str) -> Number<u64> {
    number(name, default, 0..=MOST_STATEMENTS, meaning)
}

/// The options of the OLTP scripts, without those of the random distribution.
pub(crate) const OPTIONS: OptionList = &[
    &TABLES,
    &TABLE_SIZE,
    &POINT_SELECTS,
    &RANGE_SELECTS,
    &SIMPLE_RANGES,
    &SUM_RANGES,
    &ORDER_RANGES,
    &DISTINCT_RANGES,
    &RANGE_SIZE,
    &INDEX_UPDATES,
    &NON_INDEX_UPDATES,
    &DELETE_INSERTS,
    &SKIP_TRX,
    &AUTO_INC,
    &SECONDARY,
    &CREATE_SECONDARY,
    &WARM_CACHE,
    &ENGINE,
    &CREATE_TABLE_OPTIONS,
    &ISOLATION,
    &TRANSIENT_ERRORS,
    &IGNORE_ERRORS,
    &RANDOM_POINTS,
    &NUMBER_OF_RANGES,
    &DELTA,
];

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Settings {
    pub(crate) tables: u64,
    pub(crate) table_size: u64,
    pub(crate) point_selects: u64,
    pub(crate) range_selects: bool,
    pub(crate) simple_ranges: u64,
    pub(crate) sum_ranges: u64,
    pub(crate) order_ranges: u64,
    pub(crate) distinct_ranges: u64,
    pub(crate) range_size: u64,
    pub(crate) index_updates: u64,
    pub(crate) non_index_updates: u64,
    pub(crate) delete_inserts: u64,
    pub(crate) skip_trx: bool,
    pub(crate) auto_inc: bool,
    pub(crate) secondary: bool,
    pub(crate) create_secondary: bool,
    pub(crate) warm_cache: bool,
    pub(crate) make: TableMake,
    pub(crate) isolation: Option<Isolation>,
    pub(crate) errors: ErrorPolicy,
    pub(crate) random_points: u64,
    pub(crate) number_of_ranges: u64,
    pub(crate) delta: u64,
    pub(crate) shape: Shape,
}

/// How tables are created, apart from their columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TableMake {
    pub(crate) engine: String,
    /// Whether the plan names the engine; a system without engines must then refuse it.
    pub(crate) is_engine_given: bool,
    /// Text at the end of CREATE TABLE.
    pub(crate) options: String,
}

impl Settings {
    pub(crate) fn read(reader: &mut OptionReader<'_>) -> Self {
        refuse_reconnect(reader);
        Self {
            tables: TABLES.read(reader),
            table_size: TABLE_SIZE.read(reader),
            point_selects: POINT_SELECTS.read(reader),
            range_selects: RANGE_SELECTS.read(reader),
            simple_ranges: SIMPLE_RANGES.read(reader),
            sum_ranges: SUM_RANGES.read(reader),
            order_ranges: ORDER_RANGES.read(reader),
            distinct_ranges: DISTINCT_RANGES.read(reader),
            range_size: RANGE_SIZE.read(reader),
            index_updates: INDEX_UPDATES.read(reader),
            non_index_updates: NON_INDEX_UPDATES.read(reader),
            delete_inserts: DELETE_INSERTS.read(reader),
            skip_trx: SKIP_TRX.read(reader),
            auto_inc: AUTO_INC.read(reader),
            secondary: SECONDARY.read(reader),
            create_secondary: CREATE_SECONDARY.read(reader),
            warm_cache: WARM_CACHE.read(reader),
            make: TableMake::read(reader),
            isolation: ISOLATION.read(reader),
            errors: ErrorPolicy::read(reader),
            random_points: RANDOM_POINTS.read(reader),
            number_of_ranges: NUMBER_OF_RANGES.read(reader),
            delta: DELTA.read(reader),
            shape: read_shape(reader),
        }
    }
}

fn refuse_reconnect(reader: &mut OptionReader<'_>) {
    if reader.is_given("reconnect") {
        let help = "leave it out: a client keeps its connection for the whole trial";
        reader.reject("reconnect", "`reconnect` is not offered yet", help);
    }
}

impl TableMake {
    /// For titles: the engine, unless it is the default.
    pub(super) fn describe_engine(&self) -> String {
        match self.engine.to_ascii_lowercase() {
            engine if engine == ENGINE.default => String::new(),
            engine => format!(", ENGINE = {engine}"),
        }
    }

    pub(crate) fn read(reader: &mut OptionReader<'_>) -> Self {
        let engine = reader.text(ENGINE.name);
        let as_in_sysbench = reader.text("mysql_storage_engine");
        let given = engine.or(as_in_sysbench);
        if given.as_deref().is_some_and(|name| !is_plain_name(name)) {
            let help = "write a plain name such as innodb or rocksdb";
            reader.reject(ENGINE.name, "the storage engine is not a plain name", help);
        }
        Self {
            is_engine_given: given.is_some(),
            engine: given.unwrap_or_else(|| ENGINE.default.to_owned()),
            options: CREATE_TABLE_OPTIONS.read(reader),
        }
    }
}

fn is_plain_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}
