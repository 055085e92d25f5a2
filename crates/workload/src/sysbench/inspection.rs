//! Inspects existing tables before anything is changed.

use measure::Failure;

use super::schema;
use crate::parallel::{self, unsuitable};
use crate::{WorkloadContext, tables};

/// The owner of the tables, in messages.
pub(super) const WORKLOAD: &str = "sysbench";

/// The most tables that are looked for beside those asked for.
const BESIDE_MAX: u64 = 1_000;

/// The columns that the tables of all scripts have.
pub(super) const COMMON_COLUMNS: [&str; 2] = ["id", "k"];

/// Which of tables sbtest1 to sbtest`tables` exist.
///
/// # Errors
/// The server's error.
pub(super) fn existing(context: &WorkloadContext<'_>, tables: u64) -> Result<Vec<u64>, Failure> {
    let there = tables::existing(context, (1..=tables).map(schema::name).collect())?;
    Ok(there.into_iter().map(|place| place as u64 + 1).collect())
}

/// How many tables follow sbtest`tables` without a gap, up to a thousand.
///
/// # Errors
/// The server's error.
pub(super) fn beside(context: &WorkloadContext<'_>, tables: u64) -> Result<u64, Failure> {
    let next = (1..=BESIDE_MAX).map(|more| schema::name(tables + more)).collect();
    let there = tables::existing(context, next)?;
    Ok(there.iter().zip(0..).take_while(|(place, wanted)| **place == *wanted).count() as u64)
}

/// The note that more tables exist than are used.
pub(super) fn more(wanted: u64, beside: u64) -> String {
    let all = wanted + beside;
    let (first, last) = (schema::name(1), schema::name(all));
    let verb = if wanted == 1 { "is" } else { "are" };
    format!("{all} tables exist, {first} to {last}: {wanted} of them {verb} used")
}

/// Checks that a table has the columns that the statements use.
///
/// # Errors
/// The missing columns.
pub(super) fn check_columns(table: u64, found: &[String], needed: &[&str]) -> Result<(), Failure> {
    tables::check_columns(WORKLOAD, &schema::name(table), found, needed)
}

/// Tables with the columns that show whose they are.
pub(super) fn named(tables: &[u64]) -> Vec<tables::NamedTable> {
    tables.iter().map(|table| (schema::name(*table), COMMON_COLUMNS.to_vec())).collect()
}

/// Checks that tables may be dropped.
///
/// # Errors
/// The first one that is not sysbench's.
pub(super) fn refuse_foreign(context: &WorkloadContext<'_>, tables: &[u64]) -> Result<(), Failure> {
    tables::check_all(context, WORKLOAD, named(tables))
}

/// The names of some tables, the last ones counted where they are many.
fn names(tables: &[u64]) -> Vec<String> {
    let shown = 5;
    let mut names: Vec<String> = tables.iter().take(shown).map(|&t| schema::name(t)).collect();
    if tables.len() > shown {
        names.push(format!("{} more", tables.len() - shown));
    }
    names
}

/// Some tables as the subject of a sentence, verb included.
pub(super) fn subject(tables: &[u64]) -> String {
    parallel::subject(&names(tables))
}

/// The failure that names existing tables and the options that help.
pub(super) fn refusal(existing: &[u64]) -> Failure {
    parallel::already_there(&names(existing))
}

/// The note that existing tables are used because they are as they would be made.
pub(super) fn matching(existing: &[u64]) -> String {
    parallel::matching(&names(existing))
}

/// The failure for tables of which some exist and some do not.
pub(super) fn incomplete(existing: &[u64], missing: &[u64]) -> Failure {
    let verb = if existing.len() == 1 { "exists" } else { "exist" };
    let (there, absent) = (parallel::names(&names(existing)), names(missing).join(", "));
    unsuitable(format!(
        "{there} {verb}, but not {absent}; `--existing reuse` makes what is missing, `--existing replace` recreates \
         all",
    ))
}

/// The failure for more tables than asked for.
pub(super) fn too_many(wanted: u64, beside: u64) -> Failure {
    let all = wanted + beside;
    unsuitable(format!(
        "{all} tables exist, {} to {}, not {wanted}; say `--tables {all}`, or `--existing reuse` to use only the first",
        schema::name(1),
        schema::name(all)
    ))
}

/// The failure for an existing table with more columns than `bulk_insert` fills.
pub(super) fn not_for_bulk_insert(table: u64, found: &[String]) -> Failure {
    unsuitable(format!(
        "table sbtest{table} has columns {}, and bulk_insert fills a table of id and k only; recreate \
         it with `--existing replace`",
        found.join(", ")
    ))
}
