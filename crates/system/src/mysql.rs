//! An external server with the MySQL protocol: dyno connects to it, but never stops it.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use anyhow::Context;
use driver::mysql::{Config, LoginSources, RsaKeyOptions, StatementProtocol, Url};
use driver::{Address, Target, Timeouts};
use net::Endpoint;
use plan::{OptionReader, Options, Problem};

use crate::aside::{LOOKING_UP, aside};
use crate::ask::{ask, rows};
use crate::options::ssl;
use crate::running::External;
use crate::{ProgressListener, Running, System};

/// Allowed values of `ps`.
pub(crate) const PROTOCOLS: [(&str, StatementProtocol); 2] =
    [("on", StatementProtocol::Prepared), ("off", StatementProtocol::Text)];

const URL_HELP: &str = "write it such as \"mysql://root@127.0.0.1:3306/test\"";

#[derive(Clone, Debug)]
struct MySql {
    url: Url,
    password_file: Option<PathBuf>,
    creates_database: bool,
}

/// Reads where the server is; a relative password file is relative to `folder`.
pub(crate) fn read(options: &Options, folder: &Path) -> Result<Box<dyn System>, Vec<Problem>> {
    let mut reader = options.reader();
    let url = url(&mut reader);
    let password_file = reader.text("password_file").map(|file| folder.join(file));
    let creates_database = reader.boolean("create_database", false);
    if creates_database && url.as_ref().is_some_and(|url| url.database.is_none()) {
        let message = "`create_database` is true, but `url` names no database";
        reader.reject("create_database", message, URL_HELP);
    }
    // Without a URL, reading ends with the problem that it is missing.
    let url = with_table(url.unwrap_or_default(), &mut reader, folder);
    reader.finish()?;
    Ok(Box::new(MySql { url, password_file, creates_database }))
}

/// The URL with the table's options, which precede its own; relative files are relative to `folder`.
fn with_table(url: Url, reader: &mut OptionReader<'_>, folder: &Path) -> Url {
    let protocol = reader.choice("ps", url.protocol.unwrap_or_default(), &PROTOCOLS);
    let enable_cleartext_plugin = boolean_given(reader, "enable_cleartext_plugin");
    Url {
        protocol: Some(protocol),
        ssl: ssl(reader, folder).or(&url.ssl),
        rsa_key: rsa_key(reader, folder).or(&url.rsa_key),
        enable_cleartext_plugin: enable_cleartext_plugin.or(url.enable_cleartext_plugin),
        ..url
    }
}

/// The table's options for the RSA key that encrypts a password; a relative file is relative to `folder`.
fn rsa_key(reader: &mut OptionReader<'_>, folder: &Path) -> RsaKeyOptions {
    let path = reader.text("server_public_key_path").map(|file| folder.join(file));
    RsaKeyOptions { get: boolean_given(reader, "get_server_public_key"), path }
}

fn boolean_given(reader: &mut OptionReader<'_>, name: &str) -> Option<bool> {
    reader.is_given(name).then(|| reader.boolean(name, false))
}

/// The URL, or several URLs that differ in their hosts only.
fn url(reader: &mut OptionReader<'_>) -> Option<Url> {
    let mut whole: Option<Url> = None;
    let texts = reader.texts("url");
    if texts.is_empty() && !reader.is_given("url") {
        reader.reject("url", "`url` is missing: where is the server?", URL_HELP);
    }
    for text in texts {
        // The text may hold a password, so the message does not repeat it.
        match (Url::parse(&text), &mut whole) {
            (Err(error), _) => reader.reject("url", format!("`url` is wrong: {error}"), URL_HELP),
            (Ok(url), None) => whole = Some(url),
            (Ok(url), Some(whole)) if differ_in_hosts_only(&url, whole) => {
                whole.hosts.extend(url.hosts);
            }
            (Ok(_), Some(_)) => reader.reject(
                "url",
                "the URLs differ in more than their hosts",
                "clients are divided among servers with the same login: give the same \
                 user, password, database and options in each",
            ),
        }
    }
    whole
}

fn differ_in_hosts_only(one: &Url, other: &Url) -> bool {
    let with_hosts_of_other = Url { hosts: other.hosts.clone(), ..one.clone() };
    with_hosts_of_other == *other && one.socket.is_none()
}

impl System for MySql {
    fn keeps_data(&self) -> bool {
        true
    }

    fn start(
        &self,
        _scratch: &Path,
        timeouts: Timeouts,
        listener: &mut ProgressListener<'_>,
    ) -> anyhow::Result<Running> {
        let mut sources = LoginSources::of_process();
        sources.password_file.clone_from(&self.password_file);
        let url = self.url.clone();
        let config = aside(LOOKING_UP, listener, move || url.resolve(&sources))??;
        let addresses = addresses(&config);
        if self.creates_database {
            create_database(&config, timeouts, listener)?;
        }
        let target = Target::mysql(config);
        let (target, facts) = ask(target.with_timeouts(timeouts), listener)?;
        Ok(Running::database(target, facts, External { addresses }))
    }
}

/// Creates the database of the URL unless it exists, in a session that uses no database.
fn create_database(
    config: &Config,
    timeouts: Timeouts,
    listener: &mut ProgressListener<'_>,
) -> anyhow::Result<()> {
    let Some(name) = &config.database else { return Ok(()) };
    let server = Target::mysql(Config { database: None, ..config.clone() }).with_timeouts(timeouts);
    let statement = format!("CREATE DATABASE IF NOT EXISTS `{}`", name.replace('`', "``"));
    rows(&server, &statement, listener)
        .with_context(|| format!("database {name:?} cannot be created"))?;
    Ok(())
}

/// The addresses of the servers; a unix socket has none.
fn addresses(config: &Config) -> Vec<SocketAddr> {
    let address = |address: &Address| match address.endpoint {
        Endpoint::Tcp(address) => Some(address),
        Endpoint::Unix(_) => None,
    };
    config.addresses.iter().filter_map(address).collect()
}

#[cfg(test)]
mod tests;
