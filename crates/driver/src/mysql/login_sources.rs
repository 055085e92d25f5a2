//! Sources of user, password and address when the URL does not contain them.

use std::env;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use measure::{ErrorClass, Failure};
use net::Endpoint;
use plan::{Password, read_text};
use zeroize::Zeroizing;

use super::config::Config;
use super::option_file::OptionFile;
use super::url::{Host, PORT, Url};
use crate::Address;
use crate::ssl_options::SslMode;

/// The sources of a login. A password is searched in this order: the URL, the password file, `DYNO_PASSWORD`,
/// `MYSQL_PWD`, the option file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoginSources {
    /// A file whose first line is the password; it must exist when it is named.
    pub password_file: Option<PathBuf>,
    pub environment_password: Option<Password>,
    /// An option file such as `~/.my.cnf`; it may be missing.
    pub option_file: Option<PathBuf>,
    /// The user when no source names one.
    pub default_user: Option<String>,
}

impl LoginSources {
    /// The sources of this process: the password that was taken out of its environment, and `~/.my.cnf`.
    pub fn of_process() -> Self {
        Self {
            password_file: None,
            environment_password: environment_password().clone(),
            option_file: env::home_dir().map(|home| home.join(".my.cnf")),
            default_user: env::var("USER").ok().filter(|value| !value.is_empty()),
        }
    }
}

/// The password of the environment, for [`LoginSources::of_process`].
static ENVIRONMENT_PASSWORD: Mutex<Option<Password>> = Mutex::new(None);

fn environment_password() -> MutexGuard<'static, Option<Password>> {
    ENVIRONMENT_PASSWORD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sets the password that was in the environment of this process; `None` forgets it, after the last login.
pub fn set_environment_password(password: Option<Password>) {
    *environment_password() = password;
}

/// The variables of the environment that may hold a password, the first one first.
pub const PASSWORD_VARIABLES: [&str; 2] = ["DYNO_PASSWORD", "MYSQL_PWD"];

impl Url {
    /// Adds what the URL does not contain, and looks up host names.
    ///
    /// # Errors
    /// A password file that cannot be read, an option file that exists but cannot be used, an unknown host.
    pub fn resolve(&self, sources: &LoginSources) -> Result<Config, Failure> {
        let options = read_option_file(sources.option_file.as_deref())?;
        let addresses = self.addresses(&options)?;
        let user = self.user.clone().or(options.user).or_else(|| sources.default_user.clone());
        let password = match (&self.password, &sources.password_file) {
            (Some(password), _) => Some(password.clone()),
            (None, Some(path)) => Some(read_password_file(path)?),
            (None, None) => sources.environment_password.clone().or(options.password),
        };
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
            encryption: self.ssl.clone().or(&options.ssl).encryption()?,
        })
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
    Address::look_up(&host.name, host.port.unwrap_or(PORT), host.to_string())
}

/// The first line of a file. Like every password that dyno reads, it is blanked in all output.
fn read_password_file(path: &Path) -> Result<Password, Failure> {
    let text = Zeroizing::new(read_text(path).map_err(|error| unreadable(path, &error))?);
    let password = Password::new(text.lines().next().unwrap_or_default());
    password.hide();
    Ok(password)
}

fn read_option_file(path: Option<&Path>) -> Result<OptionFile, Failure> {
    let Some(path) = path else { return Ok(OptionFile::default()) };
    match read_text(path) {
        Ok(text) => match OptionFile::parse(&Zeroizing::new(text)) {
            OptionFile { unknown_mode: Some(mode), .. } => Err(unknown_mode(path, &mode)),
            options => {
                options.password.iter().for_each(Password::hide);
                Ok(options)
            }
        },
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(OptionFile::default()),
        Err(error) => Err(unreadable(path, &error)),
    }
}

fn unknown_mode(path: &Path, mode: &str) -> Failure {
    let message =
        format!("{}: `ssl-mode` cannot be `{mode}`; {}", path.display(), SslMode::ALLOWED);
    Failure::new(ErrorClass::Login, "", message)
}

fn unreadable(path: &Path, error: &std::io::Error) -> Failure {
    let message = format!("cannot read {}: {error}", path.display());
    Failure::new(ErrorClass::Connection, "", message)
}
