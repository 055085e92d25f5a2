//! The account that a managed server runs as. A server that reads and writes files for its clients must not run as
//! root.

use std::fs;
use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, bail};
use nix::unistd::{Gid, Uid, User, geteuid};

/// The account that is tried when none is named and the server's package has created none: every system has it.
const NOBODY: &str = "nobody";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Account {
    pub(crate) name: String,
    pub(crate) uid: Uid,
    pub(crate) gid: Gid,
}

impl Account {
    /// The account for a server; `None` for the account of this process. Only root can choose: without a name, it
    /// takes the one that the server's package creates, or else `nobody`.
    ///
    /// # Errors
    /// When the account does not exist, or this process may not change to it.
    pub(crate) fn choose(named: Option<&str>, of_package: &str) -> anyhow::Result<Option<Self>> {
        let own = geteuid();
        let found = match named {
            Some(name) => Some(Self::find(name)?.with_context(|| {
                format!(
                    "`user`: there is no user {name} on this machine: create it, or name another"
                )
            })?),
            None if own.is_root() => Some(Self::usual(of_package)?),
            None => None,
        };
        let Some(account) = found.filter(|account| account.uid != own) else { return Ok(None) };
        if !own.is_root() {
            bail!(
                "`user`: only root can start a server as {}: leave `user` out, or run dyno as root",
                account.name
            );
        }
        Ok(Some(account))
    }

    fn usual(of_package: &str) -> anyhow::Result<Self> {
        for name in [of_package, NOBODY] {
            if let Some(account) = Self::find(name)? {
                return Ok(account);
            }
        }
        bail!(
            "the server would run as root, and there is no user {of_package} or {NOBODY} to run it as: create one, or \
             name another with `user` (user = \"root\" runs it as root all the same)"
        )
    }

    fn find(name: &str) -> anyhow::Result<Option<Self>> {
        let user = User::from_name(name).with_context(|| format!("cannot look up user {name}"))?;
        Ok(user.map(|user| Self { name: user.name, uid: user.uid, gid: user.gid }))
    }

    /// A note to the user when no account was named: `nobody` may be shared with other services.
    pub(crate) fn note(&self, of_package: &str) -> Option<String> {
        (self.name == NOBODY).then(|| {
            format!(
                "there is no user {of_package}, so the server runs as {NOBODY}, which other services may use too; \
                 `user` names another"
            )
        })
    }

    /// Makes the account the owner of a file or folder.
    pub(crate) fn own(&self, path: &Path) -> anyhow::Result<()> {
        chown(path, Some(self.uid.as_raw()), Some(self.gid.as_raw()))
            .with_context(|| format!("cannot give {} to user {}", path.display(), self.name))
    }

    /// Runs a command as this account, without dyno's groups.
    pub(crate) fn run(&self, command: &mut Command) {
        command.uid(self.uid.as_raw()).gid(self.gid.as_raw());
    }

    /// Checks that the account can reach `path`: it must be able to enter every folder above it, and `path` itself
    /// when that is a folder.
    ///
    /// # Errors
    /// The folder that it cannot enter, and what to do about it.
    pub(crate) fn demand_way_to(&self, path: &Path, advice: &str) -> anyhow::Result<()> {
        let path =
            path.canonicalize().with_context(|| format!("there is no {}", path.display()))?;
        let mut folders: Vec<&Path> = path.ancestors().filter(|path| path.is_dir()).collect();
        folders.reverse();
        for folder in folders {
            let seen = fs::metadata(folder)
                .with_context(|| format!("cannot look at {}", folder.display()))?;
            if !self.may_enter(&seen) {
                bail!(
                    "user {}, whom the server runs as, cannot enter {} (mode {:04o}) on the way to {}: \
                     {advice}, or name another user with `user`",
                    self.name,
                    folder.display(),
                    seen.mode() & 0o7777,
                    path.display()
                );
            }
        }
        Ok(())
    }

    /// Checks the mode alone; access control lists are not read.
    fn may_enter(&self, folder: &fs::Metadata) -> bool {
        let execute = match (folder.uid() == self.uid.as_raw(), folder.gid() == self.gid.as_raw()) {
            (true, _) => 0o100,
            (false, true) => 0o010,
            (false, false) => 0o001,
        };
        folder.mode() & execute != 0
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn nobody() -> Account {
        Account::find("nobody").unwrap().unwrap()
    }

    #[test]
    fn a_user_that_does_not_exist_is_named() {
        let error = Account::choose(Some("no-such-user-here"), "mysql").unwrap_err().to_string();
        assert_eq!(
            error,
            "`user`: there is no user no-such-user-here on this machine: create it, or name another"
        );
    }

    #[test]
    fn root_runs_servers_as_another_user_unless_configured() {
        let own = User::from_uid(geteuid()).unwrap().unwrap().name;
        assert_eq!(Account::choose(Some(&own), "mysql").unwrap(), None);
        let usual = Account::choose(None, "mysql").unwrap();
        assert_eq!(usual.is_some(), geteuid().is_root());
        assert!(usual.is_none_or(|account| !account.uid.is_root()));
    }

    #[test]
    fn a_folder_that_the_user_cannot_enter_is_named() {
        let root = tempfile::tempdir().unwrap();
        let closed = root.path().join("closed");
        fs::create_dir(&closed).unwrap();
        let set = |mode| fs::set_permissions(&closed, fs::Permissions::from_mode(mode)).unwrap();
        set(0o711);
        nobody().demand_way_to(&closed, "do this").unwrap();
        set(0o600);
        let error = nobody().demand_way_to(&closed, "do this").unwrap_err().to_string();
        let closed = closed.canonicalize().unwrap();
        assert!(
            error.contains(&format!("cannot enter {} (mode 0600) on the way to", closed.display())),
            "{error}"
        );
        assert!(error.ends_with("do this, or name another user with `user`"), "{error}");
    }
}
