//! An external server with the MySQL protocol: dyno connects to it, but never stops it.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use driver::mysql::{
    Address, Config, LoginSources, RsaKeyOptions, SslMode, SslOptions, StatementProtocol, Url,
};
use driver::{Target, Timeouts};
use net::Endpoint;
use plan::{OptionReader, Options, Problem};

use crate::ask::ask;
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
}

/// Reads where the server is; a relative password file is relative to `folder`.
pub(crate) fn read(options: &Options, folder: &Path) -> Result<Box<dyn System>, Vec<Problem>> {
    let mut reader = options.reader();
    let url = url(&mut reader);
    let password_file = reader.text("password_file").map(|file| folder.join(file));
    // Without a URL, reading ends with the problem that it is missing.
    let url = with_table(url.unwrap_or_default(), &mut reader, folder);
    reader.finish()?;
    Ok(Box::new(MySql { url, password_file }))
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

/// The table's options for encryption; relative files are relative to `folder`.
fn ssl(reader: &mut OptionReader<'_>, folder: &Path) -> SslOptions {
    let modes = SslMode::ALL.map(|mode| (mode.name(), Some(mode)));
    let mode = reader.choice("ssl_mode", None, &modes);
    let mut file = |name| reader.text(name).map(|file| folder.join(file));
    SslOptions { mode, ca: file("ssl_ca"), cert: file("ssl_cert"), key: file("ssl_key") }
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
                "clients are shared out over servers that take the same login: give the same \
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
    fn start(
        &self,
        _scratch: &Path,
        timeouts: Timeouts,
        listener: &mut ProgressListener<'_>,
    ) -> anyhow::Result<Running> {
        let mut sources = LoginSources::of_process();
        sources.password_file.clone_from(&self.password_file);
        let config = self.url.resolve(&sources)?;
        let addresses = addresses(&config);
        let target = Target::mysql(config);
        let (target, facts) = ask(target.with_timeouts(timeouts), listener)?;
        Ok(Running::database(target, facts, External { addresses }))
    }
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
