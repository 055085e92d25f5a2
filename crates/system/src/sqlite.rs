//! The embedded database: a file of the user's, or a temporary one.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use anyhow::Context;
use driver::sqlite::{Config, Copied, Snapshot, Synchronous};
use driver::{Target, Timeouts};
use measure::Failure;
use net::BlockingCheck;
use plan::declared::{Choice, Named, Time, choice, named, time};
use plan::{Options, Problem};

use crate::aside::aside_in_steps;
use crate::ask::ask;
use crate::private_file;
use crate::running::SystemHandle;
use crate::{Kind, ProgressListener, Running, System};

const PATH: Named = named("path", "a temporary file", "the database file; created when missing");
/// The driver supports no other mode; the key exists so that a plan can name the mode.
const JOURNAL: Choice<()> = choice(
    "journal",
    ("wal", ()),
    &[("wal", ())],
    "the journal mode; only wal, the write-ahead log",
);
const SYNCHRONOUS: Choice<Synchronous> = choice(
    "synchronous",
    ("normal", Synchronous::Normal),
    &[("off", Synchronous::Off), ("normal", Synchronous::Normal), ("full", Synchronous::Full)],
    "when commits wait for the disk: off, normal or full",
);
const CACHE: Named =
    named("cache", "SQLite's own", "size of the page cache of each connection, such as \"64MiB\"");
const BUSY_TIMEOUT: Time = time(
    "busy_timeout",
    ("5s", Duration::from_secs(5)),
    "how long a statement waits for another writer",
);

pub(crate) static KIND: Kind = Kind {
    name: "sqlite",
    summary: "the embedded database SQLite, in dyno's process",
    argument: "sqlite, sqlite:PATH, or a path that ends in .db, .sqlite or .sqlite3",
    options: &[&PATH, &JOURNAL, &SYNCHRONOUS, &CACHE, &BUSY_TIMEOUT],
    read,
};

/// How long a stop waits for the step of a copy to end.
const STOP_GRACE: Duration = Duration::from_millis(500);

#[derive(Clone, Debug)]
struct Sqlite {
    /// `None`: a temporary file below the scratch folder.
    path: Option<PathBuf>,
    synchronous: Synchronous,
    busy_timeout: Duration,
    cache_bytes: Option<u64>,
}

/// Reads the options of the embedded database; a relative path is relative to `folder`.
fn read(options: &Options, folder: &Path) -> Result<Box<dyn System>, Vec<Problem>> {
    let mut reader = options.reader();
    let path = reader.text(PATH.name).map(|path| folder.join(path));
    if let Some(parent) = path.as_deref().and_then(Path::parent).filter(|parent| !parent.is_dir()) {
        let message = format!("there is no folder {}", parent.display());
        reader.reject(PATH.name, message, "create it first, or give another path");
    }
    JOURNAL.read(&mut reader);
    let synchronous = SYNCHRONOUS.read(&mut reader);
    let busy_timeout = BUSY_TIMEOUT.read(&mut reader);
    let cache_bytes = reader.is_given(CACHE.name).then(|| reader.bytes(CACHE.name, 0));
    reader.finish()?;
    Ok(Box::new(Sqlite { path, synchronous, busy_timeout, cache_bytes }))
}

impl System for Sqlite {
    fn is_embedded(&self) -> bool {
        true
    }

    fn keeps_data(&self) -> bool {
        self.path.is_some()
    }

    fn data_file(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    fn start(
        &self,
        scratch: &Path,
        timeouts: Timeouts,
        listener: &mut ProgressListener<'_>,
    ) -> anyhow::Result<Running> {
        // SQLite creates files that all users can read.
        let folder = scratch.join("sqlite");
        private_file::create_folder(&folder)?;
        let path = self.path.clone().unwrap_or_else(|| folder.join("dyno.db"));
        let mut config = Config::new(path);
        config.synchronous = self.synchronous;
        config.busy_timeout = self.busy_timeout;
        config.cache_bytes = self.cache_bytes;
        let target = Target::sqlite(config.clone()).with_timeouts(timeouts);
        let (target, facts) = ask(target, listener)?;
        let file = DatabaseFile { config, copy: folder.join("dyno-kept.db"), kept: None };
        Ok(Running::database(target, facts, file))
    }
}

/// The file of a database, whose state can be saved.
struct DatabaseFile {
    config: Config,
    copy: PathBuf,
    kept: Option<Arc<Snapshot>>,
}

impl SystemHandle for DatabaseFile {
    fn snapshot(&mut self, listener: &mut ProgressListener<'_>) -> anyhow::Result<()> {
        self.kept = None;
        let create = || private_file::create(&self.copy).map(drop);
        create().with_context(|| format!("cannot create {}", self.copy.display()))?;
        let (config, copy) = (self.config.clone(), self.copy.clone());
        let taken = copying("copying the data", listener, move |on_step| {
            Snapshot::take(&config, &copy, on_step)
        });
        if taken.is_err() {
            // It may fill the disk, and is of no use.
            let _ = private_file::remove(&self.copy);
        }
        self.kept = Some(Arc::new(taken?));
        Ok(())
    }

    fn restore(&mut self, listener: &mut ProgressListener<'_>) -> anyhow::Result<()> {
        let kept = self.kept.clone().context("no data was kept that could be restored")?;
        copying("restoring the data", listener, move |on_step| kept.restore(on_step))
    }
}

/// Copies on a thread of its own. At a stop the thread ends with the step that it is in. When this takes long, such as
/// a wait for the disk, it is left behind.
///
/// # Errors
/// When the copy fails, or the listener requests a stop.
fn copying<T: Send + 'static>(
    stage: &str,
    listener: &mut ProgressListener<'_>,
    copy: impl FnOnce(&mut dyn FnMut(Copied)) -> Result<T, Failure> + Send + 'static,
) -> anyhow::Result<T> {
    let is_wanted = Arc::new(AtomicBool::new(true));
    let (at_end, ended) = mpsc::channel::<()>();
    let wanted = Arc::clone(&is_wanted);
    let copied = aside_in_steps(stage, listener, move |on_step| {
        // It is dropped when the work has ended, in whatever way.
        let _at_end = at_end;
        let _check = BlockingCheck::set(move || !wanted.load(Ordering::Relaxed));
        copy(&mut |Copied { pages, total }| on_step(pages, total))
    });
    if copied.is_err() {
        is_wanted.store(false, Ordering::Relaxed);
        let _ = ended.recv_timeout(STOP_GRACE);
    }
    Ok(copied??)
}

#[cfg(test)]
mod tests;
