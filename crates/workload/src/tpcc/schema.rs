//! The nine tables of clause 1.3, in the system's dialect.
//!
//! Names and types of columns are those of go-tpc, so that both tools can use each other's databases. Fixed texts are
//! CHAR and money is DECIMAL(12,2), as clause 1.3.1 requires.

use driver::Dialect;
use measure::Failure;

use super::settings::Settings;
use crate::parallel::unsuitable;
use crate::tables::NamedTable;

/// The owner of the tables, in messages.
pub(super) const WORKLOAD: &str = "TPC-C";

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Table {
    Item,
    Warehouse,
    District,
    Customer,
    History,
    Stock,
    Orders,
    NewOrder,
    OrderLine,
}

use Table::{Customer, District, History, Item, NewOrder, OrderLine, Orders, Stock, Warehouse};

impl Table {
    /// All tables; each after the tables that its foreign keys refer to.
    pub(super) const ALL: [Self; 9] =
        [Item, Warehouse, District, Customer, History, Stock, Orders, NewOrder, OrderLine];

    /// Its name. ORDER is an SQL keyword, so that table is `orders`.
    pub(super) fn name(self) -> &'static str {
        match self {
            Item => "item",
            Warehouse => "warehouse",
            District => "district",
            Customer => "customer",
            History => "history",
            Stock => "stock",
            Orders => "orders",
            NewOrder => "new_order",
            OrderLine => "order_line",
        }
    }

    /// Its columns with their types, in the order in which rows are generated.
    fn columns(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Item => ITEM,
            Warehouse => WAREHOUSE,
            District => DISTRICT,
            Customer => CUSTOMER,
            History => HISTORY,
            Stock => STOCK,
            Orders => ORDERS,
            NewOrder => NEW_ORDER,
            OrderLine => ORDER_LINE,
        }
    }

    /// Its name with those of its columns.
    pub(super) fn with_columns(self) -> NamedTable {
        (self.name().to_owned(), self.column_names())
    }

    /// Names of its columns.
    pub(super) fn column_names(self) -> Vec<&'static str> {
        self.columns().iter().map(|(name, _)| *name).collect()
    }

    /// The columns of its primary key (clause 1.4.2 lets HISTORY have none).
    fn key(self) -> Option<&'static str> {
        match self {
            Item => Some("i_id"),
            Warehouse => Some("w_id"),
            District => Some("d_w_id, d_id"),
            Customer => Some("c_w_id, c_d_id, c_id"),
            History => None,
            Stock => Some("s_w_id, s_i_id"),
            Orders => Some("o_w_id, o_d_id, o_id"),
            NewOrder => Some("no_w_id, no_d_id, no_o_id"),
            OrderLine => Some("ol_w_id, ol_d_id, ol_o_id, ol_number"),
        }
    }

    /// The column by which it is partitioned; ITEM, which is only read, is not partitioned.
    fn partition_column(self) -> Option<&'static str> {
        match self {
            Item => None,
            Warehouse => Some("w_id"),
            District => Some("d_w_id"),
            Customer => Some("c_w_id"),
            History => Some("h_w_id"),
            Stock => Some("s_w_id"),
            Orders => Some("o_w_id"),
            NewOrder => Some("no_w_id"),
            OrderLine => Some("ol_w_id"),
        }
    }

    /// Indexes besides the primary key: name and columns.
    pub(super) fn indexes(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Customer => &[("idx_customer", "c_w_id, c_d_id, c_last, c_first")],
            History => &[("idx_h_w_id", "h_w_id"), ("idx_h_c_w_id", "h_c_w_id")],
            Orders => &[("idx_order", "o_w_id, o_d_id, o_c_id, o_id")],
            _ => &[],
        }
    }

    /// Its foreign keys (clause 1.3.1): their columns, and the columns that they refer to.
    fn foreign_keys(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Item | Warehouse => &[],
            District => &[("d_w_id", "warehouse (w_id)")],
            Customer => &[("c_w_id, c_d_id", "district (d_w_id, d_id)")],
            History => &[
                ("h_c_w_id, h_c_d_id, h_c_id", "customer (c_w_id, c_d_id, c_id)"),
                ("h_w_id, h_d_id", "district (d_w_id, d_id)"),
            ],
            Stock => &[("s_w_id", "warehouse (w_id)"), ("s_i_id", "item (i_id)")],
            Orders => &[("o_w_id, o_d_id, o_c_id", "customer (c_w_id, c_d_id, c_id)")],
            NewOrder => &[("no_w_id, no_d_id, no_o_id", "orders (o_w_id, o_d_id, o_id)")],
            OrderLine => &[
                ("ol_w_id, ol_d_id, ol_o_id", "orders (o_w_id, o_d_id, o_id)"),
                ("ol_supply_w_id, ol_i_id", "stock (s_w_id, s_i_id)"),
            ],
        }
    }
}

/// The largest number of columns of a table: CUSTOMER's.
pub(super) const COLUMNS_MAX: usize = CUSTOMER.len();

/// Stands for the dialect's type of a date with its time.
const TIMESTAMP: &str = "{timestamp}";

const ITEM: &[(&str, &str)] = &[
    ("i_id", "INT NOT NULL"),
    ("i_im_id", "INT"),
    ("i_name", "VARCHAR(24)"),
    ("i_price", "DECIMAL(5,2)"),
    ("i_data", "VARCHAR(50)"),
];

const WAREHOUSE: &[(&str, &str)] = &[
    ("w_id", "INT NOT NULL"),
    ("w_name", "VARCHAR(10)"),
    ("w_street_1", "VARCHAR(20)"),
    ("w_street_2", "VARCHAR(20)"),
    ("w_city", "VARCHAR(20)"),
    ("w_state", "CHAR(2)"),
    ("w_zip", "CHAR(9)"),
    ("w_tax", "DECIMAL(4,4)"),
    ("w_ytd", "DECIMAL(12,2)"),
];

const DISTRICT: &[(&str, &str)] = &[
    ("d_id", "INT NOT NULL"),
    ("d_w_id", "INT NOT NULL"),
    ("d_name", "VARCHAR(10)"),
    ("d_street_1", "VARCHAR(20)"),
    ("d_street_2", "VARCHAR(20)"),
    ("d_city", "VARCHAR(20)"),
    ("d_state", "CHAR(2)"),
    ("d_zip", "CHAR(9)"),
    ("d_tax", "DECIMAL(4,4)"),
    ("d_ytd", "DECIMAL(12,2)"),
    ("d_next_o_id", "INT"),
];

const CUSTOMER: &[(&str, &str)] = &[
    ("c_id", "INT NOT NULL"),
    ("c_d_id", "INT NOT NULL"),
    ("c_w_id", "INT NOT NULL"),
    ("c_first", "VARCHAR(16)"),
    ("c_middle", "CHAR(2)"),
    ("c_last", "VARCHAR(16)"),
    ("c_street_1", "VARCHAR(20)"),
    ("c_street_2", "VARCHAR(20)"),
    ("c_city", "VARCHAR(20)"),
    ("c_state", "CHAR(2)"),
    ("c_zip", "CHAR(9)"),
    ("c_phone", "CHAR(16)"),
    ("c_since", TIMESTAMP),
    ("c_credit", "CHAR(2)"),
    ("c_credit_lim", "DECIMAL(12,2)"),
    ("c_discount", "DECIMAL(4,4)"),
    ("c_balance", "DECIMAL(12,2)"),
    ("c_ytd_payment", "DECIMAL(12,2)"),
    ("c_payment_cnt", "INT"),
    ("c_delivery_cnt", "INT"),
    ("c_data", "VARCHAR(500)"),
];

const HISTORY: &[(&str, &str)] = &[
    ("h_c_id", "INT NOT NULL"),
    ("h_c_d_id", "INT NOT NULL"),
    ("h_c_w_id", "INT NOT NULL"),
    ("h_d_id", "INT NOT NULL"),
    ("h_w_id", "INT NOT NULL"),
    ("h_date", TIMESTAMP),
    ("h_amount", "DECIMAL(6,2)"),
    ("h_data", "VARCHAR(24)"),
];

const STOCK: &[(&str, &str)] = &[
    ("s_i_id", "INT NOT NULL"),
    ("s_w_id", "INT NOT NULL"),
    ("s_quantity", "INT"),
    ("s_dist_01", "CHAR(24)"),
    ("s_dist_02", "CHAR(24)"),
    ("s_dist_03", "CHAR(24)"),
    ("s_dist_04", "CHAR(24)"),
    ("s_dist_05", "CHAR(24)"),
    ("s_dist_06", "CHAR(24)"),
    ("s_dist_07", "CHAR(24)"),
    ("s_dist_08", "CHAR(24)"),
    ("s_dist_09", "CHAR(24)"),
    ("s_dist_10", "CHAR(24)"),
    ("s_ytd", "INT"),
    ("s_order_cnt", "INT"),
    ("s_remote_cnt", "INT"),
    ("s_data", "VARCHAR(50)"),
];

const ORDERS: &[(&str, &str)] = &[
    ("o_id", "INT NOT NULL"),
    ("o_d_id", "INT NOT NULL"),
    ("o_w_id", "INT NOT NULL"),
    ("o_c_id", "INT"),
    ("o_entry_d", TIMESTAMP),
    ("o_carrier_id", "INT"),
    ("o_ol_cnt", "INT"),
    ("o_all_local", "INT"),
];

const NEW_ORDER: &[(&str, &str)] =
    &[("no_o_id", "INT NOT NULL"), ("no_d_id", "INT NOT NULL"), ("no_w_id", "INT NOT NULL")];

const ORDER_LINE: &[(&str, &str)] = &[
    ("ol_o_id", "INT NOT NULL"),
    ("ol_d_id", "INT NOT NULL"),
    ("ol_w_id", "INT NOT NULL"),
    ("ol_number", "INT NOT NULL"),
    ("ol_i_id", "INT NOT NULL"),
    ("ol_supply_w_id", "INT"),
    ("ol_delivery_d", TIMESTAMP),
    ("ol_quantity", "INT"),
    ("ol_amount", "DECIMAL(6,2)"),
    ("ol_dist_info", "CHAR(24)"),
];

/// The CREATE TABLE statement.
///
/// # Errors
/// If the options require a feature that the system does not have.
pub(super) fn create_table(
    table: Table,
    settings: &Settings,
    dialect: &Dialect,
) -> Result<String, Failure> {
    let columns = table.columns().iter().map(|(name, kind)| {
        format!("{name} {}", if *kind == TIMESTAMP { dialect.timestamp } else { kind })
    });
    let mut parts: Vec<String> = columns.collect();
    if settings.primary_key && table == History {
        parts.extend(history_key(dialect));
    }
    if key_after_load(table, settings, dialect).is_none() {
        parts.extend(
            table.key().map(|key| format!("PRIMARY KEY ({key}){}", dialect.clustered_key_hint)),
        );
    }
    if settings.foreign_keys {
        let keys = table.foreign_keys().iter();
        parts.extend(keys.map(|(of, to)| format!("FOREIGN KEY ({of}) REFERENCES {to}")));
    }
    let text = format!("CREATE TABLE {} ({})", table.name(), parts.join(", "));
    match table.partition_column().filter(|_| settings.partitions > 1) {
        Some(column) => dialect
            .partitioned(&text, table.name(), (column, settings.partitions))
            .ok_or_else(|| unsuitable("partitions: this system has no partitions; leave it out")),
        None => Ok(text),
    }
}

/// The key of HISTORY on servers that want one in every table: a number of its own, which no statement names. The
/// column of the partitions has to be in it.
fn history_key(dialect: &Dialect) -> Vec<String> {
    match dialect.auto_increment_column {
        // INTEGER ends at 2,147,483,647.
        Some(kind) => vec![
            format!("h_id {}", kind.replace("INTEGER", "BIGINT").replace("SERIAL", "BIGSERIAL")),
            "PRIMARY KEY (h_id, h_w_id)".to_owned(),
        ],
        None => vec![format!("h_id {}", dialect.auto_increment_key)],
    }
}

/// The key of a table whose rows are there. Foreign keys need those that they refer to from the start.
fn key_after_load(table: Table, settings: &Settings, dialect: &Dialect) -> Option<String> {
    let key = table.key().filter(|_| !settings.foreign_keys)?;
    dialect.key_after_load(table.name(), key)
}

/// The key and the indexes of a table that are created after its rows are loaded.
pub(super) fn create_indexes(table: Table, settings: &Settings, dialect: &Dialect) -> Vec<String> {
    let indexes = table.indexes().iter();
    let name = table.name();
    let indexes =
        indexes.map(|(index, columns)| format!("CREATE INDEX {index} ON {name} ({columns})"));
    key_after_load(table, settings, dialect).into_iter().chain(indexes).collect()
}
