//! Creates the eight tables and loads their rows, continues a load that was interrupted, or reuses existing tables; and
//! drops them.

use std::collections::BTreeSet;
use std::sync::Arc;

use driver::{Dialect, Session, Value};
use measure::Failure;
use plan::Existing;

use super::rows::{Chunk, Sink};
use super::schema::{Table, WORKLOAD};
use super::settings::Settings;
use super::verify::verify_shape;
use crate::created::{CreatedDatabases, after_load, around};
use crate::loading::{Batch, BatchWriter, TablePart, batch_rows};
use crate::parallel::{
    already_there, as_text, interrupted, matching, on_session, parallel_for, parallel_for_batches,
    run_all, run_all_and_analyze, subject, unsuitable, workers,
};
use crate::removal::{drop_tables, take_away};
use crate::{LoadProgress, WorkloadContext, tables};

/// Rows that one session loads in one transaction, about.
const CHUNK_ROWS: u64 = 50_000;
/// The table that a load keeps beside the others until it is through: what it has done, a row for each chunk. A chunk and
/// its row are one transaction, so a load that was interrupted can continue.
const LOAD_TABLE: &str = "dyno_tpch_load";

/// Creates and fills the tables, or reuses existing ones, as [`WorkloadContext::existing`] defines.
pub(super) fn prepare(
    context: &WorkloadContext<'_>,
    settings: &Settings,
    created: &CreatedDatabases,
) -> Result<(), Failure> {
    context.progress.begin("looking for tables", 0);
    let found = Found::read(context)?;
    let is_ours = created.freshness_of(context.target).is_some();
    let mut done = BTreeSet::new();
    if found.is_unfinished_load(settings) && context.existing != Existing::Replace {
        let chunks = found.done.len() - 1;
        context
            .progress
            .note(format!("continuing a load that was interrupted: {chunks} steps of it are done"));
        done = found.done;
    } else if !found.tables.is_empty() && !is_ours {
        tables::check_all(context, WORKLOAD, found.named())?;
        match context.existing {
            Existing::Refuse => return Err(refusal(&found)),
            Existing::Replace => {}
            Existing::Match | Existing::Reuse => return reuse(context, settings, &found),
        }
    }
    around(context, &context.sql.before_prepare)?;
    if done.is_empty() {
        drop_tables(context, in_order())?;
        created.forget(context.target);
    }
    make(context, settings, created, &done)?;
    after_load(context)
}

/// The tables that exist, and the steps of a load that is not through.
struct Found {
    tables: Vec<Table>,
    done: BTreeSet<String>,
}

impl Found {
    fn read(context: &WorkloadContext<'_>) -> Result<Self, Failure> {
        let all = Table::ALL.iter().map(|table| table.name()).chain([LOAD_TABLE]);
        let mut there = tables::existing(context, all.map(str::to_owned).collect())?;
        let has_load = there.pop_if(|place| *place == Table::ALL.len()).is_some();
        let tables = there.into_iter().map(|place| Table::ALL[place]).collect();
        let mut done = BTreeSet::new();
        if has_load {
            let rows = on_session(context, async move |session| {
                session.rows(&format!("SELECT step FROM {LOAD_TABLE}")).await
            })?;
            done.extend(rows.iter().filter_map(|row| as_text(row.first())));
        }
        Ok(Self { tables, done })
    }

    /// The tables with the columns that they must have.
    fn named(&self) -> Vec<tables::NamedTable> {
        self.tables.iter().map(|table| (table.name().to_owned(), table.column_names())).collect()
    }

    fn is_unfinished_load(&self, settings: &Settings) -> bool {
        self.tables.len() == Table::ALL.len() && self.done.contains(&beginning(settings))
    }
}

/// The first step of a load: loads that differ in it cannot continue one another.
fn beginning(settings: &Settings) -> String {
    format!("scale {}", settings.scale)
}

fn reuse(context: &WorkloadContext<'_>, settings: &Settings, found: &Found) -> Result<(), Failure> {
    if !found.done.is_empty() {
        return Err(unsuitable(format!(
            "the tables are of a load that was interrupted, with other options ({}); continue it with its own, or \
             recreate all with `--existing replace`",
            found.done.iter().find(|step| step.starts_with("scale")).map_or("", String::as_str)
        )));
    }
    around(context, &context.sql.before_prepare)?;
    verify_shape(context, settings)?;
    note_missing_statistics(context)?;
    if context.existing == Existing::Match {
        let names: Vec<&str> = found.tables.iter().map(|table| table.name()).collect();
        context.progress.note(matching(&names));
    }
    around(context, &context.sql.after_prepare)
}

/// Without statistics the plans of the queries are guesses, and change when the system gathers them by itself.
fn note_missing_statistics(context: &WorkloadContext<'_>) -> Result<(), Failure> {
    let dialect = context.target.dialect();
    let Some(list) = dialect.list_unanalyzed else { return Ok(()) };
    let quoted: Vec<String> =
        Table::ALL.iter().map(|table| format!("'{}'", table.name())).collect();
    let list = list.replace("{tables}", &quoted.join(", "));
    let found = on_session(context, async move |session| session.rows(&list).await)?;
    let found: Vec<String> = found.iter().filter_map(|row| as_text(row.first())).collect();
    if let [first, ..] = found.as_slice() {
        context.progress.remark(format!(
            "{} without statistics, so plans are guesses until autovacuum has gathered them: {} before the run",
            subject(&found),
            dialect.analyze(first).unwrap_or_default()
        ));
    }
    Ok(())
}

fn refusal(found: &Found) -> Failure {
    let names: Vec<&str> = found.tables.iter().map(|table| table.name()).collect();
    already_there(&names)
}

/// Creates and fills the tables. What is not finished stays when the load was interrupted, so that it can continue, and
/// is dropped after any other failure.
fn make(
    context: &WorkloadContext<'_>,
    settings: &Settings,
    created: &CreatedDatabases,
    done: &BTreeSet<String>,
) -> Result<(), Failure> {
    if context.stop.is_asked() {
        return Err(interrupted());
    }
    if done.is_empty() {
        create(context, settings)?;
    }
    let result = fill(context, settings, done).and_then(|()| finish(context, settings, done));
    match &result {
        Ok(()) => created.add(context.target),
        Err(failure) if failure.key.class.breaks_connection() => {
            context.note_left("the same command continues the load where it stopped");
        }
        Err(_) => take_away(context, in_order()),
    }
    result
}

/// Creates the tables, and drops them again on a failure: a load can be continued only once its first step is noted.
fn create(context: &WorkloadContext<'_>, settings: &Settings) -> Result<(), Failure> {
    let dialect = context.target.dialect();
    let mut creates: Vec<String> = Table::ALL.iter().map(|table| table.create(dialect)).collect();
    creates.push(format!(
        "CREATE TABLE {LOAD_TABLE} (step VARCHAR(100) NOT NULL, PRIMARY KEY (step))"
    ));
    creates.push(mark(&beginning(settings)));
    on_session(context, async move |session| run_all(session, &creates).await)
        .inspect_err(|_| take_away(context, in_order()))
}

/// Notes that a step of the load is done.
fn mark(step: &str) -> String {
    format!("INSERT INTO {LOAD_TABLE} (step) VALUES ('{step}')")
}

fn name(chunk: Chunk) -> String {
    format!("{} {}/{}", chunk.table.name(), chunk.part, chunk.parts)
}

/// All chunks, those of the largest tables first, so that sessions wait for each other only at the end.
fn chunks(scale: f64, dialect: &Dialect) -> impl Iterator<Item = Chunk> {
    let rows = batch_rows(dialect, CHUNK_ROWS);
    Table::ALL.into_iter().rev().flat_map(move |table| table.chunks(scale, rows))
}

/// Loads the chunks that are not done.
fn fill(
    context: &WorkloadContext<'_>,
    settings: &Settings,
    done: &BTreeSet<String>,
) -> Result<(), Failure> {
    let scale = settings.scale;
    let total = Table::ALL.iter().map(|table| table.rows(scale)).sum();
    context.progress.begin(format!("loading scale {scale}"), total);
    let (ready, left): (Vec<Chunk>, Vec<Chunk>) =
        chunks(scale, context.target.dialect()).partition(|chunk| done.contains(&name(*chunk)));
    let rows_of = |chunk: &Chunk| chunk.table.rows(scale) / u64::from(chunk.parts.unsigned_abs());
    context.progress.advance(ready.iter().map(rows_of).sum());
    let target = match settings.is_local {
        true => context.target.with_local_rows(),
        false => context.target.clone(),
    };
    let dialect = target.dialect();
    let context = WorkloadContext { target: &target, ..*context };
    let progress = context.progress.clone();
    let left = Arc::new(left);
    parallel_for_batches(&context, workers(&context), left.len() as u64, move |session, number| {
        let (chunk, progress) = (left[number as usize], progress.clone());
        Box::pin(async move { load(session, dialect, (scale, chunk), &progress).await })
    })
}

async fn load(
    session: &mut Session,
    dialect: &Dialect,
    (scale, chunk): (f64, Chunk),
    progress: &LoadProgress,
) -> Result<(), Failure> {
    let mut together = Batch::begin(session, dialect, progress).await?;
    let columns = chunk.table.column_names();
    let part = TablePart::of(1, chunk.parts.unsigned_abs().into());
    {
        let mut rows = TableRows(together.part(chunk.table.name(), &columns, part));
        chunk.make(scale, &mut rows).await?;
        rows.0.end().await?;
    }
    together.run(&mark(&name(chunk))).await?;
    together.commit().await
}

struct TableRows<'a>(BatchWriter<'a>);

impl Sink for TableRows<'_> {
    async fn take(&mut self, row: &[Value<'_>]) -> Result<(), Failure> {
        self.0.push(row).await
    }
}

/// Creates keys, indexes and statistics, several tables in parallel, and drops the table of the load.
fn finish(
    context: &WorkloadContext<'_>,
    settings: &Settings,
    done: &BTreeSet<String>,
) -> Result<(), Failure> {
    let dialect = context.target.dialect();
    let statements = Table::ALL.iter().rev().map(|table| {
        let indexes = table.create_indexes().into_iter().filter(|_| settings.has_indexes);
        let all = table.key_after_load(dialect).into_iter().chain(indexes);
        let missing: Vec<String> = all.filter(|create| !done.contains(create)).collect();
        (missing, dialect.analyze(table.name()))
    });
    let statements: Arc<Vec<_>> = Arc::new(statements.collect());
    context.progress.begin("making indexes and statistics", Table::ALL.len() as u64);
    let progress = context.progress.clone();
    parallel_for(context, workers(context), Table::ALL.len() as u64, move |session, job| {
        let (statements, progress) = (Arc::clone(&statements), progress.clone());
        Box::pin(async move {
            let (missing, analyze) = &statements[job as usize];
            for create in missing {
                run_all(session, &[create.clone(), mark(create)]).await?;
            }
            run_all_and_analyze(session, dialect, &progress, analyze.as_slice()).await?;
            progress.advance(1);
            Ok(())
        })
    })?;
    on_session(context, async move |session| {
        session.run(&format!("DROP TABLE {LOAD_TABLE}")).await.map(drop)
    })
}

/// The names of the tables, each before the tables that its foreign keys refer to.
fn in_order() -> impl Iterator<Item = &'static str> {
    std::iter::once(LOAD_TABLE).chain(Table::ALL.iter().rev().map(|it| it.name()))
}

/// Drops the tables that this process created.
pub(super) fn clean_up(
    context: &WorkloadContext<'_>,
    created: &CreatedDatabases,
) -> Result<(), Failure> {
    tables::clean_up(context, created, &in_order().collect::<Vec<_>>())
}

/// Drops the tables of TPC-H, whoever created them.
///
/// # Errors
/// A table of that name with other columns; the server's error.
pub(super) fn remove(
    context: &WorkloadContext<'_>,
    created: &CreatedDatabases,
) -> Result<Vec<String>, Failure> {
    let there = Found::read(context)?.named();
    let told = tables::remove(context, WORKLOAD, there, in_order())?;
    created.forget(context.target);
    Ok(told)
}
