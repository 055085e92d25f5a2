//! Inspects existing tables before anything is changed.

use measure::Failure;

use super::schema;
use crate::parallel::{self, unsuitable};
use crate::{WorkloadContext, tables};

/// The owner of the tables, in messages.
pub(super) const WORKLOAD: &str = "sysbench";

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

/// Checks that a table has the columns that the statements use.
///
/// # Errors
/// The missing columns.
pub(super) fn check_columns(table: u64, found: &[String], needed: &[&str]) -> Result<(), Failure> {
    tables::check_columns(WORKLOAD, &schema::name(table), found, needed)
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

/// The failure for an existing table with more columns than `bulk_insert` fills.
pub(super) fn not_for_bulk_insert(table: u64, found: &[String]) -> Failure {
    unsuitable(format!(
        "table sbtest{table} has columns {}, and bulk_insert fills a table of id and k only: have \
         it made afresh with `--existing replace`",
        found.join(", ")
    ))
}
