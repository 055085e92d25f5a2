//! The kind `tidb` of a plan: a managed server as a system under test.

use std::path::Path;

use driver::Timeouts;
use plan::declared::{self, Named, named};
use plan::{OptionReader, Options, Problem};

use super::members::members;
use super::playground::Playground;
use super::setup::{SETTINGS, ServerSetup};
use super::source::{Choice, Program, Source};
use super::{BuildOptions, RESERVED_ARGUMENTS, Settings, Storage, TiDb};
use crate::daemon::Daemon;
use crate::mysql::PS;
use crate::options::{self, ARGUMENTS, BINARY, CPUS, ENV, GOAMD64};
use crate::secret::Secret;
use crate::{Kind, ProgressListener, Running, System};

const PROGRAM: Named = named(BINARY, "found by `source`", "the server's program");
const SOURCE: declared::Choice<Source> = declared::choice(
    "source",
    ("any", Source::Any),
    &[
        ("any", Source::Any),
        ("path", Source::Path),
        ("tiup", Source::TiUp),
        ("build", Source::Build),
    ],
    "path: tidb-server on PATH; tiup: tiup playground; build: built once from its Go module; \
     any: the first of these that is available",
);
const CONFIG: Named = named("config", "none", "configuration file of TiDB");
const VARIABLES: Named = named(
    SETTINGS,
    "the server's own",
    "global variables that are set after the start, such as { tidb_txn_mode = \"optimistic\" }",
);

pub(crate) static KIND: Kind = Kind {
    name: "tidb",
    summary: "a TiDB server that dyno finds or builds, starts with temporary data and stops after the run",
    argument: "tidb, or tidb:PATH of a tidb-server",
    options: &[&PROGRAM, &SOURCE, &GOAMD64, &CONFIG, &ARGUMENTS, &ENV, &VARIABLES, &CPUS, &PS],
    read,
};

#[derive(Clone, Debug)]
struct Managed {
    choice: Choice,
    settings: Settings,
    setup: ServerSetup,
    /// Settings of the plan that the server does not report, by name.
    unreported_settings: Vec<(String, String)>,
}

/// Reads the options of a managed TiDB; relative files are relative to `folder`.
fn read(options: &Options, folder: &Path) -> Result<Box<dyn System>, Vec<Problem>> {
    let mut reader = options.reader();
    let choice = choice(&mut reader, folder);
    let settings = Settings {
        arguments: options::arguments(&mut reader, ARGUMENTS.name, &RESERVED_ARGUMENTS),
        config: options::file(&mut reader, CONFIG.name, folder),
        environment: reader.settings(ENV.name),
        cpus: options::cpus(&mut reader),
    };
    let setup = ServerSetup::read(&mut reader);
    let unreported_settings = unreported_settings(&choice, &settings, reader.text(CPUS.name));
    reader.finish()?;
    Ok(Box::new(Managed { choice, settings, setup, unreported_settings }))
}

/// Where the server comes from. Options of a build imply that it is built.
fn choice(reader: &mut OptionReader<'_>, folder: &Path) -> Choice {
    let binary = reader.text(BINARY).map(|binary| options::program(folder, &binary));
    let is_source_said = reader.is_given(SOURCE.name);
    let source = SOURCE.read(reader);
    let goamd64 = GOAMD64.read(reader).map(str::to_owned);
    if binary.is_some() && (is_source_said || goamd64.is_some()) {
        let message = "`binary` names a server, so nothing is looked for or built";
        reader.reject(BINARY, message, "take out `binary`, or `source` and `goamd64`");
    }
    let source = match (source, &goamd64) {
        (Source::Any | Source::Build, Some(_)) => Source::Build,
        (source, Some(_)) => {
            let message = "`goamd64` is about a build, and `source` wants none";
            reader.reject(GOAMD64.name, message, "set source = \"build\", or leave it out");
            source
        }
        (source, None) => source,
    };
    Choice { binary, source, build: BuildOptions { goamd64 } }
}

/// Settings that affect performance and that the server does not report.
fn unreported_settings(
    choice: &Choice,
    settings: &Settings,
    cpus: Option<String>,
) -> Vec<(String, String)> {
    let mut unreported_settings = Vec::new();
    let mut add_setting =
        |name: &str, value: String| unreported_settings.push((name.to_owned(), value));
    if let Some(goamd64) = &choice.build.goamd64 {
        add_setting("GOAMD64", goamd64.clone());
    }
    for (name, value) in &settings.environment {
        add_setting(name, value.clone());
    }
    if !settings.arguments.is_empty() {
        add_setting("arguments", settings.arguments.join(" "));
    }
    if let Some(cpus) = cpus {
        add_setting("cpus", cpus);
    }
    unreported_settings
}

impl System for Managed {
    fn build_to_come(&self) -> Option<String> {
        self.choice.build_to_come()
    }

    fn provide(&self, listener: &mut ProgressListener<'_>) -> anyhow::Result<()> {
        self.choice.program(listener).map(drop)
    }

    fn start(
        &self,
        scratch: &Path,
        timeouts: Timeouts,
        listener: &mut ProgressListener<'_>,
    ) -> anyhow::Result<Running> {
        let settings = self.settings.clone();
        let running = match self.choice.program(listener)? {
            Program::Server(binary) => {
                let tidb = TiDb::new(binary, settings, Storage::Unistore, Secret::random()?);
                let server = Daemon::start(tidb, scratch, listener)?;
                let (target, facts) =
                    self.setup.say(&[server.port()], &server.password(), timeouts, listener)?;
                let login = server.login();
                Running::database(target, facts, server).with_login(login)
            }
            Program::TiUp(tiup) => {
                let mut playground = Playground::start(tiup, settings, scratch, listener)?;
                let server = &playground.daemon;
                let (target, facts) =
                    self.setup.say(&[server.port()], &server.password(), timeouts, listener)?;
                let login = server.login();
                playground.metrics = members(&target, listener)?;
                Running::database(target, facts, playground).with_login(login)
            }
        };
        Ok(running.with_settings(self.unreported_settings.clone()))
    }
}

#[cfg(test)]
mod tests;
