//! `tiup playground`: TiUP's own way to a TiDB on a TiKV, where TiUP is installed. Its arguments are
//! those of its documentation; a real TiUP has not been tried.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::bail;
use nix::sched::CpuSet;

use super::Settings;
use crate::daemon::{Daemon, Home, Recipe, Starts};
use crate::ports::{Ports, local};
use crate::process::toolchain_command;
use crate::running::Backing;
use crate::{MetricsEndpoint, Onlooker, ServerProcess};

/// A playground that is up.
pub(super) struct Playground {
    daemon: Daemon,
    /// Where its servers show their figures, once they were asked.
    pub(super) metrics: Vec<MetricsEndpoint>,
}

impl Playground {
    /// Starts one TiDB, one TiKV and one PD.
    ///
    /// # Errors
    /// When it does not start, with the last lines that it said.
    pub(super) fn start(
        tiup: PathBuf,
        settings: Settings,
        scratch: &Path,
        onlooker: &mut Onlooker<'_>,
    ) -> anyhow::Result<Self> {
        let daemon = Daemon::start(TiUp { tiup, settings }, scratch, onlooker)?;
        Ok(Self { daemon, metrics: Vec::new() })
    }

    pub(super) fn port(&self) -> u16 {
        self.daemon.port()
    }
}

/// How a playground is started.
#[derive(Debug)]
struct TiUp {
    tiup: PathBuf,
    settings: Settings,
}

impl Recipe for TiUp {
    fn name(&self) -> &'static str {
        "tiup-playground"
    }

    fn starts(&self) -> Starts {
        Starts::Others
    }

    fn command(&self, home: &Home, ports: Ports) -> Command {
        let mut command = toolchain_command(&self.tiup);
        // Without a tag the playground removes its data when it ends.
        command
            .args(["playground", "--host", "127.0.0.1", "--db.port", &ports.main.to_string()])
            .args(["--db", "1", "--kv", "1", "--pd", "1", "--tiflash", "0", "--without-monitor"]);
        self.settings.say(&mut command, "--db.config", home);
        command
    }

    fn cpus(&self) -> Option<CpuSet> {
        self.settings.cpus
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
