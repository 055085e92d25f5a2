//! One store: TiKV, or another that takes the same arguments and speaks the same protocol.

use std::io;
use std::net::{SocketAddr, TcpStream};
use std::process::Command;
use std::time::Duration;

use anyhow::Context;
use nix::sched::CpuSet;

use super::program::Program;
use crate::daemon::{Home, Recipe};
use crate::ports::{free_ports, local};
use crate::tidb::{Settings, joined};

const CONNECT_BOUND: Duration = Duration::from_secs(1);

/// How a store is started.
#[derive(Debug)]
pub(super) struct Store {
    pub(super) program: Program,
    pub(super) settings: Settings,
    pub(super) pds: Vec<SocketAddr>,
    pub(super) port: u16,
    pub(super) status_port: u16,
}

impl Store {
    /// Where it listens, and what PD calls it.
    pub(super) fn address(&self) -> SocketAddr {
        local(self.port)
    }

    /// Where it shows its state.
    pub(super) fn status_address(&self) -> SocketAddr {
        local(self.status_port)
    }
}

impl Recipe for Store {
    const NAME: &'static str = "store";

    fn take_ports(&mut self) -> io::Result<()> {
        [self.port, self.status_port] = free_ports()?;
        Ok(())
    }

    /// TiKV makes the folder, others want it made.
    fn prepare(&self, home: &Home) -> anyhow::Result<()> {
        let data = home.data();
        std::fs::create_dir(&data).with_context(|| format!("cannot make {}", data.display()))
    }

    fn command(&self, home: &Home) -> Command {
        let mut command = Command::new(&self.program.path);
        command
            .arg(format!("--pd={}", joined(&self.pds)))
            .arg(format!("--addr={}", self.address()))
            .arg(format!("--status-addr={}", self.status_address()))
            .arg(format!("--data-dir={}", home.data().display()))
            .args(self.settings.config.iter().map(|file| format!("--config={}", file.display())))
            .args(&self.settings.arguments)
            .env("TMPDIR", home.temporary())
            .envs(self.settings.environment.iter().map(|(name, value)| (name, value)))
            .current_dir(home.temporary());
        command
    }

    fn cpus(&self) -> Option<CpuSet> {
        self.settings.cpus
    }

    /// Whether it can be used, PD knows better: see `placement`.
    fn answers(&self) -> bool {
        TcpStream::connect_timeout(&self.address(), CONNECT_BOUND).is_ok()
    }
}
