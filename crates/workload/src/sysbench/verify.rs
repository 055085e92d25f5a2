//! Checks that tables fit the scripts: columns, row counts and sampled values.

use std::sync::Arc;

use driver::{Datum, Dialect, Session};
use measure::Failure;

use super::inspection::{check_oltp_columns, columns};
use super::schema;
use super::script::RowCount;
use super::values::{C_LENGTH, PAD_LENGTH, fits_template};
use crate::WorkloadContext;
use crate::parallel::{as_integer, as_text, parallel_for, unsuitable, workers};
use crate::random::Random;

/// Rows of each table whose values are checked.
const SAMPLED_ROWS: usize = 100;

/// The expected contents of a table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Expected {
    pub(super) rows: u64,
    pub(super) row_count: RowCount,
    /// The highest allowed value of column k: the table's size if nothing was updated.
    pub(super) highest_k: i64,
    /// Whether the table must have an index on k.
    pub(super) has_index_on_k: bool,
    /// Whether the table must number new rows by itself.
    pub(super) numbers_rows: bool,
    /// Selects the sampled rows.
    pub(super) seed: u64,
}

/// Checks tables in parallel.
pub(super) fn verify(
    context: &WorkloadContext<'_>,
    tables: &[u64],
    expected: Expected,
) -> Result<(), Failure> {
    let Dialect { list_columns, list_indexed, list_auto_increment, .. } = *context.target.dialect();
    let progress = context.progress.clone();
    let tables: Arc<Vec<u64>> = Arc::new(tables.to_vec());
    let count = tables.len() as u64;
    parallel_for(context, workers(context), count, move |session, job| {
        let (table, progress) = (tables[job as usize], progress.clone());
        Box::pin(async move {
            let found = columns(session, list_columns, &schema::name(table)).await?;
            check_oltp_columns(table, &found)?;
            let indexed = columns(session, list_indexed, &schema::name(table)).await?;
            check_indexes(table, &indexed, expected.has_index_on_k)?;
            if expected.numbers_rows {
                let found = columns(session, list_auto_increment, &schema::name(table)).await?;
                check_auto_increment(table, &found)?;
            }
            check_rows(session, table, expected).await?;
            check_sample(session, table, expected).await?;
            progress.advance(1);
            Ok(())
        })
    })
}

/// Checks the indexes: without them a table gives the same answers, but the server reads all rows.
fn check_indexes(table: u64, indexed: &[String], has_index_on_k: bool) -> Result<(), Failure> {
    let has = |name: &str| indexed.iter().any(|column| column.eq_ignore_ascii_case(name));
    let again = "have it made afresh with `--existing replace`";
    if !has("id") {
        return Err(unsuitable(format!("table sbtest{table} has no index on id: {again}")));
    }
    if has_index_on_k && !has("k") {
        return Err(unsuitable(format!(
            "table sbtest{table} has no index on k: make it with CREATE INDEX k_{table} ON \
             sbtest{table}(k), say create_secondary = false when it shall have none, or {again}"
        )));
    }
    Ok(())
}

/// Checks that rows without an id get one: otherwise every INSERT would ask for the same id.
fn check_auto_increment(table: u64, found: &[String]) -> Result<(), Failure> {
    if found.iter().any(|column| column.eq_ignore_ascii_case("id")) {
        return Ok(());
    }
    Err(unsuitable(format!(
        "the id of table sbtest{table} is not AUTO_INCREMENT, so that inserts would fail: say \
         auto_inc=false, as it was prepared, or have it made afresh with `--existing replace`"
    )))
}

/// Checks the row count and the ids.
async fn check_rows(session: &mut Session, table: u64, expected: Expected) -> Result<(), Failure> {
    let sql = format!("SELECT COUNT(*), MIN(id), MAX(id) FROM sbtest{table}");
    let answer = session.rows(&sql).await?;
    let cell = |column| as_integer(answer.first().and_then(|row| row.get(column)));
    let seen = cell(0).and_then(|rows| u64::try_from(rows).ok()).unwrap_or(0);
    let wanted = expected.rows;
    let (is_right, bound) = match expected.row_count {
        RowCount::Exactly => (seen == wanted, ""),
        RowCount::AtLeast => (seen >= wanted, "at least "),
        RowCount::AtMost => (seen <= wanted, "at most "),
    };
    if !is_right {
        return Err(unsuitable(format!(
            "table sbtest{table} has {seen} rows, not {bound}{wanted}: set table_size to what is \
             there, or have it made afresh with `--existing replace`"
        )));
    }
    let highest = wanted.cast_signed();
    let ids_fit = match (cell(1), cell(2)) {
        (Some(least), Some(most)) => least == 1 && most == highest,
        _ => seen == 0,
    };
    if expected.row_count == RowCount::Exactly && !ids_fit {
        return Err(unsuitable(format!(
            "the ids of table sbtest{table} are not 1 to {wanted}, so that queries would miss \
             rows: have it made afresh with `--existing replace`"
        )));
    }
    Ok(())
}

/// Checks the values of some rows.
async fn check_sample(session: &mut Session, table: u64, wanted: Expected) -> Result<(), Failure> {
    if wanted.rows == 0 {
        return Ok(());
    }
    let mut random = Random::of_part(wanted.seed, &[table]);
    let ids: Vec<String> =
        (0..SAMPLED_ROWS).map(|_| (random.below(wanted.rows) + 1).to_string()).collect();
    let list = ids.join(", ");
    let sql = format!("SELECT id, k, c, pad FROM sbtest{table} WHERE id IN ({list})");
    for row in session.rows(&sql).await? {
        check_row(table, &row, wanted.highest_k)?;
    }
    Ok(())
}

fn check_row(table: u64, row: &[Datum], highest_k: i64) -> Result<(), Failure> {
    let id = as_integer(row.first()).unwrap_or_default();
    let wrong = |what: String| {
        Err(unsuitable(format!(
            "row {id} of table sbtest{table}: {what}; have the table made afresh with \
             `--existing replace`"
        )))
    };
    match as_integer(row.get(1)) {
        Some(k) if (1..=highest_k).contains(&k) => {}
        _ => {
            let seen = as_text(row.get(1)).unwrap_or("NULL".to_owned());
            return wrong(format!("k is {seen}, not a number from 1 to {highest_k}"));
        }
    }
    for (column, name, length) in [(2, "c", C_LENGTH), (3, "pad", PAD_LENGTH)] {
        let value = as_text(row.get(column)).unwrap_or_default();
        if !fits_template(&value, length) {
            return wrong(format!("{name} is `{value}`, not groups of 11 digits"));
        }
    }
    Ok(())
}
