//! The kinds `trpc-echo` and `grpc-echo` of a plan: managed servers as systems under test.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, bail};
use driver::Timeouts;
use driver::rpc::Service;
use measure::Identity;
use plan::declared::{Choice, Named, Number, Time, choice, named, number, time};
use plan::{OptionReader, Options, Problem};

use super::EchoServer;
use super::report::identity;
use super::server::{Echo, Settings};
use crate::daemon::Daemon;
use crate::options::{self, BINARY, CPUS, ENV, GOAMD64};
use crate::programs::is_executable;
use crate::{Kind, Offer, ProgressListener, Running, System};

const MODE: Choice<bool> = choice(
    "mode",
    ("async", true),
    &[("async", true), ("sync", false)],
    "async: requests of one connection are handled at the same time; sync: one after the other",
);
const POLLERS: Number<u64> =
    number("pollers", 1, 1..=1_024, "event loops of the transport tnet, 1 to 1024");
const WORKERS: Number<u64> = number(
    "workers",
    0,
    0..=65_536,
    "goroutines that handle requests, 0 to 65536; 0: a new one for each request",
);
const TRPC_TIMEOUT: Time = timeout_option(("1s", Duration::from_secs(1)));
const GRPC_TIMEOUT: Time = timeout_option(("0s", Duration::ZERO));
const DELAY: Time = time(
    "delay",
    ("0s", Duration::ZERO),
    "how long each answer is held back, as a service behind it would do",
);
/// The most rounds take about a second.
const SPIN: Number<u64> =
    number("spin", 0, 0..=1_000_000_000, "rounds of a fixed loop for each request, 1 to 2 ns each");
const PROGRAM: Named = named(BINARY, "built once from its Go module", "the server's program");

const fn timeout_option(default: (&'static str, Duration)) -> Time {
    time("timeout", default, "limit for handling a request, after which it fails; \"0s\" for none")
}

pub(crate) static TRPC: Kind = Kind {
    name: "trpc-echo",
    summary: "a server of trpc-go that echoes; dyno builds it, starts it and stops it after the run",
    argument: "trpc-echo",
    options: &[&MODE, &POLLERS, &TRPC_TIMEOUT, &DELAY, &SPIN, &PROGRAM, &GOAMD64, &ENV, &CPUS],
    read: read_trpc,
};

pub(crate) static GRPC: Kind = Kind {
    name: "grpc-echo",
    summary: "a server of grpc-go that echoes; dyno builds it, starts it and stops it after the run",
    argument: "grpc-echo",
    options: &[&WORKERS, &GRPC_TIMEOUT, &DELAY, &SPIN, &PROGRAM, &GOAMD64, &ENV, &CPUS],
    read: read_grpc,
};

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
fn read_trpc(options: &Options, folder: &Path) -> Result<Box<dyn System>, Vec<Problem>> {
    let mut reader = options.reader();
    let flags = vec![
        format!("--async={}", MODE.read(&mut reader)),
        format!("--pollers={}", POLLERS.read(&mut reader)),
        timeout(&mut reader, &TRPC_TIMEOUT),
    ];
    read(EchoServer::Trpc, flags, reader, folder)
}

/// Reads the options of a managed grpc-echo; a relative `binary` is relative to `folder`.
fn read_grpc(options: &Options, folder: &Path) -> Result<Box<dyn System>, Vec<Problem>> {
    let mut reader = options.reader();
    let flags = vec![
        format!("--workers={}", WORKERS.read(&mut reader)),
        timeout(&mut reader, &GRPC_TIMEOUT),
    ];
    read(EchoServer::Grpc, flags, reader, folder)
}

/// The limit for handling a request. tRPC counts it in whole milliseconds.
fn timeout(reader: &mut OptionReader<'_>, option: &Time) -> String {
    let timeout = option.read(reader);
    if !timeout.subsec_nanos().is_multiple_of(1_000_000) {
        let message = "`timeout` is not a whole number of milliseconds";
        reader.reject(option.name, message, "write a time such as \"500ms\"; \"0s\" is no limit");
    }
    duration_flag(option.name, timeout)
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
    flags.push(duration_flag("delay", DELAY.read(&mut reader)));
    flags.push(format!("--spin={}", SPIN.read(&mut reader)));
    let binary = reader.text(BINARY).map(|binary| options::program(folder, &binary));
    let goamd64 = GOAMD64.read(&mut reader).map(str::to_owned);
    if binary.is_some() && goamd64.is_some() {
        let message = "`binary` names a server, so nothing is built";
        reader.reject(BINARY, message, "take out `binary` or `goamd64`");
    }
    let environment = reader.settings(ENV.name);
    let mut unreported_settings = environment.clone();
    for (name, setting) in [("GOAMD64", goamd64.clone()), ("cpus", reader.text(CPUS.name))] {
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
                bail!("`binary`: {} is not a program that can be run", binary.display())
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

    fn build_to_come(&self) -> Option<String> {
        match self.binary {
            Some(_) => None,
            None => self.server.build_to_come(self.goamd64.as_deref()),
        }
    }

    fn service(&self) -> Option<Service> {
        // Its port is not known yet.
        self.server.service(1).ok()
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
