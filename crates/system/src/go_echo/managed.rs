//! The kinds `trpc-echo` and `grpc-echo` of a plan: managed servers as systems under test.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, bail};
use driver::Timeouts;
use measure::Identity;
use plan::{OptionReader, Options, Problem};

use super::EchoServer;
use super::report::identity;
use super::server::{Echo, Settings};
use crate::daemon::Daemon;
use crate::programs::is_executable;
use crate::{Offer, ProgressListener, Running, System, options};

/// The time-out of trpc-echo when the plan sets none.
const TRPC_TIMEOUT: Duration = Duration::from_secs(1);
/// Most event loops of a transport, and most goroutines that handle requests.
const POLLERS_MAX: u64 = 1_024;
const WORKERS_MAX: u64 = 65_536;
/// Most rounds of the fixed loop of a request: about a second.
const SPIN_MAX: u64 = 1_000_000_000;

#[derive(Clone, Debug)]
struct Managed {
    server: EchoServer,
    binary: Option<PathBuf>,
    goamd64: Option<String>,
    settings: Settings,
    /// Settings of the plan that the server does not report, by name.
    unreported_settings: Vec<(String, String)>,
}

/// Reads the options of a managed trpc-echo; a relative `binary` is relative to `folder`.
pub(crate) fn read_trpc(options: &Options, folder: &Path) -> Result<Box<dyn System>, Vec<Problem>> {
    let mut reader = options.reader();
    let modes = [("async", true), ("sync", false)];
    let mut flags = vec![
        format!("--async={}", reader.choice("mode", true, &modes)),
        format!("--pollers={}", reader.integer("pollers", 1, 1..=POLLERS_MAX)),
    ];
    flags.push(timeout(&mut reader, TRPC_TIMEOUT));
    read(EchoServer::Trpc, flags, reader, folder)
}

/// Reads the options of a managed grpc-echo; a relative `binary` is relative to `folder`.
pub(crate) fn read_grpc(options: &Options, folder: &Path) -> Result<Box<dyn System>, Vec<Problem>> {
    let mut reader = options.reader();
    let mut flags = vec![format!("--workers={}", reader.integer("workers", 0, 0..=WORKERS_MAX))];
    flags.push(timeout(&mut reader, Duration::ZERO));
    read(EchoServer::Grpc, flags, reader, folder)
}

/// The limit for handling a request. tRPC counts it in whole milliseconds.
fn timeout(reader: &mut OptionReader<'_>, default: Duration) -> String {
    let timeout = reader.duration("timeout", default);
    if !timeout.subsec_nanos().is_multiple_of(1_000_000) {
        let message = "`timeout` is no whole number of milliseconds";
        reader.reject("timeout", message, "write a time such as \"500ms\"; \"0s\" is no limit");
    }
    duration_flag("timeout", timeout)
}

fn duration_flag(name: &str, time: Duration) -> String {
    format!("--{name}={}ns", time.as_nanos())
}

/// Reads the options that both servers have, behind those of one.
fn read(
    server: EchoServer,
    mut flags: Vec<String>,
    mut reader: OptionReader<'_>,
    folder: &Path,
) -> Result<Box<dyn System>, Vec<Problem>> {
    flags.push(duration_flag("delay", reader.duration("delay", Duration::ZERO)));
    flags.push(format!("--spin={}", reader.integer("spin", 0, 0..=SPIN_MAX)));
    let binary = reader.text("binary").map(|binary| options::program(folder, &binary));
    let goamd64 = options::goamd64(&mut reader);
    if binary.is_some() && goamd64.is_some() {
        let message = "`binary` names a server, so nothing is built";
        reader.reject("binary", message, "take out `binary` or `goamd64`");
    }
    let environment = reader.settings("env");
    let mut unreported_settings = environment.clone();
    for (name, setting) in [("GOAMD64", goamd64.clone()), ("cpus", reader.text("cpus"))] {
        unreported_settings.extend(setting.map(|setting| (name.to_owned(), setting)));
    }
    let settings = Settings { flags, environment, cpus: options::cpus(&mut reader) };
    reader.finish()?;
    Ok(Box::new(Managed { server, binary, goamd64, settings, unreported_settings }))
}

impl Managed {
    fn program(&self, listener: &mut ProgressListener<'_>) -> anyhow::Result<PathBuf> {
        match &self.binary {
            Some(binary) if !is_executable(binary) => {
                bail!("`binary`: {} is no program that can be run", binary.display())
            }
            Some(binary) => Ok(binary.clone()),
            None => self.server.provide(self.goamd64.as_deref(), listener),
        }
    }

    /// Starts the server and reads what it tells of itself.
    fn run(
        &self,
        scratch: &Path,
        listener: &mut ProgressListener<'_>,
    ) -> anyhow::Result<(Daemon, Identity)> {
        let binary = self.program(listener)?;
        let recipe = Echo { server: self.server, binary, settings: self.settings.clone() };
        let server = Daemon::start(recipe, scratch, listener)?;
        let log = server.server_folder.log();
        let log =
            fs::read_to_string(&log).with_context(|| format!("cannot read {}", log.display()))?;
        let identity = identity(&log)?;
        Ok((server, identity))
    }
}

impl System for Managed {
    fn offers(&self) -> Offer {
        Offer::Calls
    }

    fn provide(&self, listener: &mut ProgressListener<'_>) -> anyhow::Result<()> {
        self.program(listener).map(drop)
    }

    fn start(
        &self,
        scratch: &Path,
        _timeouts: Timeouts,
        listener: &mut ProgressListener<'_>,
    ) -> anyhow::Result<Running> {
        let (server, identity) = self.run(scratch, listener)?;
        let service = self.server.service(server.port())?;
        Ok(Running::service(service, identity, server)
            .with_settings(self.unreported_settings.clone()))
    }
}

#[cfg(test)]
mod tests;
