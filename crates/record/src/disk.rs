//! Every operation by which a record changes the disk. In one place, so that a test can log them and cut the log at
//! any point, as a power cut does.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// A file that this process has created.
#[derive(Debug)]
pub(crate) struct NewFile {
    path: PathBuf,
    file: File,
}

impl NewFile {
    /// Creates a file that must not exist yet: nothing is overwritten, and a link in its place is not followed
    /// (`O_EXCL`, open(2)).
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        let file = File::options().append(true).create_new(true).open(path)?;
        log(|| Operation::Create(path.to_path_buf()));
        Ok(Self { path: path.to_path_buf(), file })
    }

    /// Appends bytes.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)?;
        log(|| Operation::Write(self.path.clone(), bytes.to_vec()));
        Ok(())
    }

    /// Waits until everything is on the disk.
    pub(crate) fn sync(&self) -> io::Result<()> {
        self.file.sync_all()?;
        log(|| Operation::Sync(self.path.clone()));
        Ok(())
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// For tests, a file that exists.
    #[cfg(test)]
    pub(crate) fn existing(path: &Path) -> Self {
        let file = File::options().write(true).open(path).expect("the file exists");
        Self { path: path.to_path_buf(), file }
    }
}

/// Creates a folder that must not exist yet.
pub(crate) fn create_folder(path: &Path) -> io::Result<()> {
    fs::create_dir(path)?;
    log(|| Operation::CreateFolder(path.to_path_buf()));
    Ok(())
}

/// Creates a folder and those above it, unless they exist, and waits until they are on the disk.
pub(crate) fn create_folders(path: &Path) -> io::Result<()> {
    let is_missing = |folder: &&Path| !folder.as_os_str().is_empty() && !folder.exists();
    let missing: Vec<&Path> = path.ancestors().take_while(is_missing).collect();
    fs::create_dir_all(path)?;
    missing.into_iter().filter_map(Path::parent).try_for_each(sync_folder)
}

/// Renames a file, and replaces one with the new name.
pub(crate) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    fs::rename(from, to)?;
    log(|| Operation::Rename(from.to_path_buf(), to.to_path_buf()));
    Ok(())
}

/// Waits until the entries of a folder are on the disk.
pub(crate) fn sync_folder(path: &Path) -> io::Result<()> {
    // The folder of a bare file name.
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    File::open(path)?.sync_all()?;
    log(|| Operation::SyncFolder(path.to_path_buf()));
    Ok(())
}

/// A change of the disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    CreateFolder(PathBuf),
    Create(PathBuf),
    Write(PathBuf, Vec<u8>),
    Sync(PathBuf),
    Rename(PathBuf, PathBuf),
    SyncFolder(PathBuf),
}

#[cfg(not(test))]
fn log(_: impl FnOnce() -> Operation) {}

#[cfg(test)]
thread_local! {
    /// The operations of this thread since the log was started.
    pub(crate) static LOG: std::cell::RefCell<Option<Vec<Operation>>> =
        const { std::cell::RefCell::new(None) };
}

#[cfg(test)]
fn log(operation: impl FnOnce() -> Operation) {
    LOG.with_borrow_mut(|log| {
        if let Some(log) = log {
            log.push(operation());
        }
    });
}
