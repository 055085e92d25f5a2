//! A server process on a folder of its own: started, watched, its data kept and brought back, stopped.

mod backing;
mod home;

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
use crate::errand;
use crate::log_tail::log_tail;
use crate::ports::{Ports, Reserved, greets, local};
use crate::process::{Confinement, NewFiles, Process};
use crate::secret::Secret;
use crate::{LoginUrl, MetricsEndpoint, Onlooker, Step};
pub(crate) use home::Home;

/// The account that a managed MariaDB or TiDB has.
pub const USER: &str = "root";
/// The database that a fresh MariaDB or TiDB has.
pub const DATABASE: &str = "test";

/// Between two looks whether the server answers.
const LOOK: Duration = Duration::from_millis(20);
/// So many looks before it is given up: two minutes.
const LOOKS: u32 = 6000;
/// How long it may take to end in good order.
const STOP_BOUND: Duration = Duration::from_secs(60);
/// Someone else may use a port by its number, on another address of this machine too.
const PORT_TRIES: usize = 5;

/// What a program starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Starts {
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
    fn starts(&self) -> Starts {
        Starts::Nothing
    }

    /// Fills a fresh folder, such as with what the server's own installer makes.
    fn prepare(&self, _home: &Home, _onlooker: &mut Onlooker<'_>) -> anyhow::Result<()> {
        Ok(())
    }

    /// What to run; standard streams are set by the caller.
    fn command(&self, home: &Home, ports: Ports) -> Command;

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
    fn demand_password(&self, _ports: Ports, _onlooker: &mut Onlooker<'_>) -> anyhow::Result<()> {
        Ok(())
    }

    /// Whether it answers by now.
    fn answers(&self, ports: Ports) -> bool {
        greets(ports.main)
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
    pub(crate) home: Home,
    reserved: Reserved,
    process: Process,
}

impl Daemon {
    /// Makes a folder below `scratch` and starts the server on it; returns when it answers.
    ///
    /// # Errors
    /// When it cannot be started, with the last lines that it said, or the onlooker wanted it to end.
    pub(crate) fn start(
        recipe: impl Recipe + 'static,
        scratch: &Path,
        onlooker: &mut Onlooker<'_>,
    ) -> anyhow::Result<Self> {
        let home = Home::make(recipe.name(), scratch, recipe.account())?;
        recipe.prepare(&home, onlooker)?;
        let (process, reserved) = on_free_ports(&recipe, &home, onlooker)?;
        let daemon = Self { recipe: Box::new(recipe), home, reserved, process };
        daemon.recipe.demand_password(daemon.reserved.ports, onlooker)?;
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
        self.home.socket()
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
            log_tail(&self.home.log())
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
        self.process = launch(&*self.recipe, &self.home, self.reserved.ports, &mut unattended)?;
        Ok(())
    }

    /// Keeps a copy of its data; it is stopped and started again for that.
    ///
    /// # Errors
    /// When it does not stop, cannot be copied (as on a full disk) or does not start again.
    pub fn snapshot(&mut self) -> anyhow::Result<()> {
        self.while_halted(Self::keep)
    }

    /// Brings back the data that [`Daemon::snapshot`] kept.
    ///
    /// # Errors
    /// When nothing was kept, or as `snapshot`.
    pub fn restore(&mut self) -> anyhow::Result<()> {
        self.kept()?;
        self.while_halted(Self::bring_back)
    }

    /// Ends it in good order; [`Daemon::start_again`] brings it back.
    ///
    /// # Errors
    /// When it does not end.
    pub(crate) fn halt(&self) -> anyhow::Result<()> {
        self.process.stop(STOP_BOUND).map(drop)
    }

    /// Keeps a copy of the data of a server that was halted.
    ///
    /// # Errors
    /// When it cannot be copied, as on a full disk.
    pub(crate) fn keep(&self) -> anyhow::Result<()> {
        replace_folder(&self.home.data(), &self.home.kept())
    }

    /// Brings back to a server that was halted what [`Daemon::keep`] kept.
    ///
    /// # Errors
    /// When nothing was kept, or as `keep`.
    pub(crate) fn bring_back(&self) -> anyhow::Result<()> {
        replace_folder(&self.kept()?, &self.home.data())
    }

    fn kept(&self) -> anyhow::Result<PathBuf> {
        let kept = self.home.kept();
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
        self.halt()
    }

    fn while_halted(
        &mut self,
        work: impl FnOnce(&Self) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        if let Some(why) = self.exited() {
            bail!(why);
        }
        self.halt()?;
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
pub(crate) fn unattended(_: Step<'_>) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// Tries free ports until nobody has taken those by their numbers.
fn on_free_ports(
    recipe: &dyn Recipe,
    home: &Home,
    onlooker: &mut Onlooker<'_>,
) -> anyhow::Result<(Process, Reserved)> {
    let mut tries = 0;
    loop {
        tries += 1;
        let reserved = Reserved::free().context("no free port on 127.0.0.1")?;
        match launch(recipe, home, reserved.ports, onlooker) {
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
    home: &Home,
    ports: Ports,
    onlooker: &mut Onlooker<'_>,
) -> anyhow::Result<Process> {
    let path = home.log();
    let log = errand::create(&path)?;
    let errors = log.try_clone().with_context(|| format!("cannot write {}", path.display()))?;
    let mut command = recipe.command(home, ports);
    command.stdin(Stdio::null()).stdout(log).stderr(errors);
    let account = home.account().cloned();
    let confinement = Confinement { cpus: recipe.cpus(), account, files: NewFiles::OwnerOnly };
    let process = match recipe.starts() {
        Starts::Nothing => Process::start(command, confinement)?,
        Starts::Others => Process::start_tree(command, confinement)?,
    };
    let answered = wait_until_it_answers(recipe, ports, &process, &path, onlooker)
        .and_then(|()| home.close_socket());
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
    onlooker: &mut Onlooker<'_>,
) -> anyhow::Result<()> {
    let name = recipe.name();
    let stage = format!("starting {name}");
    for _ in 0..LOOKS {
        if let Some(status) = process.wait(LOOK) {
            bail!("{name} did not start ({status}); it said:\n{}", log_tail(log));
        }
        if recipe.answers(ports) {
            return Ok(());
        }
        if onlooker(Step::Progress { stage: &stage, done: 0, total: 0 }).is_break() {
            bail!("interrupted while {stage}");
        }
    }
    bail!("{name} does not answer after {:?}; it said:\n{}", LOOK * LOOKS, log_tail(log))
}

#[cfg(test)]
mod tests;
