//! Checks that tables fit the scripts: columns, keys and the numbers of rows.

use measure::Failure;

use super::schema::{Table, WORKLOAD};
use super::settings::Settings;
use crate::WorkloadContext;
use crate::parallel::{as_integer, columns, on_session, unsuitable};
use crate::tables::check_all;

/// Which numbers of rows fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// Those of the scale.
    Exact,
    /// Those of a larger scale too: clients use a part of the rows.
    AtLeast,
}

/// Checks columns, keys and rows.
///
/// # Errors
/// What does not fit; the server's error.
pub(super) fn verify(context: &WorkloadContext<'_>, settings: &Settings) -> Result<(), Failure> {
    let named = Table::ALL.iter().map(|table| table.with_columns()).collect();
    check_all(context, WORKLOAD, named)?;
    check_keys(context)?;
    verify_rows(context, settings, Extent::AtLeast)
}

/// Without its key a table gives the same answers, but the server reads all rows.
fn check_keys(context: &WorkloadContext<'_>) -> Result<(), Failure> {
    let list_indexed = context.target.dialect().list_indexed;
    on_session(context, async move |session| {
        for table in Table::ALL {
            let (name, Some(key)) = (table.name(), table.key()) else { continue };
            let indexed = columns(session, list_indexed, name).await?;
            if !indexed.iter().any(|column| column.eq_ignore_ascii_case(key)) {
                return Err(unsuitable(format!(
                    "table {name} has no index on {key}; make it with ALTER TABLE {name} ADD PRIMARY KEY ({key}), or \
                     recreate the tables with `--existing replace`"
                )));
            }
        }
        Ok(())
    })
}

/// Checks that the rows 1 to those of the scale are there, and with [`Extent::Exact`] no others.
///
/// # Errors
/// The scale that is there, or the rows that are missing; the server's error.
pub(super) fn verify_rows(
    context: &WorkloadContext<'_>,
    settings: &Settings,
    extent: Extent,
) -> Result<(), Failure> {
    let scale = settings.scale;
    context.progress.begin("counting rows", 0);
    on_session(context, async move |session| {
        for table in Table::ALL {
            let (name, Some(key)) = (table.name(), table.key()) else { continue };
            let wanted = table.rows(scale);
            let sql = format!(
                "SELECT COUNT(*), COUNT(CASE WHEN {key} BETWEEN 1 AND {wanted} THEN 1 END) FROM {name}"
            );
            let rows = session.rows(&sql).await?;
            let cell = |column| as_integer(rows.first().and_then(|row| row.get(column)));
            let count =
                |column| cell(column).and_then(|rows| u64::try_from(rows).ok()).unwrap_or(0);
            let (seen, used) = (count(0), count(1));
            let fits = match extent {
                Extent::Exact => seen == wanted && used == wanted,
                Extent::AtLeast => used == wanted,
            };
            if !fits {
                return Err(other_rows(table, (seen, used), scale));
            }
        }
        Ok(())
    })
}

fn other_rows(table: Table, (seen, used): (u64, u64), scale: u64) -> Failure {
    let (name, wanted, one) = (table.name(), table.rows(scale), table.rows(1));
    let again = "recreate the tables with `--existing replace`";
    if seen != wanted && seen > 0 && seen.is_multiple_of(one) {
        let there = seen / one;
        return unsuitable(format!(
            "table {name} has {seen} rows, those of scale {there}, not {scale}; say scale = {there} (-o scale={there}), \
             or {again}"
        ));
    }
    unsuitable(format!(
        "table {name} has {used} of the rows 1 to {wanted} of scale {scale}, and {} others; {again}",
        seen.saturating_sub(used)
    ))
}
