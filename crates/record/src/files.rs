//! The two ways to write a record's files: replacing a file as a whole, or appending whole lines.

use std::fs;
use std::hash::{BuildHasher as _, RandomState};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::RecordError;
use crate::disk::{self, NewFile};

/// Replaces the file at `path` with `bytes`, and waits until they are on the disk. A reader, and the disk after a
/// power cut, has either the old or the new file as a whole. The bytes are written beside it first, to a new file
/// with a name that nobody can guess; a link at `path` is replaced, and what it leads to stays as it is.
///
/// # Errors
/// When the file cannot be written; nothing is left behind then.
pub fn replace_durably(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace_whole(path, bytes)?;
    path.parent().map_or(Ok(()), disk::sync_folder)
}

/// The same, but after a power cut the file may be the old one until its folder is synced, which one call does for
/// many files ([`sync_folder`]).
///
/// # Errors
/// When the file cannot be written; nothing is left behind then.
pub fn replace_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let temporary = beside(path);
    let file = NewFile::create(&temporary)?;
    let written = file.write(bytes).and_then(|()| file.sync());
    written.and_then(|()| disk::rename(&temporary, path)).inspect_err(|_| {
        // Half a file is of no use, and takes room on a full disk.
        let _ = fs::remove_file(&temporary);
    })
}

/// [`replace_durably`] for a file of a record.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> Result<(), RecordError> {
    replace_durably(path, bytes).map_err(|cause| RecordError::io("write", path, cause))
}

/// A hidden name in the same folder. The hasher's keys are random.
fn beside(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let random = RandomState::new().hash_one(path);
    path.with_file_name(format!(".{name}.{random:016x}.tmp"))
}

/// Waits until the entries of a folder are on the disk.
pub(crate) fn sync_folder(folder: &Path) -> Result<(), RecordError> {
    disk::sync_folder(folder).map_err(|cause| RecordError::io("write", folder, cause))
}

/// A file that grows by whole lines. Each append is one write: a crash of the process leaves only whole lines,
/// and a crash of the machine leaves at most one broken last line, which the reader skips.
#[derive(Debug)]
pub(crate) struct Appender {
    file: NewFile,
}

impl Appender {
    /// Creates a file that must not exist yet.
    pub(crate) fn create(path: &Path) -> Result<Self, RecordError> {
        let file = NewFile::create(path).map_err(|cause| RecordError::io("create", path, cause))?;
        Ok(Self { file })
    }

    pub(crate) fn append(&self, lines: &[u8]) -> Result<(), RecordError> {
        let links = self.file.file().metadata().map_or(1, |metadata| metadata.nlink());
        // The system accepts writes to a deleted file and discards them.
        if links == 0 {
            return Err(RecordError::Removed { path: self.file.path().to_path_buf() });
        }
        self.file.write(lines).map_err(|cause| RecordError::io("write", self.file.path(), cause))
    }

    /// Waits until everything is on the disk.
    pub(crate) fn sync(&self) -> Result<(), RecordError> {
        self.file.sync().map_err(|cause| RecordError::io("write", self.file.path(), cause))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_full_disk_has_a_clear_message() {
        let file = NewFile::existing(Path::new("/dev/full"));
        let error = Appender { file }.append(b"{}\n").unwrap_err();
        assert!(matches!(error, RecordError::Full { .. }), "{error:?}");
        assert!(error.to_string().starts_with("no space is left for /dev/full"), "{error}");
    }

    #[test]
    fn a_removed_file_is_noticed_even_if_the_write_succeeds() {
        let folder = tempfile::tempdir().unwrap();
        let log = Appender::create(&folder.path().join("log")).unwrap();
        log.append(b"1\n").unwrap();
        fs::remove_dir_all(folder.path()).unwrap();
        assert!(matches!(log.append(b"2\n"), Err(RecordError::Removed { .. })));
    }

    #[test]
    fn replacing_leaves_the_new_text_and_no_temporary_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.json");
        replace(&path, b"old").unwrap();
        replace(&path, b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn links_in_a_foreign_folder_are_replaced_and_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let [kept, path] = ["kept", "report.md"].map(|name| folder.path().join(name));
        fs::write(&kept, "kept").unwrap();
        for link in ["report.md", "report.md.tmp", "report.tmp"] {
            symlink(&kept, folder.path().join(link)).unwrap();
        }
        replace(&path, b"new").unwrap();
        assert_eq!(fs::read_to_string(&kept).unwrap(), "kept");
        assert!(path.symlink_metadata().unwrap().is_file());
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_ne!(beside(&path), beside(&path));
        // An appender takes no link's place either.
        assert!(Appender::create(&folder.path().join("report.tmp")).is_err());
        assert_eq!(fs::read_to_string(&kept).unwrap(), "kept");
    }
}
