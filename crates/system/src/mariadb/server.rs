//! One MariaDB server process with a data folder that is thrown away with it.

use std::path::{Path, PathBuf};
use std::process::Command;

use nix::sched::CpuSet;

use super::install::{Programs, as_root};
use crate::Onlooker;
use crate::daemon::{Daemon, Home, Recipe, unattended};
use crate::ports::Ports;
use crate::process::command;

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

/// Makes a data folder below `scratch` and starts a server on it, on a free port of 127.0.0.1 and a unix
/// socket; returns when it answers.
///
/// # Errors
/// When MariaDB is not installed (and what to install), or the last lines that it said.
pub fn start(settings: Settings, scratch: &Path) -> anyhow::Result<Daemon> {
    start_watched(settings, scratch, &mut unattended)
}

/// The same, until the onlooker wants it to end.
///
/// # Errors
/// As [`start`], and when it was ended.
pub(super) fn start_watched(
    settings: Settings,
    scratch: &Path,
    onlooker: &mut Onlooker<'_>,
) -> anyhow::Result<Daemon> {
    let programs = Programs::find(settings.binary.as_deref())?;
    Daemon::start(MariaDb { programs, settings }, scratch, onlooker)
}

/// How MariaDB is started.
#[derive(Debug)]
struct MariaDb {
    programs: Programs,
    settings: Settings,
}

impl Recipe for MariaDb {
    fn name(&self) -> &'static str {
        "MariaDB"
    }

    fn prepare(&self, home: &Home, onlooker: &mut Onlooker<'_>) -> anyhow::Result<()> {
        self.programs.make_data(home, onlooker)
    }

    fn command(&self, home: &Home, ports: Ports) -> Command {
        let mut command = command(&self.programs.server);
        command
            .arg("--no-defaults")
            .args(as_root())
            .arg(format!("--datadir={}", home.data().display()))
            .arg(format!("--tmpdir={}", home.temporary().display()))
            .arg("--bind-address=127.0.0.1")
            .arg(format!("--port={}", ports.main))
            .arg(format!("--socket={}", home.socket().display()))
            .args(DEFAULTS)
            .args(self.settings.arguments.iter().map(|argument| with_dashes(argument)));
        command
    }

    fn cpus(&self) -> Option<CpuSet> {
        self.settings.cpus
    }
}

fn with_dashes(argument: &str) -> String {
    format!("--{}", argument.trim_start_matches('-'))
}

#[cfg(test)]
mod tests;
