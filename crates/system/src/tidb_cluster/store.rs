//! One store: TiKV, or another program that takes the same arguments and has the same protocol.

use std::net::{SocketAddr, TcpStream};
use std::process::Command;

use nix::sched::CpuSet;

use super::program::Program;
use crate::ProgressListener;
use crate::daemon::{Recipe, ServerFolder};
use crate::ports::{ANSWER_BOUND, Ports, local};
use crate::process::command;
use crate::tidb::{Settings, joined};

#[derive(Debug)]
pub(super) struct Store {
    pub(super) program: Program,
    pub(super) settings: Settings,
    pub(super) pds: Vec<SocketAddr>,
}

impl Recipe for Store {
    fn name(&self) -> &'static str {
        "store"
    }

    /// TiKV creates the folder itself; other stores need it to exist.
    fn prepare(
        &self,
        server_folder: &ServerFolder,
        _listener: &mut ProgressListener<'_>,
    ) -> anyhow::Result<()> {
        server_folder.make_folder(&server_folder.data())
    }

    fn command(&self, server_folder: &ServerFolder, ports: Ports) -> Command {
        let mut command = command(&self.program.path);
        command
            .arg(format!("--pd={}", joined(&self.pds)))
            .arg(format!("--addr={}", local(ports.main)))
            .arg(format!("--status-addr={}", local(ports.internal)))
            .arg(format!("--data-dir={}", server_folder.data().display()));
        self.settings.say(&mut command, "--config", server_folder);
        command
    }

    fn cpus(&self) -> Option<CpuSet> {
        self.settings.cpus
    }

    /// Whether it accepts connections. PD reports when a store can be used: see `placement`.
    fn answers(&self, ports: Ports) -> bool {
        TcpStream::connect_timeout(&local(ports.main), ANSWER_BOUND).is_ok()
    }
}
