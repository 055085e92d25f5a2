//! `tiup playground`: starts a TiDB on a TiKV where TiUP is installed. The arguments are those of its documentation;
//! a real TiUP has not been tried.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::bail;
use nix::sched::CpuSet;

use super::Settings;
use super::password::demand_password;
use crate::daemon::{Daemon, Recipe, ServerFolder};
use crate::mysql::MANAGED;
use crate::ports::{Ports, local};
use crate::process::{Ending, toolchain_command};
use crate::running::SystemHandle;
use crate::secret::{ManagedLogin, Secret};
use crate::{LostMember, MetricsEndpoint, ProgressListener, ServerProcess};

/// The role of the process that dyno starts.
const ROLE: &str = "tiup";

pub(super) struct Playground {
    pub(super) daemon: Daemon,
    /// The pages on which its servers expose their metrics, once they are known.
    pub(super) metrics: Vec<MetricsEndpoint>,
}

impl Playground {
    /// Starts one TiDB, one TiKV and one PD.
    ///
    /// # Errors
    /// When it does not start, with the last lines of its log.
    pub(super) fn start(
        tiup: PathBuf,
        settings: Settings,
        scratch: &Path,
        listener: &mut ProgressListener<'_>,
    ) -> anyhow::Result<Self> {
        let recipe = TiUp { tiup, settings, secret: Secret::random()? };
        let daemon = Daemon::start(recipe, scratch, listener)?;
        Ok(Self { daemon, metrics: Vec::new() })
    }
}

#[derive(Debug)]
struct TiUp {
    tiup: PathBuf,
    settings: Settings,
    secret: Secret,
}

impl Recipe for TiUp {
    fn name(&self) -> &'static str {
        "tiup-playground"
    }

    fn ending(&self) -> Ending {
        Ending::Asked
    }

    fn command(&self, server_folder: &ServerFolder, ports: Ports) -> Command {
        let mut command = toolchain_command(&self.tiup);
        // Without a tag, the playground removes its data when it ends.
        command
            .args(["playground", "--host", "127.0.0.1", "--db.port", &ports.main.to_string()])
            .args(["--db", "1", "--kv", "1", "--pd", "1", "--tiflash", "0", "--without-monitor"]);
        self.settings.say(&mut command, "--db.config", server_folder);
        command
    }

    fn cpus(&self) -> Option<CpuSet> {
        self.settings.cpus
    }

    fn login(&self) -> Option<&'static ManagedLogin> {
        Some(&MANAGED)
    }

    fn secret(&self) -> Option<&Secret> {
        Some(&self.secret)
    }

    fn demand_password(
        &self,
        ports: Ports,
        listener: &mut ProgressListener<'_>,
    ) -> anyhow::Result<()> {
        demand_password(&self.secret, ports.main, listener)
    }
}

impl SystemHandle for Playground {
    fn exited(&mut self) -> Option<String> {
        self.daemon.exited()
    }

    fn lost_members(&self) -> Vec<LostMember> {
        self.daemon.lost(ROLE.to_owned(), ROLE.to_owned()).into_iter().collect()
    }

    fn processes(&self) -> Vec<ServerProcess> {
        vec![ServerProcess { role: ROLE.to_owned(), pid: self.daemon.pid() }]
    }

    fn addresses(&self) -> Vec<SocketAddr> {
        vec![local(self.daemon.port())]
    }

    fn metrics(&self) -> Vec<MetricsEndpoint> {
        self.metrics.clone()
    }

    fn snapshot(&mut self, _listener: &mut ProgressListener<'_>) -> anyhow::Result<()> {
        bail!(
            "the data of a playground of TiUP cannot be copied: set between = \"reload\" (or \
             \"keep\"), or let dyno start TiDB itself with source = \"build\""
        )
    }

    fn restore(&mut self, listener: &mut ProgressListener<'_>) -> anyhow::Result<()> {
        self.snapshot(listener)
    }

    fn stop(self: Box<Self>, listener: &mut ProgressListener<'_>) -> anyhow::Result<()> {
        SystemHandle::stop(Box::new(self.daemon), listener)
    }
}
