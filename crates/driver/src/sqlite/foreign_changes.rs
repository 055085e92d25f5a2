//! What other programs have changed in a database since a copy of it was made.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::{Connection, Error};

use super::written_tables::key;

/// The start of names that SQLite keeps for its own tables and indexes.
const INTERNAL: &str = "sqlite_";

/// The name of a table, index, trigger or view that differs between the two databases, other than those that `written`
/// names; `None` when there is none. Only another program can have changed it.
///
/// Both databases must not change meanwhile.
pub(super) fn changed_by_others(
    copy: &Connection,
    live: &Connection,
    written: &BTreeSet<String>,
) -> Result<Option<String>, Error> {
    let [copied, current] = [schema(copy, written)?, schema(live, written)?];
    let differs = |(name, object): (&String, &Object), other: &BTreeMap<String, Object>| {
        (other.get(name) != Some(object)).then(|| name.clone())
    };
    let changed = current.iter().find_map(|one| differs(one, &copied));
    let changed = changed.or_else(|| copied.iter().find_map(|one| differs(one, &current)));
    if changed.is_some() {
        return Ok(changed);
    }
    for (name, _) in current.iter().filter(|(_, object)| object.has_rows) {
        if rows_differ(copy, live, name)? {
            return Ok(Some(name.clone()));
        }
    }
    Ok(None)
}

/// An entry of the schema.
#[derive(PartialEq, Eq)]
struct Object {
    sql: Option<String>,
    /// Whether it is a table of its own; the rows of a virtual table are in other tables.
    has_rows: bool,
}

/// The objects that do not belong to a table of `written`. Tables, indexes, triggers and views share one name space.
fn schema(
    connection: &Connection,
    written: &BTreeSet<String>,
) -> Result<BTreeMap<String, Object>, Error> {
    let mut select =
        connection.prepare("SELECT name, tbl_name, sql, type, rootpage FROM main.sqlite_schema")?;
    let mut rows = select.query([])?;
    let mut objects = BTreeMap::new();
    while let Some(row) = rows.next()? {
        let (name, table): (String, String) = (row.get(0)?, row.get(1)?);
        let (kind, root): (String, Option<i64>) = (row.get(3)?, row.get(4)?);
        if name.starts_with(INTERNAL) || written.contains(&key(&table)) {
            continue;
        }
        let has_rows = kind == "table" && root.is_some_and(|page| page > 0);
        objects.insert(name, Object { sql: row.get(2)?, has_rows });
    }
    Ok(objects)
}

/// Whether a table of the same columns has other rows in the two databases. Both are read in the order of their keys.
fn rows_differ(copy: &Connection, live: &Connection, table: &str) -> Result<bool, Error> {
    let sql = format!("SELECT * FROM main.\"{}\" NOT INDEXED", table.replace('"', "\"\""));
    let (mut copied, mut current) = (copy.prepare(&sql)?, live.prepare(&sql)?);
    let columns = copied.column_count();
    let (mut copied, mut current) = (copied.raw_query(), current.raw_query());
    loop {
        let (one, other) = match (copied.next()?, current.next()?) {
            (Some(one), Some(other)) => (one, other),
            (one, other) => return Ok(one.is_some() || other.is_some()),
        };
        for column in 0..columns {
            if one.get_ref(column)? != other.get_ref(column)? {
                return Ok(true);
            }
        }
    }
}
