//! The folder for everything that is thrown away when we go, however we go.

use std::path::Path;

use anyhow::Context;
use tempfile::TempDir;

use crate::process::Guard;

/// A folder among the temporary files. Dropping it removes it with all that is in it; when we are killed,
/// a shell that outlives us does.
#[derive(Debug)]
pub struct Scratch {
    // Dropped in this order: the guard is told that all is over when it is.
    folder: TempDir,
    _guard: Guard,
}

impl Scratch {
    /// Makes it.
    ///
    /// # Errors
    /// When there is no room for it, or no shell.
    pub fn make() -> anyhow::Result<Self> {
        let folder = tempfile::Builder::new().prefix("dyno-").tempdir().context(
            "no room for the data of managed systems; set TMPDIR to a folder that can be written",
        )?;
        let guard = Guard::of_folder(folder.path()).context("no shell to clear up after us")?;
        Ok(Self { folder, _guard: guard })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}
