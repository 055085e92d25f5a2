//! Loading data piece by piece: each piece goes in with one transaction on a session of its own, so that one
//! whose connection is lost can be loaded again.

use std::time::Duration;

use driver::{Dialect, Loader, Session, Value};
use engine::Stop;
use measure::{ErrorClass, Failure};
use net::Handle;

use crate::Progress;
use crate::reconnect::Away;

/// The transaction of one piece.
pub(crate) struct Piece<'a> {
    session: &'a mut Session,
    progress: &'a Progress,
    /// Rows that progress was told of.
    told_rows: u64,
    is_committed: bool,
}

impl<'a> Piece<'a> {
    /// Starts the transaction, for rows whose texts are all of ASCII.
    pub(crate) async fn begin(
        session: &'a mut Session,
        dialect: &Dialect,
        progress: &'a Progress,
    ) -> Result<Self, Failure> {
        if let Some(ascii) = dialect.ascii_session {
            session.run(ascii).await?;
        }
        session.run(dialect.begin_write).await?;
        Ok(Self { session, progress, told_rows: 0, is_committed: false })
    }

    /// Begins with the rows of a table.
    pub(crate) fn table(&mut self, name: &str, columns: &[&str]) -> Filling<'_> {
        Filling {
            loader: self.session.loader(name, columns),
            progress: self.progress,
            told_rows: &mut self.told_rows,
            untold_rows: 0,
        }
    }

    pub(crate) async fn commit(mut self) -> Result<(), Failure> {
        self.session.run("COMMIT").await?;
        self.is_committed = true;
        Ok(())
    }
}

impl Drop for Piece<'_> {
    fn drop(&mut self) {
        if !self.is_committed {
            self.progress.take_back(self.told_rows);
        }
    }
}

/// Rows on their way into one table.
pub(crate) struct Filling<'a> {
    loader: Loader<'a>,
    progress: &'a Progress,
    told_rows: &'a mut u64,
    untold_rows: u64,
}

/// Rows that progress is told of at once.
const TOLD_AT_ONCE: u64 = 1_000;

impl Filling<'_> {
    /// Takes a row, one value for each column.
    pub(crate) async fn push(&mut self, row: &[Value<'_>]) -> Result<(), Failure> {
        self.loader.push(row).await?;
        self.untold_rows += 1;
        if self.untold_rows == TOLD_AT_ONCE {
            self.tell();
        }
        Ok(())
    }

    /// Has the last rows go in.
    pub(crate) async fn end(mut self) -> Result<(), Failure> {
        self.tell();
        self.loader.finish().await.map(drop)
    }

    fn tell(&mut self) {
        self.progress.advance(self.untold_rows);
        *self.told_rows += std::mem::take(&mut self.untold_rows);
    }
}

/// What a load goes on after lost connections with.
#[derive(Clone)]
pub(crate) struct Persistence {
    /// For how long a piece may be tried again.
    pub(crate) limit: Option<Duration>,
    pub(crate) stop: Stop,
    pub(crate) progress: Progress,
}

impl Persistence {
    /// Loads a piece by `attempt`, which connects, again for as long as connections are lost and the limit
    /// allows.
    ///
    /// # Errors
    /// The last failure.
    pub(crate) async fn load<A>(&self, handle: &Handle, attempt: A) -> Result<(), Failure>
    where
        A: AsyncFn() -> Result<(), Failure>,
    {
        let mut away: Option<Away> = None;
        loop {
            let Err(failure) = attempt().await else { return Ok(()) };
            let class = failure.key.class;
            // The last try was committed, and only the answer to that was lost: pieces are made of rows
            // that nobody else makes.
            if away.is_some() && class == ErrorClass::DuplicateKey {
                return Ok(());
            }
            let Some(limit) = self.limit.filter(|_| class.breaks_connection()) else {
                return Err(failure);
            };
            let away = away.get_or_insert_with(|| {
                self.progress.lose();
                Away::since(handle.now())
            });
            if self.stop.is_asked() || !away.wait(handle, limit).await {
                return Err(failure);
            }
        }
    }
}
