//! The eight tables of clause 1.4, in the system's dialect.
//!
//! Names and types of columns are those of go-tpc, so that both tools can use each other's databases.

use driver::Dialect;

/// The owner of the tables, in messages.
pub(super) const WORKLOAD: &str = "TPC-H";

/// A table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Table {
    Region,
    Nation,
    Supplier,
    Customer,
    Part,
    PartSupp,
    Orders,
    LineItem,
}

use Table::{Customer, LineItem, Nation, Orders, Part, PartSupp, Region, Supplier};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Key,
    /// Money, a quantity or a rate: two digits after the point.
    Decimal,
    Fixed(u16),
    Variable(u16),
    Date,
}

use Kind::{Date, Decimal, Fixed, Key, Variable};

impl Table {
    /// All tables; each after the tables that its foreign keys refer to.
    pub(super) const ALL: [Self; 8] =
        [Region, Nation, Supplier, Customer, Part, PartSupp, Orders, LineItem];

    pub(super) fn name(self) -> &'static str {
        match self {
            Region => "region",
            Nation => "nation",
            Supplier => "supplier",
            Customer => "customer",
            Part => "part",
            PartSupp => "partsupp",
            Orders => "orders",
            LineItem => "lineitem",
        }
    }

    fn columns(self) -> &'static [(&'static str, Kind)] {
        match self {
            Region => REGION,
            Nation => NATION,
            Supplier => SUPPLIER,
            Customer => CUSTOMER,
            Part => PART,
            PartSupp => PARTSUPP,
            Orders => ORDERS,
            LineItem => LINEITEM,
        }
    }

    pub(super) fn column_names(self) -> Vec<&'static str> {
        self.columns().iter().map(|(name, _)| *name).collect()
    }

    /// The columns of its primary key (clause 1.4.2.2).
    fn key(self) -> &'static str {
        match self {
            Region => "r_regionkey",
            Nation => "n_nationkey",
            Supplier => "s_suppkey",
            Customer => "c_custkey",
            Part => "p_partkey",
            PartSupp => "ps_partkey, ps_suppkey",
            Orders => "o_orderkey",
            LineItem => "l_orderkey, l_linenumber",
        }
    }

    /// Its foreign keys (clause 1.4.2.3) that the primary key does not begin with.
    fn foreign_keys(self) -> &'static [&'static str] {
        match self {
            Region | Part => &[],
            Nation => &["n_regionkey"],
            Supplier => &["s_nationkey"],
            Customer => &["c_nationkey"],
            PartSupp => &["ps_suppkey"],
            Orders => &["o_custkey"],
            LineItem => &["l_partkey, l_suppkey", "l_suppkey"],
        }
    }

    pub(super) fn create(self, dialect: &Dialect) -> String {
        let mut lines: Vec<String> = self
            .columns()
            .iter()
            .map(|(name, kind)| format!("{name} {} NOT NULL", kind.sql(dialect)))
            .collect();
        if self.key_after_load(dialect).is_none() {
            lines.push(format!("PRIMARY KEY ({}){}", self.key(), dialect.clustered_key_hint));
        }
        format!("CREATE TABLE {} ({})", self.name(), lines.join(", "))
    }

    /// The statement that makes its key once the rows are there, where it is not there before.
    pub(super) fn key_after_load(self, dialect: &Dialect) -> Option<String> {
        dialect.key_after_load(self.name(), self.key())
    }

    /// The statements that index its foreign keys, as clause 1.5.7 allows.
    pub(super) fn create_indexes(self) -> Vec<String> {
        let table = self.name();
        let keys = self.foreign_keys().iter();
        keys.map(|columns| {
            let name = columns.replace(", ", "_");
            format!("CREATE INDEX idx_{name} ON {table} ({columns})")
        })
        .collect()
    }
}

impl Kind {
    fn sql(self, dialect: &Dialect) -> String {
        match self {
            Key => "BIGINT".to_owned(),
            Decimal => dialect.decimal.to_owned(),
            Fixed(letters) => format!("CHAR({letters})"),
            Variable(letters) => format!("VARCHAR({letters})"),
            Date => dialect.date.to_owned(),
        }
    }
}

/// The largest number of columns of a table: LINEITEM's.
pub(super) const COLUMNS_MAX: usize = LINEITEM.len();

const REGION: &[(&str, Kind)] =
    &[("r_regionkey", Key), ("r_name", Fixed(25)), ("r_comment", Variable(152))];

const NATION: &[(&str, Kind)] = &[
    ("n_nationkey", Key),
    ("n_name", Fixed(25)),
    ("n_regionkey", Key),
    ("n_comment", Variable(152)),
];

const SUPPLIER: &[(&str, Kind)] = &[
    ("s_suppkey", Key),
    ("s_name", Fixed(25)),
    ("s_address", Variable(40)),
    ("s_nationkey", Key),
    ("s_phone", Fixed(15)),
    ("s_acctbal", Decimal),
    ("s_comment", Variable(101)),
];

const CUSTOMER: &[(&str, Kind)] = &[
    ("c_custkey", Key),
    ("c_name", Variable(25)),
    ("c_address", Variable(40)),
    ("c_nationkey", Key),
    ("c_phone", Fixed(15)),
    ("c_acctbal", Decimal),
    ("c_mktsegment", Fixed(10)),
    ("c_comment", Variable(117)),
];

const PART: &[(&str, Kind)] = &[
    ("p_partkey", Key),
    ("p_name", Variable(55)),
    ("p_mfgr", Fixed(25)),
    ("p_brand", Fixed(10)),
    ("p_type", Variable(25)),
    ("p_size", Key),
    ("p_container", Fixed(10)),
    ("p_retailprice", Decimal),
    ("p_comment", Variable(23)),
];

const PARTSUPP: &[(&str, Kind)] = &[
    ("ps_partkey", Key),
    ("ps_suppkey", Key),
    ("ps_availqty", Key),
    ("ps_supplycost", Decimal),
    ("ps_comment", Variable(199)),
];

const ORDERS: &[(&str, Kind)] = &[
    ("o_orderkey", Key),
    ("o_custkey", Key),
    ("o_orderstatus", Fixed(1)),
    ("o_totalprice", Decimal),
    ("o_orderdate", Date),
    ("o_orderpriority", Fixed(15)),
    ("o_clerk", Fixed(15)),
    ("o_shippriority", Key),
    ("o_comment", Variable(79)),
];

const LINEITEM: &[(&str, Kind)] = &[
    ("l_orderkey", Key),
    ("l_partkey", Key),
    ("l_suppkey", Key),
    ("l_linenumber", Key),
    ("l_quantity", Decimal),
    ("l_extendedprice", Decimal),
    ("l_discount", Decimal),
    ("l_tax", Decimal),
    ("l_returnflag", Fixed(1)),
    ("l_linestatus", Fixed(1)),
    ("l_shipdate", Date),
    ("l_commitdate", Date),
    ("l_receiptdate", Date),
    ("l_shipinstruct", Fixed(25)),
    ("l_shipmode", Fixed(10)),
    ("l_comment", Variable(44)),
];
