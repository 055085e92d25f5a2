//! A copy of a whole database, and its way back into the database.
//!
//! SQLite's backup API does both, under SQLite's own locks. A restore is one transaction in the live database: other
//! connections see the old contents or the restored ones, and a restore that ends early is rolled back, also after a
//! crash. Source: sqlite.org/backup.html

use std::path::{Path, PathBuf};

use measure::{ErrorClass, Failure};
use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, Error, ErrorCode, OpenFlags};

use super::error::failure;
use super::foreign_changes::changed_by_others;
use super::time_limit::TimeLimit;
use super::{Config, Synchronous};

/// Pages in one step, 1 MiB of usual ones: between two steps the copy can end.
const STEP_PAGES: i32 = 256;
/// The effect of a lock of another program.
const LOCKED: &str = "it cannot be copied or restored";

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Copied {
    pub pages: u64,
    /// Pages of the whole database.
    pub total: u64,
}

/// A copy of a database as it was at one moment.
#[derive(Debug)]
pub struct Snapshot {
    config: Config,
    copy: PathBuf,
}

impl Snapshot {
    /// Copies the database of `config` to `copy`, a file that is empty or missing. The copy is on the disk when this
    /// returns. Pages are copied as they are, so that restored data lie on the disk as the loaded ones do.
    /// `on_step` is called with the progress; [`net::must_end`] ends the copy early.
    ///
    /// # Errors
    /// When another program uses the database for longer than the busy time-out, a disk is full, or the copy was ended.
    /// What there is of the copy then is of no use.
    pub fn take(
        config: &Config,
        copy: &Path,
        on_step: &mut dyn FnMut(Copied),
    ) -> Result<Self, Failure> {
        // A restore must survive a power cut, whatever the plan measures.
        let config = Config { synchronous: Synchronous::Full, ..config.clone() };
        let snapshot = Self { config, copy: copy.to_owned() };
        let live = snapshot.open_live()?;
        // Each trial begins with an empty log, the first one too.
        snapshot.empty_log(&live)?;
        snapshot.config.written.begin();
        snapshot.copy_out(&live, on_step)?;
        Ok(snapshot)
    }

    /// Writes the copy back into the database, in one transaction. Afterwards all of it is in the file of the database,
    /// and its log is empty.
    ///
    /// # Errors
    /// As [`Snapshot::take`], and when another program has changed a table that no session of this process may have
    /// written to: a restore would undo that. The database then keeps its contents. Only when the log cannot be
    /// emptied has the database been restored.
    pub fn restore(&self, on_step: &mut dyn FnMut(Copied)) -> Result<(), Failure> {
        let copy = self.open(&self.copy).map_err(|error| failure(&self.copy, &error))?;
        let (mut live, reader) = (self.open_live()?, self.open_live()?);
        let copied = self.copy_in(&copy, &mut live, &reader, on_step);
        let emptied = self.empty_log(&live);
        copied.and(emptied)
    }

    fn copy_out(&self, live: &Connection, on_step: &mut dyn FnMut(Copied)) -> Result<(), Failure> {
        let prepared = self.open(&self.copy).and_then(|target| {
            // It needs no journal: nothing uses a copy that is not whole.
            target.pragma_update(None, "journal_mode", "off")?;
            target.pragma_update(None, "synchronous", Synchronous::Full.name())?;
            Ok(target)
        });
        let mut target = prepared.map_err(|error| failure(&self.copy, &error))?;
        // In one transaction, all steps read the same state. It begins with the first read; otherwise the copy would
        // begin again after each change of another program.
        let begun = live.unchecked_transaction().and_then(|reading| {
            reading.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
            Ok(reading)
        });
        let reading = begun.map_err(|error| self.failure(&error))?;
        let backup = Backup::new(&reading, &mut target).map_err(|error| self.failure(&error))?;
        self.all_steps(&backup, &self.copy, on_step)
    }

    fn copy_in(
        &self,
        copy: &Connection,
        live: &mut Connection,
        reader: &Connection,
        on_step: &mut dyn FnMut(Copied),
    ) -> Result<(), Failure> {
        let sizes = [page_size(copy), page_size(reader)];
        let [ours, current] = sizes.map(|size| size.map_err(|error| self.failure(&error)));
        if ours? != current? {
            return Err(self.changed("the size of its pages"));
        }
        let backup = Backup::new(copy, live).map_err(|error| self.failure(&error))?;
        // A step without pages takes the lock for writing: nobody changes the database from here on.
        self.step(&backup, 0, &self.config.path)?;
        let written = self.config.written.tables();
        match changed_by_others(copy, reader, &written) {
            Ok(None) => self.all_steps(&backup, &self.config.path, on_step),
            Ok(Some(name)) => Err(self.changed(&format!("\"{name}\""))),
            Err(error) => Err(self.failure(&error)),
        }
    }

    /// Copies all pages to `target`. The last step commits.
    fn all_steps(
        &self,
        backup: &Backup<'_, '_>,
        target: &Path,
        on_step: &mut dyn FnMut(Copied),
    ) -> Result<(), Failure> {
        loop {
            let step = self.step(backup, STEP_PAGES, target)?;
            let progress = backup.progress();
            let pages = |number: i32| u64::try_from(number).unwrap_or(0);
            let total = pages(progress.pagecount);
            on_step(Copied { pages: total - pages(progress.remaining).min(total), total });
            if step == StepResult::Done {
                return Ok(());
            }
        }
    }

    fn step(
        &self,
        backup: &Backup<'_, '_>,
        pages: i32,
        target: &Path,
    ) -> Result<StepResult, Failure> {
        if net::must_end() {
            return Err(self.interrupted());
        }
        match backup.step(pages).map_err(|error| self.failure_at(target, &error))? {
            step @ (StepResult::Done | StepResult::More) => Ok(step),
            _ if net::must_end() => Err(self.interrupted()),
            _ => Err(self.in_use(LOCKED)),
        }
    }

    /// Moves all changes from the log into the file itself.
    fn empty_log(&self, live: &Connection) -> Result<(), Failure> {
        let is_blocked =
            live.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, bool>(0));
        match is_blocked {
            Ok(false) => Ok(()),
            Ok(true) if net::must_end() => Err(self.interrupted()),
            Ok(true) => Err(self.in_use("its log cannot be emptied")),
            Err(error) => Err(self.failure(&error)),
        }
    }

    /// Opens the database as sessions do, but only if it is still there.
    fn open_live(&self) -> Result<Connection, Failure> {
        let opened = self.open_existing(&self.config.path).and_then(|live| {
            live.pragma_update(None, "journal_mode", "wal")?;
            live.pragma_update(None, "synchronous", self.config.synchronous.name())?;
            Ok(live)
        });
        opened.map_err(|error| self.failure(&error))
    }

    fn open(&self, path: &Path) -> Result<Connection, Error> {
        self.open_with(path, OpenFlags::default())
    }

    fn open_existing(&self, path: &Path) -> Result<Connection, Error> {
        self.open_with(path, OpenFlags::default() - OpenFlags::SQLITE_OPEN_CREATE)
    }

    /// Opens a file whose waits for locks have a bound and end when the thread's work has to.
    fn open_with(&self, path: &Path, flags: OpenFlags) -> Result<Connection, Error> {
        let mut connection = Connection::open_with_flags(path, flags)?;
        TimeLimit::set(&mut connection, &self.config, None)?;
        Ok(connection)
    }

    fn failure(&self, error: &Error) -> Failure {
        self.failure_at(&self.config.path, error)
    }

    fn failure_at(&self, path: &Path, error: &Error) -> Failure {
        let is_busy = matches!(
            error.sqlite_error_code(),
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked)
        );
        if net::must_end() {
            self.interrupted()
        } else if is_busy {
            self.in_use(LOCKED)
        } else {
            failure(path, error)
        }
    }

    fn interrupted(&self) -> Failure {
        let message = format!("{}: interrupted", self.config.path.display());
        Failure::new(ErrorClass::Connection, "", message)
    }

    fn in_use(&self, effect: &str) -> Failure {
        let message = format!(
            "another program has used {} for {:?} (`busy_timeout`), so that {effect}: end what works with it, or set \
             between = \"reload\"",
            self.config.path.display(),
            self.config.busy_timeout
        );
        Failure::new(ErrorClass::Busy, "SQLITE_BUSY", message)
    }

    fn changed(&self, what: &str) -> Failure {
        let message = format!(
            "{}: another program has changed {what} since the data were copied, and a restore would undo that: end \
             what works with the database, or set between = \"reload\"",
            self.config.path.display()
        );
        Failure::new(ErrorClass::Server, "", message)
    }
}

fn page_size(connection: &Connection) -> Result<i64, Error> {
    connection.query_row("PRAGMA page_size", [], |row| row.get(0))
}

#[cfg(test)]
mod tests;
