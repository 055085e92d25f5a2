//! The size of a record on the disk, which tells whether something was computed from the record as it is now.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::RecordError;

/// Number of trials in a record, and of the bytes in its files. Views are not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordSize {
    pub trials: usize,
    /// Bytes in run.json and in the files of all trials.
    pub bytes: u64,
}

impl RecordSize {
    /// The size of the record in a run's folder. It reads no file.
    ///
    /// # Errors
    /// When a folder cannot be read.
    pub fn of(folder: &Path) -> Result<Self, RecordError> {
        let mut size = Self { trials: 0, bytes: length(&folder.join("run.json"))? };
        for trial in entries(&folder.join("trials"))? {
            size.trials += 1;
            for file in entries(&trial)? {
                size.bytes += length(&file)?;
            }
        }
        Ok(size)
    }
}

fn length(path: &Path) -> Result<u64, RecordError> {
    let metadata = fs::symlink_metadata(path);
    metadata.map(|it| it.len()).map_err(|cause| RecordError::io("read", path, cause))
}

/// What is in a folder; nothing when it does not exist or is none.
fn entries(folder: &Path) -> Result<Vec<PathBuf>, RecordError> {
    let read = fs::read_dir(folder)
        .and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>());
    match read {
        Err(cause) if matches!(cause.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Ok(Vec::new())
        }
        read => read.map_err(|cause| RecordError::io("read", folder, cause)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn views_do_not_count_and_every_byte_of_a_trial_does() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::create_dir_all(path("trials/0000")).unwrap();
        fs::create_dir_all(path("trials/0001")).unwrap();
        for (name, bytes) in [("run.json", 7), ("trials/0000/trial.json", 20), ("report.md", 900)] {
            fs::write(path(name), vec![b'x'; bytes]).unwrap();
        }
        assert_eq!(RecordSize::of(folder.path()).unwrap(), RecordSize { trials: 2, bytes: 27 });
        fs::write(path("trials/0001/latency.hlog"), "x").unwrap();
        assert_eq!(RecordSize::of(folder.path()).unwrap().bytes, 28);
        assert!(RecordSize::of(&path("nowhere")).is_err());
    }
}
