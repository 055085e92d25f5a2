//! Creates the nine tables or reuses existing ones, and drops them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use driver::Target;
use engine::StopLevel;
use measure::Failure;
use plan::Existing;

use super::fill::fill;
use super::schema::{Table, create_indexes, create_table};
use super::settings::Settings;
use super::verify::verify_shape;
use crate::Site;
use crate::crewed::{columns, interrupted, members, on_session, run_all, share_out, unfit};
use crate::session::check_isolation;

/// Remembers on which systems this process made the tables, because only those may be dropped.
#[derive(Debug, Default)]
pub(super) struct Made(Mutex<BTreeMap<String, Freshness>>);

/// Whether a load has started since the tables were created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Freshness {
    Pristine,
    Used,
}

impl Made {
    /// The state of the tables on this system; `None` if this process did not create them.
    pub(super) fn look(&self, target: &Target) -> Option<Freshness> {
        self.lock().get(&target.to_string()).copied()
    }

    /// Notes that clients are about to change the tables.
    pub(super) fn use_up(&self, target: &Target) {
        if let Some(freshness) = self.lock().get_mut(&target.to_string()) {
            *freshness = Freshness::Used;
        }
    }

    fn add(&self, target: &Target) {
        self.lock().insert(target.to_string(), Freshness::Pristine);
    }

    fn forget(&self, target: &Target) {
        self.lock().remove(&target.to_string());
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Freshness>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Makes and fills the tables, as [`Site::existing`] says.
pub(super) fn prepare(site: &Site<'_>, settings: &Settings, made: &Made) -> Result<(), Failure> {
    check_isolation(site.target, settings.isolation)?;
    let dialect = site.target.dialect();
    let creates = Table::ALL
        .iter()
        .map(|table| create_table(*table, settings, dialect))
        .collect::<Result<Vec<String>, Failure>>()?;
    site.progress.begin("looking for tables", 0);
    let there = existing(site)?;
    if !there.is_empty() && made.look(site.target).is_none() {
        match site.existing {
            Existing::Refuse => return Err(refusal(&there)),
            Existing::Replace => {}
            Existing::Reuse => return reuse(site, settings, &there),
        }
    }
    around(site, &site.sql.before_prepare)?;
    drop_tables(site, &there)?;
    made.forget(site.target);
    make(site, settings, made, creates)?;
    site.progress.begin("statements after the load", 0);
    around(site, &site.sql.after_prepare)
}

/// Reuses existing tables.
fn reuse(site: &Site<'_>, settings: &Settings, there: &[Table]) -> Result<(), Failure> {
    let missing: Vec<&str> = Table::ALL
        .iter()
        .filter(|table| !there.contains(table))
        .map(|table| table.name())
        .collect();
    if !missing.is_empty() {
        return Err(unfit(format!(
            "table {} is missing beside others of TPC-C: have all made afresh with \
             `--existing replace`",
            missing.join(", ")
        )));
    }
    around(site, &site.sql.before_prepare)?;
    verify_shape(site, settings)?;
    around(site, &site.sql.after_prepare)
}

fn around(site: &Site<'_>, statements: &[String]) -> Result<(), Failure> {
    if statements.is_empty() {
        return Ok(());
    }
    let statements = statements.to_vec();
    on_session(site, async move |session| run_all(session, &statements).await)
}

/// The tables that exist.
fn existing(site: &Site<'_>) -> Result<Vec<Table>, Failure> {
    let list_columns = site.target.dialect().list_columns;
    on_session(site, async move |session| {
        let mut there = Vec::new();
        for table in Table::ALL {
            if !columns(session, list_columns, table.name()).await?.is_empty() {
                there.push(table);
            }
        }
        Ok(there)
    })
}

fn refusal(there: &[Table]) -> Failure {
    let names: Vec<&str> = there.iter().map(|table| table.name()).collect();
    let (noun, verb) = if names.len() == 1 { ("table", "is") } else { ("tables", "are") };
    unfit(format!(
        "{noun} {} {verb} there already: use `--existing reuse` to run on the data in place, or \
         `--existing replace` to have it dropped and made afresh",
        names.join(", ")
    ))
}

/// Creates and fills the tables; drops them again on a failure or a request to stop.
fn make(
    site: &Site<'_>,
    settings: &Settings,
    made: &Made,
    creates: Vec<String>,
) -> Result<(), Failure> {
    let result = create_and_fill(site, settings, creates);
    if result.is_ok() {
        made.add(site.target);
    } else if site.stop.level() < StopLevel::AtOnce {
        site.progress.begin("taking away what is not finished", 0);
        // Only the first failure is reported; a second one here most probably has the same cause.
        let _ = drop_tables(site, &Table::ALL);
    }
    result
}

fn create_and_fill(
    site: &Site<'_>,
    settings: &Settings,
    creates: Vec<String>,
) -> Result<(), Failure> {
    if site.stop.is_asked() {
        return Err(interrupted());
    }
    on_session(site, async move |session| run_all(session, &creates).await)?;
    fill(site, settings)?;
    finish(site)
}

/// Creates indexes and statistics, several tables in parallel.
fn finish(site: &Site<'_>) -> Result<(), Failure> {
    let dialect = site.target.dialect();
    let statements = Table::ALL.iter().map(|table| {
        let mut statements = create_indexes(*table);
        statements.extend(dialect.analyze(table.name()));
        statements
    });
    let statements: Arc<Vec<Vec<String>>> = Arc::new(statements.collect());
    site.progress.begin("making indexes and statistics", Table::ALL.len() as u64);
    let progress = site.progress.clone();
    share_out(site, members(site), Table::ALL.len() as u64, move |session, job| {
        let (statements, progress) = (Arc::clone(&statements), progress.clone());
        Box::pin(async move {
            run_all(session, &statements[job as usize]).await?;
            progress.advance(1);
            Ok(())
        })
    })
}

/// Drops tables, each before those that its foreign keys name.
fn drop_tables(site: &Site<'_>, tables: &[Table]) -> Result<(), Failure> {
    if tables.is_empty() {
        return Ok(());
    }
    let drops: Vec<String> = Table::ALL
        .iter()
        .rev()
        .filter(|table| tables.contains(table))
        .map(|table| format!("DROP TABLE IF EXISTS {}", table.name()))
        .collect();
    on_session(site, async move |session| run_all(session, &drops).await)
}

/// Removes the tables that this process made.
pub(super) fn clean_up(site: &Site<'_>, made: &Made) -> Result<(), Failure> {
    if made.look(site.target).is_none() {
        return Ok(());
    }
    site.progress.begin("dropping tables", Table::ALL.len() as u64);
    drop_tables(site, &Table::ALL)?;
    made.forget(site.target);
    Ok(())
}
