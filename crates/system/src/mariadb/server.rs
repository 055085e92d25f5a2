//! A MariaDB server process with a temporary data folder, which is removed with it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use anyhow::bail;
use nix::sched::CpuSet;

use super::install::{Programs, as_root};
use crate::account::Account;
use crate::daemon::{Daemon, Recipe, ServerFolder, ignore_progress};
use crate::mysql::MANAGED;
use crate::ports::Ports;
use crate::process::{FlushGate, command};
use crate::secret::{ManagedLogin, Secret};
use crate::{ProgressEvent, ProgressListener};

/// Settings that differ from the server's defaults. A sweep to many clients must not be refused, and statements must
/// not read or write files of this machine: no file can be below a device. Settings of the plan come later and win.
const DEFAULTS: [&str; 4] = [
    "--max-connections=4096",
    "--max-prepared-stmt-count=1048576",
    "--secure-file-priv=/dev/null",
    "--skip-symbolic-links",
];

/// The account that the packages of MariaDB create.
const ACCOUNT: &str = "mysql";

/// Settings of a server before its start.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The server's program, in place of the operating system's.
    pub binary: Option<PathBuf>,
    /// Arguments for the server, with or without the leading dashes.
    pub arguments: Vec<String>,
    /// The CPUs it may run on.
    pub cpus: Option<CpuSet>,
    /// The account that it runs as, which only root can choose. When not set, root takes `mysql`, or `nobody` without
    /// that.
    pub user: Option<String>,
    /// What holds its flushes of files, if something is to.
    pub flushes: Option<Arc<FlushGate>>,
}

/// Makes a data folder below `scratch` and starts a server on it, on a free port of 127.0.0.1 and a unix socket;
/// returns when the server answers.
///
/// # Errors
/// When MariaDB is not installed (and what to install), or the last lines of the server's log.
pub fn start(settings: Settings, scratch: &Path) -> anyhow::Result<Daemon> {
    start_watched(settings, scratch, &mut ignore_progress)
}

/// The same, but a stop may be requested.
///
/// # Errors
/// As [`start`], and when a stop was requested.
pub(super) fn start_watched(
    settings: Settings,
    scratch: &Path,
    listener: &mut ProgressListener<'_>,
) -> anyhow::Result<Daemon> {
    let programs = Programs::find(settings.binary.as_deref())?;
    let account = Account::choose(settings.user.as_deref(), ACCOUNT)?;
    if settings.user.is_none()
        && let Some(note) = account.as_ref().and_then(|account| account.note(ACCOUNT))
        && listener(ProgressEvent::Note(&note)).is_break()
    {
        bail!("interrupted before MariaDB was started");
    }
    let secret = Secret::random()?;
    Daemon::start(MariaDb { programs, settings, account, secret }, scratch, listener)
}

#[derive(Debug)]
struct MariaDb {
    programs: Programs,
    settings: Settings,
    account: Option<Account>,
    secret: Secret,
}

impl Recipe for MariaDb {
    fn name(&self) -> &'static str {
        "MariaDB"
    }

    fn prepare(
        &self,
        server_folder: &ServerFolder,
        listener: &mut ProgressListener<'_>,
    ) -> anyhow::Result<()> {
        self.programs.make_data(server_folder, &self.secret, listener)
    }

    fn command(&self, server_folder: &ServerFolder, ports: Ports) -> Command {
        let mut command = command(&self.programs.server);
        command
            .arg("--no-defaults")
            .args(as_root(server_folder))
            .arg(format!("--datadir={}", server_folder.data().display()))
            .arg(format!("--tmpdir={}", server_folder.temporary().display()))
            .arg("--bind-address=127.0.0.1")
            .arg(format!("--port={}", ports.main))
            .arg(format!("--socket={}", server_folder.socket().display()))
            .args(DEFAULTS)
            .args(self.settings.arguments.iter().map(|argument| with_dashes(argument)));
        command
    }

    fn cpus(&self) -> Option<CpuSet> {
        self.settings.cpus
    }

    fn flushes(&self) -> Option<Arc<FlushGate>> {
        self.settings.flushes.clone()
    }

    fn account(&self) -> Option<Account> {
        self.account.clone()
    }

    fn login(&self) -> Option<&'static ManagedLogin> {
        Some(&MANAGED)
    }

    fn secret(&self) -> Option<&Secret> {
        Some(&self.secret)
    }
}

fn with_dashes(argument: &str) -> String {
    format!("--{}", argument.trim_start_matches('-'))
}

#[cfg(test)]
mod strangers;
#[cfg(test)]
mod tests;
