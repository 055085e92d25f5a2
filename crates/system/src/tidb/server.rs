//! One TiDB server process on storage of its own that is thrown away with it.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;

use nix::sched::CpuSet;

use crate::MetricsEndpoint;
use crate::daemon::{Daemon, Home, Recipe, unattended};
use crate::ports::{Ports, local};
use crate::process::command;
use crate::programs::said;

/// What may be said about a server before it starts.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Arguments for the server, word for word.
    pub arguments: Vec<String>,
    /// A configuration file of the server's own kind.
    pub config: Option<PathBuf>,
    /// Environment variables of the server, such as `GOMAXPROCS`.
    pub environment: Vec<(String, String)>,
    /// The CPUs it may run on.
    pub cpus: Option<CpuSet>,
}

impl Settings {
    /// Says all that to a server on this folder; `flag` is how its kind calls its configuration file.
    pub(crate) fn say(&self, command: &mut Command, flag: &str, home: &Home) {
        command
            .args(self.config.iter().flat_map(|file| [Path::new(flag), file]))
            // The last one of two that are the same wins.
            .args(&self.arguments)
            .env("TMPDIR", home.temporary())
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .current_dir(home.temporary());
    }
}

/// Arguments by which dyno finds the server again.
pub(crate) const OURS: [&str; 2] = ["P", "status"];

/// What a server keeps its data in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Storage {
    /// Its own storage, in its folder.
    Unistore,
    /// The stores of a cluster, which it finds through the PDs that listen here.
    Cluster(Vec<SocketAddr>),
}

/// Starts `binary` on free ports of 127.0.0.1 and on data below `scratch`; returns when it answers.
///
/// # Errors
/// When it does not start, with the last lines that it said.
pub fn start(binary: PathBuf, settings: Settings, scratch: &Path) -> anyhow::Result<Daemon> {
    let tidb = TiDb { binary, settings, storage: Storage::Unistore };
    Daemon::start(tidb, scratch, &mut unattended)
}

/// How TiDB is started.
#[derive(Debug)]
pub(crate) struct TiDb {
    pub(crate) binary: PathBuf,
    pub(crate) settings: Settings,
    pub(crate) storage: Storage,
}

impl TiDb {
    /// Where its data are.
    fn storage(&self, home: &Home) -> [OsString; 4] {
        let (store, path) = match &self.storage {
            Storage::Unistore => ("unistore", home.data().into_os_string()),
            Storage::Cluster(pds) => ("tikv", joined(pds).into()),
        };
        ["-store".into(), store.into(), "-path".into(), path]
    }

    /// Where its temporary files go. TiDB before 6.3 puts them where `TMPDIR` says.
    fn temporary(&self, home: &Home) -> Vec<OsString> {
        let knows = match self.storage {
            Storage::Unistore => true,
            // The TiDB of a cluster may be of any age.
            Storage::Cluster(_) => {
                said(&self.binary, "--help", &self.settings.environment).contains("-temp-dir")
            }
        };
        if knows { vec!["-temp-dir".into(), home.temporary().into()] } else { Vec::new() }
    }
}

/// Addresses as TiDB and TiKV take them.
pub(crate) fn joined(addresses: &[SocketAddr]) -> String {
    addresses.iter().map(SocketAddr::to_string).collect::<Vec<_>>().join(",")
}

impl Recipe for TiDb {
    fn name(&self) -> &'static str {
        "TiDB"
    }

    fn command(&self, home: &Home, ports: Ports) -> Command {
        let mut command = command(&self.binary);
        command
            .args(self.storage(home))
            .args(["-host", "127.0.0.1", "-P", &ports.main.to_string()])
            .args(["-status-host", "127.0.0.1", "-status", &ports.second.to_string()])
            .arg("-socket")
            .arg(home.socket())
            .args(self.temporary(home))
            // Beside its log and not in a folder of ours.
            .arg("-log-slow-query")
            .arg(home.temporary().join("slow.log"));
        self.settings.say(&mut command, "--config", home);
        command
    }

    fn cpus(&self) -> Option<CpuSet> {
        self.settings.cpus
    }

    fn metrics(&self, ports: Ports) -> Option<MetricsEndpoint> {
        Some(MetricsEndpoint::standard("tidb", &local(ports.second)))
    }
}

#[cfg(test)]
mod tests;
