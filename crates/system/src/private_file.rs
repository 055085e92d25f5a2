//! Files and folders that only their owner can read.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use anyhow::Context;

/// A new, empty file with mode 0600. A file that was there is removed, not written to: in a folder of another account
/// it may be a link to another place.
///
/// # Errors
/// The error of the operating system.
pub fn create(path: &Path) -> io::Result<File> {
    remove(path)?;
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

/// Removes a file, a link or a socket, if it is there.
///
/// # Errors
/// The error of the operating system.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// A folder with mode 0700; an existing folder stays as it is.
///
/// # Errors
/// When the folder cannot be made.
pub fn create_folder(path: &Path) -> anyhow::Result<()> {
    DirBuilder::new()
        .mode(0o700)
        .recursive(true)
        .create(path)
        .with_context(|| format!("cannot make {}", path.display()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn a_link_in_the_place_of_a_file_is_replaced_and_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let [kept, link] = ["kept", "link"].map(|name| folder.path().join(name));
        fs::write(&kept, "kept").unwrap();
        symlink(&kept, &link).unwrap();
        drop(create(&link).unwrap());
        assert_eq!(fs::read_to_string(&kept).unwrap(), "kept");
        assert!(link.symlink_metadata().unwrap().is_file());
        assert_eq!(link.metadata().unwrap().permissions().mode() & 0o7777, 0o600);
    }

    #[test]
    fn a_folder_is_for_its_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("folder");
        create_folder(&path).unwrap();
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o7777, 0o700);
    }
}
