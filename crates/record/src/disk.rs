//! Every operation by which a record changes the disk. In one place, so that a test can log them and cut the log at
//! any point, as a power cut does.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::thread::{self, JoinHandle};

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
        let create = || File::options().append(true).create_new(true).open(path);
        let file = logged(create, || Operation::Create(path.to_path_buf()))?;
        Ok(Self { path: path.to_path_buf(), file })
    }

    pub(crate) fn write(&self, bytes: &[u8]) -> io::Result<()> {
        let write = || (&self.file).write_all(bytes);
        logged(write, || Operation::Write(self.path.clone(), bytes.to_vec()))
    }

    /// Waits until everything is on the disk.
    pub(crate) fn sync(&self) -> io::Result<()> {
        logged(|| self.file.sync_all(), || Operation::Sync(self.path.clone()))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    #[cfg(test)]
    pub(crate) fn existing(path: &Path) -> Self {
        let file = File::options().write(true).open(path).expect("the file exists");
        Self { path: path.to_path_buf(), file }
    }
}

/// Creates a folder that must not exist yet.
pub(crate) fn create_folder(path: &Path) -> io::Result<()> {
    logged(|| fs::create_dir(path), || Operation::CreateFolder(path.to_path_buf()))
}

/// Creates a folder and those above it, unless they exist, and waits until they are on the disk.
pub(crate) fn create_folders(path: &Path) -> io::Result<()> {
    let missing: Vec<&Path> = missing_folders(path).collect();
    fs::create_dir_all(path)?;
    missing.into_iter().filter_map(Path::parent).try_for_each(sync_folder)
}

/// A folder and those above it that do not exist, the innermost one first.
pub(crate) fn missing_folders(path: &Path) -> impl Iterator<Item = &Path> {
    let is_missing = |folder: &&Path| !folder.as_os_str().is_empty() && !folder.exists();
    path.ancestors().take_while(is_missing)
}

/// Removes a folder with everything in it, and those above it as far as they are empty.
pub(crate) fn remove_folders(path: &Path, above: &[PathBuf]) -> io::Result<()> {
    fs::remove_dir_all(path)?;
    // Another run may have begun in one of them.
    let _ = above.iter().try_for_each(fs::remove_dir);
    Ok(())
}

/// Renames a file, and replaces one with the new name.
pub(crate) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    logged(|| fs::rename(from, to), || Operation::Rename(from.to_path_buf(), to.to_path_buf()))
}

/// Waits until the entries of a folder are on the disk.
///
/// # Errors
/// When the folder cannot be synced.
pub fn sync_folder(path: &Path) -> io::Result<()> {
    // The folder of a bare file name.
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    let sync = || File::open(path)?.sync_all();
    logged(sync, || Operation::SyncFolder(path.to_path_buf()))
}

/// Starts a thread, whose operations are in the log of this one.
pub(crate) fn spawn<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<JoinHandle<T>> {
    #[cfg(test)]
    let work = {
        let log = LOG.with_borrow(Clone::clone);
        move || {
            LOG.set(log);
            work()
        }
    };
    thread::Builder::new().name(name.to_owned()).spawn(work)
}

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
fn logged<T>(
    operate: impl FnOnce() -> io::Result<T>,
    _: impl FnOnce() -> Operation,
) -> io::Result<T> {
    operate()
}

/// Operations of several threads, in their order.
#[cfg(test)]
pub(crate) type Log = std::sync::Arc<std::sync::Mutex<Vec<Operation>>>;

#[cfg(test)]
thread_local! {
    /// The operations of this thread, and of those that it has spawned, since the log was started.
    pub(crate) static LOG: std::cell::RefCell<Option<Log>> =
        const { std::cell::RefCell::new(None) };
}

/// Locks the log meanwhile, so that it has the operations of all threads in their order.
#[cfg(test)]
fn logged<T>(
    operate: impl FnOnce() -> io::Result<T>,
    operation: impl FnOnce() -> Operation,
) -> io::Result<T> {
    LOG.with_borrow(|log| {
        let mut log = log.as_ref().map(|log| log.lock().unwrap());
        let result = operate()?;
        if let Some(log) = &mut log {
            log.push(operation());
        }
        Ok(result)
    })
}
