//! Names of runs: symbolic links beside the folders of runs, each to the newest run of its name. A run's own folder never
//! changes.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crate::RecordError;
use crate::disk::sync_folder;

/// The link to the newest of all runs.
pub const LATEST: &str = "latest";

/// The link of a name, which is at most to be replaced by another one.
///
/// # Errors
/// When a file or a folder is in its place.
pub fn name_place(out: &Path, name: &str) -> Result<PathBuf, RecordError> {
    let place = out.join(name);
    match fs::symlink_metadata(&place) {
        Ok(found) if !found.is_symlink() => Err(RecordError::NotALink { path: place }),
        _ => Ok(place),
    }
}

/// Lets a name stand for a run, in one step: a reader finds the run before or this one.
///
/// # Errors
/// When a file or a folder is in its place, or the folder of results cannot be written.
pub fn name_run(out: &Path, name: &str, run: &Path) -> Result<(), RecordError> {
    let place = name_place(out, name)?;
    let failed = |cause| RecordError::io("create", &place, cause);
    let Some(folder) = run.file_name() else {
        return Err(failed(io::Error::from(io::ErrorKind::InvalidInput)));
    };
    // Two runs that end at the same time have links of their own until they are renamed.
    let new = out.join(format!(".{name}.{}.tmp", std::process::id()));
    let _ = fs::remove_file(&new);
    symlink(folder, &new).map_err(failed)?;
    fs::rename(&new, &place).inspect_err(|_| drop(fs::remove_file(&new))).map_err(failed)?;
    sync_folder(out).map_err(failed)
}

/// Whether an entry of a folder of results is a name: a link to another entry of it, which counts once.
pub(crate) fn is_name(out: &Path, entry: &Path) -> bool {
    let is_link = fs::symlink_metadata(entry).is_ok_and(|found| found.is_symlink());
    let target = || fs::canonicalize(entry).ok();
    is_link
        && target().is_some_and(|target| {
            fs::canonicalize(out).is_ok_and(|out| target.parent() == Some(&out))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stands_for_the_newest_run_and_replaces_nothing_but_a_link() {
        let out = tempfile::tempdir().unwrap();
        let run = |name: &str| {
            let folder = out.path().join(name);
            fs::create_dir(&folder).unwrap();
            folder
        };
        let target = |name: &str| fs::read_link(out.path().join(name)).unwrap();
        for folder in ["one", "two"] {
            name_run(out.path(), "main", &run(folder)).unwrap();
            assert_eq!(target("main"), Path::new(folder));
        }
        // A link to a run that was removed is replaced too.
        fs::remove_dir(out.path().join("two")).unwrap();
        name_run(out.path(), "main", &run("three")).unwrap();
        assert_eq!(target("main"), Path::new("three"));
        fs::write(out.path().join("file"), "").unwrap();
        for taken in ["file", "one"] {
            let told = name_run(out.path(), taken, &out.path().join("three")).unwrap_err();
            assert!(told.to_string().contains("no link"), "{told}");
        }
        let left = fs::read_dir(out.path()).unwrap().flatten().map(|entry| entry.file_name());
        assert!(left.into_iter().all(|name| !name.to_string_lossy().contains("tmp")));
        let is_name = |name: &str| is_name(out.path(), &out.path().join(name));
        assert!(is_name("main") && !is_name("one") && !is_name("file") && !is_name("nothing"));
    }
}
