//! One MariaDB server process with a data folder that is thrown away with it.

use std::fs::File;
use std::io::Read;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, bail};
use nix::sched::CpuSet;
use tempfile::TempDir;

use super::install::{Programs, as_root};
use super::{DATABASE, USER};
use crate::copy::replace_folder;
use crate::log_tail::log_tail;
use crate::process::Process;

/// Between two looks whether the server answers.
const LOOK: Duration = Duration::from_millis(20);
/// So many looks before it is given up: a minute.
const LOOKS: usize = 3000;
/// How long it may take to end in good order.
const STOP_BOUND: Duration = Duration::from_secs(60);
/// Someone else may take the port between finding it free and using it.
const PORT_TRIES: usize = 5;
/// Lines of its log that a message shows.
const LOG_LINES: usize = 12;
/// A longer path does not fit the address of a unix socket.
const SOCKET_PATH_BYTES_MAX: usize = 107;
/// First byte of a greeting of the protocol's version 10, after the packet's header of 4 bytes.
const GREETING: u8 = 10;

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
    settings: Settings,
    programs: Programs,
    port: u16,
    socket: PathBuf,
    process: Process,
    folder: TempDir,
}

impl Server {
    /// Makes a data folder below `scratch` and starts a server on it, on a free port of 127.0.0.1
    /// and a unix socket; returns when it answers.
    ///
    /// # Errors
    /// When MariaDB is not installed (and what to install), or the last lines that it said.
    pub fn start(settings: Settings, scratch: &Path) -> anyhow::Result<Self> {
        let programs = Programs::find(settings.binary.as_deref())?;
        let folder = tempfile::Builder::new()
            .prefix("mariadb-")
            .tempdir_in(scratch)
            .with_context(|| format!("cannot make a folder in {}", scratch.display()))?;
        let temporary = temporary(folder.path());
        std::fs::create_dir(&temporary)
            .with_context(|| format!("cannot make {}", temporary.display()))?;
        programs.make_data(&data(folder.path()), &temporary)?;
        let socket = socket_path(folder.path());
        let (process, port) =
            on_free_port(|port| launch(&programs, &settings, folder.path(), &socket, port))?;
        Ok(Self { settings, programs, port, socket, process, folder })
    }

    /// Its port on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Its unix socket.
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.process.pid()
    }

    /// How to reach its database over TCP.
    pub fn url(&self) -> String {
        format!("mysql://{USER}@127.0.0.1:{}/{DATABASE}", self.port)
    }

    /// Why it is no longer there, with its last lines; `None` while it is.
    pub fn exited(&self) -> Option<String> {
        let status = self.process.exit_status()?;
        Some(format!(
            "MariaDB ended by itself ({status}); the last lines of its log:\n{}",
            log_tail(&log(self.folder.path()), LOG_LINES)
        ))
    }

    /// Starts it again on its port and its data, once it has ended by itself or was killed.
    ///
    /// # Errors
    /// When it is still there, or does not start.
    pub fn start_again(&mut self) -> anyhow::Result<()> {
        if self.process.exit_status().is_none() {
            bail!("the server on port {} has not ended", self.port);
        }
        let path = self.folder.path();
        self.process = launch(&self.programs, &self.settings, path, &self.socket, self.port)?;
        Ok(())
    }

    /// Keeps a copy of its data; it is stopped and started again for that.
    ///
    /// # Errors
    /// When it does not stop, cannot be copied (as on a full disk) or does not start again.
    pub fn snapshot(&mut self) -> anyhow::Result<()> {
        let (data, kept) = (data(self.folder.path()), kept(self.folder.path()));
        self.with_server_stopped(|| replace_folder(&data, &kept))
    }

    /// Brings back the data that [`Server::snapshot`] kept.
    ///
    /// # Errors
    /// When nothing was kept, or as `snapshot`.
    pub fn restore(&mut self) -> anyhow::Result<()> {
        let (data, kept) = (data(self.folder.path()), kept(self.folder.path()));
        if !kept.exists() {
            bail!("no data was kept that could be restored");
        }
        self.with_server_stopped(|| replace_folder(&kept, &data))
    }

    /// Stops it, waits for its end and removes its data.
    ///
    /// # Errors
    /// When it does not end or its data cannot be removed.
    pub fn stop(self) -> anyhow::Result<()> {
        self.process.stop(STOP_BOUND)?;
        remove_socket(&self.socket);
        Ok(())
    }

    fn with_server_stopped(
        &mut self,
        work: impl FnOnce() -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        if let Some(why) = self.exited() {
            bail!(why);
        }
        self.process.stop(STOP_BOUND)?;
        let worked = work();
        // Whatever became of the copy, the server is expected to be there afterwards.
        let path = self.folder.path();
        self.process = launch(&self.programs, &self.settings, path, &self.socket, self.port)?;
        worked
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Nobody is left to be told; the kernel kills it at the latest when we end.
        let _ = self.process.stop(STOP_BOUND);
        remove_socket(&self.socket);
    }
}

fn data(folder: &Path) -> PathBuf {
    folder.join("data")
}

fn kept(folder: &Path) -> PathBuf {
    folder.join("kept")
}

fn temporary(folder: &Path) -> PathBuf {
    folder.join("temporary")
}

fn log(folder: &Path) -> PathBuf {
    folder.join("error.log")
}

/// In the folder, or beside all other temporary files when the folder's path is too long.
fn socket_path(folder: &Path) -> PathBuf {
    let socket = folder.join("server.sock");
    if socket.as_os_str().len() <= SOCKET_PATH_BYTES_MAX {
        return socket;
    }
    let name = folder.file_name().unwrap_or_default();
    std::env::temp_dir().join(name).with_extension(format!("{}.sock", std::process::id()))
}

fn remove_socket(socket: &Path) {
    // The server has mostly removed it; only one that was killed leaves it behind.
    let _ = std::fs::remove_file(socket);
}

/// Tries free ports until nobody else takes the one that was found.
fn on_free_port(start: impl Fn(u16) -> anyhow::Result<Process>) -> anyhow::Result<(Process, u16)> {
    let mut tries = 0;
    loop {
        tries += 1;
        let port = free_port().context("no free port on 127.0.0.1")?;
        match start(port) {
            Ok(process) => return Ok((process, port)),
            Err(error) if tries < PORT_TRIES && is_port_taken(&error) => {}
            Err(error) => return Err(error),
        }
    }
}

fn is_port_taken(error: &anyhow::Error) -> bool {
    format!("{error:#}").contains("Address already in use")
}

fn free_port() -> std::io::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

fn launch(
    programs: &Programs,
    settings: &Settings,
    folder: &Path,
    socket: &Path,
    port: u16,
) -> anyhow::Result<Process> {
    let log = log(folder);
    let log_file = File::create(&log).with_context(|| format!("cannot write {}", log.display()))?;
    let mut command = Command::new(&programs.server);
    command
        .arg("--no-defaults")
        .args(as_root())
        .arg(format!("--datadir={}", data(folder).display()))
        .arg(format!("--tmpdir={}", temporary(folder).display()))
        .arg("--bind-address=127.0.0.1")
        .arg(format!("--port={port}"))
        .arg(format!("--socket={}", socket.display()))
        .args(DEFAULTS)
        .args(settings.arguments.iter().map(|argument| with_dashes(argument)))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log_file);
    let process = Process::start(command, settings.cpus)?;
    wait_until_it_answers(&process, port, &log)?;
    Ok(process)
}

/// What differs from the server's own defaults, so that a sweep to many clients is not refused;
/// settings of the plan come later and win.
const DEFAULTS: [&str; 2] = ["--max-connections=4096", "--max-prepared-stmt-count=1048576"];

fn with_dashes(argument: &str) -> String {
    format!("--{}", argument.trim_start_matches('-'))
}

fn wait_until_it_answers(process: &Process, port: u16, log: &Path) -> anyhow::Result<()> {
    for _ in 0..LOOKS {
        if let Some(status) = process.wait(LOOK) {
            bail!("MariaDB did not start ({status}); it said:\n{}", log_tail(log, LOG_LINES));
        }
        if answers(port) {
            return Ok(());
        }
    }
    // Its end is not waited for in good order: it never was in order.
    process.stop(LOOK)?;
    bail!(
        "MariaDB does not answer on 127.0.0.1:{port} after {:?}; it said:\n{}",
        LOOK * u32::try_from(LOOKS).unwrap_or(u32::MAX),
        log_tail(log, LOG_LINES)
    )
}

/// Whether a server greets on this port.
fn answers(port: u16) -> bool {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let Ok(mut stream) = TcpStream::connect_timeout(&address, Duration::from_secs(1)) else {
        return false;
    };
    let mut head = [0; 5];
    stream.set_read_timeout(Some(Duration::from_secs(5))).is_ok()
        && stream.read_exact(&mut head).is_ok()
        && head[4] == GREETING
}

#[cfg(test)]
mod tests;
