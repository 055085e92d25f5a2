//! Finds programs of the operating system.

use std::env;
use std::path::{Path, PathBuf};

/// Where servers live that are not on everyone's PATH.
const SERVER_FOLDERS: [&str; 3] = ["/usr/sbin", "/usr/local/sbin", "/usr/libexec"];

/// The first executable called `name`: in `first`, on PATH, then where servers live.
pub(crate) fn find(name: &str, first: &[&Path]) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    first
        .iter()
        .map(PathBuf::from)
        .chain(env::split_paths(&path))
        .chain(SERVER_FOLDERS.map(PathBuf::from))
        .map(|folder| folder.join(name))
        .find(|file| is_executable(file))
}

/// Whether it is a file that we may run.
pub(crate) fn is_executable(file: &Path) -> bool {
    file.is_file() && nix::unistd::access(file, nix::unistd::AccessFlags::X_OK).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_everyone_has_is_found_and_what_nobody_has_is_not() {
        assert!(find("sh", &[]).unwrap().is_absolute());
        assert_eq!(find("no-such-server-anywhere", &[Path::new("/usr/bin")]), None);
    }

    #[test]
    fn the_folders_given_come_first_and_only_executables_count() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("sh"), "").unwrap();
        assert_ne!(find("sh", &[folder.path()]).unwrap(), folder.path().join("sh"));
        std::os::unix::fs::symlink("/bin/sh", folder.path().join("sh2")).unwrap();
        assert_eq!(find("sh2", &[folder.path()]).unwrap(), folder.path().join("sh2"));
    }
}
