//! Creates and fills tables: checks existing tables first, loads rows on several sessions, and drops tables that
//! it could not finish.

use std::sync::{Arc, Mutex, PoisonError};

use driver::Dialect;
use measure::Failure;
use plan::Existing;

use super::created_tables::CreatedTables;
use super::inspection::{self, WORKLOAD};
use super::schema;
use crate::created::{after_load, around};
use crate::parallel::{parallel_for, run_all, workers_for_small_tables};
use crate::removal::{self, take_away};
use crate::{WorkloadContext, tables};

pub(super) trait Tables: Send + Sync {
    fn tables(&self) -> u64;

    /// The CREATE TABLE statement.
    ///
    /// # Errors
    /// If the system does not support such a table.
    fn create(&self, context: &WorkloadContext<'_>, table: u64) -> Result<String, Failure>;

    /// How many sessions make the tables.
    fn sessions(&self, context: &WorkloadContext<'_>) -> usize {
        workers_for_small_tables(context)
    }

    /// Adds the rows to new tables.
    ///
    /// # Errors
    /// The server's error.
    fn fill(&self, context: &WorkloadContext<'_>, tables: &[u64]) -> Result<(), Failure>;

    /// Statements for one table after its rows are loaded.
    fn finish(&self, table: u64, dialect: &Dialect) -> Vec<String>;

    /// Checks tables that already existed.
    ///
    /// # Errors
    /// If they cannot be used.
    fn check(&self, context: &WorkloadContext<'_>, tables: &[u64]) -> Result<(), Failure>;
}

/// Creates the missing tables, as [`WorkloadContext::existing`] defines.
pub(super) fn prepare(
    context: &WorkloadContext<'_>,
    wanted: &dyn Tables,
    created_tables: &CreatedTables,
) -> Result<(), Failure> {
    let all: Vec<u64> = (1..=wanted.tables()).collect();
    let creates = all
        .iter()
        .map(|&table| wanted.create(context, table))
        .collect::<Result<Vec<String>, Failure>>()?;
    context.progress.begin("looking for tables", 0);
    let (ours, others) = present(context, wanted.tables(), created_tables)?;
    let mut dropped = ours;
    let mut kept = Vec::new();
    match context.existing {
        _ if others.is_empty() => {}
        Existing::Refuse => return Err(inspection::refusal(&others)),
        Existing::Replace => {
            inspection::refuse_foreign(context, &others)?;
            dropped.extend(&others);
        }
        Existing::Match | Existing::Reuse => {
            use_existing(context, wanted, &dropped, &others)?;
            kept = others;
        }
    }
    around(context, &context.sql.before_prepare)?;
    drop_tables(context, &dropped)?;
    created_tables.forget_tables(context.target, &dropped);
    let missing: Vec<u64> = all.into_iter().filter(|table| !kept.contains(table)).collect();
    if !kept.is_empty() && !missing.is_empty() {
        let (there, made) = (kept.len(), inspection::subject(&missing));
        context
            .progress
            .note(format!("{there} tables are there and reused; {made} made beside them"));
    }
    make(context, wanted, created_tables, &missing, &creates)?;
    after_load(context)
}

/// Checks that tables that this process did not create can be used.
///
/// # Errors
/// If they cannot; with [`Existing::Match`] also if they are not all, or not the only ones.
fn use_existing(
    context: &WorkloadContext<'_>,
    wanted: &dyn Tables,
    ours: &[u64],
    others: &[u64],
) -> Result<(), Failure> {
    let (tables, must_match) = (wanted.tables(), context.existing == Existing::Match);
    context.progress.begin("checking what is there", others.len() as u64);
    wanted.check(context, others)?;
    let is_missing = |table: &u64| !others.contains(table) && !ours.contains(table);
    let missing: Vec<u64> = (1..=tables).filter(is_missing).collect();
    if must_match && !missing.is_empty() {
        return Err(inspection::incomplete(others, &missing));
    }
    match inspection::beside(context, tables)? {
        0 => {}
        beside if must_match => return Err(inspection::too_many(tables, beside)),
        beside => context.progress.note(inspection::more(tables, beside)),
    }
    if must_match {
        context.progress.note(inspection::matching(others));
    }
    Ok(())
}

/// Existing tables: those that this process created, and the others.
fn present(
    context: &WorkloadContext<'_>,
    tables: u64,
    created_tables: &CreatedTables,
) -> Result<(Vec<u64>, Vec<u64>), Failure> {
    let ours = created_tables.tables(context.target);
    let existing = inspection::existing(context, tables)?;
    Ok(existing.into_iter().partition(|table| ours.contains(table)))
}

/// Creates and fills tables; drops them again on a failure or a request to stop.
fn make(
    context: &WorkloadContext<'_>,
    wanted: &dyn Tables,
    created_tables: &CreatedTables,
    tables: &[u64],
    creates: &[String],
) -> Result<(), Failure> {
    let mut created = Vec::new();
    let result = create_and_fill(context, wanted, tables, creates, &mut created);
    if result.is_ok() {
        created_tables.add_tables(context.target, tables);
    } else {
        take_away(context, created.iter().map(|table| schema::name(*table)));
    }
    result
}

fn create_and_fill(
    context: &WorkloadContext<'_>,
    wanted: &dyn Tables,
    tables: &[u64],
    creates: &[String],
    created: &mut Vec<u64>,
) -> Result<(), Failure> {
    let creates: Vec<_> =
        tables.iter().map(|table| (*table, creates[(*table - 1) as usize].clone())).collect();
    context.progress.begin("creating tables", creates.len() as u64);
    let progress = context.progress.clone();
    let made = Arc::new(Mutex::new(Vec::new()));
    let making = Arc::clone(&made);
    let done = parallel_for(
        context,
        wanted.sessions(context),
        creates.len() as u64,
        move |session, job| {
            let (table, create) = creates[job as usize].clone();
            let (making, progress) = (Arc::clone(&making), progress.clone());
            Box::pin(async move {
                let lock = || making.lock().unwrap_or_else(PoisonError::into_inner);
                // A statement whose answer is not heard may have made it all the same.
                lock().push(table);
                let made = run_all(session, &[create]).await;
                if made.as_ref().is_err_and(|failure| !failure.key.class.breaks_connection()) {
                    lock().retain(|other| *other != table);
                }
                progress.advance(1);
                made
            })
        },
    );
    created.append(&mut made.lock().unwrap_or_else(PoisonError::into_inner));
    created.sort_unstable();
    done?;
    wanted.fill(context, tables)?;
    finish(context, wanted, tables)
}

/// Creates indexes and statistics.
fn finish(
    context: &WorkloadContext<'_>,
    wanted: &dyn Tables,
    tables: &[u64],
) -> Result<(), Failure> {
    let dialect = context.target.dialect();
    let statements = tables.iter().map(|&table| {
        let mut statements = wanted.finish(table, dialect);
        statements.extend(dialect.analyze(&schema::name(table)));
        statements
    });
    tables::finish(context, wanted.sessions(context), statements.collect())
}

pub(super) fn drop_tables(context: &WorkloadContext<'_>, tables: &[u64]) -> Result<(), Failure> {
    removal::drop_tables(context, tables.iter().map(|table| schema::name(*table)))
}

/// Drops tables 1 to `tables`, whoever created them; tells which.
///
/// # Errors
/// A table of that name with other columns; the server's error.
pub(super) fn remove(
    context: &WorkloadContext<'_>,
    tables: u64,
    created_tables: &CreatedTables,
) -> Result<Vec<String>, Failure> {
    let there = inspection::existing(context, tables)?;
    let names: Vec<String> = there.iter().map(|table| schema::name(*table)).collect();
    let named = inspection::named(&there);
    let told = tables::remove(context, WORKLOAD, named, names.iter().map(String::as_str))?;
    created_tables.forget_tables(context.target, &there);
    Ok(told)
}
