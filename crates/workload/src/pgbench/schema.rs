//! The four tables, as pgbench 15 makes them.

use driver::{Dialect, HashPartitions};
use measure::Failure;

use super::settings::{PartitionMethod, Settings};
use crate::parallel::unsuitable;
use crate::tables::NamedTable;

/// The owner of the tables, in messages.
pub(super) const WORKLOAD: &str = "pgbench";

pub(super) const TELLERS_PER_BRANCH: u64 = 10;
pub(super) const ACCOUNTS_PER_BRANCH: u64 = 100_000;
/// From this scale on numbers of accounts are 64-bit integers.
const BIG_SCALE: u64 = 20_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Table {
    Branches,
    Tellers,
    Accounts,
    History,
}

use Table::{Accounts, Branches, History, Tellers};

impl Table {
    /// All tables; each after the tables that its foreign keys refer to.
    pub(super) const ALL: [Self; 4] = [Branches, Tellers, Accounts, History];

    pub(super) fn name(self) -> &'static str {
        match self {
            Branches => "pgbench_branches",
            Tellers => "pgbench_tellers",
            Accounts => "pgbench_accounts",
            History => "pgbench_history",
        }
    }

    /// Its columns with their types. `{aid}` stands for the type of an account's number, `{timestamp}` for the
    /// dialect's.
    fn columns(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Branches => &[("bid", "int not null"), ("bbalance", "int"), ("filler", "char(88)")],
            Tellers => &[
                ("tid", "int not null"),
                ("bid", "int"),
                ("tbalance", "int"),
                ("filler", "char(84)"),
            ],
            Accounts => &[
                ("aid", "{aid} not null"),
                ("bid", "int"),
                ("abalance", "int"),
                ("filler", "char(84)"),
            ],
            History => &[
                ("tid", "int"),
                ("bid", "int"),
                ("aid", "{aid}"),
                ("delta", "int"),
                ("mtime", "{timestamp}"),
                ("filler", "char(22)"),
            ],
        }
    }

    /// Its name with those of its columns.
    pub(super) fn with_columns(self) -> NamedTable {
        (self.name().to_owned(), self.columns().iter().map(|(name, _)| *name).collect())
    }

    /// The column of its primary key, and that of its balance; HISTORY has no key.
    pub(super) fn key(self) -> Option<&'static str> {
        match self {
            Branches => Some("bid"),
            Tellers => Some("tid"),
            Accounts => Some("aid"),
            History => None,
        }
    }

    /// Its foreign keys: a column, and the table whose key has the same column.
    fn foreign_keys(self) -> &'static [(&'static str, Self)] {
        match self {
            Branches => &[],
            Tellers | Accounts => &[("bid", Branches)],
            History => &[("bid", Branches), ("tid", Tellers), ("aid", Accounts)],
        }
    }

    /// How many rows it has when it is loaded.
    pub(super) fn rows(self, scale: u64) -> u64 {
        match self {
            Branches => scale,
            Tellers => scale * TELLERS_PER_BRANCH,
            Accounts => scale * ACCOUNTS_PER_BRANCH,
            History => 0,
        }
    }
}

/// Refuses options that need a feature that the system does not have.
///
/// # Errors
/// The option to leave out.
pub(super) fn check_options(settings: &Settings, dialect: &Dialect) -> Result<(), Failure> {
    let missing = |option: &str, what: &str| {
        Err(unsuitable(format!("{option}: this system has no {what}; leave it out")))
    };
    if settings.has_fillfactor() && !dialect.has_fillfactor {
        return missing("fillfactor", "fill factor of tables");
    }
    if settings.unlogged && !dialect.has_unlogged_tables {
        return missing("unlogged", "tables without a log");
    }
    if settings.partitions > 0 && dialect.hash_partitions != Some(HashPartitions::Tables) {
        return missing("partitions", "partitions that are tables of their own");
    }
    if settings.foreign_keys && dialect.enforce_foreign_keys.is_some() {
        return missing("foreign_keys", "foreign keys that every session keeps");
    }
    Ok(())
}

/// The statements that create a table with its partitions.
pub(super) fn create(table: Table, settings: &Settings, dialect: &Dialect) -> Vec<String> {
    let aid = if settings.scale >= BIG_SCALE { "bigint" } else { "int" };
    let columns = table.columns().iter().map(|(name, kind)| {
        let kind = kind.replace("{aid}", aid).replace("{timestamp}", dialect.timestamp);
        format!("{name} {kind}")
    });
    let mut parts: Vec<String> = columns.collect();
    if !dialect.keys_follow_rows {
        parts.extend(table.key().map(|key| format!("PRIMARY KEY ({key})")));
        if settings.foreign_keys {
            parts.extend(table.foreign_keys().iter().map(|(column, to)| {
                format!("FOREIGN KEY ({column}) REFERENCES {} ({column})", to.name())
            }));
        }
    }
    let name = table.name();
    let unlogged = if settings.unlogged { " UNLOGGED" } else { "" };
    let text = format!("CREATE{unlogged} TABLE {name} ({})", parts.join(", "));
    let fill = match dialect.has_fillfactor && table != History {
        true => format!(" WITH (fillfactor={})", settings.fillfactor),
        false => String::new(),
    };
    if table != Accounts || settings.partitions == 0 {
        return vec![format!("{text}{fill}")];
    }
    let method = match settings.partition_method {
        PartitionMethod::Range => "RANGE",
        PartitionMethod::Hash => "HASH",
    };
    let parts = (1..=settings.partitions).map(|part| {
        let bounds = bounds(settings, part);
        format!(
            "CREATE{unlogged} TABLE {name}_{part} PARTITION OF {name} FOR VALUES {bounds}{fill}"
        )
    });
    [format!("{text} PARTITION BY {method} (aid)")].into_iter().chain(parts).collect()
}

/// The accounts of partition `part`, from 1. Ranges have the same number of accounts, the last one maybe fewer.
fn bounds(settings: &Settings, part: u64) -> String {
    let Settings { partitions, scale, .. } = settings;
    if settings.partition_method == PartitionMethod::Hash {
        return format!("WITH (modulus {partitions}, remainder {})", part - 1);
    }
    let size = Accounts.rows(*scale).div_ceil(*partitions);
    let first = match part {
        1 => "minvalue".to_owned(),
        _ => ((part - 1) * size + 1).to_string(),
    };
    let end = match part == *partitions {
        true => "maxvalue".to_owned(),
        false => (part * size + 1).to_string(),
    };
    format!("FROM ({first}) TO ({end})")
}

/// The statements for a table once its rows are there: its key, and statistics.
pub(super) fn finish(table: Table, dialect: &Dialect) -> Vec<String> {
    let key = table.key().and_then(|key| dialect.key_after_load(table.name(), key));
    key.into_iter().chain(dialect.analyze(table.name())).collect()
}

/// The foreign keys that are added when all primary keys are there.
pub(super) fn foreign_keys(settings: &Settings, dialect: &Dialect) -> Vec<String> {
    if !settings.foreign_keys || !dialect.keys_follow_rows {
        return Vec::new();
    }
    let all = Table::ALL.into_iter().flat_map(|table| {
        table.foreign_keys().iter().map(move |(column, to)| (table.name(), column, to.name()))
    });
    all.map(|(table, column, to)| {
        format!(
            "ALTER TABLE {table} ADD CONSTRAINT {table}_{column}_fkey FOREIGN KEY ({column}) REFERENCES {to}"
        )
    })
    .collect()
}
