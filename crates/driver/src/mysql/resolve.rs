//! What a URL does not contain: user, password and address from other sources, and the addresses of host names.

use std::io::ErrorKind;
use std::path::Path;

use measure::{ErrorClass, Failure};
use net::Endpoint;
use plan::{Password, read_text_lossy};
use zeroize::Zeroizing;

use super::config::Config;
use super::option_file::OptionFile;
use super::url::{PORT, Url};
use crate::Address;
use crate::login::{ClientDefaults, LoginSources, unreadable};
use crate::ssl_options::{SSL_WORDS, SslMode};
use crate::url_parts::Host;

/// What MySQL's own clients read.
pub const CLIENT_DEFAULTS: ClientDefaults = ClientDefaults {
    password_variables: &["MYSQL_PWD"],
    option_file: ".my.cnf",
    option_file_variable: None,
};

impl Url {
    /// Adds what the URL does not contain, and looks up host names.
    ///
    /// # Errors
    /// A password file that cannot be read, an option file that exists but cannot be used, an unknown host.
    pub fn resolve(&self, sources: &LoginSources) -> Result<Config, Failure> {
        let options = match read_option_file(sources.option_file.as_deref()) {
            // The URL says all that a login needs, as it would without the file.
            Err(OptionFileError::Unreadable(_)) if self.is_complete() => OptionFile::default(),
            Err(OptionFileError::Unreadable(failure) | OptionFileError::UnknownMode(failure)) => {
                return Err(failure);
            }
            Ok(options) => options,
        };
        let addresses = self.addresses(&options)?;
        let user = self.user.clone().or(options.user).or_else(|| sources.default_user.clone());
        let password = sources.password(self.password.as_ref())?.or(options.password);
        Ok(Config {
            addresses,
            user: user.unwrap_or_else(|| "root".to_owned()),
            password: password.unwrap_or_default(),
            database: self.database.clone(),
            protocol: self.protocol.unwrap_or_default(),
            rsa_key: self.rsa_key.clone().or(&options.rsa_key).source()?,
            enable_cleartext_plugin: self
                .enable_cleartext_plugin
                .or(options.enable_cleartext_plugin)
                .unwrap_or(false),
            encryption: self.ssl.clone().or(&options.ssl).encryption(&SSL_WORDS)?,
        })
    }

    /// Whether it names the user and the server.
    fn is_complete(&self) -> bool {
        self.user.is_some() && (self.socket.is_some() || !self.hosts.is_empty())
    }

    /// The URL's addresses; without any, the option file's; without those, this machine's.
    fn addresses(&self, options: &OptionFile) -> Result<Vec<Address>, Failure> {
        if let Some(path) = &self.socket {
            return Ok(vec![unix(path)]);
        }
        if !self.hosts.is_empty() {
            return self.hosts.iter().map(look_up).collect();
        }
        let is_local = options.host.as_deref().is_none_or(|host| host == "localhost");
        match (&options.socket, &options.host) {
            (Some(path), _) if is_local => Ok(vec![unix(path)]),
            (_, host) => {
                let name = host.clone().unwrap_or_else(|| "127.0.0.1".to_owned());
                Ok(vec![look_up(&Host { name, port: options.port })?])
            }
        }
    }
}

fn unix(path: &Path) -> Address {
    Address { name: path.display().to_string(), endpoint: Endpoint::Unix(path.to_owned()) }
}

fn look_up(host: &Host) -> Result<Address, Failure> {
    Address::look_up(&host.name, host.port.unwrap_or(PORT), &host.with_port(PORT))
}

enum OptionFileError {
    Unreadable(Failure),
    UnknownMode(Failure),
}

fn read_option_file(path: Option<&Path>) -> Result<OptionFile, OptionFileError> {
    let Some(path) = path else { return Ok(OptionFile::default()) };
    match read_text_lossy(path) {
        Ok(text) => match OptionFile::parse(&Zeroizing::new(text)) {
            OptionFile { unknown_mode: Some(mode), .. } => {
                Err(OptionFileError::UnknownMode(unknown_mode(path, &mode)))
            }
            options => {
                options.password.iter().for_each(Password::hide);
                Ok(options)
            }
        },
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(OptionFile::default()),
        Err(error) => Err(OptionFileError::Unreadable(unreadable(path, &error))),
    }
}

fn unknown_mode(path: &Path, mode: &str) -> Failure {
    let message =
        format!("{}: `ssl-mode` cannot be `{mode}`; {}", path.display(), SslMode::ALLOWED);
    Failure::new(ErrorClass::Login, "", message)
}
