//! Copies a folder, to save and restore a server's data.

use std::fs;
use std::os::unix::fs::{MetadataExt, chown};
use std::path::Path;

use anyhow::Context;

/// Makes `to` an exact copy of the folder `from` and removes the former content of `to`. Only files and folders are
/// copied, not sockets and the like. Copies share blocks where the file system can do so, and keep modes and owners.
///
/// # Errors
/// The file that could not be copied, and why.
pub(crate) fn replace_folder(from: &Path, to: &Path) -> anyhow::Result<()> {
    if to.exists() {
        fs::remove_dir_all(to).with_context(|| format!("cannot remove {}", to.display()))?;
    }
    copy_folder(from, to)
}

fn copy_folder(from: &Path, to: &Path) -> anyhow::Result<()> {
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
            copy_folder(&entry.path(), &target)?;
        } else if kind.is_file() {
            fs::copy(entry.path(), &target).with_context(|| {
                format!("cannot copy {} to {}", entry.path().display(), target.display())
            })?;
            same_owner(&entry.path(), &target)?;
        }
    }
    Ok(())
}

/// Gives a copy the mode and the owner of its source. Only root can meet files of other owners here.
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
    use super::*;

    #[test]
    fn copying_a_folder_replaces_the_target() {
        let root = tempfile::tempdir().unwrap();
        let (from, to) = (root.path().join("from"), root.path().join("to"));
        fs::create_dir_all(from.join("inner")).unwrap();
        fs::write(from.join("inner/data"), "rows").unwrap();
        fs::create_dir(&to).unwrap();
        fs::write(to.join("left over"), "").unwrap();
        replace_folder(&from, &to).unwrap();
        assert_eq!(fs::read_to_string(to.join("inner/data")).unwrap(), "rows");
        assert!(!to.join("left over").exists());
    }

    #[test]
    fn a_folder_that_is_not_there_is_named() {
        let root = tempfile::tempdir().unwrap();
        let error =
            replace_folder(Path::new("/no/such/folder"), &root.path().join("to")).unwrap_err();
        assert!(error.to_string().contains("/no/such/folder"), "{error}");
    }
}
