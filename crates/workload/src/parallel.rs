//! Runs work on sessions outside of the load: a single session for sequential steps, a worker pool for the rest.

use std::borrow::Borrow;
use std::cell::{Cell, RefCell};
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use driver::{Datum, Dialect, Session};
use engine::{LocalBoxFuture, Stop, worker_pool};
use measure::{ErrorClass, Failure};

use crate::busy_sessions::BusySessions;
use crate::loading::RetryPolicy;
use crate::{LoadProgress, WorkloadContext};

/// A failure that dyno itself reports: the data or the system does not fit the workload.
pub(crate) fn unsuitable(message: impl Into<String>) -> Failure {
    Failure::new(ErrorClass::Server, "", message)
}

/// The refusal to make tables that exist already.
pub(crate) fn already_there<S: Borrow<str>>(tables: &[S]) -> Failure {
    let verb = if tables.len() == 1 { "exists" } else { "exist" };
    unsuitable(format!(
        "{} already {verb}; `--existing reuse` uses what is there, `--existing replace` drops and recreates it",
        names(tables)
    ))
}

/// Some tables as the subject of a sentence, verb included: `table stock is`.
pub(crate) fn subject<S: Borrow<str>>(tables: &[S]) -> String {
    let verb = if tables.len() == 1 { "is" } else { "are" };
    format!("{} {verb}", names(tables))
}

/// Some tables by their names: `tables stock, orders`.
pub(crate) fn names<S: Borrow<str>>(tables: &[S]) -> String {
    let noun = if tables.len() == 1 { "table" } else { "tables" };
    format!("{noun} {}", tables.join(", "))
}

/// The note that existing tables are used because they are as they would be made.
pub(crate) fn matching<S: Borrow<str>>(tables: &[S]) -> String {
    let verb = if tables.len() == 1 { "exists and matches" } else { "exist and match" };
    format!("{} {verb}: used without loading; `--existing replace` recreates", names(tables))
}

/// The failure of a job that was stopped on request.
pub(crate) fn interrupted() -> Failure {
    Failure::new(ErrorClass::Connection, "", "interrupted")
}

/// Runs a future that only writes to files or memory, and therefore never waits.
pub(crate) fn at_once(future: impl Future<Output = Result<(), Failure>>) -> Result<(), Failure> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(result) => result,
        Poll::Pending => Err(unsuitable("writing rows did not come to an end")),
    }
}

/// Runs `job` on a new session, after the statements of the plan's `prepare_session`. A request to stop ends it with
/// its statement.
pub(crate) fn on_session<T, J>(context: &WorkloadContext<'_>, job: J) -> Result<T, Failure>
where
    T: 'static,
    J: AsyncFnOnce(&mut Session) -> Result<T, Failure> + 'static,
{
    on_session_until(context, worker_pool::has_risen(context.stop, context.stop.level()), job)
}

/// The same, but only `must_end` ends it, with its statement.
pub(crate) fn on_session_until<T, J>(
    context: &WorkloadContext<'_>,
    must_end: impl Fn() -> bool + 'static,
    job: J,
) -> Result<T, Failure>
where
    T: 'static,
    J: AsyncFnOnce(&mut Session) -> Result<T, Failure> + 'static,
{
    let result = Rc::new(Cell::new(None));
    let kept = Rc::clone(&result);
    let target = context.target.clone();
    let setup = context.sql.prepare_session.clone();
    let busy = BusySessions::default();
    let (dialect, busy_here) = (target.dialect(), busy.clone());
    worker_pool::run_until(must_end, move |handle| {
        Box::pin(async move {
            let mut session = target.connect(&handle, 0).await?;
            let work = async |session: &mut Session| {
                run_all(session, &setup).await?;
                job(session).await
            };
            kept.set(Some(busy_here.track(dialect, (&mut session, 0), work).await?));
            session.close().await;
            Ok(())
        })
    })
    .inspect_err(|_| end_statements(context, &busy))?;
    result.take().ok_or_else(interrupted)
}

/// Ends the statements that nothing waits for any more.
fn end_statements(context: &WorkloadContext<'_>, busy: &BusySessions) {
    if !busy.end_statements(context.target, context.stop) {
        context.progress.server_is_silent();
    }
}

/// Runs statements in order; the failure names the one that failed.
pub(crate) async fn run_all(session: &mut Session, statements: &[String]) -> Result<(), Failure> {
    for statement in statements {
        session.run(statement).await.map_err(|failure| in_statement(failure, statement))?;
    }
    Ok(())
}

/// The same for statements with that of [`Dialect::analyze`]: a system that refuses it gets a plainer one, and a note tells so.
pub(crate) async fn run_all_and_analyze(
    session: &mut Session,
    dialect: &Dialect,
    progress: &LoadProgress,
    statements: &[String],
) -> Result<(), Failure> {
    for statement in statements {
        let Err(failure) = session.run(statement).await else { continue };
        let instead = dialect.analyze_instead(statement);
        let Some(instead) = instead.filter(|_| !failure.key.class.breaks_connection()) else {
            return Err(in_statement(failure, statement));
        };
        let and = match session.run(&instead).await {
            Ok(_) => format!("`{instead}` ran in its place"),
            Err(other) if other.key.class.breaks_connection() => {
                return Err(in_statement(other, &instead));
            }
            Err(other) => format!("nor `{instead}`: {}", other.message),
        };
        progress
            .remark(format!("the system does not take `{statement}` ({}); {and}", failure.message));
    }
    Ok(())
}

/// The failure of a statement with its first words, which name the table.
fn in_statement(failure: Failure, statement: &str) -> Failure {
    const SHOWN_CHARS: usize = 60;
    let shown = match statement.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("{} ...", statement[..end].trim_end()),
        None => statement.to_owned(),
    };
    with_place(failure, &format!("in `{shown}`"))
}

/// The failure with its place behind what happened, before the remedy.
pub(crate) fn with_place(failure: Failure, place: &str) -> Failure {
    let message = match failure.message.split_once("; ") {
        Some((what, remedy)) => format!("{what} ({place}); {remedy}"),
        None => format!("{} ({place})", failure.message),
    };
    failure.with_message(message)
}

/// A session for the next job; `None` when there is none, or it was lost.
async fn as_new(kept: Option<Session>) -> Option<Session> {
    let mut session = kept?;
    session.reset().await.then_some(session)
}

/// A function that runs job `number` on a session.
pub(crate) trait Job:
    for<'s> Fn(&'s mut Session, u64) -> LocalBoxFuture<'s, Result<(), Failure>> + Send + Sync + 'static
{
}

impl<J> Job for J where
    J: for<'s> Fn(&'s mut Session, u64) -> LocalBoxFuture<'s, Result<(), Failure>>
        + Send
        + Sync
        + 'static
{
}

/// Runs jobs `0..jobs` on up to `workers` threads. Each thread takes the next job until none is left. A request to stop
/// ends all of them with their statements. A thread keeps its session, which is as new for every job, so that the server
/// frees the prepared statements of the one before.
pub(crate) fn parallel_for(
    context: &WorkloadContext<'_>,
    workers: usize,
    jobs: u64,
    job: impl Job,
) -> Result<(), Failure> {
    run_jobs(context, None, (workers, jobs), job)
}

/// The same for batches of rows, each of which is one transaction. A batch is loaded again if its connection breaks.
pub(crate) fn parallel_for_batches(
    context: &WorkloadContext<'_>,
    workers: usize,
    batches: u64,
    job: impl Job,
) -> Result<(), Failure> {
    run_jobs(context, context.reconnect_limit, (workers, batches), job)
}

fn run_jobs(
    context: &WorkloadContext<'_>,
    reconnect_limit: Option<Duration>,
    (workers, jobs): (usize, u64),
    job: impl Job,
) -> Result<(), Failure> {
    let job = Arc::new(job);
    let next = Arc::new(AtomicU64::new(0));
    let failed = Stop::new();
    let workers = workers.clamp(1, usize::try_from(jobs).unwrap_or(usize::MAX).max(1));
    let (busy, dialect) = (BusySessions::default(), context.target.dialect());
    let done = worker_pool::run(workers, context.stop, |index, handle| {
        let (job, next, failed) = (Arc::clone(&job), Arc::clone(&next), failed.clone());
        let busy = busy.clone();
        let (target, stop) = (context.target.clone(), context.stop.clone());
        let setup = context.sql.prepare_session.clone();
        let retry_policy = RetryPolicy {
            limit: reconnect_limit,
            stop: stop.clone(),
            progress: context.progress.clone(),
        };
        Box::pin(async move {
            let (kept, is_lost) = (RefCell::new(None), Cell::new(false));
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= jobs || failed.is_asked() {
                    if let Some(session) = kept.take() {
                        Session::close(session).await;
                    }
                    return Ok(());
                }
                if stop.is_asked() {
                    return Err(interrupted());
                }
                let attempt = async || {
                    let mut session = match as_new(kept.take()).await {
                        Some(session) => session,
                        None if is_lost.get() => target.connect_again(&handle, index).await?,
                        None => target.connect(&handle, index).await?,
                    };
                    let work = async |session: &mut Session| {
                        run_all(session, &setup).await?;
                        job(session, number).await
                    };
                    is_lost.set(true);
                    busy.track(dialect, (&mut session, index), work).await?;
                    is_lost.set(false);
                    kept.replace(Some(session));
                    Ok(())
                };
                if let Err(failure) = retry_policy.load(&handle, attempt).await {
                    failed.ask();
                    return Err(failure);
                }
            }
        })
    });
    done.inspect_err(|_| end_statements(context, &busy))
}

/// The number of sessions that can work in parallel on this system.
pub(crate) fn workers(context: &WorkloadContext<'_>) -> usize {
    if context.target.capabilities().has_concurrent_writers { context.loaders.max(1) } else { 1 }
}

/// The number of sessions for work on many small tables, which waits for the server's disk more than for its CPU.
pub(crate) fn workers_for_small_tables(context: &WorkloadContext<'_>) -> usize {
    const SESSIONS: usize = 16;
    match workers(context) {
        1 => 1,
        loaders => loaders.max(SESSIONS),
    }
}

/// The names of a table's columns, by a statement of the dialect such as `list_columns`; empty if the table does not
/// exist.
pub(crate) async fn columns(
    session: &mut Session,
    list: &str,
    table: &str,
) -> Result<Vec<String>, Failure> {
    let rows = session.rows(&list.replace("{table}", table)).await?;
    Ok(rows.iter().filter_map(|row| as_text(row.first())).collect())
}

/// An integer cell. Text protocols send integers as text.
pub(crate) fn as_integer(datum: Option<&Datum>) -> Option<i64> {
    match datum? {
        Datum::Int(integer) => Some(*integer),
        Datum::Text(text) => text.trim().parse().ok(),
        Datum::Float(_) | Datum::Null => None,
    }
}

pub(crate) fn as_text(datum: Option<&Datum>) -> Option<String> {
    match datum? {
        Datum::Text(text) => Some(text.clone()),
        Datum::Int(integer) => Some(integer.to_string()),
        Datum::Float(_) | Datum::Null => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestSystem, message};

    #[test]
    fn a_failure_of_several_statements_names_the_one_that_failed() {
        let system = TestSystem::sqlite();
        let statements = ["CREATE TABLE one (id INTEGER)", "CREATE INDEX two ON absent (id)"];
        let statements = statements.map(str::to_owned).to_vec();
        let done =
            on_session(&system.context(), async move |session| run_all(session, &statements).await);
        let told = message(done);
        assert!(
            told.ends_with("main.absent (SQLITE_ERROR) (in `CREATE INDEX two ON absent (id)`)"),
            "{told}"
        );
    }

    #[test]
    fn a_statement_for_statistics_that_a_system_refuses_is_a_note_and_a_plainer_one_runs() {
        let system = TestSystem::postgres("dyno_analyze");
        system.run("CREATE TABLE one AS SELECT 1 AS id");
        let of = |analyze, analyze_alone| Dialect {
            analyze: Some(analyze),
            analyze_alone,
            ..driver::postgres::DIALECT
        };
        let run = |dialect: Dialect| {
            let (statement, progress) = (dialect.analyze("one").unwrap(), system.progress.clone());
            let done = on_session(&system.context(), async move |session| {
                run_all_and_analyze(session, &dialect, &progress, &[statement]).await
            });
            (done, system.progress.take_notes())
        };
        let (done, notes) = run(of("VACUUM (NONE_SUCH) {table}", Some("ANALYZE {table}")));
        assert_eq!((done, notes.len()), (Ok(()), 1));
        assert!(notes[0].ends_with("`ANALYZE one` ran in its place"), "{notes:?}");
        assert_eq!(system.integer("SELECT COUNT(*) FROM pg_stats WHERE tablename = 'one'"), 1);
        let (done, notes) = run(of("VACUUM (NONE_SUCH) {table}", Some("GATHER {table}")));
        assert_eq!((done, notes.len()), (Ok(()), 1));
        let (done, notes) = run(of("VACUUM {table}", Some("ANALYZE {table}")));
        assert_eq!((done, notes), (Ok(()), Vec::new()));
        assert!(run(of("VACUUM (NONE_SUCH) {table}", None)).0.is_err());
        drop(system);
        TestSystem::postgres_server().drop_database("dyno_analyze");
    }
}
