//! The tables of a workload on a system: which of them exist, whether they are the workload's, what follows their load,
//! and their removal.

use std::borrow::Borrow;
use std::collections::BTreeSet;
use std::sync::Arc;

use measure::Failure;

use crate::WorkloadContext;
use crate::created::CreatedDatabases;
use crate::parallel::{
    as_text, columns, on_session, parallel_for, run_all_and_analyze, unsuitable,
};
use crate::removal::drop_tables;

/// A table by its name, and columns that only a table of the workload has.
pub(crate) type NamedTable = (String, Vec<&'static str>);

/// How many tables are looked for in one statement.
const NAMES_MAX: usize = 1_000;

/// Which of these tables, with names in lower case, exist, by their places in the list.
///
/// # Errors
/// The server's error.
pub(crate) fn existing(
    context: &WorkloadContext<'_>,
    names: Vec<String>,
) -> Result<Vec<usize>, Failure> {
    let list_tables = context.target.dialect().list_tables;
    on_session(context, async move |session| {
        let mut there = BTreeSet::new();
        for some in names.chunks(NAMES_MAX) {
            let quoted: Vec<String> = some.iter().map(|name| format!("'{name}'")).collect();
            let list = list_tables.replace("{tables}", &quoted.join(", "));
            there.extend(session.rows(&list).await?.iter().filter_map(|row| as_text(row.first())));
        }
        Ok((0..names.len()).filter(|place| there.contains(&names[*place])).collect())
    })
}

/// Checks that a table has the columns of a workload, such as `TPC-C`.
///
/// # Errors
/// The missing table or the missing columns.
pub(crate) fn check_columns(
    workload: &str,
    table: &str,
    found: &[String],
    needed: &[&str],
) -> Result<(), Failure> {
    if found.is_empty() {
        return Err(unsuitable(format!("there is no table {table}: prepare has to make it first")));
    }
    let is_there = |name: &str| found.iter().any(|column| column.eq_ignore_ascii_case(name));
    let missing: Vec<&str> = needed.iter().copied().filter(|name| !is_there(name)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let remedy =
        "use another database (`--create-database` creates it), or drop the table yourself";
    Err(unsuitable(match owner(found).filter(|owner| *owner != workload) {
        Some(owner) => format!("table {table} is {owner}'s, not {workload}'s; {remedy}"),
        None => format!(
            "table {table} has no column {} (it has {}): it is not {workload}'s; {remedy}",
            some(&missing),
            some(found)
        ),
    }))
}

/// The first names of a list, the others counted.
fn some<S: Borrow<str>>(names: &[S]) -> String {
    const SHOWN_MAX: usize = 5;
    match names.len().checked_sub(SHOWN_MAX) {
        Some(more @ 2..) => format!("{} and {more} more", names[..SHOWN_MAX].join(", ")),
        _ => names.join(", "),
    }
}

/// Columns that only one workload of dyno has, in tables whose names others may have too.
const OWNERS: [(&str, &str); 9] = [
    ("c_w_id", "TPC-C"),
    ("o_w_id", "TPC-C"),
    ("c_custkey", "TPC-H"),
    ("o_orderkey", "TPC-H"),
    ("ycsb_key", "YCSB"),
    ("pad", "sysbench"),
    ("abalance", "pgbench"),
    ("tbalance", "pgbench"),
    ("bbalance", "pgbench"),
];

/// The workload that a table with these columns belongs to; `None` for a table that dyno does not know.
fn owner(found: &[String]) -> Option<&'static str> {
    let has = |name: &str| found.iter().any(|column| column.eq_ignore_ascii_case(name));
    OWNERS.iter().find(|(column, _)| has(column)).map(|(_, owner)| *owner)
}

/// [`check_columns`] for several tables.
///
/// # Errors
/// The first table that is not the workload's.
pub(crate) fn check_all(
    context: &WorkloadContext<'_>,
    workload: &'static str,
    tables: Vec<NamedTable>,
) -> Result<(), Failure> {
    let list_columns = context.target.dialect().list_columns;
    on_session(context, async move |session| {
        for (name, needed) in &tables {
            let found = columns(session, list_columns, name).await?;
            check_columns(workload, name, &found, needed)?;
        }
        Ok(())
    })
}

/// Creates indexes and statistics by the statements of each table, several tables in parallel.
///
/// # Errors
/// The server's error.
pub(crate) fn finish(
    context: &WorkloadContext<'_>,
    workers: usize,
    statements: Vec<Vec<String>>,
) -> Result<(), Failure> {
    let statements = Arc::new(statements);
    let count = statements.len() as u64;
    context.progress.begin("making indexes and statistics", count);
    let (progress, dialect) = (context.progress.clone(), context.target.dialect());
    parallel_for(context, workers, count, move |session, job| {
        let (statements, progress) = (Arc::clone(&statements), progress.clone());
        Box::pin(async move {
            let statements = &statements[job as usize];
            run_all_and_analyze(session, dialect, &progress, statements).await?;
            progress.advance(1);
            Ok(())
        })
    })
}

/// Drops tables in the order of `drops`, if those that exist are the workload's; tells which these were.
///
/// # Errors
/// A table of that name with other columns; the server's error.
pub(crate) fn remove<'n>(
    context: &WorkloadContext<'_>,
    workload: &'static str,
    there: Vec<NamedTable>,
    drops: impl Iterator<Item = &'n str>,
) -> Result<Vec<String>, Failure> {
    context.progress.begin("dropping tables", there.len() as u64);
    let told = there.iter().map(|(name, _)| format!("dropped {name}")).collect();
    check_all(context, workload, there)?;
    drop_tables(context, drops)?;
    Ok(told)
}

/// Drops the tables of a fixed set, if this process created them.
///
/// # Errors
/// The server's error.
pub(crate) fn clean_up(
    context: &WorkloadContext<'_>,
    created: &CreatedDatabases,
    drops: &[&str],
) -> Result<(), Failure> {
    if created.freshness_of(context.target).is_none() {
        return Ok(());
    }
    context.progress.begin("dropping tables", drops.len() as u64);
    drop_tables(context, drops)?;
    created.forget(context.target);
    Ok(())
}
