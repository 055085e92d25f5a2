//! The options of the OLTP scripts, named as sysbench's.

use plan::OptionReader;

use crate::OptionInfo;
use crate::policy::ErrorPolicy;
use crate::random::{Shape, read_shape};

/// The options of the OLTP scripts, beside those of the random distribution.
pub(crate) const OPTIONS: &[OptionInfo] = &[
    option("tables", "1", "number of tables, sbtest1 and so on"),
    option("table_size", "10000", "rows in each table"),
    option("point_selects", "10", "point selects in a transaction"),
    option("range_selects", "true", "whether transactions read ranges"),
    option("simple_ranges", "1", "simple range reads in a transaction"),
    option("sum_ranges", "1", "range sums in a transaction"),
    option("order_ranges", "1", "ordered range reads in a transaction"),
    option("distinct_ranges", "1", "ordered distinct range reads in a transaction"),
    option("range_size", "100", "rows that a range read covers"),
    option("index_updates", "1", "updates of an indexed column in a transaction"),
    option("non_index_updates", "1", "updates of a column without index in a transaction"),
    option("delete_inserts", "1", "rows deleted and put back in a transaction"),
    option("skip_trx", "false", "no BEGIN and COMMIT: each statement commits itself"),
    option("auto_inc", "true", "the table numbers its rows itself"),
    option("secondary", "false", "a secondary index on id in place of the primary key"),
    option("create_secondary", "true", "an index on k"),
    option("engine", "innodb", "storage engine, where CREATE TABLE has one"),
    option("create_table_options", "", "text at the end of CREATE TABLE"),
    ISOLATION,
    TRANSIENT_ERRORS,
    IGNORE_ERRORS,
    option("random_points", "10", "select_random_points: values of k in a query"),
    option("number_of_ranges", "10", "select_random_ranges: ranges of k in a query"),
    option("delta", "5", "select_random_ranges: width of a range"),
];

pub(crate) const ISOLATION: OptionInfo = option(
    "isolation",
    "",
    "isolation level of clients: read-uncommitted, read-committed, repeatable-read, serializable",
);
pub(crate) const TRANSIENT_ERRORS: OptionInfo = option(
    "transient_errors",
    "retry",
    "deadlocks, conflicts and lock time-outs: retry the same transaction, or ignore it",
);
pub(crate) const IGNORE_ERRORS: OptionInfo =
    option("ignore_errors", "", "codes of errors that only end their transaction, or all");

pub(crate) const fn option(
    name: &'static str,
    default: &'static str,
    meaning: &'static str,
) -> OptionInfo {
    OptionInfo { name, default, meaning }
}

/// Checked options.
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
    pub(crate) make: TableMake,
    pub(crate) isolation: Option<&'static str>,
    pub(crate) errors: ErrorPolicy,
    pub(crate) random_points: u64,
    pub(crate) number_of_ranges: u64,
    pub(crate) delta: u64,
    pub(crate) shape: Shape,
}

/// How tables are made, beyond their columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TableMake {
    /// The storage engine.
    pub(crate) engine: String,
    /// Whether the plan named the engine itself, so that a system without engines must refuse.
    pub(crate) is_engine_given: bool,
    /// Text at the end of CREATE TABLE.
    pub(crate) options: String,
}

/// Ids and k are 32-bit integers, as in sysbench.
const MOST_ROWS: u64 = i32::MAX as u64;
const MOST_STATEMENTS: u64 = 1_000_000;

impl Settings {
    pub(crate) fn read(reader: &mut OptionReader<'_>) -> Self {
        refuse_reconnect(reader);
        let times = |reader: &mut OptionReader<'_>, name, default| {
            reader.integer(name, default, 0..=MOST_STATEMENTS)
        };
        Self {
            tables: reader.integer("tables", 1, 1..=100_000),
            table_size: reader.integer("table_size", 10_000, 1..=MOST_ROWS),
            point_selects: times(reader, "point_selects", 10),
            range_selects: reader.boolean("range_selects", true),
            simple_ranges: times(reader, "simple_ranges", 1),
            sum_ranges: times(reader, "sum_ranges", 1),
            order_ranges: times(reader, "order_ranges", 1),
            distinct_ranges: times(reader, "distinct_ranges", 1),
            range_size: reader.integer("range_size", 100, 1..=MOST_ROWS),
            index_updates: times(reader, "index_updates", 1),
            non_index_updates: times(reader, "non_index_updates", 1),
            delete_inserts: times(reader, "delete_inserts", 1),
            skip_trx: reader.boolean("skip_trx", false),
            auto_inc: reader.boolean("auto_inc", true),
            secondary: reader.boolean("secondary", false),
            create_secondary: reader.boolean("create_secondary", true),
            make: TableMake::read(reader),
            isolation: read_isolation(reader),
            errors: ErrorPolicy::read(reader),
            random_points: reader.integer("random_points", 10, 1..=60_000),
            number_of_ranges: reader.integer("number_of_ranges", 10, 1..=30_000),
            delta: reader.integer("delta", 5, 0..=MOST_ROWS),
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

/// An isolation level in SQL, when one was asked for.
pub(crate) fn read_isolation(reader: &mut OptionReader<'_>) -> Option<&'static str> {
    let levels = [
        ("read_uncommitted", Some("READ UNCOMMITTED")),
        ("read_committed", Some("READ COMMITTED")),
        ("repeatable_read", Some("REPEATABLE READ")),
        ("serializable", Some("SERIALIZABLE")),
    ];
    reader.choice("isolation", None, &levels)
}

impl TableMake {
    pub(crate) fn read(reader: &mut OptionReader<'_>) -> Self {
        let engine = reader.text("engine");
        let as_in_sysbench = reader.text("mysql_storage_engine");
        let given = engine.or(as_in_sysbench);
        if given.as_deref().is_some_and(|name| !is_plain_name(name)) {
            let help = "write a plain name such as innodb or rocksdb";
            reader.reject("engine", "the storage engine is no plain name", help);
        }
        Self {
            is_engine_given: given.is_some(),
            engine: given.unwrap_or_else(|| "innodb".to_owned()),
            options: reader.text("create_table_options").unwrap_or_default(),
        }
    }
}

fn is_plain_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

impl ErrorPolicy {
    pub(crate) fn read(reader: &mut OptionReader<'_>) -> Self {
        let codes = reader.texts("ignore_errors");
        let codes =
            codes.iter().flat_map(|text| text.split(',')).map(|code| code.trim().to_owned());
        Self {
            retries_transient: reader.choice(
                "transient_errors",
                true,
                &[("retry", true), ("ignore", false)],
            ),
            ignored: codes.filter(|code| !code.is_empty()).collect(),
        }
    }
}
