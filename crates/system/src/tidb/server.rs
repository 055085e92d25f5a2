//! One TiDB server process on storage of its own that is thrown away with it.

use std::ffi::OsString;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;

use nix::sched::CpuSet;

use super::{DATABASE, USER};
use crate::daemon::{Daemon, Home, Recipe};
use crate::ports::{free_ports, greets};
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

/// What a server keeps its data in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Storage {
    /// Its own storage, in its folder.
    Unistore,
    /// The stores of a cluster, which it finds through the PDs that listen here.
    Cluster(Vec<SocketAddr>),
}

/// A server that is up. Dropping it stops it and removes its data.
#[derive(Debug)]
pub struct Server {
    daemon: Daemon<TiDb>,
}

impl Server {
    /// Starts `binary` on free ports of 127.0.0.1 and on data below `scratch`; returns when it answers.
    ///
    /// # Errors
    /// When it does not start, with the last lines that it said.
    pub fn start(binary: PathBuf, settings: Settings, scratch: &Path) -> anyhow::Result<Self> {
        Self::start_on(Storage::Unistore, binary, settings, scratch)
    }

    /// The same on another storage.
    ///
    /// # Errors
    /// As `start`.
    pub(crate) fn start_on(
        storage: Storage,
        binary: PathBuf,
        settings: Settings,
        scratch: &Path,
    ) -> anyhow::Result<Self> {
        let tidb = TiDb { binary, settings, storage, port: 0, status_port: 0 };
        Ok(Self { daemon: Daemon::start(tidb, scratch)? })
    }

    /// Ends it in good order, but keeps its data and its place.
    ///
    /// # Errors
    /// When it does not end.
    pub(crate) fn halt(&self) -> anyhow::Result<()> {
        self.daemon.halt()
    }

    /// Its port on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.daemon.recipe.port
    }

    /// The port on 127.0.0.1 where it shows its state and its figures.
    pub fn status_port(&self) -> u16 {
        self.daemon.recipe.status_port
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.daemon.pid()
    }

    /// How to reach its database.
    pub fn url(&self) -> String {
        format!("mysql://{USER}@127.0.0.1:{}/{DATABASE}", self.port())
    }

    /// Why it is no longer there, with its last lines; `None` while it is.
    pub fn exited(&self) -> Option<String> {
        self.daemon.exited()
    }

    /// Starts it again on its ports and its data, once it has ended by itself or was killed.
    ///
    /// # Errors
    /// When it is still there, or does not start.
    pub fn start_again(&mut self) -> anyhow::Result<()> {
        self.daemon.start_again()
    }

    /// Keeps a copy of its data; it is stopped and started again for that.
    ///
    /// # Errors
    /// When it does not stop, cannot be copied (as on a full disk) or does not start again.
    pub fn snapshot(&mut self) -> anyhow::Result<()> {
        self.daemon.snapshot()
    }

    /// Brings back the data that [`Server::snapshot`] kept.
    ///
    /// # Errors
    /// When nothing was kept, or as `snapshot`.
    pub fn restore(&mut self) -> anyhow::Result<()> {
        self.daemon.restore()
    }

    /// Stops it, waits for its end and removes its data.
    ///
    /// # Errors
    /// When it does not end.
    pub fn stop(self) -> anyhow::Result<()> {
        self.daemon.stop()
    }
}

/// How TiDB is started.
#[derive(Debug)]
struct TiDb {
    binary: PathBuf,
    settings: Settings,
    storage: Storage,
    port: u16,
    status_port: u16,
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
    const NAME: &'static str = "TiDB";

    fn take_ports(&mut self) -> io::Result<()> {
        [self.port, self.status_port] = free_ports()?;
        Ok(())
    }

    fn command(&self, home: &Home) -> Command {
        let mut command = Command::new(&self.binary);
        command
            .args(self.storage(home))
            .args(["-host", "127.0.0.1", "-P", &self.port.to_string()])
            .args(["-status-host", "127.0.0.1", "-status", &self.status_port.to_string()])
            .arg("-socket")
            .arg(home.socket())
            .args(self.temporary(home))
            // Beside its log and not in a folder of ours.
            .arg("-log-slow-query")
            .arg(home.temporary().join("slow.log"))
            .args(self.settings.config.iter().flat_map(|file| [Path::new("-config"), file]))
            // The last one of two that are the same wins.
            .args(&self.settings.arguments)
            .env("TMPDIR", home.temporary())
            .envs(self.settings.environment.iter().map(|(name, value)| (name, value)))
            .current_dir(home.temporary());
        command
    }

    fn cpus(&self) -> Option<CpuSet> {
        self.settings.cpus
    }

    fn answers(&self) -> bool {
        greets(self.port)
    }
}

#[cfg(test)]
mod tests;
