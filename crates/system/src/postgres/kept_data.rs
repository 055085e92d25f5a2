//! New data folders, which initdb makes once for each set of programs and options: they are kept in the cache folder, and
//! each start takes a copy. The user's password is changed in the copy, once the server runs.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use plan::Password;
use sha1::{Digest, Sha1};

use super::programs::Programs;
use crate::ProgressListener;
use crate::account::Account;
use crate::cache::{Lock, cache_folder};
use crate::copy::replace_folder;
use crate::private_file;

/// In the cache folder.
const FOLDER: &str = "postgres";

/// A data folder that is kept, or is to be.
#[derive(Clone, Debug)]
pub(super) struct KeptData {
    folder: PathBuf,
}

impl KeptData {
    /// The one for these programs, options of initdb and account; `None` where there is no cache folder that can be
    /// written to.
    pub(super) fn of(
        programs: &Programs,
        options: &[String],
        account: Option<&Account>,
    ) -> Option<Self> {
        let mut key = Sha1::new();
        for program in [&programs.server, &programs.initdb] {
            let seen = fs::metadata(program).ok()?;
            let facts = format!("{} {} {}", program.display(), seen.len(), seen.mtime());
            key.update(facts);
        }
        let owner = account.map_or_else(nix::unistd::geteuid, |account| account.uid);
        key.update(format!("{options:?} {owner}"));
        let key: String = key.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        let all = cache_folder().ok()?.join(FOLDER);
        private_file::create_folder(&all).ok()?;
        nix::unistd::access(&all, nix::unistd::AccessFlags::W_OK).ok()?;
        Some(Self { folder: all.join(key) })
    }

    fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    /// Written last: what a whole folder has.
    fn list(&self) -> PathBuf {
        self.folder.join("files")
    }

    fn password(&self) -> PathBuf {
        self.folder.join("password")
    }

    /// Only one process at a time makes, copies or removes it. The end of a process frees the lock.
    pub(super) fn lock(&self, listener: &mut ProgressListener<'_>) -> anyhow::Result<Lock> {
        Lock::take(&self.folder.with_extension("lock"), listener)
    }

    /// Copies the data to `to`, and returns the password in them; `None` when there are none, or they are not whole.
    ///
    /// # Errors
    /// When they cannot be copied, or a stop was requested.
    pub(super) fn copy_to(
        &self,
        to: &Path,
        listener: &mut ProgressListener<'_>,
    ) -> anyhow::Result<Option<Password>> {
        let kept = fs::read_to_string(self.list()).ok();
        if kept.is_none_or(|kept| listed(&self.data()).is_none_or(|found| found != kept)) {
            return Ok(None);
        }
        let Ok(password) = fs::read_to_string(self.password()) else { return Ok(None) };
        plan::hide(&password);
        replace_folder(&self.data(), to, listener)?;
        Ok(Some(Password::new(password)))
    }

    /// Keeps a copy of the data of a server that has not run yet, in place of what was kept. The password in them is used
    /// for no server but until it is changed.
    ///
    /// # Errors
    /// When they cannot be kept, or a stop was requested.
    pub(super) fn keep(
        &self,
        data: &Path,
        password: &Password,
        listener: &mut ProgressListener<'_>,
    ) -> anyhow::Result<()> {
        self.forget()?;
        private_file::create_folder(&self.folder)?;
        replace_folder(data, &self.data(), listener)?;
        let write = |path: &Path, bytes: &[u8]| {
            private_file::create(path)
                .and_then(|mut file| file.write_all(bytes))
                .with_context(|| format!("cannot write {}", path.display()))
        };
        password.reveal(|password| write(&self.password(), password))?;
        let Some(list) = listed(&self.data()) else {
            bail!("cannot list {}", self.data().display());
        };
        write(&self.list(), list.as_bytes())
    }

    /// Removes what is kept.
    ///
    /// # Errors
    /// When it cannot be removed.
    pub(super) fn forget(&self) -> anyhow::Result<()> {
        match fs::remove_dir_all(&self.folder) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(error).with_context(|| format!("cannot remove {}", self.folder.display()))
            }
            _ => Ok(()),
        }
    }
}

/// Every file below a folder with its length, a line each; `None` when they cannot be read.
fn listed(folder: &Path) -> Option<String> {
    let mut lines = Vec::new();
    list(folder, folder, &mut lines)?;
    lines.sort_unstable();
    Some(lines.join("\n"))
}

fn list(root: &Path, folder: &Path, lines: &mut Vec<String>) -> Option<()> {
    for entry in fs::read_dir(folder).ok()? {
        let path = entry.ok()?.path();
        let seen = path.symlink_metadata().ok()?;
        let name = path.strip_prefix(root).ok()?.display().to_string();
        if seen.is_dir() {
            lines.push(format!("{name}/"));
            list(root, &path, lines)?;
        } else {
            lines.push(format!("{name} {}", seen.len()));
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::daemon::ignore_progress;

    #[test]
    fn what_is_kept_is_taken_only_when_it_is_whole() {
        let root = tempfile::tempdir().unwrap();
        let [data, to] = ["data", "to"].map(|name| root.path().join(name));
        fs::create_dir_all(data.join("base/1")).unwrap();
        fs::create_dir(data.join("empty")).unwrap();
        fs::write(data.join("base/1/112"), "catalogue").unwrap();
        let kept = KeptData { folder: root.path().join("cache/postgres/key") };
        let copy = || kept.copy_to(&to, &mut ignore_progress).unwrap();
        let keep = || kept.keep(&data, &Password::new("hors3-carr1age"), &mut ignore_progress);
        assert_eq!(copy(), None);
        keep().unwrap();
        assert_eq!(copy(), Some(Password::new("hors3-carr1age")));
        assert_eq!(fs::read_to_string(to.join("base/1/112")).unwrap(), "catalogue");
        assert!(to.join("empty").is_dir());
        // Cut short, killed before the end, and without a file.
        let breaks: [&dyn Fn(); 4] = [
            &|| fs::write(kept.data().join("base/1/112"), "cat").unwrap(),
            &|| fs::remove_file(kept.list()).unwrap(),
            &|| fs::remove_dir(kept.data().join("empty")).unwrap(),
            &|| fs::remove_file(kept.password()).unwrap(),
        ];
        for broken in breaks {
            broken();
            assert_eq!(copy(), None);
            keep().unwrap();
            assert!(copy().is_some());
        }
    }
}
