//! Finds MariaDB's programs and makes a new data folder, in which root has a password from the start.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, bail};
use nix::unistd::geteuid;

use crate::daemon::ServerFolder;
use crate::mysql::{USER, native_hash};
use crate::process::command;
use crate::programs::{find, is_executable};
use crate::secret::Secret;
use crate::subprocess::run_to_end;
use crate::{ProgressEvent, ProgressListener};

/// How long the installer may take; it takes seconds.
const INSTALL_BOUND: Duration = Duration::from_secs(10 * 60);

/// MariaDB's programs on this machine.
#[derive(Clone, Debug)]
pub(super) struct Programs {
    pub server: PathBuf,
    /// The program that makes a data folder.
    install: PathBuf,
}

impl Programs {
    /// The programs that belong to `binary`, or those of the operating system.
    pub(super) fn find(binary: Option<&Path>) -> anyhow::Result<Self> {
        let server = match binary {
            Some(binary) if is_executable(binary) => binary.to_owned(),
            Some(binary) => {
                bail!("`binary`: {} is not a program that can be run", binary.display())
            }
            None => find("mariadbd", &[]).context(missing("mariadbd", "`binary`"))?,
        };
        let folders = binary.and_then(Path::parent).map(neighbours).unwrap_or_default();
        let folders: Vec<&Path> = folders.iter().map(PathBuf::as_path).collect();
        let install = find("mariadb-install-db", &folders)
            .context(missing("mariadb-install-db", "a `binary` that has it beside it"))?;
        Ok(Self { server, install })
    }

    /// Makes a data folder in which root has this password, with a database `test`. Temporary tables go to a separate
    /// folder: a server removes those of other servers when it starts.
    pub(super) fn make_data(
        &self,
        server_folder: &ServerFolder,
        secret: &Secret,
        listener: &mut ProgressListener<'_>,
    ) -> anyhow::Result<()> {
        self.demand_way(server_folder)?;
        let accounts = server_folder.accounts();
        server_folder.write(&accounts, &make_accounts(secret))?;
        let mut command = command(&self.install);
        command
            .arg("--no-defaults")
            .arg(format!("--datadir={}", server_folder.data().display()))
            .arg("--auth-root-authentication-method=normal")
            .arg(format!("--extra-file={}", accounts.display()))
            .args(as_root(server_folder))
            .env("TMPDIR", server_folder.temporary())
            .current_dir(server_folder.temporary());
        if let Some(account) = server_folder.account() {
            account.run(&mut command);
        }
        let stage = format!("making a data folder by {}", self.install.display());
        let report_stage = || listener(ProgressEvent::stage(&stage));
        let name = (stage.as_str(), Some(INSTALL_BOUND));
        run_to_end(command, name, &server_folder.log(), None, report_stage)?;
        std::fs::remove_file(&accounts)
            .with_context(|| format!("cannot remove {}", accounts.display()))
    }

    /// Whether the server's account can reach both programs.
    fn demand_way(&self, server_folder: &ServerFolder) -> anyhow::Result<()> {
        let Some(account) = server_folder.account() else { return Ok(()) };
        [&self.server, &self.install].into_iter().try_for_each(|program| {
            account.demand_way_to(program, "put the program where everyone can run it")
        })
    }
}

/// The statements that leave root as the only login account, on this machine and with a password. The IP address is
/// there for a server that does not look up names (`skip-name-resolve`).
fn make_accounts(secret: &Secret) -> String {
    let hash = native_hash(&secret.password());
    let make = |host: &str| {
        format!(
            "CREATE OR REPLACE USER {USER}@'{host}' IDENTIFIED BY PASSWORD '{hash}';\n\
             GRANT ALL ON *.* TO {USER}@'{host}' WITH GRANT OPTION;\n"
        )
    };
    // Before that, the server does not read the accounts at all while the data folder is made.
    let mut text = "FLUSH PRIVILEGES;\n".to_owned();
    text.extend(["localhost", "127.0.0.1"].map(make));
    text + &format!(
        "DELETE FROM mysql.global_priv WHERE User = '' \
         OR User = '{USER}' AND Host NOT IN ('localhost', '127.0.0.1');\n\
         DELETE FROM mysql.db WHERE User = '';\n"
    )
}

/// Where `mariadb-install-db` is for a server outside of the usual folders.
fn neighbours(folder: &Path) -> Vec<PathBuf> {
    ["", "../bin", "../scripts"].map(|step| folder.join(step)).to_vec()
}

fn missing(program: &str, option: &str) -> String {
    format!(
        "{program} is neither on PATH nor where servers usually live: install MariaDB (Debian and \
         Ubuntu: `apt-get install mariadb-server`) or give {option}"
    )
}

/// The server refuses to run as root without this argument.
pub(super) fn as_root(server_folder: &ServerFolder) -> Option<&'static str> {
    (server_folder.account().is_none() && geteuid().is_root()).then_some("--user=root")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_binary_is_refused_by_name() {
        let error = Programs::find(Some(Path::new("/opt/none/mariadbd"))).unwrap_err();
        assert_eq!(
            error.to_string(),
            "`binary`: /opt/none/mariadbd is not a program that can be run"
        );
    }

    #[test]
    fn a_missing_server_names_the_package_to_install() {
        let text = missing("mariadbd", "`binary`");
        assert!(text.contains("apt-get install mariadb-server"), "{text}");
    }
}
