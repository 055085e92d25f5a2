//! Loads data in batches. A batch is one transaction on a session of its own, so that it can be loaded again
//! when its connection breaks.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use driver::{Added, Dialect, Loader, Session, Value};
use engine::Stop;
use measure::{ErrorClass, Failure, Nanos};
use net::{Clock, Handle};

use crate::LoadProgress;
use crate::parallel::with_place;
use crate::reconnect::ReconnectBackoff;

/// The origin of the times of all batches.
static ORIGIN: LazyLock<Instant> = LazyLock::new(net::origin);

/// How much of a table one transaction loads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TablePart {
    /// All rows of a table that is new.
    All,
    Some,
}

impl TablePart {
    /// The part that `rows` of `all` rows are.
    pub(crate) fn of(rows: u64, all: u64) -> Self {
        if rows >= all { Self::All } else { Self::Some }
    }
}

/// The rows of one transaction: those of a whole table where the server can write them as they stay, and as many as
/// `usual` elsewhere.
pub(crate) fn batch_rows(dialect: &Dialect, usual: u64) -> u64 {
    if dialect.has_frozen_rows { u64::MAX } else { usual }
}

pub(crate) struct Batch<'a> {
    session: &'a mut Session,
    progress: &'a LoadProgress,
    /// Rows already counted as progress.
    reported_rows: u64,
    added: Added,
    clock: Clock,
    began: Nanos,
    is_committed: bool,
}

impl<'a> Batch<'a> {
    /// Starts the transaction. All texts of its rows must be ASCII.
    pub(crate) async fn begin(
        session: &'a mut Session,
        dialect: &Dialect,
        progress: &'a LoadProgress,
    ) -> Result<Self, Failure> {
        let clock = Clock::since(*ORIGIN);
        let began = clock.now();
        if let Some(ascii) = dialect.ascii_session {
            session.run(ascii).await?;
        }
        session.run(dialect.begin_write).await?;
        let added = Added::default();
        Ok(Self { session, progress, reported_rows: 0, added, clock, began, is_committed: false })
    }

    /// Receives rows of a table: all of them only as the first thing in the transaction.
    pub(crate) fn part(
        &mut self,
        name: &str,
        columns: &[&str],
        part: TablePart,
    ) -> BatchWriter<'_> {
        let loader = match part {
            TablePart::All => self.session.loader_of_all(name, columns),
            TablePart::Some => self.session.loader(name, columns),
        };
        BatchWriter {
            loader,
            name: name.to_owned(),
            progress: self.progress,
            reported_rows: &mut self.reported_rows,
            added: &mut self.added,
            unreported_rows: 0,
        }
    }

    pub(crate) async fn run(&mut self, sql: &str) -> Result<(), Failure> {
        self.session.run(sql).await.map(drop)
    }

    pub(crate) async fn commit(mut self) -> Result<(), Failure> {
        self.session.run("COMMIT").await?;
        self.is_committed = true;
        self.progress.add(&self.added, self.began..self.clock.now());
        Ok(())
    }
}

impl Drop for Batch<'_> {
    fn drop(&mut self) {
        if !self.is_committed {
            self.progress.take_back(self.reported_rows);
        }
    }
}

pub(crate) struct BatchWriter<'a> {
    loader: Loader<'a>,
    name: String,
    progress: &'a LoadProgress,
    reported_rows: &'a mut u64,
    added: &'a mut Added,
    unreported_rows: u64,
}

/// Progress is updated once for this many rows.
const REPORT_ROWS: u64 = 1_000;

impl BatchWriter<'_> {
    pub(crate) async fn push(&mut self, row: &[Value<'_>]) -> Result<(), Failure> {
        self.loader.push(row).await.map_err(|failure| of_table(failure, &self.name))?;
        self.unreported_rows += 1;
        if self.unreported_rows == REPORT_ROWS {
            self.report_rows();
        }
        Ok(())
    }

    /// Sends the last rows.
    pub(crate) async fn end(mut self) -> Result<(), Failure> {
        self.report_rows();
        let finished = self.loader.finish().await;
        let added = finished.map_err(|failure| of_table(failure, &self.name))?;
        if let Some(why) = added.not_frozen {
            self.progress.remark(format!(
                "rows were loaded without FREEZE, so VACUUM writes them once more: {why}"
            ));
        }
        self.added.rows += added.rows;
        self.added.inserts.merge(&added.inserts);
        Ok(())
    }

    fn report_rows(&mut self) {
        self.progress.advance(self.unreported_rows);
        *self.reported_rows += std::mem::take(&mut self.unreported_rows);
    }
}

fn of_table(failure: Failure, table: &str) -> Failure {
    with_place(failure, &format!("loading table {table}"))
}

/// The retry policy for batches whose connection breaks.
#[derive(Clone)]
pub(crate) struct RetryPolicy {
    /// How long a batch is retried after its first failure; `None` for no retry.
    pub(crate) limit: Option<Duration>,
    pub(crate) stop: Stop,
    pub(crate) progress: LoadProgress,
}

impl RetryPolicy {
    /// Loads a batch with `attempt`, which opens a connection, and retries it while connections break and the limit
    /// allows it.
    ///
    /// # Errors
    /// The last failure.
    pub(crate) async fn load<A>(&self, handle: &Handle, attempt: A) -> Result<(), Failure>
    where
        A: AsyncFn() -> Result<(), Failure>,
    {
        let mut backoff: Option<ReconnectBackoff> = None;
        loop {
            let Err(failure) = attempt().await else { return Ok(()) };
            let class = failure.key.class;
            // The previous attempt was committed and only its answer was lost: no other batch has these rows.
            if backoff.is_some() && class == ErrorClass::DuplicateKey {
                return Ok(());
            }
            let Some(limit) = self.limit.filter(|_| class.breaks_connection()) else {
                return Err(failure);
            };
            let backoff = backoff.get_or_insert_with(|| {
                self.progress.lose();
                ReconnectBackoff::since(handle.now())
            });
            if self.stop.is_asked() || !backoff.wait(handle, limit).await {
                return Err(failure);
            }
        }
    }
}
