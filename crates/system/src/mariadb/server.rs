//! One MariaDB server process with a data folder that is thrown away with it.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use nix::sched::CpuSet;

use super::install::{Programs, as_root};
use super::{DATABASE, USER};
use crate::daemon::{Daemon, Home, Recipe};
use crate::ports::{free_ports, greets};

/// What differs from the server's own defaults, so that a sweep to many clients is not refused;
/// settings of the plan come later and win.
const DEFAULTS: [&str; 2] = ["--max-connections=4096", "--max-prepared-stmt-count=1048576"];

/// What may be said about a server before it starts.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The server's program, when it is not the operating system's.
    pub binary: Option<PathBuf>,
    /// Arguments for the server, with or without the leading dashes.
    pub arguments: Vec<String>,
    /// The CPUs it may run on.
    pub cpus: Option<CpuSet>,
}

/// A server that is up. Dropping it stops it and removes its data.
#[derive(Debug)]
pub struct Server {
    daemon: Daemon<MariaDb>,
    socket: PathBuf,
}

impl Server {
    /// Makes a data folder below `scratch` and starts a server on it, on a free port of 127.0.0.1
    /// and a unix socket; returns when it answers.
    ///
    /// # Errors
    /// When MariaDB is not installed (and what to install), or the last lines that it said.
    pub fn start(settings: Settings, scratch: &Path) -> anyhow::Result<Self> {
        let programs = Programs::find(settings.binary.as_deref())?;
        let daemon = Daemon::start(MariaDb { programs, settings, port: 0 }, scratch)?;
        let socket = daemon.home.socket();
        Ok(Self { daemon, socket })
    }

    /// Its port on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.daemon.recipe.port
    }

    /// Its unix socket.
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.daemon.pid()
    }

    /// How to reach its database over TCP.
    pub fn url(&self) -> String {
        format!("mysql://{USER}@127.0.0.1:{}/{DATABASE}", self.port())
    }

    /// Why it is no longer there, with its last lines; `None` while it is.
    pub fn exited(&self) -> Option<String> {
        self.daemon.exited()
    }

    /// Starts it again on its port and its data, once it has ended by itself or was killed.
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

/// How MariaDB is started.
#[derive(Debug)]
struct MariaDb {
    programs: Programs,
    settings: Settings,
    port: u16,
}

impl Recipe for MariaDb {
    const NAME: &'static str = "MariaDB";

    fn take_ports(&mut self) -> io::Result<()> {
        [self.port] = free_ports()?;
        Ok(())
    }

    fn prepare(&self, home: &Home) -> anyhow::Result<()> {
        self.programs.make_data(&home.data(), &home.temporary())
    }

    fn command(&self, home: &Home) -> Command {
        let mut command = Command::new(&self.programs.server);
        command
            .arg("--no-defaults")
            .args(as_root())
            .arg(format!("--datadir={}", home.data().display()))
            .arg(format!("--tmpdir={}", home.temporary().display()))
            .arg("--bind-address=127.0.0.1")
            .arg(format!("--port={}", self.port))
            .arg(format!("--socket={}", home.socket().display()))
            .args(DEFAULTS)
            .args(self.settings.arguments.iter().map(|argument| with_dashes(argument)));
        command
    }

    fn cpus(&self) -> Option<CpuSet> {
        self.settings.cpus
    }

    fn answers(&self) -> bool {
        greets(self.port)
    }
}

fn with_dashes(argument: &str) -> String {
    format!("--{}", argument.trim_start_matches('-'))
}

#[cfg(test)]
mod tests;
