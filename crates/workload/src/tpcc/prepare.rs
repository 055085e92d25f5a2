//! Creates the nine tables or reuses existing ones, and drops them.

use driver::Isolation;
use measure::Failure;
use plan::Existing;

use super::fill::fill;
use super::schema::{Table, WORKLOAD, create_indexes, create_table};
use super::settings::Settings;
use super::verify::{verify_shape, verify_warehouses};
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
    check_isolation(context.target, settings.isolation)?;
    let dialect = context.target.dialect();
    if settings.isolation.is_none() && dialect.default_isolation == Isolation::ReadCommitted {
        context.progress.note(
            "clients have the system's default isolation level, read-committed, which is lower than clause 3.4 requires; \
             `-o isolation=repeatable-read` or `serializable` keeps it",
        );
    }
    let creates = Table::ALL
        .iter()
        .map(|table| create_table(*table, settings, dialect))
        .collect::<Result<Vec<String>, Failure>>()?;
    context.progress.begin("looking for tables", 0);
    let there = existing(context)?;
    if !there.is_empty() && created.freshness_of(context.target).is_none() {
        tables::check_all(context, WORKLOAD, there.iter().map(|it| it.with_columns()).collect())?;
        match context.existing {
            Existing::Refuse => return Err(refusal(&there)),
            Existing::Replace => {}
            Existing::Match | Existing::Reuse => return reuse(context, settings, &there),
        }
    }
    around(context, &context.sql.before_prepare)?;
    drop_tables(context, in_order(&there))?;
    created.forget(context.target);
    make(context, settings, created, creates)?;
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
            "{} missing beside others of TPC-C; `--existing replace` recreates all",
            subject(&missing)
        )));
    }
    around(context, &context.sql.before_prepare)?;
    verify_shape(context, settings)?;
    if context.existing == Existing::Match {
        verify_warehouses(context, settings)?;
        let names: Vec<&str> = there.iter().map(|table| table.name()).collect();
        context.progress.note(matching(&names));
    }
    around(context, &context.sql.after_prepare)
}

fn existing(context: &WorkloadContext<'_>) -> Result<Vec<Table>, Failure> {
    let names = Table::ALL.iter().map(|table| table.name().to_owned()).collect();
    let there = tables::existing(context, names)?;
    Ok(there.into_iter().map(|place| Table::ALL[place]).collect())
}

fn refusal(there: &[Table]) -> Failure {
    let names: Vec<&str> = there.iter().map(|table| table.name()).collect();
    already_there(&names)
}

/// Creates and fills the tables; drops them again on a failure or a request to stop.
fn make(
    context: &WorkloadContext<'_>,
    settings: &Settings,
    created: &CreatedDatabases,
    creates: Vec<String>,
) -> Result<(), Failure> {
    let result = create_and_fill(context, settings, creates);
    if result.is_ok() {
        created.add(context.target);
    } else {
        take_away(context, in_order(&Table::ALL));
    }
    result
}

fn create_and_fill(
    context: &WorkloadContext<'_>,
    settings: &Settings,
    creates: Vec<String>,
) -> Result<(), Failure> {
    if context.stop.is_asked() {
        return Err(interrupted());
    }
    on_session(context, async move |session| run_all(session, &creates).await)?;
    fill(context, settings)?;
    finish(context, settings)
}

/// Creates keys, indexes and statistics.
fn finish(context: &WorkloadContext<'_>, settings: &Settings) -> Result<(), Failure> {
    let dialect = context.target.dialect();
    let statements = Table::ALL.iter().map(|table| {
        let mut statements = create_indexes(*table, settings, dialect);
        statements.extend(dialect.analyze(table.name()));
        statements
    });
    tables::finish(context, workers(context), statements.collect())
}

/// The names of tables, each before the tables that its foreign keys refer to.
fn in_order(tables: &[Table]) -> impl Iterator<Item = &'static str> {
    Table::ALL.iter().rev().filter(|table| tables.contains(table)).map(|table| table.name())
}

/// Drops the tables that this process created.
pub(super) fn clean_up(
    context: &WorkloadContext<'_>,
    created: &CreatedDatabases,
) -> Result<(), Failure> {
    tables::clean_up(context, created, &in_order(&Table::ALL).collect::<Vec<_>>())
}

/// Drops the tables of TPC-C, whoever created them.
///
/// # Errors
/// A table of that name with other columns; the server's error.
pub(super) fn remove(
    context: &WorkloadContext<'_>,
    created: &CreatedDatabases,
) -> Result<Vec<String>, Failure> {
    let there = existing(context)?;
    let named = there.iter().map(|table| table.with_columns()).collect();
    let told = tables::remove(context, WORKLOAD, named, in_order(&there))?;
    created.forget(context.target);
    Ok(told)
}
