//! The statements of the operations, prepared on a client's session.

use driver::{Session, Statement, Value};
use measure::{ErrorClass, Failure};

use super::key::KeyFormat;
use super::operations::OperationChoice;
use super::schema::{KEY, Table};
use super::settings::Settings;
use super::values::ValueGenerator;
use crate::random::Random;

/// Failure code: a required record does not exist. The name is YCSB's.
pub(super) const NOT_FOUND: &str = "NOT_FOUND";
/// Failure code: a value is wrong.
pub(super) const UNEXPECTED_STATE: &str = "UNEXPECTED_STATE";

/// Statements of one session. Where a statement names a field, there is one for each field, in their order.
pub(super) struct Statements {
    pub(super) read: Vec<Statement>,
    pub(super) update: Vec<Statement>,
    pub(super) scan: Vec<Statement>,
    pub(super) insert: Vec<Statement>,
}

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

fn is_needed(act: OperationChoice, settings: &Settings) -> bool {
    let is_part = matches!(act, OperationChoice::Read | OperationChoice::Update);
    settings.mix.has(act) || (is_part && settings.mix.has(OperationChoice::ReadModifyWrite))
}

/// How many statements each session prepares.
pub(super) fn count(settings: &Settings) -> usize {
    let needed = OperationChoice::ALL.into_iter().filter(|act| is_needed(*act, settings));
    needed.map(|act| texts(act, settings).len()).sum()
}

impl Statements {
    /// Prepares the statements that the mix needs.
    ///
    /// # Errors
    /// The server's error.
    pub(super) async fn prepare(
        session: &mut Session,
        settings: &Settings,
    ) -> Result<Self, Failure> {
        let needed = OperationChoice::ALL.into_iter().filter(|act| is_needed(*act, settings));
        let (acts, texts): (Vec<_>, Vec<_>) = needed
            .flat_map(|act| texts(act, settings).into_iter().map(move |text| (act, text)))
            .unzip();
        let mut all = Self { read: vec![], update: vec![], scan: vec![], insert: vec![] };
        for (act, statement) in acts.into_iter().zip(session.prepare_all(&texts).await?) {
            match act {
                OperationChoice::Read => all.read.push(statement),
                OperationChoice::Update => all.update.push(statement),
                OperationChoice::Scan => all.scan.push(statement),
                OperationChoice::Insert => all.insert.push(statement),
                OperationChoice::ReadModifyWrite => {}
            }
        }
        Ok(all)
    }
}

/// Keys as SQL literals. They need no escapes: no key holds a special character.
pub(super) fn quoted(keys: &[String]) -> String {
    let quoted: Vec<String> = keys.iter().map(|key| format!("'{key}'")).collect();
    quoted.join(", ")
}

#[cold]
pub(super) fn not_found(key: &str) -> Failure {
    Failure::new(ErrorClass::Server, NOT_FOUND, format!("there is no record {key}"))
}

/// Compares fields of records with the values generated from their keys.
pub(super) struct Checker {
    /// The expected value, built in place.
    wanted: String,
    random: Random,
}

impl Checker {
    pub(super) fn new() -> Self {
        Self { wanted: String::new(), random: Random::new(0) }
    }

    /// Reads the record `key` with `statement`, which selects `field`, or all fields for `None`.
    ///
    /// # Errors
    /// The server's error; a missing record; a wrong value.
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

/// A read of all fields by key, with `?` for the parameter.
pub(super) fn read_all(table: &Table) -> String {
    format!("SELECT {} FROM {} WHERE {KEY} = ?", table.fields.join(", "), table.name)
}

/// Whether each of `numbers` is in the table, in their order.
///
/// # Errors
/// The server's error.
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

/// Keys in one query: 26 KB of text.
const KEYS_A_QUESTION: usize = 1_000;

/// Up to this number, parameters are on the stack, because operations allocate no memory.
pub(super) const FEW: usize = 32;

/// Calls `send` with `count` parameters made by `value`.
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
