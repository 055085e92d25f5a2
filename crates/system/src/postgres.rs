//! An external server with the PostgreSQL protocol: dyno connects to it, but never stops it.

use std::path::{Path, PathBuf};

use anyhow::Context;
use driver::postgres::{CLIENT_DEFAULTS, Config, StatementProtocol, Url};
use driver::{LoginSources, SslMode, SslOptions, Target, Timeouts};
use plan::declared::{Choice, Flag, Named, choice, flag, named};
use plan::{OptionReader, Options, Problem};

use crate::aside::{LOOKING_UP, aside};
use crate::ask::{ask, rows};
use crate::options::{SSL_CA, SSL_CERT, SSL_KEY, SSL_MODE};
use crate::running::External;
use crate::{Kind, ProgressListener, Running, System};

pub(crate) const PS: Choice<StatementProtocol> = choice(
    "ps",
    ("named", StatementProtocol::Named),
    &PROTOCOLS,
    "how statements are sent: named (prepared once, also `on`), unnamed (parsed each time, also `off`: for poolers) or \
     text",
);
const PROTOCOLS: [(&str, StatementProtocol); 5] = [
    ("named", StatementProtocol::Named),
    ("unnamed", StatementProtocol::Unnamed),
    ("text", StatementProtocol::Text),
    ("on", StatementProtocol::Named),
    ("off", StatementProtocol::Unnamed),
];
const URL: Named = named(
    "url",
    "must be given",
    "postgresql://USER@HOST:PORT/DATABASE, with libpq's options behind `?`",
);
const CREATE_DATABASE: Flag = flag(
    "create_database",
    false,
    "whether the database of the URL is created when it is not there",
);
const MODE: Named = named(
    SSL_MODE,
    "prefer",
    "disable, allow, prefer, require, verify-ca or verify-full: whether connections are encrypted, and how the server's \
     certificate is verified",
);
const MODES: [(&str, Option<SslMode>); 6] = [
    ("disable", Some(SslMode::Disabled)),
    ("allow", Some(SslMode::Allowed)),
    ("prefer", Some(SslMode::Preferred)),
    ("require", Some(SslMode::Required)),
    ("verify-ca", Some(SslMode::VerifyCa)),
    ("verify-full", Some(SslMode::VerifyIdentity)),
];
const PASSWORD_FILE: Named = named(
    "password_file",
    "DYNO_PASSWORD, PGPASSWORD, ~/.pgpass",
    "a file whose first line is the password",
);

pub(crate) use managed::KIND as MANAGED_KIND;
pub(crate) use panels::server_kinds;
pub use server::{Profile, Settings, start};
pub use wheel::requirement;

pub(crate) static KIND: Kind = Kind {
    name: "postgresql",
    summary: "a running server with the PostgreSQL protocol",
    argument: "postgresql://USER@HOST:PORT/DATABASE",
    options: &[&URL, &CREATE_DATABASE, &PS, &MODE, &SSL_CA, &SSL_CERT, &SSL_KEY, &PASSWORD_FILE],
    read,
};

const URL_HELP: &str = "write it such as \"postgresql://postgres@127.0.0.1:5432/test\"";

#[derive(Clone, Debug)]
struct Postgres {
    url: Url,
    password_file: Option<PathBuf>,
    creates_database: bool,
}

/// Reads where the server is; relative files are relative to `folder`.
fn read(options: &Options, folder: &Path) -> Result<Box<dyn System>, Vec<Problem>> {
    let mut reader = options.reader();
    let url = url(&mut reader);
    let password_file = reader.text(PASSWORD_FILE.name).map(|file| folder.join(file));
    let creates_database = CREATE_DATABASE.read(&mut reader);
    let protocol = reader.choice(PS.name, url.protocol.unwrap_or_default(), &PROTOCOLS);
    let mode = reader.choice(SSL_MODE, None, &MODES);
    let mut file = |option: Named| reader.text(option.name).map(|file| folder.join(file));
    let ssl = SslOptions { mode, ca: file(SSL_CA), cert: file(SSL_CERT), key: file(SSL_KEY) };
    let url = Url { protocol: Some(protocol), ssl: ssl.or(&url.ssl), ..url };
    reader.finish()?;
    Ok(Box::new(Postgres { url, password_file, creates_database }))
}

fn url(reader: &mut OptionReader<'_>) -> Url {
    let Some(text) = reader.text(URL.name) else {
        if !reader.is_given(URL.name) {
            reader.reject(URL.name, "`url` is missing: where is the server?", URL_HELP);
        }
        return Url::default();
    };
    // The text may hold a password, so the message does not repeat it.
    Url::parse(&text).and_then(Url::completed).unwrap_or_else(|error| {
        reader.reject(URL.name, format!("`url` is wrong: {error}"), URL_HELP);
        Url::default()
    })
}

impl System for Postgres {
    fn keeps_data(&self) -> bool {
        true
    }

    fn start(
        &self,
        _scratch: &Path,
        timeouts: Timeouts,
        listener: &mut ProgressListener<'_>,
    ) -> anyhow::Result<Running> {
        let mut sources = LoginSources::of_process(&CLIENT_DEFAULTS);
        sources.password_file.clone_from(&self.password_file);
        let url = self.url.clone();
        let config = aside(LOOKING_UP, listener, move || url.resolve(&sources))??;
        let addresses = External::at(&config.addresses);
        if self.creates_database {
            create_database(&config, timeouts, listener)?;
        }
        let (target, facts) = ask(Target::postgres(config).with_timeouts(timeouts), listener)?;
        Ok(Running::database(target, facts, addresses))
    }
}

/// The database that every server has.
const MAINTENANCE: &str = "postgres";

/// Creates the database of the URL unless it exists, in a session that uses another one.
fn create_database(
    config: &Config,
    timeouts: Timeouts,
    listener: &mut ProgressListener<'_>,
) -> anyhow::Result<()> {
    let Some(name) = &config.database else { return Ok(()) };
    let database = Some(MAINTENANCE.to_owned());
    let server = Target::postgres(Config { database, ..config.clone() }).with_timeouts(timeouts);
    let context = || format!("database {name:?} cannot be created");
    let literal = name.replace('\'', "''");
    let there = format!("SELECT 1 FROM pg_database WHERE datname = '{literal}'");
    if rows(&server, &there, listener).with_context(context)?.is_empty() {
        let statement = format!("CREATE DATABASE \"{}\"", name.replace('"', "\"\""));
        rows(&server, &statement, listener).with_context(context)?;
    }
    Ok(())
}

mod kept_data;
mod managed;
mod panels;
mod programs;
mod ready;
mod server;
mod shared_memory;
mod sized;
#[cfg(test)]
mod tests;
mod wheel;
