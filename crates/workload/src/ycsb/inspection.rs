//! Inspects an existing table.

use driver::{Dialect, Session};
use measure::{Condition, ConditionResult, ConditionSubject, Failure};

use super::key::KeyScheme;
use super::load::value_generator;
use super::operations::OperationChoice;
use super::request::Request;
use super::schema::{KEY, Table};
use super::settings::Settings;
use super::statements::{Checker, present, read_all};
use crate::parallel::{as_integer, as_text, columns, unsuitable};
use crate::random::Random;

/// Records in a sample.
const SAMPLED: u64 = 200;
/// The number of newest records that are checked after a load.
const NEWEST: u64 = 5_000;

/// With this many times `recordcount` rows, a table has far more of them.
const FAR_MORE: u64 = 2;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FoundTable {
    /// The tool whose key scheme the table uses.
    pub(super) key_scheme: KeyScheme,
    pub(super) rows: u64,
    pub(super) holds: TableContents,
}

/// Which of the wanted records a table holds, judged by a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TableContents {
    All,
    /// Some of them; or the table is empty.
    Part,
    /// None of them, but other records.
    Others,
}

/// Inspects the table's columns, keys and rows; `None` if the table does not exist.
///
/// # Errors
/// If the table does not fit these properties.
pub(super) async fn inspect(
    session: &mut Session,
    settings: &Settings,
    dialect: &Dialect,
) -> Result<Option<FoundTable>, Failure> {
    let table = &settings.table;
    let found = columns(session, dialect.list_columns, &table.name).await?;
    if found.is_empty() {
        return Ok(None);
    }
    let is_there = |name: &&str| found.iter().any(|column| column.eq_ignore_ascii_case(name));
    let missing: Vec<&str> = table.columns().into_iter().filter(|name| !is_there(name)).collect();
    if !missing.is_empty() {
        return Err(unsuitable(format!(
            "table {} has no column {} (it has {}); set fieldcount to what is there, or recreate it \
             with `--existing replace`",
            table.name,
            missing.join(", "),
            found.join(", ")
        )));
    }
    if let Some(list) = dialect.list_text_limits.filter(|_| settings.mix.writes()) {
        check_lengths(session, table, list).await?;
    }
    let counted = session.rows(&format!("SELECT COUNT(*) FROM {}", table.name)).await?;
    let rows = as_integer(counted.first().and_then(|row| row.first()));
    let rows = rows.map_or(0, i64::unsigned_abs);
    let (key_scheme, known) = recognize(session, settings).await?;
    let numbers: Vec<u64> = sample(settings, 0).collect();
    let there = present(session, table, &settings.format(key_scheme), &numbers).await?;
    let holds = match (known, there.into_iter().all(|there| there)) {
        (_, true) if rows >= settings.insert_count => TableContents::All,
        (0, _) if rows > 0 => TableContents::Others,
        _ => TableContents::Part,
    };
    Ok(Some(FoundTable { key_scheme, rows, holds }))
}

/// Checks that values fit into the columns, before a client fails with the first that does not.
async fn check_lengths(session: &mut Session, table: &Table, list: &str) -> Result<(), Failure> {
    let limits = session.rows(&list.replace("{table}", &table.name)).await?;
    let wanted = i64::try_from(table.field_bytes).unwrap_or(i64::MAX);
    for limit in &limits {
        let (Some(name), Some(most)) = (as_text(limit.first()), as_integer(limit.get(1))) else {
            continue;
        };
        let is_field = table.fields.iter().any(|field| field.eq_ignore_ascii_case(&name));
        if is_field && most < wanted {
            return Err(unsuitable(format!(
                "column {name} of table {} takes {most} letters, and values have up to {wanted}; set fieldlength to \
                 what fits, or recreate the table with `--existing replace`",
                table.name
            )));
        }
    }
    Ok(())
}

/// The table's key scheme, and how many of the inspected records have such keys. If the properties name no tool, the
/// scheme with more matches.
async fn recognize(
    session: &mut Session,
    settings: &Settings,
) -> Result<(KeyScheme, usize), Failure> {
    let end = settings.insert_start + settings.insert_count;
    let firsts = [0, settings.insert_start].map(|first| first..(first + SAMPLED).min(end));
    let mut random = Random::new(0);
    let mut numbers: Vec<u64> = (0..SAMPLED).map(|_| random.below(end)).collect();
    numbers.extend(firsts.into_iter().flatten());
    if settings.is_hashed {
        // Both tools give record 0 the same key: its bytes are the same in either order.
        numbers.retain(|number| *number != 0);
    }
    let mut best = (settings.key_scheme.unwrap_or(KeyScheme::ALL[0]), 0);
    for key_scheme in KeyScheme::ALL
        .into_iter()
        .filter(|key_scheme| settings.key_scheme.is_none_or(|it| it == *key_scheme))
    {
        let there =
            present(session, &settings.table, &settings.format(key_scheme), &numbers).await?;
        let count = there.into_iter().filter(|there| *there).count();
        if count > best.1 {
            best = (key_scheme, count);
        }
    }
    Ok(best)
}

fn sample(settings: &Settings, seed: u64) -> impl Iterator<Item = u64> {
    let mut random = Random::new(seed);
    let (start, count) = (settings.insert_start, settings.insert_count);
    (0..SAMPLED.min(count)).map(move |_| start + random.below(count))
}

/// A remark on a table with far more rows than `recordcount`, which are then hardly asked for: such a run measures a
/// smaller working set than the table suggests.
pub(super) fn remark(settings: &Settings, found: FoundTable) -> Option<String> {
    let Settings { table, records, request, mix, .. } = settings;
    let follows_inserts = matches!(request, Request::Latest | Request::Exponential { .. })
        && mix.has(OperationChoice::Insert);
    (found.rows / FAR_MORE >= *records && !follows_inserts).then(|| {
        format!(
            "table {} has {} rows and `recordcount` is {records}: only the records up to there are \
             asked for, and none of the others",
            table.name, found.rows
        )
    })
}

/// The failure for a table that holds other records than the properties describe.
pub(super) fn not_ours(settings: &Settings, found: FoundTable) -> Failure {
    unsuitable(format!(
        "table {} has {} rows, and none that was looked for has a key like {}; see insertorder, zeropadding, \
         keyprefix and compatibility, or recreate it with `--existing replace`",
        settings.table.name,
        found.rows,
        settings.format(found.key_scheme).key(settings.insert_start)
    ))
}

/// Checks that the records exist, by their number and by a sample, and checks their values where possible.
///
/// # Errors
/// If records are missing or wrong; the server's error.
pub(super) async fn check(
    session: &mut Session,
    settings: &Settings,
    found: FoundTable,
    seed: u64,
) -> Result<(), Failure> {
    let name = &settings.table.name;
    let wanted = settings.insert_count;
    if found.rows < wanted {
        return Err(unsuitable(format!(
            "table {name} has {} rows, not {wanted}; `--existing reuse` loads those that are missing, \
             `--existing replace` all",
            found.rows
        )));
    }
    let format = settings.format(found.key_scheme);
    let numbers: Vec<u64> = sample(settings, seed).collect();
    let there = present(session, &settings.table, &format, &numbers).await?;
    if let Some(at) = there.iter().position(|there| !there) {
        return Err(unsuitable(format!(
            "table {name} has no {KEY} {}, the key of record {} by {}: other keys were loaded; see \
             insertorder, zeropadding, keyprefix and insertstart, or recreate it with \
             `--existing replace`",
            format.key(numbers[at]),
            numbers[at],
            if settings.is_hashed { found.key_scheme.name() } else { "its number" }
        )));
    }
    if settings.checks_integrity {
        check_values(session, settings, found.key_scheme, &numbers).await.map_err(|failure| {
            let message = format!(
                "table {name} was not loaded with dataintegrity: {}; leave that out, or recreate it \
                 with `--existing replace`",
                failure.message
            );
            failure.with_message(message)
        })?;
    }
    Ok(())
}

/// Compares records with the values generated from their keys.
async fn check_values(
    session: &mut Session,
    settings: &Settings,
    key_scheme: KeyScheme,
    numbers: &[u64],
) -> Result<(), Failure> {
    let (values, format) = (value_generator(settings, key_scheme), settings.format(key_scheme));
    let statement = session.prepare(&read_all(&settings.table)).await?;
    let mut checker = Checker::new();
    let made = (&settings.table, &values);
    for number in numbers {
        checker.read(session, &statement, made, &format.key(*number), None).await?;
    }
    Ok(())
}

/// The conditions after a load that has inserted every record below `end`: all of them exist, and their values are
/// right where they can be checked.
///
/// # Errors
/// The server's error.
pub(super) async fn conditions(
    session: &mut Session,
    settings: &Settings,
    key_scheme: KeyScheme,
    end: u64,
) -> Result<Vec<Condition>, Failure> {
    let mut conditions = vec![records_are_there(session, settings, key_scheme, end).await?];
    if settings.checks_integrity {
        let mut numbers: Vec<u64> = sample(settings, end).collect();
        numbers.extend(newest(settings, end));
        let checked = check_values(session, settings, key_scheme, &numbers).await;
        let verdict = match checked {
            Ok(()) => ConditionResult::Holds,
            Err(failure) if failure.key.code.is_empty() => return Err(failure),
            Err(failure) => ConditionResult::Broken(failure.message.clone()),
        };
        let meaning = "values are what their keys make of them".to_owned();
        let (about, name) = (ConditionSubject::Data, "values".to_owned());
        conditions.push(Condition { about, name, meaning, verdict });
    }
    Ok(conditions)
}

/// The newest records that clients inserted and that must exist.
fn newest(settings: &Settings, end: u64) -> std::ops::Range<u64> {
    end.saturating_sub(NEWEST).max(settings.records)..end.max(settings.records)
}

async fn records_are_there(
    session: &mut Session,
    settings: &Settings,
    key_scheme: KeyScheme,
    end: u64,
) -> Result<Condition, Failure> {
    let numbers: Vec<u64> = sample(settings, end).chain(newest(settings, end)).collect();
    let format = settings.format(key_scheme);
    let there = present(session, &settings.table, &format, &numbers).await?;
    let missing = numbers.iter().zip(there).find(|(_, there)| !there).map(|(number, _)| *number);
    let verdict = match missing {
        None => ConditionResult::Holds,
        Some(number) => ConditionResult::Broken(format!(
            "record {number}, {}, is not there",
            format.key(number)
        )),
    };
    let meaning =
        "records that were loaded, or whose insert was acknowledged, are there".to_owned();
    let (about, name) = (ConditionSubject::Data, "records".to_owned());
    Ok(Condition { about, name, meaning, verdict })
}
