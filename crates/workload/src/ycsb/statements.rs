//! The statements of the operations, made ready on a client's session.

use driver::{Session, Statement, Value};
use measure::{ErrorClass, Failure};

use super::key::KeyFormat;
use super::operations::OperationChoice;
use super::schema::{KEY, Table};
use super::settings::Settings;
use super::values::ValueGenerator;
use crate::random::Random;

/// Code of a failure: a record that must be there is not. YCSB calls it so.
pub(super) const NOT_FOUND: &str = "NOT_FOUND";
/// Code of a failure: a value is not what it has to be.
pub(super) const UNEXPECTED_STATE: &str = "UNEXPECTED_STATE";

/// Statements of one session; of those by field one for each field, in their order.
pub(super) struct Statements {
    pub(super) read: Vec<Statement>,
    pub(super) update: Vec<Statement>,
    pub(super) scan: Vec<Statement>,
    pub(super) insert: Vec<Statement>,
}

/// What one operation needs, as text with `?`.
fn texts(act: OperationChoice, settings: &Settings) -> Vec<String> {
    let Table { name, fields, .. } = &settings.table;
    let chosen = |reads_all: bool| match reads_all {
        true => vec![fields.join(", ")],
        false => fields.clone(),
    };
    let selects = chosen(settings.reads_all_fields).into_iter();
    match act {
        OperationChoice::Read => {
            selects.map(|what| format!("SELECT {what} FROM {name} WHERE {KEY} = ?")).collect()
        }
        OperationChoice::Scan => selects
            .map(|what| {
                format!("SELECT {what} FROM {name} WHERE {KEY} >= ? ORDER BY {KEY} LIMIT ?")
            })
            .collect(),
        OperationChoice::Update => {
            let sets: Vec<String> = fields.iter().map(|field| format!("{field} = ?")).collect();
            let sets = if settings.writes_all_fields { vec![sets.join(", ")] } else { sets };
            let update = |set: String| format!("UPDATE {name} SET {set} WHERE {KEY} = ?");
            sets.into_iter().map(update).collect()
        }
        OperationChoice::Insert => {
            let columns = settings.table.columns();
            let marks = vec!["?"; columns.len()].join(", ");
            vec![format!("INSERT INTO {name} ({}) VALUES ({marks})", columns.join(", "))]
        }
        OperationChoice::ReadModifyWrite => Vec::new(),
    }
}

/// Whether the mix needs the statements of an operation.
fn is_needed(act: OperationChoice, settings: &Settings) -> bool {
    let is_part = matches!(act, OperationChoice::Read | OperationChoice::Update);
    settings.mix.has(act) || (is_part && settings.mix.has(OperationChoice::ReadModifyWrite))
}

/// How many statements each session makes ready.
pub(super) fn count(settings: &Settings) -> usize {
    let needed = OperationChoice::ALL.into_iter().filter(|act| is_needed(*act, settings));
    needed.map(|act| texts(act, settings).len()).sum()
}

impl Statements {
    /// Makes ready what the mix needs.
    ///
    /// # Errors
    /// What the server says.
    pub(super) async fn prepare(
        session: &mut Session,
        settings: &Settings,
    ) -> Result<Self, Failure> {
        let mut all = Self { read: vec![], update: vec![], scan: vec![], insert: vec![] };
        for act in OperationChoice::ALL.into_iter().filter(|act| is_needed(*act, settings)) {
            for text in texts(act, settings) {
                let statement = session.prepare(&text).await?;
                match act {
                    OperationChoice::Read => all.read.push(statement),
                    OperationChoice::Update => all.update.push(statement),
                    OperationChoice::Scan => all.scan.push(statement),
                    OperationChoice::Insert => all.insert.push(statement),
                    OperationChoice::ReadModifyWrite => {}
                }
            }
        }
        Ok(all)
    }
}

/// Keys that a statement holds as text: all their letters are plain.
pub(super) fn quoted(keys: &[String]) -> String {
    let quoted: Vec<String> = keys.iter().map(|key| format!("'{key}'")).collect();
    quoted.join(", ")
}

/// A record that has to be there was not found.
#[cold]
pub(super) fn not_found(key: &str) -> Failure {
    Failure::new(ErrorClass::Server, NOT_FOUND, format!("there is no record {key}"))
}

/// Compares fields of records with what their keys make of them.
pub(super) struct Checker {
    /// What is wanted, made in place.
    wanted: String,
    random: Random,
}

impl Checker {
    pub(super) fn new() -> Self {
        Self { wanted: String::new(), random: Random::new(0) }
    }

    /// Reads the record `key` by `statement`, which asks for `field`, or for all of them.
    ///
    /// # Errors
    /// What the server says; a record that is not there, a value that is another one.
    pub(super) async fn read(
        &mut self,
        session: &mut Session,
        statement: &Statement,
        (table, values): (&Table, &ValueGenerator),
        key: &str,
        field: Option<usize>,
    ) -> Result<(), Failure> {
        session.fetch(statement, &[Value::Text(key)]).await?;
        let rows = session.fetched();
        if rows.is_empty() {
            return Err(not_found(key));
        }
        let asked = field.map_or(0..table.fields.len(), |field| field..field + 1);
        for (column, field) in asked.enumerate() {
            let name = &table.field_names[field];
            values.write(key, name, &mut self.random, &mut self.wanted);
            let seen = rows.text(0, column);
            if seen != Some(self.wanted.as_str()) {
                return Err(unexpected(&table.fields[field], key, seen, &self.wanted));
            }
        }
        Ok(())
    }
}

#[cold]
fn unexpected(field: &str, key: &str, seen: Option<&str>, wanted: &str) -> Failure {
    let seen = seen.map_or("NULL".to_owned(), |seen| format!("{seen:?}"));
    let message = format!("{field} of record {key} is {seen}, not {wanted:?}");
    Failure::new(ErrorClass::Server, UNEXPECTED_STATE, message)
}

/// A read of all fields by key, as text with `?`.
pub(super) fn read_all(table: &Table) -> String {
    format!("SELECT {} FROM {} WHERE {KEY} = ?", table.fields.join(", "), table.name)
}

/// Which of `numbers` are in the table, in their order.
///
/// # Errors
/// What the server says.
pub(super) async fn present(
    session: &mut Session,
    table: &Table,
    format: &KeyFormat,
    numbers: &[u64],
) -> Result<Vec<bool>, Failure> {
    let mut found = std::collections::HashSet::new();
    let keys: Vec<String> = numbers.iter().map(|number| format.key(*number)).collect();
    for keys in keys.chunks(KEYS_A_QUESTION) {
        let list = quoted(keys);
        let sql = format!("SELECT {KEY} FROM {} WHERE {KEY} IN ({list})", table.name);
        let rows = session.rows(&sql).await?;
        found.extend(rows.iter().filter_map(|row| crate::parallel::as_text(row.first())));
    }
    Ok(keys.iter().map(|key| found.contains(key)).collect())
}

/// 26 KB of text.
const KEYS_A_QUESTION: usize = 1_000;

/// Parameters on the stack up to so many, for nothing is allocated for an operation.
pub(super) const FEW: usize = 32;

/// Lends `count` parameters that `value` makes to `send`.
#[inline]
pub(super) fn with_values<'v, T>(
    count: usize,
    value: impl Fn(usize) -> Value<'v>,
    send: impl FnOnce(&[Value<'v>]) -> T,
) -> T {
    if count <= FEW {
        let mut few = [Value::Null; FEW];
        few[..count].iter_mut().enumerate().for_each(|(index, place)| *place = value(index));
        return send(&few[..count]);
    }
    let many: Vec<Value<'v>> = (0..count).map(value).collect();
    send(&many)
}
