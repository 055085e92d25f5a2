//! Checks that tables fit the scripts: columns, row counts and sampled values.

use std::sync::Arc;

use driver::{Datum, Dialect, Session};
use measure::Failure;

use super::inspection::check_columns;
use super::rows::COLUMNS;
use super::schema;
use super::values::{C_LENGTH, PAD_LENGTH, fits_template};
use crate::WorkloadContext;
use crate::parallel::{as_integer, as_text, columns, parallel_for, unsuitable, workers};
use crate::random::Random;

/// Rows of each table whose values are checked.
const SAMPLED_ROWS: usize = 100;

#[derive(Clone, Debug)]
pub(super) struct Expected {
    /// The table size: statements ask for ids from 1 to it.
    pub(super) rows: u64,
    /// The least number of rows with such ids.
    pub(super) least: u64,
    /// The most rows; `None` where more than asked for do no harm.
    pub(super) most: Option<u64>,
    /// Whether rows that are missing or too many deserve a remark.
    pub(super) tells_difference: bool,
    /// The storage engine, if the table was made elsewhere and the system has engines.
    pub(super) engine: Option<String>,
    /// The highest allowed value of column k: the table's size if nothing was updated.
    pub(super) highest_k: i64,
    pub(super) has_index_on_k: bool,
    /// Whether the table must number new rows by itself.
    pub(super) numbers_rows: bool,
    /// Selects the sampled rows.
    pub(super) seed: u64,
}

pub(super) fn verify(
    context: &WorkloadContext<'_>,
    tables: &[u64],
    expected: Expected,
) -> Result<(), Failure> {
    let dialect = context.target.dialect();
    let Dialect { list_columns, list_indexed, list_auto_increment, list_engine, .. } = *dialect;
    let progress = context.progress.clone();
    let expected = Arc::new(expected);
    let tables: Arc<Vec<u64>> = Arc::new(tables.to_vec());
    let count = tables.len() as u64;
    parallel_for(context, workers(context), count, move |session, job| {
        let (table, progress) = (tables[job as usize], progress.clone());
        let expected = Arc::clone(&expected);
        Box::pin(async move {
            let found = columns(session, list_columns, &schema::name(table)).await?;
            check_columns(table, &found, &COLUMNS)?;
            let indexed = columns(session, list_indexed, &schema::name(table)).await?;
            check_indexes(table, &indexed, expected.has_index_on_k)?;
            if expected.numbers_rows {
                let found = columns(session, list_auto_increment, &schema::name(table)).await?;
                check_auto_increment(table, &found)?;
            }
            if let (Some(list), Some(engine)) = (list_engine, &expected.engine) {
                let found = columns(session, list, &schema::name(table)).await?;
                check_engine(table, &found, engine)?;
            }
            let remark = check_rows(session, table, &expected).await?;
            remark.into_iter().for_each(|remark| progress.note(remark));
            check_sample(session, table, &expected, dialect).await?;
            progress.advance(1);
            Ok(())
        })
    })
}

/// Checks the indexes: without them a table gives the same answers, but the server reads all rows.
fn check_indexes(table: u64, indexed: &[String], has_index_on_k: bool) -> Result<(), Failure> {
    let has = |name: &str| indexed.iter().any(|column| column.eq_ignore_ascii_case(name));
    let again = "recreate it with `--existing replace`";
    if !has("id") {
        return Err(unsuitable(format!("table sbtest{table} has no index on id; {again}")));
    }
    if has_index_on_k && !has("k") {
        return Err(unsuitable(format!(
            "table sbtest{table} has no index on k; make it with CREATE INDEX k_{table} ON \
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
        "table sbtest{table} does not number its rows, so that inserts would fail; say \
         auto_inc=false, as it was prepared, or recreate it with `--existing replace`"
    )))
}

/// Checks the storage engine: figures of another engine would go by the wrong name.
fn check_engine(table: u64, found: &[String], wanted: &str) -> Result<(), Failure> {
    match found.first() {
        Some(engine) if !engine.eq_ignore_ascii_case(wanted) => Err(unsuitable(format!(
            "table sbtest{table} is stored by {engine}, not by {wanted}; say engine={engine}, or recreate it \
             with `--existing replace`"
        ))),
        _ => Ok(()),
    }
}

/// Checks the row count and the ids; returns a remark on rows that are missing or too many.
async fn check_rows(
    session: &mut Session,
    table: u64,
    expected: &Expected,
) -> Result<Option<String>, Failure> {
    let Expected { rows: wanted, least, most, .. } = *expected;
    let sql = format!(
        "SELECT COUNT(*), COUNT(CASE WHEN id BETWEEN 1 AND {wanted} THEN 1 END) FROM sbtest{table}"
    );
    let answer = session.rows(&sql).await?;
    let cell = |column| as_integer(answer.first().and_then(|row| row.get(column)));
    let count = |column| cell(column).and_then(|rows| u64::try_from(rows).ok()).unwrap_or(0);
    let (seen, asked_for) = (count(0), count(1));
    let bound = match most {
        Some(most) if most > wanted && !(least..=most).contains(&seen) => Some(""),
        _ if seen < least && most != Some(least) => Some("at least "),
        Some(most) if seen > most && most != least => Some("at most "),
        Some(most) if seen > most || seen < least => Some(""),
        _ => None,
    };
    if let Some(bound) = bound {
        return Err(unsuitable(format!(
            "table sbtest{table} has {seen} rows, not {bound}{wanted}; set table_size to what is \
             there, or recreate it with `--existing replace`"
        )));
    }
    if asked_for < least {
        return Err(unsuitable(format!(
            "the ids of table sbtest{table} are not 1 to {wanted}, so that queries would miss \
             rows; recreate it with `--existing replace`"
        )));
    }
    Ok(expected.tells_difference.then(|| remark(table, wanted, (seen, asked_for))).flatten())
}

/// A remark on a table that can be used, but is not as prepare made it.
fn remark(table: u64, wanted: u64, (seen, asked_for): (u64, u64)) -> Option<String> {
    if asked_for < wanted {
        let missing = wanted - asked_for;
        return Some(format!(
            "table sbtest{table} lacks {missing} of its rows 1 to {wanted}, as after a load with skip_trx that was cut"
        ));
    }
    (seen > wanted).then(|| {
        format!(
            "table sbtest{table} has {seen} rows: those above table_size, {wanted}, are not used"
        )
    })
}

/// Checks the values of some rows.
async fn check_sample(
    session: &mut Session,
    table: u64,
    wanted: &Expected,
    dialect: &Dialect,
) -> Result<(), Failure> {
    if wanted.rows == 0 {
        return Ok(());
    }
    let mut random = Random::of_part(wanted.seed, &[table]);
    let ids: Vec<String> =
        (0..SAMPLED_ROWS).map(|_| (random.below(wanted.rows) + 1).to_string()).collect();
    let list = ids.join(", ");
    let sql = format!("SELECT id, k, c, pad FROM sbtest{table} WHERE id IN ({list})");
    for row in session.rows(&sql).await? {
        check_row(table, &row, wanted.highest_k, dialect)?;
    }
    Ok(())
}

fn check_row(table: u64, row: &[Datum], highest_k: i64, dialect: &Dialect) -> Result<(), Failure> {
    let id = as_integer(row.first()).unwrap_or_default();
    let wrong = |what: String| {
        Err(unsuitable(format!(
            "row {id} of table sbtest{table}: {what}; recreate the table with \
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
        if !fits_template(dialect.unpadded(&value), length) {
            return wrong(format!("{name} is `{value}`, not groups of 11 digits"));
        }
    }
    Ok(())
}
