//! Creates the four tables or reuses existing ones, and drops them.

use measure::Failure;
use plan::Existing;

use super::fill::fill;
use super::schema::{Table, WORKLOAD, check_options, create, finish, foreign_keys};
use super::settings::Settings;
use super::verify::{Extent, verify_rows};
use crate::WorkloadContext;
use crate::created::{CreatedDatabases, after_load, around};
use crate::parallel::{
    already_there, interrupted, matching, on_session, run_all, subject, unsuitable, workers,
};
use crate::removal::{drop_tables, take_away};
use crate::session::check_isolation;
use crate::tables;

/// Creates and fills the tables, or reuses existing ones, as [`WorkloadContext::existing`] defines.
pub(super) fn prepare(
    context: &WorkloadContext<'_>,
    settings: &Settings,
    created: &CreatedDatabases,
) -> Result<(), Failure> {
    check_isolation(context.target, settings.load.isolation)?;
    check_options(settings, context.target.dialect())?;
    context.progress.begin("looking for tables", 0);
    let there = existing(context)?;
    if !there.is_empty() && created.freshness_of(context.target).is_none() {
        tables::check_all(context, WORKLOAD, there.iter().map(|it| it.with_columns()).collect())?;
        match context.existing {
            Existing::Refuse => return Err(already_there(&names(&there))),
            Existing::Replace => {}
            Existing::Match | Existing::Reuse => return reuse(context, settings, &there),
        }
    }
    around(context, &context.sql.before_prepare)?;
    drop_tables(context, names(&there).iter().rev())?;
    created.forget(context.target);
    make(context, settings, created)?;
    after_load(context)
}

fn reuse(
    context: &WorkloadContext<'_>,
    settings: &Settings,
    there: &[Table],
) -> Result<(), Failure> {
    let missing: Vec<&str> = Table::ALL
        .iter()
        .filter(|table| !there.contains(table))
        .map(|table| table.name())
        .collect();
    if !missing.is_empty() {
        return Err(unsuitable(format!(
            "{} missing beside others of pgbench; `--existing replace` recreates all",
            subject(&missing)
        )));
    }
    around(context, &context.sql.before_prepare)?;
    if context.existing == Existing::Match {
        verify_rows(context, settings, Extent::Exact)?;
        context.progress.note(matching(&names(there)));
    }
    around(context, &context.sql.after_prepare)
}

fn existing(context: &WorkloadContext<'_>) -> Result<Vec<Table>, Failure> {
    let names = Table::ALL.iter().map(|table| table.name().to_owned()).collect();
    let there = tables::existing(context, names)?;
    Ok(there.into_iter().map(|place| Table::ALL[place]).collect())
}

fn names(tables: &[Table]) -> Vec<&'static str> {
    tables.iter().map(|table| table.name()).collect()
}

/// Creates and fills the tables; drops them again on a failure or a request to stop.
fn make(
    context: &WorkloadContext<'_>,
    settings: &Settings,
    created: &CreatedDatabases,
) -> Result<(), Failure> {
    let result = create_and_fill(context, settings);
    if result.is_ok() {
        created.add(context.target);
    } else {
        take_away(context, names(&Table::ALL).iter().rev());
    }
    result
}

fn create_and_fill(context: &WorkloadContext<'_>, settings: &Settings) -> Result<(), Failure> {
    if context.stop.is_asked() {
        return Err(interrupted());
    }
    let dialect = context.target.dialect();
    let creates: Vec<String> =
        Table::ALL.into_iter().flat_map(|table| create(table, settings, dialect)).collect();
    on_session(context, async move |session| run_all(session, &creates).await)?;
    fill(context, settings.scale)?;
    let finishes = Table::ALL.into_iter().map(|table| finish(table, dialect)).collect();
    tables::finish(context, workers(context), finishes)?;
    let keys = foreign_keys(settings, dialect);
    if keys.is_empty() {
        return Ok(());
    }
    on_session(context, async move |session| run_all(session, &keys).await)
}

/// Drops the tables that this process created.
pub(super) fn clean_up(
    context: &WorkloadContext<'_>,
    created: &CreatedDatabases,
) -> Result<(), Failure> {
    let drops: Vec<&str> = names(&Table::ALL).into_iter().rev().collect();
    tables::clean_up(context, created, &drops)
}

/// Drops the tables of pgbench, whoever created them.
///
/// # Errors
/// A table of that name with other columns; the server's error.
pub(super) fn remove(
    context: &WorkloadContext<'_>,
    created: &CreatedDatabases,
) -> Result<Vec<String>, Failure> {
    let there = existing(context)?;
    let named = there.iter().map(|table| table.with_columns()).collect();
    let told = tables::remove(context, WORKLOAD, named, names(&there).into_iter().rev())?;
    created.forget(context.target);
    Ok(told)
}
