//! Inspects existing tables before anything is changed.

use measure::Failure;

use super::rows::COLUMNS;
use super::schema;
use crate::WorkloadContext;
pub(super) use crate::parallel::columns;
use crate::parallel::{self, on_session, unsuitable};

/// The columns that the tables of all scripts have.
pub(super) const COMMON_COLUMNS: [&str; 2] = ["id", "k"];

/// Which of tables sbtest1 to sbtest`tables` exist.
///
/// # Errors
/// The server's error.
pub(super) fn existing(context: &WorkloadContext<'_>, tables: u64) -> Result<Vec<u64>, Failure> {
    let list_columns = context.target.dialect().list_columns;
    on_session(context, async move |session| {
        let mut existing = Vec::new();
        for table in 1..=tables {
            if !columns(session, list_columns, &schema::name(table)).await?.is_empty() {
                existing.push(table);
            }
        }
        Ok(existing)
    })
}

/// Checks that a table has the columns that the statements use.
///
/// # Errors
/// The missing columns.
pub(super) fn check_columns(table: &str, found: &[String], needed: &[&str]) -> Result<(), Failure> {
    let is_there = |name: &str| found.iter().any(|column| column.eq_ignore_ascii_case(name));
    let missing: Vec<&str> = needed.iter().copied().filter(|name| !is_there(name)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    if found.is_empty() {
        return Err(unsuitable(format!("there is no table {table}: prepare has to make it first")));
    }
    Err(unsuitable(format!(
        "table {table} has no column {} (it has {}): it is not sysbench's; \
         rename it, or have it dropped with `--existing replace`",
        missing.join(", "),
        found.join(", ")
    )))
}

/// [`check_columns`] for the OLTP tables.
///
/// # Errors
/// Like [`check_columns`].
pub(super) fn check_oltp_columns(table: u64, found: &[String]) -> Result<(), Failure> {
    check_columns(&schema::name(table), found, &COLUMNS)
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
