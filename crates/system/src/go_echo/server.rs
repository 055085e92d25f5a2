//! A process of an echo server on ports of the loopback interface.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use nix::sched::CpuSet;

use super::EchoServer;
use crate::daemon::{Recipe, ServerFolder};
use crate::ports::{Ports, local};
use crate::process::command;
use crate::watch::read_page;
use crate::{MetricsEndpoint, ProgressListener};

/// How long the page of metrics may take while the server starts.
const PAGE_BOUND: Duration = Duration::from_secs(1);

/// Settings of a server before its start.
#[derive(Clone, Debug, Default)]
pub(super) struct Settings {
    pub(super) flags: Vec<String>,
    /// Its environment variables, such as `GOMAXPROCS`.
    pub(super) environment: Vec<(String, String)>,
    /// The CPUs that it may use.
    pub(super) cpus: Option<CpuSet>,
}

#[derive(Debug)]
pub(super) struct Echo {
    pub(super) server: EchoServer,
    pub(super) binary: PathBuf,
    pub(super) settings: Settings,
}

impl Recipe for Echo {
    fn name(&self) -> &'static str {
        self.server.name()
    }

    fn prepare(
        &self,
        server_folder: &ServerFolder,
        _listener: &mut ProgressListener<'_>,
    ) -> anyhow::Result<()> {
        // It has no data: a snapshot copies an empty folder.
        server_folder.make_folder(&server_folder.data())
    }

    fn command(&self, server_folder: &ServerFolder, ports: Ports) -> Command {
        let mut command = command(&self.binary);
        command
            .arg(format!("--listen={}", local(ports.main)))
            .arg(format!("--metrics={}", local(ports.internal)))
            .args(&self.settings.flags)
            .envs(self.settings.environment.iter().map(|(name, value)| (name, value)))
            .current_dir(server_folder.temporary());
        command
    }

    fn cpus(&self) -> Option<CpuSet> {
        self.settings.cpus
    }

    /// Its page of metrics comes last: by then it listens, and its identity is in the log.
    fn answers(&self, ports: Ports) -> bool {
        read_page(&format!("http://{}/metrics", local(ports.internal)), PAGE_BOUND).is_ok()
    }

    fn metrics(&self, ports: Ports) -> Option<MetricsEndpoint> {
        Some(MetricsEndpoint::standard(self.name(), &local(ports.internal)))
    }
}
