//! Creates and fills tables: checks existing tables first, loads rows on several sessions, and drops tables that
//! it could not finish.

use std::sync::Arc;

use engine::StopLevel;
use measure::Failure;
use plan::Existing;

use super::made::Made;
use super::schema;
use super::survey;
use crate::Site;
use crate::crewed::{interrupted, members, on_session, run_all, share_out};

/// The tables of one workload.
pub(super) trait Tables: Send + Sync {
    /// How many there are: sbtest1 and so on.
    fn tables(&self) -> u64;

    /// CREATE TABLE.
    ///
    /// # Errors
    /// If the system does not support such a table.
    fn create(&self, site: &Site<'_>, table: u64) -> Result<String, Failure>;

    /// Adds the rows to new tables.
    ///
    /// # Errors
    /// What the server says.
    fn fill(&self, site: &Site<'_>, tables: &[u64]) -> Result<(), Failure>;

    /// Statements for one table after its rows are loaded.
    fn finish(&self, table: u64) -> Vec<String>;

    /// Checks tables that existed before.
    ///
    /// # Errors
    /// Why they cannot be used.
    fn check(&self, site: &Site<'_>, tables: &[u64]) -> Result<(), Failure>;
}

/// Creates the missing tables, as [`Site::existing`] says.
pub(super) fn prepare(site: &Site<'_>, wanted: &dyn Tables, made: &Made) -> Result<(), Failure> {
    let all: Vec<u64> = (1..=wanted.tables()).collect();
    let creates = all
        .iter()
        .map(|&table| wanted.create(site, table))
        .collect::<Result<Vec<String>, Failure>>()?;
    site.progress.begin("looking for tables", 0);
    let (ours, others) = present(site, wanted.tables(), made)?;
    let mut dropped = ours;
    let mut kept = Vec::new();
    match site.existing {
        _ if others.is_empty() => {}
        Existing::Refuse => return Err(survey::refusal(&others)),
        Existing::Replace => dropped.extend(&others),
        Existing::Reuse => {
            site.progress.begin("checking what is there", others.len() as u64);
            wanted.check(site, &others)?;
            kept = others;
        }
    }
    before(site)?;
    drop_tables(site, &dropped)?;
    made.forget(site.target, &dropped);
    let missing: Vec<u64> = all.into_iter().filter(|table| !kept.contains(table)).collect();
    make(site, wanted, made, &missing, &creates)?;
    after(site)
}

/// Existing tables: those that this process created, and the others.
fn present(site: &Site<'_>, tables: u64, made: &Made) -> Result<(Vec<u64>, Vec<u64>), Failure> {
    let ours = made.tables(site.target);
    let existing = survey::existing(site, tables)?;
    Ok(existing.into_iter().partition(|table| ours.contains(table)))
}

fn before(site: &Site<'_>) -> Result<(), Failure> {
    let statements = site.sql.before_prepare.clone();
    on_session(site, async move |session| run_all(session, &statements).await)
}

fn after(site: &Site<'_>) -> Result<(), Failure> {
    let statements = site.sql.after_prepare.clone();
    site.progress.begin("statements after the load", 0);
    on_session(site, async move |session| run_all(session, &statements).await)
}

/// Creates and fills tables; drops them again on a failure or a request to stop.
fn make(
    site: &Site<'_>,
    wanted: &dyn Tables,
    made: &Made,
    tables: &[u64],
    creates: &[String],
) -> Result<(), Failure> {
    let mut created = Vec::new();
    let result = create_and_fill(site, wanted, tables, creates, &mut created);
    if result.is_ok() {
        made.add(site.target, tables);
    } else if site.stop.level() < StopLevel::AtOnce {
        site.progress.begin("taking away what is not finished", created.len() as u64);
        // Only the first failure is reported; a second one here most probably has the same cause.
        let _ = drop_tables(site, &created);
    }
    result
}

fn create_and_fill(
    site: &Site<'_>,
    wanted: &dyn Tables,
    tables: &[u64],
    creates: &[String],
    created: &mut Vec<u64>,
) -> Result<(), Failure> {
    for &table in tables {
        if site.stop.is_asked() {
            return Err(interrupted());
        }
        let create = creates[(table - 1) as usize].clone();
        on_session(site, async move |session| session.run(&create).await)?;
        created.push(table);
    }
    wanted.fill(site, tables)?;
    finish(site, wanted, tables)
}

/// Creates indexes and statistics, several tables in parallel.
fn finish(site: &Site<'_>, wanted: &dyn Tables, tables: &[u64]) -> Result<(), Failure> {
    let dialect = site.target.dialect();
    let statements = tables.iter().map(|&table| {
        let mut statements = wanted.finish(table);
        statements.extend(dialect.analyze(&schema::name(table)));
        statements
    });
    let statements: Arc<Vec<Vec<String>>> = Arc::new(statements.collect());
    site.progress.begin("making indexes and statistics", tables.len() as u64);
    let progress = site.progress.clone();
    share_out(site, members(site), tables.len() as u64, move |session, job| {
        let (statements, progress) = (Arc::clone(&statements), progress.clone());
        Box::pin(async move {
            run_all(session, &statements[job as usize]).await?;
            progress.advance(1);
            Ok(())
        })
    })
}

/// Drops tables.
pub(super) fn drop_tables(site: &Site<'_>, tables: &[u64]) -> Result<(), Failure> {
    if tables.is_empty() {
        return Ok(());
    }
    let tables = tables.to_vec();
    on_session(site, async move |session| {
        for table in tables {
            session.run(&format!("DROP TABLE IF EXISTS {}", schema::name(table))).await?;
        }
        Ok(())
    })
}
