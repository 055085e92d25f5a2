//! Finds MariaDB's programs and makes a fresh data folder.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use crate::daemon::Home;
use crate::errand::run_to_end;
use crate::process::command;
use crate::programs::{find, is_executable};
use crate::{Onlooker, Step};

/// MariaDB's programs on this machine.
#[derive(Clone, Debug)]
pub(super) struct Programs {
    /// The server.
    pub server: PathBuf,
    /// What makes a data folder.
    install: PathBuf,
}

impl Programs {
    /// Those that belong to `binary`, or those of the operating system.
    pub(super) fn find(binary: Option<&Path>) -> anyhow::Result<Self> {
        let server = match binary {
            Some(binary) if is_executable(binary) => binary.to_owned(),
            Some(binary) => bail!("`binary`: {} is no program that can be run", binary.display()),
            None => find("mariadbd", &[]).context(missing("mariadbd", "`binary`"))?,
        };
        let folders = binary.and_then(Path::parent).map(neighbours).unwrap_or_default();
        let folders: Vec<&Path> = folders.iter().map(PathBuf::as_path).collect();
        let install = find("mariadb-install-db", &folders)
            .context(missing("mariadb-install-db", "a `binary` that has it beside it"))?;
        Ok(Self { server, install })
    }

    /// Makes a data folder in which root needs no password and has a database `test`. Temporary
    /// tables go to a folder of their own: a server that starts removes those of others.
    pub(super) fn make_data(&self, home: &Home, onlooker: &mut Onlooker<'_>) -> anyhow::Result<()> {
        let mut command = command(&self.install);
        command
            .arg("--no-defaults")
            .arg(format!("--datadir={}", home.data().display()))
            .arg("--auth-root-authentication-method=normal")
            .args(as_root())
            .env("TMPDIR", home.temporary());
        let stage = format!("making a data folder by {}", self.install.display());
        let tell = || onlooker(Step::Progress { stage: &stage, done: 0, total: 0 });
        run_to_end(command, &stage, &home.log(), None, tell)
    }
}

/// Where `mariadb-install-db` lies for a server outside the usual folders.
fn neighbours(folder: &Path) -> Vec<PathBuf> {
    ["", "../bin", "../scripts"].map(|step| folder.join(step)).to_vec()
}

fn missing(program: &str, option: &str) -> String {
    format!(
        "{program} is neither on PATH nor where servers usually live: install MariaDB (Debian and \
         Ubuntu: `apt-get install mariadb-server`) or give {option}"
    )
}

/// The server does not run as root unless it is told so.
pub(super) fn as_root() -> Option<&'static str> {
    nix::unistd::geteuid().is_root().then_some("--user=root")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_binary_that_is_not_there_is_refused_by_name() {
        let error = Programs::find(Some(Path::new("/opt/none/mariadbd"))).unwrap_err();
        assert_eq!(error.to_string(), "`binary`: /opt/none/mariadbd is no program that can be run");
    }

    #[test]
    fn a_missing_server_says_what_to_install() {
        let text = missing("mariadbd", "`binary`");
        assert!(text.contains("apt-get install mariadb-server"), "{text}");
    }
}
