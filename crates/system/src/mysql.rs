//! An external server with the MySQL protocol: dyno connects to it, but never stops it.

use std::path::{Path, PathBuf};

use anyhow::Context;
use driver::mysql::{CLIENT_DEFAULTS, Config, RsaKeyOptions, StatementProtocol, Url};
use driver::{LoginSources, Target, Timeouts};
use plan::declared::{Choice, Flag, Named, choice, flag, named};
use plan::{OptionReader, Options, Password, Problem};
use sha1::{Digest, Sha1};

pub(crate) use self::greeting::sends_greeting;
use crate::aside::{LOOKING_UP, aside};
use crate::ask::{ask, rows};
use crate::options::{SSL_CA, SSL_CERT, SSL_KEY, SSL_MODE, ssl};
use crate::running::External;
use crate::secret::{ManagedLogin, hex};
use crate::{Kind, ProgressListener, Running, System};

pub(crate) const PS: Choice<StatementProtocol> = choice(
    "ps",
    ("on", StatementProtocol::Prepared),
    &PROTOCOLS,
    "whether to use prepared statements",
);
const PROTOCOLS: [(&str, StatementProtocol); 2] =
    [("on", StatementProtocol::Prepared), ("off", StatementProtocol::Text)];
const URL: Named = named(
    "url",
    "must be given",
    "mysql://USER@HOST:PORT/DATABASE; with a list, clients are divided among the servers",
);
const CREATE_DATABASE: Flag = flag(
    "create_database",
    false,
    "whether the database of the URL is created when it is not there",
);
const MODE: Named = named(
    SSL_MODE,
    "preferred; verify_ca with ssl_ca",
    "disabled, preferred, required, verify_ca or verify_identity: whether connections are \
     encrypted, and how the server's certificate is verified",
);
const ENABLE_CLEARTEXT_PLUGIN: Flag = flag(
    "enable_cleartext_plugin",
    false,
    "whether the password itself may be sent over TLS to a server that requires \
     mysql_clear_password, or whose certificate is not verified",
);
const SERVER_PUBLIC_KEY_PATH: Named = named(
    "server_public_key_path",
    "none",
    "file of the server's RSA key, which encrypts the password without TLS",
);
const GET_SERVER_PUBLIC_KEY: Flag = flag(
    "get_server_public_key",
    false,
    "whether the password may be encrypted with any RSA key that is received over a \
     connection without TLS, even an attacker's",
);
const PASSWORD_FILE: Named = named(
    "password_file",
    "DYNO_PASSWORD, MYSQL_PWD, ~/.my.cnf",
    "a file whose first line is the password",
);

pub(crate) static KIND: Kind = Kind {
    name: "mysql",
    summary: "a running server with the MySQL protocol: MySQL, MariaDB, TiDB",
    argument: "mysql://USER@HOST:PORT/DATABASE",
    options: &[
        &URL,
        &CREATE_DATABASE,
        &PS,
        &MODE,
        &SSL_CA,
        &SSL_CERT,
        &SSL_KEY,
        &ENABLE_CLEARTEXT_PLUGIN,
        &SERVER_PUBLIC_KEY_PATH,
        &GET_SERVER_PUBLIC_KEY,
        &PASSWORD_FILE,
    ],
    read,
};

/// The login user of a managed MariaDB or TiDB.
pub const USER: &str = "root";
/// The database that a new MariaDB or TiDB has.
pub const DATABASE: &str = "test";
/// The login to a managed MariaDB or TiDB.
pub(crate) static MANAGED: ManagedLogin =
    ManagedLogin { scheme: "mysql", user: USER, database: DATABASE, is_up: sends_greeting };

/// The hash that servers store for `mysql_native_password`: `*`, then SHA1(SHA1(password)) in upper case. It cannot be
/// used to log in, so only this hash is ever written to a file or sent to a server.
pub(crate) fn native_hash(password: &Password) -> String {
    let twice = password.reveal(|password| Sha1::digest(Sha1::digest(password)));
    format!("*{}", hex(&twice).to_uppercase())
}

const URL_HELP: &str = "write it such as \"mysql://root@127.0.0.1:3306/test\"";

#[derive(Clone, Debug)]
struct MySql {
    url: Url,
    password_file: Option<PathBuf>,
    creates_database: bool,
}

/// Reads where the server is; a relative password file is relative to `folder`.
fn read(options: &Options, folder: &Path) -> Result<Box<dyn System>, Vec<Problem>> {
    let mut reader = options.reader();
    let url = url(&mut reader);
    let password_file = reader.text(PASSWORD_FILE.name).map(|file| folder.join(file));
    let creates_database = CREATE_DATABASE.read(&mut reader);
    if creates_database && url.as_ref().is_some_and(|url| url.database.is_none()) {
        let message = "`create_database` is true, but `url` names no database";
        reader.reject(CREATE_DATABASE.name, message, URL_HELP);
    }
    // Without a URL, reading ends with the problem that it is missing.
    let url = with_table(url.unwrap_or_default(), &mut reader, folder);
    reader.finish()?;
    Ok(Box::new(MySql { url, password_file, creates_database }))
}

/// The URL with the table's options, which precede its own; relative files are relative to `folder`.
fn with_table(url: Url, reader: &mut OptionReader<'_>, folder: &Path) -> Url {
    let protocol = reader.choice(PS.name, url.protocol.unwrap_or_default(), &PROTOCOLS);
    let enable_cleartext_plugin = ENABLE_CLEARTEXT_PLUGIN.read_given(reader);
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
    let path = reader.text(SERVER_PUBLIC_KEY_PATH.name).map(|file| folder.join(file));
    RsaKeyOptions { get: GET_SERVER_PUBLIC_KEY.read_given(reader), path }
}

/// The URL, or several URLs that differ in their hosts only.
fn url(reader: &mut OptionReader<'_>) -> Option<Url> {
    let mut whole: Option<Url> = None;
    let texts = reader.texts(URL.name);
    if texts.is_empty() && !reader.is_given(URL.name) {
        reader.reject(URL.name, "`url` is missing: where is the server?", URL_HELP);
    }
    for text in texts {
        // The text may hold a password, so the message does not repeat it.
        match (Url::parse(&text), &mut whole) {
            (Err(error), _) => {
                reader.reject(URL.name, format!("`url` is wrong: {error}"), URL_HELP);
            }
            (Ok(url), None) => whole = Some(url),
            (Ok(url), Some(whole)) if differ_in_hosts_only(&url, whole) => {
                whole.hosts.extend(url.hosts);
            }
            (Ok(_), Some(_)) => reader.reject(
                URL.name,
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
        let mut sources = LoginSources::of_process(&CLIENT_DEFAULTS);
        sources.password_file.clone_from(&self.password_file);
        let url = self.url.clone();
        let config = aside(LOOKING_UP, listener, move || url.resolve(&sources))??;
        let external = External::at(&config.addresses);
        if self.creates_database {
            create_database(&config, timeouts, listener)?;
        }
        let target = Target::mysql(config);
        let (target, facts) = ask(target.with_timeouts(timeouts), listener)?;
        Ok(Running::database(target, facts, external))
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

mod greeting;
#[cfg(test)]
mod tests;
