//! The embedded database: a file of the user's, or a temporary one.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, bail};
use driver::sqlite::{Config, Synchronous};
use driver::{Target, Timeouts};
use plan::{Options, Problem};

use crate::ask::{ask, rows};
use crate::copy::{copy_file, same_owner};
use crate::private_file;
use crate::running::SystemHandle;
use crate::{ProgressListener, Running, System};

/// Endings of the files that SQLite keeps for a database in WAL mode: the log and the log's index.
const COMPANIONS: [&str; 2] = ["-wal", "-shm"];

#[derive(Clone, Debug)]
struct Sqlite {
    /// `None`: a temporary file below the scratch folder.
    path: Option<PathBuf>,
    synchronous: Synchronous,
    busy_timeout: Duration,
    cache_bytes: Option<u64>,
}

/// Reads the options of the embedded database; a relative path is relative to `folder`.
pub(crate) fn read(options: &Options, folder: &Path) -> Result<Box<dyn System>, Vec<Problem>> {
    let mut reader = options.reader();
    let path = reader.text("path").map(|path| folder.join(path));
    if let Some(parent) = path.as_deref().and_then(Path::parent).filter(|parent| !parent.is_dir()) {
        let message = format!("there is no folder {}", parent.display());
        reader.reject("path", message, "create it first, or give another path");
    }
    // The driver supports no other mode; the key exists so that a plan can name the mode.
    reader.choice("journal", (), &[("wal", ())]);
    let levels = [Synchronous::Off, Synchronous::Normal, Synchronous::Full];
    let synchronous = reader.choice(
        "synchronous",
        Synchronous::default(),
        &levels.map(|level| (level.name(), level)),
    );
    let busy_timeout = reader.duration("busy_timeout", Duration::from_secs(5));
    let cache_bytes = reader.is_given("cache").then(|| reader.bytes("cache", 0));
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
        let kept = folder.join("dyno-kept.db");
        let mut config = Config::new(path.clone());
        config.synchronous = self.synchronous;
        config.busy_timeout = self.busy_timeout;
        config.cache_bytes = self.cache_bytes;
        let (target, facts) = ask(Target::sqlite(config).with_timeouts(timeouts), listener)?;
        let file = DatabaseFile { path, kept, target: target.clone() };
        Ok(Running::database(target, facts, file))
    }
}

/// The file of a database, whose state can be saved.
struct DatabaseFile {
    path: PathBuf,
    /// The path of the copy that `snapshot` makes.
    kept: PathBuf,
    target: Target,
}

impl SystemHandle for DatabaseFile {
    fn snapshot(&mut self, listener: &mut ProgressListener<'_>) -> anyhow::Result<()> {
        self.checkpoint(listener)?;
        copy(&self.path, &self.kept, listener)
    }

    fn restore(&mut self, listener: &mut ProgressListener<'_>) -> anyhow::Result<()> {
        if !self.kept.exists() {
            bail!("no data was kept that could be restored");
        }
        // So that the old database is whole without its log until it is replaced.
        self.checkpoint(listener)?;
        // The file itself where the path is a link.
        let path = fs::canonicalize(&self.path)
            .with_context(|| format!("cannot find {}", self.path.display()))?;
        copy(&self.kept, &path, listener)
    }
}

impl DatabaseFile {
    /// Moves all changes from the log into the file itself.
    fn checkpoint(&self, listener: &mut ProgressListener<'_>) -> anyhow::Result<()> {
        let rows = rows(&self.target, "PRAGMA wal_checkpoint(TRUNCATE)", listener)?;
        // The first column is 1 when another connection blocked the checkpoint.
        if rows.first().and_then(|row| row.first()) == Some(&driver::Datum::Int(1)) {
            bail!(
                "{} is in use, so it cannot be copied or replaced: end what works with it, or set \
                 between = \"reload\"",
                self.path.display()
            );
        }
        Ok(())
    }
}

/// Replaces the database `to` by a copy of `from`, once that is whole and on the disk.
fn copy(from: &Path, to: &Path, listener: &mut ProgressListener<'_>) -> anyhow::Result<()> {
    let part = beside(to, "-part");
    let copied = copy_file(from, &part, listener).and_then(|()| {
        if to.exists() {
            same_owner(to, &part)?;
        }
        replace(&part, to).with_context(|| format!("cannot replace {}", to.display()))
    });
    if copied.is_err() {
        // There is none if the disk refused it.
        let _ = fs::remove_file(&part);
    }
    copied
}

/// Puts a whole database in the place of another one, of which one is there at any time.
fn replace(part: &Path, to: &Path) -> io::Result<()> {
    File::open(part)?.sync_all()?;
    // Only now: the log of the old file belongs to it, and would be replayed into the new one.
    for companion in COMPANIONS.map(|ending| beside(to, ending)) {
        private_file::remove(&companion)?;
    }
    fs::rename(part, to)?;
    to.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

#[cfg(test)]
mod tests;
