//! Copies a folder, to save and restore a server's data.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, chown, fchown};
use std::path::Path;

use anyhow::{Context, bail};

use crate::{ProgressEvent, ProgressListener};

/// A file is copied in pieces of this size; between two of them a stop can be requested.
const PIECE_BYTES: u64 = 64 << 20;

/// Makes `to` an exact copy of the folder `from` and removes the former content of `to`. Only files and folders are
/// copied, not sockets and the like. Copies share blocks where the file system can do so, and keep modes and owners.
///
/// # Errors
/// The file that could not be copied, and why, or that a stop was requested.
pub(crate) fn replace_folder(
    from: &Path,
    to: &Path,
    listener: &mut ProgressListener<'_>,
) -> anyhow::Result<()> {
    if to.exists() {
        fs::remove_dir_all(to).with_context(|| format!("cannot remove {}", to.display()))?;
    }
    copy_folder(from, to, listener)
}

fn copy_folder(from: &Path, to: &Path, listener: &mut ProgressListener<'_>) -> anyhow::Result<()> {
    fs::create_dir(to).with_context(|| format!("cannot make {}", to.display()))?;
    let entries = fs::read_dir(from).with_context(|| format!("cannot list {}", from.display()))?;
    same_owner(from, to)?;
    for entry in entries {
        let entry = entry.with_context(|| format!("cannot list {}", from.display()))?;
        let kind = entry
            .file_type()
            .with_context(|| format!("cannot look at {}", entry.path().display()))?;
        let target = to.join(entry.file_name());
        if kind.is_dir() {
            copy_folder(&entry.path(), &target, listener)?;
        } else if kind.is_file() {
            copy_file(&entry.path(), &target, listener)?;
        }
    }
    Ok(())
}

/// Copies a file to a new one, with its mode and owner. A server's data are a thousand files, most of them small: what counts
/// is the number of system calls for each.
///
/// # Errors
/// Why it could not be copied, or that a stop was requested.
fn copy_file(from: &Path, to: &Path, listener: &mut ProgressListener<'_>) -> anyhow::Result<()> {
    let failed = || format!("cannot copy {} to {}", from.display(), to.display());
    let mut source = File::open(from).with_context(failed)?;
    let seen = source.metadata().with_context(failed)?;
    let mut new = OpenOptions::new();
    let mut target = new.write(true).create_new(true).mode(0o600).open(to).with_context(failed)?;
    loop {
        if listener(ProgressEvent::stage("copying the data")).is_break() {
            bail!("interrupted while copying {}", from.display());
        }
        // Between two files the standard library lets the kernel copy, which can share blocks.
        let mut piece = (&mut source).take(PIECE_BYTES);
        if io::copy(&mut piece, &mut target).with_context(failed)? < PIECE_BYTES {
            break;
        }
    }
    // Only root can meet files of other owners here.
    let made = target.metadata().with_context(failed)?;
    if (seen.uid(), seen.gid()) != (made.uid(), made.gid()) {
        fchown(&target, Some(seen.uid()), Some(seen.gid())).with_context(failed)?;
    }
    target.set_permissions(seen.permissions()).with_context(failed)
}

/// Gives a copied folder the mode and the owner of its source.
fn same_owner(from: &Path, to: &Path) -> anyhow::Result<()> {
    let set = || {
        let (from, made) = (fs::metadata(from)?, fs::metadata(to)?);
        if (from.uid(), from.gid()) != (made.uid(), made.gid()) {
            chown(to, Some(from.uid()), Some(from.gid()))?;
        }
        fs::set_permissions(to, from.permissions())
    };
    set()
        .with_context(|| format!("cannot give {} the owner and mode of the original", to.display()))
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use super::*;
    use crate::daemon::ignore_progress;

    #[test]
    fn a_copy_of_a_large_file_is_whole_and_ends_between_two_pieces_when_asked() {
        let root = tempfile::tempdir().unwrap();
        let [from, to] = ["from", "to"].map(|name| root.path().join(name));
        // Two pieces and a rest, of which only the end takes space on the disk.
        let length = 2 * PIECE_BYTES + 5;
        let file = File::create(&from).unwrap();
        file.set_len(length - 5).unwrap();
        drop(file);
        let mut end = File::options().append(true).open(&from).unwrap();
        io::Write::write_all(&mut end, b"rows\n").unwrap();
        copy_file(&from, &to, &mut ignore_progress).unwrap();
        let mut copied = File::open(&to).unwrap();
        assert_eq!(copied.metadata().unwrap().len(), length);
        io::Seek::seek(&mut copied, io::SeekFrom::End(-5)).unwrap();
        assert_eq!(io::read_to_string(copied).unwrap(), "rows\n");
        fs::remove_file(&to).unwrap();
        let mut steps = 0;
        let mut second = |_: ProgressEvent<'_>| {
            steps += 1;
            if steps < 2 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        let error = copy_file(&from, &to, &mut second).unwrap_err().to_string();
        assert!(error.starts_with("interrupted while copying "), "{error}");
        assert_eq!((steps, fs::metadata(&to).unwrap().len()), (2, PIECE_BYTES));
    }

    #[test]
    fn copying_a_folder_replaces_the_target() {
        let root = tempfile::tempdir().unwrap();
        let (from, to) = (root.path().join("from"), root.path().join("to"));
        fs::create_dir_all(from.join("inner")).unwrap();
        fs::write(from.join("inner/data"), "rows").unwrap();
        fs::create_dir(&to).unwrap();
        fs::write(to.join("left over"), "").unwrap();
        replace_folder(&from, &to, &mut ignore_progress).unwrap();
        assert_eq!(fs::read_to_string(to.join("inner/data")).unwrap(), "rows");
        assert!(!to.join("left over").exists());
    }

    #[test]
    fn a_folder_that_is_not_there_is_named() {
        let root = tempfile::tempdir().unwrap();
        let from = Path::new("/no/such/folder");
        let error = replace_folder(from, &root.path().join("to"), &mut ignore_progress);
        let error = error.unwrap_err();
        assert!(error.to_string().contains("/no/such/folder"), "{error}");
    }
}
