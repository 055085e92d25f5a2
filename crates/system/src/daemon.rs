//! A server process on a folder of its own: started, watched, its data kept and brought back, stopped.

mod server_folder;
mod system_handle;

use std::fmt::Debug;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, bail};
use driver::Password;
use nix::sched::CpuSet;

use crate::account::Account;
use crate::copy::replace_folder;
use crate::log_tail::log_tail;
use crate::ports::{Ports, Reserved, local, sends_greeting};
use crate::process::{Confinement, NewFiles, Process};
use crate::secret::Secret;
use crate::subprocess;
use crate::{LoginUrl, MetricsEndpoint, ProgressEvent, ProgressListener};
pub(crate) use server_folder::ServerFolder;

/// The account that a managed MariaDB or TiDB has.
pub const USER: &str = "root";
/// The database that a fresh MariaDB or TiDB has.
pub const DATABASE: &str = "test";

/// Between two looks whether the server answers.
const POLL_PERIOD: Duration = Duration::from_millis(20);
/// So many looks before it is given up: two minutes.
const POLLS_MAX: u32 = 6000;
/// How long it may take to end in good order.
const STOP_BOUND: Duration = Duration::from_secs(60);
/// Someone else may use a port by its number, on another address of this machine too.
const PORT_TRIES: usize = 5;

/// Whether a program starts further processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProcessLayout {
    /// It is the server itself.
    Nothing,
    /// Others, that end with it.
    Others,
}

/// How one kind of server is started on a folder of its own.
pub(crate) trait Recipe: Debug + Send + Sync {
    /// What people call it.
    fn name(&self) -> &'static str;

    /// Whether the program is a server, or starts the servers.
    fn starts(&self) -> ProcessLayout {
        ProcessLayout::Nothing
    }

    /// Fills a fresh folder, such as with what the server's own installer makes.
    fn prepare(
        &self,
        _home: &ServerFolder,
        _listener: &mut ProgressListener<'_>,
    ) -> anyhow::Result<()> {
        Ok(())
    }

    /// What to run; standard streams are set by the caller.
    fn command(&self, server_folder: &ServerFolder, ports: Ports) -> Command;

    /// The CPUs it may use; all of them when `None`.
    fn cpus(&self) -> Option<CpuSet>;

    /// The account that it runs as; ours when `None`.
    fn account(&self) -> Option<Account> {
        None
    }

    /// The password that dyno gives its account [`USER`], if it has logins and they are dyno's to change.
    fn secret(&self) -> Option<&Secret> {
        None
    }

    /// Sees to it that the server, which has just answered for the first time, has its password.
    fn demand_password(
        &self,
        _ports: Ports,
        _listener: &mut ProgressListener<'_>,
    ) -> anyhow::Result<()> {
        Ok(())
    }

    /// Whether it answers by now.
    fn answers(&self, ports: Ports) -> bool {
        sends_greeting(ports.main)
    }

    /// Where it shows its figures, if it does.
    fn metrics(&self, _ports: Ports) -> Option<MetricsEndpoint> {
        None
    }
}

/// A server that is up, on 127.0.0.1. Dropping it ends it where it stands and removes its folder.
#[derive(Debug)]
pub struct Daemon {
    recipe: Box<dyn Recipe>,
    pub(crate) server_folder: ServerFolder,
    reserved: Reserved,
    process: Process,
}

impl Daemon {
    /// Makes a folder below `scratch` and starts the server on it; returns when it answers.
    ///
    /// # Errors
    /// When it cannot be started, with the last lines that it said, or a stop was requested.
    pub(crate) fn start(
        recipe: impl Recipe + 'static,
        scratch: &Path,
        listener: &mut ProgressListener<'_>,
    ) -> anyhow::Result<Self> {
        let server_folder = ServerFolder::make(recipe.name(), scratch, recipe.account())?;
        recipe.prepare(&server_folder, listener)?;
        let (process, reserved) = on_free_ports(&recipe, &server_folder, listener)?;
        let daemon = Self { recipe: Box::new(recipe), server_folder, reserved, process };
        daemon.recipe.demand_password(daemon.reserved.ports, listener)?;
        Ok(daemon)
    }

    /// The port where it serves.
    pub fn port(&self) -> u16 {
        self.reserved.ports.main
    }

    /// The port beside it, where a TiDB or a store shows its state.
    pub fn status_port(&self) -> u16 {
        self.reserved.ports.second
    }

    /// How to log in to its database over TCP with the password that dyno has made; `None` when it made none.
    pub(crate) fn login(&self) -> Option<LoginUrl> {
        Some(self.recipe.secret()?.url_at(&local(self.port()).to_string()))
    }

    /// The same over its unix socket.
    pub(crate) fn socket_login(&self) -> Option<LoginUrl> {
        Some(self.recipe.secret()?.url_of_socket(&self.socket()))
    }

    /// The password of [`USER`]; empty when dyno has made none.
    pub(crate) fn password(&self) -> Password {
        self.recipe.secret().map(Secret::password).unwrap_or_default()
    }

    /// The URL of its database, with the password in it when dyno has made one.
    pub fn url(&self) -> String {
        match self.login() {
            Some(login) => login.revealed(),
            None => format!("mysql://{USER}@{}/{DATABASE}", local(self.port())),
        }
    }

    /// Its unix socket, if it has one.
    pub fn socket(&self) -> PathBuf {
        self.server_folder.socket()
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.process.pid()
    }

    /// Why it is no longer there, with its last words; `None` while it is.
    pub fn exited(&self) -> Option<String> {
        let status = self.process.exit_status()?;
        Some(format!(
            "{} ended by itself ({status}); the end of its log:\n{}",
            self.recipe.name(),
            log_tail(&self.server_folder.log())
        ))
    }

    /// Starts it again on its ports and its data, once it has ended by itself or was killed.
    ///
    /// # Errors
    /// When it is still there, or does not start.
    pub fn start_again(&mut self) -> anyhow::Result<()> {
        if self.process.exit_status().is_none() {
            bail!("{} (process {}) has not ended", self.recipe.name(), self.pid());
        }
        self.relaunch()
    }

    fn relaunch(&mut self) -> anyhow::Result<()> {
        self.process =
            launch(&*self.recipe, &self.server_folder, self.reserved.ports, &mut ignore_progress)?;
        Ok(())
    }

    /// Keeps a copy of its data; it is stopped and started again for that.
    ///
    /// # Errors
    /// When it does not stop, cannot be copied (as on a full disk) or does not start again.
    pub fn snapshot(&mut self) -> anyhow::Result<()> {
        self.while_stopped(Self::keep)
    }

    /// Brings back the data that [`Daemon::snapshot`] kept.
    ///
    /// # Errors
    /// When nothing was kept, or as `snapshot`.
    pub fn restore(&mut self) -> anyhow::Result<()> {
        self.kept()?;
        self.while_stopped(Self::reload_snapshot)
    }

    /// Ends it in good order; [`Daemon::start_again`] brings it back.
    ///
    /// # Errors
    /// When it does not end.
    pub(crate) fn stop_processes(&self) -> anyhow::Result<()> {
        self.process.stop(STOP_BOUND).map(drop)
    }

    /// Keeps a copy of the data of a server that was halted.
    ///
    /// # Errors
    /// When it cannot be copied, as on a full disk.
    pub(crate) fn keep(&self) -> anyhow::Result<()> {
        replace_folder(&self.server_folder.data(), &self.server_folder.kept())
    }

    /// Brings back to a server that was halted what [`Daemon::keep`] kept.
    ///
    /// # Errors
    /// When nothing was kept, or as `keep`.
    pub(crate) fn reload_snapshot(&self) -> anyhow::Result<()> {
        replace_folder(&self.kept()?, &self.server_folder.data())
    }

    fn kept(&self) -> anyhow::Result<PathBuf> {
        let kept = self.server_folder.kept();
        if !kept.exists() {
            bail!("no data was kept that could be restored");
        }
        Ok(kept)
    }

    /// Stops it, waits for its end and removes its folder.
    ///
    /// # Errors
    /// When it does not end.
    pub fn stop(self) -> anyhow::Result<()> {
        self.stop_processes()
    }

    fn while_stopped(
        &mut self,
        work: impl FnOnce(&Self) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        if let Some(why) = self.exited() {
            bail!(why);
        }
        self.stop_processes()?;
        let worked = work(self);
        // Whatever became of the copy, the server is expected to be there afterwards.
        self.relaunch()?;
        worked
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // Who wants it to end in good order has halted it, and nobody will miss its data. Nobody is left
        // to be told; the kernel kills it at the latest when we end.
        let _ = self.process.end();
    }
}

/// Goes on, whatever is told.
pub(crate) fn ignore_progress(_: ProgressEvent<'_>) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// Tries free ports until nobody has taken those by their numbers.
fn on_free_ports(
    recipe: &dyn Recipe,
    server_folder: &ServerFolder,
    listener: &mut ProgressListener<'_>,
) -> anyhow::Result<(Process, Reserved)> {
    let mut tries = 0;
    loop {
        tries += 1;
        let reserved = Reserved::free().context("no free port on 127.0.0.1")?;
        match launch(recipe, server_folder, reserved.ports, listener) {
            Err(error) if tries < PORT_TRIES && is_port_taken(&error) => {}
            launched => return launched.map(|process| (process, reserved)),
        }
    }
}

fn is_port_taken(error: &anyhow::Error) -> bool {
    format!("{error:#}").to_lowercase().contains("address already in use")
}

fn launch(
    recipe: &dyn Recipe,
    server_folder: &ServerFolder,
    ports: Ports,
    listener: &mut ProgressListener<'_>,
) -> anyhow::Result<Process> {
    let path = server_folder.log();
    let log = subprocess::create(&path)?;
    let errors = log.try_clone().with_context(|| format!("cannot write {}", path.display()))?;
    let mut command = recipe.command(server_folder, ports);
    command.stdin(Stdio::null()).stdout(log).stderr(errors);
    let account = server_folder.account().cloned();
    let confinement = Confinement { cpus: recipe.cpus(), account, files: NewFiles::OwnerOnly };
    let process = match recipe.starts() {
        ProcessLayout::Nothing => Process::start(command, confinement)?,
        ProcessLayout::Others => Process::start_tree(command, confinement)?,
    };
    let answered = wait_until_it_answers(recipe, ports, &process, &path, listener)
        .and_then(|()| server_folder.close_socket());
    if answered.is_err() {
        // Its end is not waited for in good order: it never was in order.
        process.end()?;
    }
    answered.map(|()| process)
}

fn wait_until_it_answers(
    recipe: &dyn Recipe,
    ports: Ports,
    process: &Process,
    log: &Path,
    listener: &mut ProgressListener<'_>,
) -> anyhow::Result<()> {
    let name = recipe.name();
    let stage = format!("starting {name}");
    for _ in 0..POLLS_MAX {
        if let Some(status) = process.wait(POLL_PERIOD) {
            bail!("{name} did not start ({status}); it said:\n{}", log_tail(log));
        }
        if recipe.answers(ports) {
            return Ok(());
        }
        if listener(ProgressEvent::Progress { stage: &stage, done: 0, total: 0 }).is_break() {
            bail!("interrupted while {stage}");
        }
    }
    bail!("{name} does not answer after {:?}; it said:\n{}", POLL_PERIOD * POLLS_MAX, log_tail(log))
}

#[cfg(test)]
mod tests;
