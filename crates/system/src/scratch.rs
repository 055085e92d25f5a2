//! A temporary folder that is removed when dyno ends, however it ends.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::Context;
use nix::unistd::{geteuid, getpid};
use tempfile::TempDir;

use crate::process::Guard;

const FIRST_PROCESS: i32 = 1;

/// A temporary folder that other users cannot list. Dropping it removes it with everything in it; when dyno is
/// killed, a shell that outlives dyno removes it. Nothing outlives the first process of a container, so there the
/// folder is left to whoever removes the container's files.
#[derive(Debug)]
pub struct Scratch {
    // Dropped in this order: the guard gets its message after the folder is removed.
    folder: TempDir,
    _guard: Option<Guard>,
}

impl Scratch {
    /// Makes the folder. When dyno runs as root, other accounts can pass through it, for servers with accounts of
    /// their own: everything in it needs restrictive modes of its own.
    ///
    /// # Errors
    /// When there is no space for it, or no shell.
    pub fn make() -> anyhow::Result<Self> {
        let scratch = Self::closed()?;
        set_passable(scratch.path())?;
        Ok(scratch)
    }

    /// A folder that other users cannot pass through, even when dyno runs as root.
    ///
    /// # Errors
    /// As [`Scratch::make`].
    pub(crate) fn closed() -> anyhow::Result<Self> {
        let folder = tempfile::Builder::new()
            .prefix("dyno-")
            .permissions(Permissions::from_mode(0o700))
            .tempdir()
            .context(
                "no room for the data of managed systems; set TMPDIR to a folder that can be written",
            )?;
        let guard = guard_of(folder.path())?;
        Ok(Self { folder, _guard: guard })
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// A folder in it that other accounts can pass through; it may exist already.
    ///
    /// # Errors
    /// When the folder cannot be made.
    pub fn subfolder(&self, name: &str) -> anyhow::Result<PathBuf> {
        let folder = self.path().join(name);
        fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        set_passable(&folder)?;
        Ok(folder)
    }
}

/// What removes a folder when dyno is killed. The kernel kills a container's processes with the first of them
/// (`pid_namespaces(7)`), a guard too, so that one needs none, and no shell.
fn guard_of(folder: &Path) -> anyhow::Result<Option<Guard>> {
    if getpid().as_raw() == FIRST_PROCESS {
        return Ok(None);
    }
    let guard = Guard::of_folder(folder).context(
        "cannot start `sh`, which clears up if dyno is killed; in a container without a shell, dyno must be the \
         first process",
    )?;
    Ok(Some(guard))
}

/// Sets the mode whatever dyno's umask is.
fn set_passable(folder: &Path) -> anyhow::Result<()> {
    let mode = if geteuid().is_root() { 0o711 } else { 0o700 };
    fs::set_permissions(folder, Permissions::from_mode(mode))
        .with_context(|| format!("cannot set the mode of {}", folder.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_users_cannot_list_or_write_any_of_it() {
        let scratch = Scratch::make().unwrap();
        let folder = scratch.subfolder("0001").unwrap();
        for path in [scratch.path(), &folder] {
            assert_eq!(path.metadata().unwrap().permissions().mode() & 0o066, 0);
        }
        let closed = Scratch::closed().unwrap();
        assert_eq!(closed.path().metadata().unwrap().permissions().mode() & 0o7777, 0o700);
    }
}
