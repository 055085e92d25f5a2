//! `tiup playground`: TiUP's own way to a TiDB on a TiKV, where TiUP is installed. Its arguments are
//! those of its documentation; a real TiUP has not been tried.

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::bail;
use nix::sched::CpuSet;

use super::Settings;
use crate::daemon::{Daemon, Home, Recipe, Starts};
use crate::ports::{free_ports, greets, local};
use crate::running::Backing;
use crate::{MetricsEndpoint, ServerProcess};

/// A playground that is up.
pub(super) struct Playground {
    daemon: Daemon<TiUp>,
    /// Where its servers show their figures, once they were asked.
    pub(super) metrics: Vec<MetricsEndpoint>,
}

impl Playground {
    /// Starts one TiDB, one TiKV and one PD.
    ///
    /// # Errors
    /// When it does not start, with the last lines that it said.
    pub(super) fn start(tiup: PathBuf, settings: Settings, scratch: &Path) -> anyhow::Result<Self> {
        let daemon = Daemon::start(TiUp { tiup, settings, port: 0 }, scratch)?;
        Ok(Self { daemon, metrics: Vec::new() })
    }

    pub(super) fn port(&self) -> u16 {
        self.daemon.recipe.port
    }
}

/// How a playground is started.
#[derive(Debug)]
struct TiUp {
    tiup: PathBuf,
    settings: Settings,
    port: u16,
}

impl Recipe for TiUp {
    const NAME: &'static str = "tiup-playground";
    const STARTS: Starts = Starts::Others;

    fn take_ports(&mut self) -> io::Result<()> {
        [self.port] = free_ports()?;
        Ok(())
    }

    fn command(&self, home: &Home) -> Command {
        let mut command = Command::new(&self.tiup);
        // Without a tag the playground removes its data when it ends.
        command
            .args(["playground", "--host", "127.0.0.1", "--db.port", &self.port.to_string()])
            .args(["--db", "1", "--kv", "1", "--pd", "1", "--tiflash", "0", "--without-monitor"])
            .args(self.settings.config.iter().flat_map(|file| [Path::new("--db.config"), file]))
            .args(&self.settings.arguments)
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

impl Backing for Playground {
    fn exited(&mut self) -> Option<String> {
        self.daemon.exited()
    }

    fn processes(&self) -> Vec<ServerProcess> {
        vec![ServerProcess { role: "tiup".to_owned(), pid: self.daemon.pid() }]
    }

    fn addresses(&self) -> Vec<SocketAddr> {
        vec![local(self.port())]
    }

    fn metrics(&self) -> Vec<MetricsEndpoint> {
        self.metrics.clone()
    }

    fn snapshot(&mut self) -> anyhow::Result<()> {
        bail!(
            "the data of a playground of TiUP cannot be copied: say between = \"reload\" (or \
             \"keep\"), or let dyno start TiDB itself with source = \"build\""
        )
    }

    fn restore(&mut self) -> anyhow::Result<()> {
        self.snapshot()
    }

    fn stop(self: Box<Self>) -> anyhow::Result<()> {
        self.daemon.stop()
    }
}
