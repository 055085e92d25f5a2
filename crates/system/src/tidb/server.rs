//! A TiDB server process with temporary storage, which is removed with it.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;

use nix::sched::CpuSet;

use super::password::{demand_password, set_password};
use crate::daemon::{Daemon, Recipe, ServerFolder, ignore_progress};
use crate::mysql::MANAGED;
use crate::ports::{Ports, local};
use crate::process::command;
use crate::programs::program_output;
use crate::secret::{ManagedLogin, Secret};
use crate::{MetricsEndpoint, ProgressListener};

/// Settings of a server before its start.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Arguments for the server, as the plan gives them.
    pub arguments: Vec<String>,
    /// A configuration file in the server's own format.
    pub config: Option<PathBuf>,
    /// Environment variables of the server, such as `GOMAXPROCS`.
    pub environment: Vec<(String, String)>,
    /// The CPUs it may run on.
    pub cpus: Option<CpuSet>,
}

impl Settings {
    /// Adds all of these to the command of a server in this folder; `flag` is the option for its configuration file.
    pub(crate) fn say(&self, command: &mut Command, flag: &str, server_folder: &ServerFolder) {
        command
            .args(self.config.iter().flat_map(|file| [Path::new(flag), file]))
            // Of two equal arguments, the last one wins.
            .args(&self.arguments)
            .env("TMPDIR", server_folder.temporary())
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .current_dir(server_folder.temporary());
    }

    /// Whether the arguments say where the data are, so that the data are not dyno's.
    fn name_storage(&self) -> bool {
        let names = self.arguments.iter().filter_map(|argument| argument.strip_prefix('-'));
        let mut names = names.map(|name| name.trim_start_matches('-').split('=').next());
        names.any(|name| matches!(name, Some("store" | "path")))
    }

    /// Whether the arguments or the configuration file contain this name.
    fn mention(&self, name: &str) -> bool {
        let config = self.config.as_ref().and_then(|file| std::fs::read_to_string(file).ok());
        self.arguments.iter().chain(&config).any(|text| text.contains(name))
    }
}

/// The argument with the statements for a server's first start. TiDB before 6.6 does not have it.
const FIRST_STATEMENTS: &str = "initialize-sql-file";

/// Arguments that dyno sets, to find the server.
pub(crate) const RESERVED_ARGUMENTS: [&str; 2] = ["P", "status"];

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Storage {
    /// Its own storage, in its folder.
    Unistore,
    /// The stores of a cluster, which the server finds through the PDs at these addresses.
    Cluster(Vec<SocketAddr>),
}

/// Starts `binary` on free ports of 127.0.0.1 with data below `scratch`; returns when it answers.
///
/// # Errors
/// When it does not start, with the last lines of its log.
pub fn start(binary: PathBuf, settings: Settings, scratch: &Path) -> anyhow::Result<Daemon> {
    let tidb = TiDb::new(binary, settings, Storage::Unistore, Secret::random()?);
    Daemon::start(tidb, scratch, &mut ignore_progress)
}

#[derive(Debug)]
pub(crate) struct TiDb {
    binary: PathBuf,
    settings: Settings,
    storage: Storage,
    /// The password that root gets; `None` on storage that is not dyno's.
    secret: Option<Secret>,
    /// The program's help for its arguments.
    help: String,
}

impl TiDb {
    /// Reads the program's help: its version is unknown, and so are the arguments that it takes.
    pub(crate) fn new(
        binary: PathBuf,
        settings: Settings,
        storage: Storage,
        secret: Secret,
    ) -> Self {
        let help = program_output(&binary, "--help", &settings.environment);
        // The accounts of a cluster that existed before are not dyno's to change.
        let secret = (!settings.name_storage()).then_some(secret);
        Self { binary, settings, storage, secret, help }
    }

    /// The arguments for the location of its data.
    fn storage(&self, server_folder: &ServerFolder) -> [OsString; 4] {
        let (store, path) = match &self.storage {
            Storage::Unistore => ("unistore", server_folder.data().into_os_string()),
            Storage::Cluster(pds) => ("tikv", joined(pds).into()),
        };
        ["-store".into(), store.into(), "-path".into(), path]
    }

    /// The arguments for the folder of temporary files. TiDB before 6.3 uses `TMPDIR`.
    fn temporary(&self, server_folder: &ServerFolder) -> Vec<OsString> {
        // A build whose help cannot be read is a new one.
        let knows = self.help.contains("-temp-dir") || self.storage == Storage::Unistore;
        if knows { vec!["-temp-dir".into(), server_folder.temporary().into()] } else { Vec::new() }
    }

    /// Whether the server can read the password before it listens. A file of statements that the user sets takes
    /// precedence: the server reads only one.
    fn reads_first_statements(&self) -> bool {
        self.secret.is_some()
            && self.help.contains(FIRST_STATEMENTS)
            && !self.settings.mention(FIRST_STATEMENTS)
    }
}

/// Addresses in the form that TiDB and TiKV take.
pub(crate) fn joined(addresses: &[SocketAddr]) -> String {
    addresses.iter().map(SocketAddr::to_string).collect::<Vec<_>>().join(",")
}

impl Recipe for TiDb {
    fn name(&self) -> &'static str {
        "TiDB"
    }

    fn prepare(
        &self,
        server_folder: &ServerFolder,
        _listener: &mut ProgressListener<'_>,
    ) -> anyhow::Result<()> {
        let Some(secret) = &self.secret else { return Ok(()) };
        server_folder.write(&server_folder.accounts(), &format!("{};\n", set_password(secret)))
    }

    fn command(&self, server_folder: &ServerFolder, ports: Ports) -> Command {
        let mut command = command(&self.binary);
        if self.reads_first_statements() {
            command.arg(format!("-{FIRST_STATEMENTS}")).arg(server_folder.accounts());
        }
        command
            .args(self.storage(server_folder))
            .args(["-host", "127.0.0.1", "-P", &ports.main.to_string()])
            .args(["-status-host", "127.0.0.1", "-status", &ports.internal.to_string()])
            .arg("-socket")
            .arg(server_folder.socket())
            .args(self.temporary(server_folder))
            // In the folder of its log, not in another folder of ours.
            .arg("-log-slow-query")
            .arg(server_folder.temporary().join("slow.log"));
        self.settings.say(&mut command, "--config", server_folder);
        command
    }

    fn cpus(&self) -> Option<CpuSet> {
        self.settings.cpus
    }

    fn login(&self) -> Option<&'static ManagedLogin> {
        Some(&MANAGED)
    }

    fn secret(&self) -> Option<&Secret> {
        self.secret.as_ref()
    }

    fn demand_password(
        &self,
        ports: Ports,
        listener: &mut ProgressListener<'_>,
    ) -> anyhow::Result<()> {
        let Some(secret) = &self.secret else { return Ok(()) };
        demand_password(secret, ports.main, listener)
    }

    fn metrics(&self, ports: Ports) -> Option<MetricsEndpoint> {
        Some(MetricsEndpoint::standard("tidb", &local(ports.internal)))
    }
}

#[cfg(test)]
mod tests;
