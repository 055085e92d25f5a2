//! A server process with a folder of its own: start, checks, snapshots of its data, stop.

mod server_folder;
mod system_handle;

use std::fmt::Debug;
use std::ops::ControlFlow;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use net::Clock;
use nix::sched::CpuSet;
use nix::sys::signal::Signal;
use plan::Password;

use crate::account::Account;
use crate::copy::replace_folder;
use crate::log_tail::log_tail;
use crate::ports::{Ports, Reserved, local};
use crate::process::{Confinement, Ending, Exit, FlushGate, NewFiles, Process};
use crate::secret::{ManagedLogin, Secret};
use crate::subprocess;
use crate::{LoginUrl, LostMember, MetricsEndpoint, ProgressEvent, ProgressListener};
pub(crate) use server_folder::ServerFolder;

/// Time between two checks whether the server answers.
const POLL_PERIOD: Duration = Duration::from_millis(20);
/// How long a server may take until it answers.
const START_BOUND: Duration = Duration::from_secs(120);
/// How long the server may take to shut down cleanly.
const STOP_BOUND: Duration = Duration::from_secs(60);
/// Tries with other ports: another program may use a port by its number, on another address of this machine too.
const PORT_TRIES: usize = 5;

/// How one kind of server is started with a folder of its own.
pub(crate) trait Recipe: Debug + Send + Sync {
    fn name(&self) -> &'static str;

    /// How what [`Recipe::command`] runs is ended.
    fn ending(&self) -> Ending {
        Ending::Killed
    }

    /// Fills a new folder, such as with the output of the server's own installer.
    fn prepare(
        &self,
        _home: &ServerFolder,
        _listener: &mut ProgressListener<'_>,
    ) -> anyhow::Result<()> {
        Ok(())
    }

    /// The command to run; the caller sets its standard streams.
    fn command(&self, server_folder: &ServerFolder, ports: Ports) -> Command;

    /// The CPUs that the server may use; all of them when `None`.
    fn cpus(&self) -> Option<CpuSet>;

    /// What holds its flushes of files, if something does.
    fn flushes(&self) -> Option<Arc<FlushGate>> {
        None
    }

    /// The account that the server runs as; dyno's own when `None`.
    fn account(&self) -> Option<Account> {
        None
    }

    /// The login, if the server has logins.
    fn login(&self) -> Option<&'static ManagedLogin> {
        None
    }

    /// The password that dyno gives the user of the login, if dyno may change it.
    fn secret(&self) -> Option<&Secret> {
        None
    }

    /// Makes sure that the server, which has just answered for the first time, has its password.
    fn demand_password(
        &self,
        _ports: Ports,
        _listener: &mut ProgressListener<'_>,
    ) -> anyhow::Result<()> {
        Ok(())
    }

    /// Removes what a server that was killed leaves outside of its folder.
    fn clear_up(&self, _server_folder: &ServerFolder) {}

    fn answers(&self, ports: Ports) -> bool {
        self.login().is_some_and(|login| (login.is_up)(ports.main))
    }

    /// Where the server exposes its metrics, if it does.
    fn metrics(&self, _ports: Ports) -> Option<MetricsEndpoint> {
        None
    }
}

/// A running server on 127.0.0.1. Dropping it kills the server and removes its folder.
#[derive(Debug)]
pub struct Daemon {
    recipe: Box<dyn Recipe>,
    pub(crate) server_folder: ServerFolder,
    reserved: Reserved,
    process: Process,
}

impl Daemon {
    /// Makes a folder below `scratch` and starts the server there; returns when the server answers.
    ///
    /// # Errors
    /// When the server does not start, with the last lines of its log, or a stop was requested.
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

    pub fn port(&self) -> u16 {
        self.reserved.ports.main
    }

    /// The second port, where a TiDB or a store exposes its status.
    pub fn status_port(&self) -> u16 {
        self.reserved.ports.internal
    }

    /// The login to its database over TCP with the password that dyno has made; `None` when dyno made none.
    pub(crate) fn login(&self) -> Option<LoginUrl> {
        Some(self.recipe.secret()?.url_at(self.recipe.login()?, &local(self.port()).to_string()))
    }

    /// The same login over its unix socket.
    pub(crate) fn socket_login(&self) -> Option<LoginUrl> {
        Some(self.recipe.secret()?.url_of_socket(self.recipe.login()?, &self.socket()))
    }

    /// The password of its user; empty when dyno has made none.
    pub(crate) fn password(&self) -> Password {
        self.recipe.secret().map(Secret::password).unwrap_or_default()
    }

    /// The URL of its database, with the password in it when dyno has made one.
    pub fn url(&self) -> String {
        let place = local(self.port()).to_string();
        match (self.login(), self.recipe.login()) {
            (Some(login), _) => login.revealed().to_string(),
            (None, Some(login)) => login.url_at(&place),
            (None, None) => place,
        }
    }

    pub fn socket(&self) -> PathBuf {
        self.server_folder.socket()
    }

    pub fn pid(&self) -> u32 {
        self.process.pid()
    }

    /// Why the server has exited, with the last lines of its log; `None` while it runs.
    pub fn exited(&self) -> Option<String> {
        let exit = self.exit()?;
        let (name, status) = (self.recipe.name(), exit.status);
        Some(match self.log_of(exit) {
            None => format!(
                "{name} ended by itself ({status}): another process killed it, or the kernel did for lack of memory"
            ),
            Some(log) => {
                let said = log_tail(&log);
                format!("{name} ended by itself ({status}); the end of its log:\n{said}")
            }
        })
    }

    /// How and when the server has exited; `None` while it runs.
    pub(crate) fn exit(&self) -> Option<Exit> {
        self.process.exit()
    }

    /// The server as the member `name` of its system, when it has exited.
    pub(crate) fn lost(&self, name: String, role: String) -> Option<LostMember> {
        let exit = self.exit()?;
        let (at, status, log) = (exit.at, exit.status.to_string(), self.log_of(exit));
        Some(LostMember { name, role, at, status, log })
    }

    /// The log with the reason of an exit. `None` when the server was killed: it cannot log that, so the end of its
    /// log is about something else.
    fn log_of(&self, exit: Exit) -> Option<PathBuf> {
        let is_killed = exit.status.signal() == Some(Signal::SIGKILL as i32);
        (!is_killed).then(|| self.server_folder.log())
    }

    /// Starts the server again on its ports and its data, after it has exited or was killed.
    ///
    /// # Errors
    /// When the server still runs, or does not start.
    pub fn start_again(&mut self) -> anyhow::Result<()> {
        self.start_again_with(&mut ignore_progress)
    }

    /// The same, unless the listener requests a stop.
    ///
    /// # Errors
    /// As `start_again`, or a stop was requested.
    pub(crate) fn start_again_with(
        &mut self,
        listener: &mut ProgressListener<'_>,
    ) -> anyhow::Result<()> {
        if self.process.exit_status().is_none() {
            bail!("{} (process {}) has not ended", self.recipe.name(), self.pid());
        }
        self.relaunch(listener)
    }

    fn relaunch(&mut self, listener: &mut ProgressListener<'_>) -> anyhow::Result<()> {
        self.server_folder.remove_socket()?;
        self.process = launch(&*self.recipe, &self.server_folder, self.reserved.ports, listener)?;
        Ok(())
    }

    /// Saves a copy of the server's data; the server is stopped and started again for that.
    ///
    /// # Errors When the server does not stop, its data cannot be copied (such as on a full disk), it does not
    /// start again, or a stop was requested.
    pub fn snapshot(&mut self, listener: &mut ProgressListener<'_>) -> anyhow::Result<()> {
        self.while_stopped(Self::keep, listener)
    }

    /// Restores the data that [`Daemon::snapshot`] saved.
    ///
    /// # Errors
    /// When nothing was saved; otherwise as `snapshot`.
    pub fn restore(&mut self, listener: &mut ProgressListener<'_>) -> anyhow::Result<()> {
        self.kept()?;
        self.while_stopped(Self::reload_snapshot, listener)
    }

    /// Shuts the server down cleanly; [`Daemon::start_again`] starts it again. It is killed when that takes too long, and
    /// when `goes_on` returns false.
    ///
    /// # Errors
    /// When the server does not exit.
    pub(crate) fn stop_process(&self, goes_on: &mut dyn FnMut() -> bool) -> anyhow::Result<()> {
        self.process.stop_while(STOP_BOUND, goes_on)
    }

    /// Whether the listener lets a shutdown take its time.
    fn goes_on(&self, listener: &mut ProgressListener<'_>) -> bool {
        let stage = format!("stopping {}", self.recipe.name());
        listener(ProgressEvent::stage(&stage)).is_continue()
    }

    /// Saves a copy of the data of a stopped server.
    ///
    /// # Errors
    /// When the data cannot be copied, such as on a full disk, or a stop was requested.
    pub(crate) fn keep(&self, listener: &mut ProgressListener<'_>) -> anyhow::Result<()> {
        replace_folder(&self.server_folder.data(), &self.server_folder.kept(), listener)
    }

    /// Restores the data that [`Daemon::keep`] saved, for a stopped server.
    ///
    /// # Errors
    /// When nothing was saved; otherwise as `keep`.
    pub(crate) fn reload_snapshot(
        &self,
        listener: &mut ProgressListener<'_>,
    ) -> anyhow::Result<()> {
        replace_folder(&self.kept()?, &self.server_folder.data(), listener)
    }

    fn kept(&self) -> anyhow::Result<PathBuf> {
        let kept = self.server_folder.kept();
        if !kept.exists() {
            bail!("no data was kept that could be restored");
        }
        Ok(kept)
    }

    /// Stops the server, waits for its exit and removes its folder.
    ///
    /// # Errors
    /// When the server does not exit.
    pub fn stop(self) -> anyhow::Result<()> {
        self.stop_process(&mut || true)
    }

    fn while_stopped(
        &mut self,
        work: impl FnOnce(&Self, &mut ProgressListener<'_>) -> anyhow::Result<()>,
        listener: &mut ProgressListener<'_>,
    ) -> anyhow::Result<()> {
        if let Some(why) = self.exited() {
            bail!(why);
        }
        let mut is_patient = true;
        self.stop_process(&mut || {
            is_patient = self.goes_on(listener);
            is_patient
        })?;
        let worked = match is_patient {
            true => work(self, listener),
            false => Err(anyhow!("interrupted while stopping {}", self.recipe.name())),
        };
        // Even if the copy failed, callers expect the server to run afterwards. A stop that is still requested ends
        // this too.
        let relaunched = self.relaunch(listener);
        worked.and(relaunched)
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // A clean shutdown has been done by now where it was wanted, and the data are not needed any more. An error
        // cannot be reported here; the kernel kills the server at the latest when dyno ends.
        let _ = self.process.end();
        self.recipe.clear_up(&self.server_folder);
    }
}

pub(crate) fn ignore_progress(_: ProgressEvent<'_>) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// Tries free ports until one pair is not in use by another program.
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
    let (cpus, flushes) = (recipe.cpus(), recipe.flushes());
    let confinement = Confinement { cpus, account, files: NewFiles::OwnerOnly, flushes };
    let process = Process::start_to_end(command, confinement, recipe.ending())?;
    let answered = wait_until_it_answers(recipe, ports, &process, &path, listener)
        .and_then(|()| server_folder.close_socket());
    if answered.is_err() {
        // No clean shutdown: the server never ran properly.
        process.end()?;
        recipe.clear_up(server_folder);
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
    let clock = Clock::monotonic();
    while Duration::from_nanos(clock.now()) < START_BOUND {
        if let Some(status) = process.wait(POLL_PERIOD) {
            bail!("{name} did not start ({status}); it said:\n{}", log_tail(log));
        }
        if recipe.answers(ports) {
            return Ok(());
        }
        if listener(ProgressEvent::stage(&stage)).is_break() {
            bail!("interrupted while {stage}");
        }
    }
    bail!("{name} does not answer after {START_BOUND:?}; it said:\n{}", log_tail(log))
}

#[cfg(test)]
mod tests;
