//! The two ways to write a record's files: replacing a file as a whole, or appending whole lines.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::RecordError;

/// Where the data of a write is safe when the write returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Durability {
    /// In the operating system: it survives a crash of the process. Fast enough during a measurement.
    System,
    /// On the disk: it survives a crash of the machine.
    Disk,
}

/// Replaces the file at `path` with `bytes`. A reader sees either the old or the new file, never a part.
pub(crate) fn replace(
    path: &Path,
    bytes: &[u8],
    durability: Durability,
) -> Result<(), RecordError> {
    let temporary = path.with_extension("tmp");
    let write = || {
        let mut file = File::create(&temporary)?;
        file.write_all(bytes)?;
        if durability == Durability::Disk {
            file.sync_all()?;
        }
        fs::rename(&temporary, path)
    };
    write().map_err(|cause| {
        // Half a file is of no use, and takes room on a full disk.
        let _ = fs::remove_file(&temporary);
        RecordError::io("write", path, cause)
    })?;
    match path.parent() {
        Some(folder) if durability == Durability::Disk => sync_folder(folder),
        _ => Ok(()),
    }
}

/// Makes the entries of a folder durable.
pub(crate) fn sync_folder(folder: &Path) -> Result<(), RecordError> {
    File::open(folder)
        .and_then(|file| file.sync_all())
        .map_err(|cause| RecordError::io("write", folder, cause))
}

/// A file that grows by whole lines. Each append is one write: a crash of the process leaves only whole lines,
/// and a crash of the machine leaves at most one broken last line, which the reader skips.
#[derive(Debug)]
pub(crate) struct Appender {
    path: PathBuf,
    file: File,
}

impl Appender {
    /// Creates a file that must not exist yet.
    pub(crate) fn create(path: PathBuf) -> Result<Self, RecordError> {
        let file = File::options().append(true).create_new(true).open(&path);
        let file = file.map_err(|cause| RecordError::io("create", &path, cause))?;
        Ok(Self { path, file })
    }

    /// Appends whole lines.
    pub(crate) fn append(&mut self, lines: &[u8]) -> Result<(), RecordError> {
        let links = self.file.metadata().map_or(1, |metadata| metadata.nlink());
        // The system accepts writes to a deleted file and discards them.
        if links == 0 {
            return Err(RecordError::Removed { path: self.path.clone() });
        }
        self.file.write_all(lines).map_err(|cause| RecordError::io("write", &self.path, cause))
    }

    /// Waits until everything is on the disk.
    pub(crate) fn sync(&self) -> Result<(), RecordError> {
        self.file.sync_all().map_err(|cause| RecordError::io("write", &self.path, cause))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_has_a_clear_message() {
        let path = PathBuf::from("/dev/full");
        let file = File::options().write(true).open(&path).unwrap();
        let error = Appender { path, file }.append(b"{}\n").unwrap_err();
        assert!(matches!(error, RecordError::Full { .. }), "{error:?}");
        assert!(error.to_string().starts_with("no space is left for /dev/full"), "{error}");
    }

    #[test]
    fn a_removed_file_is_noticed_even_if_the_write_succeeds() {
        let folder = tempfile::tempdir().unwrap();
        let mut log = Appender::create(folder.path().join("log")).unwrap();
        log.append(b"1\n").unwrap();
        fs::remove_dir_all(folder.path()).unwrap();
        assert!(matches!(log.append(b"2\n"), Err(RecordError::Removed { .. })));
    }

    #[test]
    fn replacing_leaves_the_new_text_and_no_temporary_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.json");
        replace(&path, b"old", Durability::System).unwrap();
        replace(&path, b"new", Durability::Disk).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
