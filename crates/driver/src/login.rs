//! Where the parts of a login come from that a URL does not have. Each protocol names what its own clients read.

use std::env;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use measure::{ErrorClass, Failure};
use plan::{Password, read_text};
use zeroize::Zeroizing;

use crate::{mysql, postgres};

/// What the clients of a protocol read when a URL does not say it.
#[derive(Clone, Copy, Debug)]
pub struct ClientDefaults {
    /// Variables of the environment that may hold a password, the first one first.
    pub(crate) password_variables: &'static [&'static str],
    /// A file of options in the home folder.
    pub(crate) option_file: &'static str,
    /// The variable that names another file in its place.
    pub(crate) option_file_variable: Option<&'static str>,
}

/// Those of every protocol with logins.
const PROTOCOLS: [&ClientDefaults; 2] = [&mysql::CLIENT_DEFAULTS, &postgres::CLIENT_DEFAULTS];

/// The variable for the password of any protocol, which precedes the protocol's own.
const ANY_PROTOCOL: &str = "DYNO_PASSWORD";

/// The sources of a login. A password is searched in this order: the URL, the password file, `DYNO_PASSWORD`, the
/// variables of the protocol's clients, their option file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoginSources {
    /// A file whose first line is the password; it must exist when it is named.
    pub password_file: Option<PathBuf>,
    /// The password from the environment.
    pub environment_password: Option<Password>,
    /// The option file of the protocol's clients, such as `~/.my.cnf`; it may be missing.
    pub option_file: Option<PathBuf>,
    /// The user when no source names one.
    pub default_user: Option<String>,
}

impl LoginSources {
    /// The sources of this process for a protocol: the passwords that were taken out of its environment, and the
    /// option file of the protocol's clients.
    pub fn of_process(defaults: &ClientDefaults) -> Self {
        let named = defaults.option_file_variable.and_then(env::var_os);
        let of_home = || env::home_dir().map(|home| home.join(defaults.option_file));
        Self {
            password_file: None,
            environment_password: environment_password(defaults),
            option_file: named.map(PathBuf::from).or_else(of_home),
            default_user: env::var("USER").ok().filter(|value| !value.is_empty()),
        }
    }

    /// The password of the URL, or else of the password file, or else of the environment.
    pub(crate) fn password(&self, of_url: Option<&Password>) -> Result<Option<Password>, Failure> {
        match (of_url, &self.password_file) {
            (Some(password), _) => Ok(Some(password.clone())),
            (None, Some(path)) => read_password_file(path).map(Some),
            (None, None) => Ok(self.environment_password.clone()),
        }
    }
}

/// The passwords of the environment by their variables, for [`LoginSources::of_process`].
static ENVIRONMENT_PASSWORDS: Mutex<Vec<(&str, Password)>> = Mutex::new(Vec::new());

fn environment_passwords() -> MutexGuard<'static, Vec<(&'static str, Password)>> {
    ENVIRONMENT_PASSWORDS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn environment_password(defaults: &ClientDefaults) -> Option<Password> {
    let given = environment_passwords();
    let of = |name: &str| given.iter().find(|(variable, _)| *variable == name);
    let mut names = [ANY_PROTOCOL].into_iter().chain(defaults.password_variables.iter().copied());
    names.find_map(of).map(|(_, password)| password.clone())
}

/// Sets the passwords that were in the environment of this process, by their variables; an empty list forgets them,
/// after the last login.
pub fn set_environment_passwords(passwords: Vec<(&'static str, Password)>) {
    *environment_passwords() = passwords;
}

/// The variables of the environment that may hold a password for some protocol.
pub fn password_variables() -> Vec<&'static str> {
    let of_protocols = PROTOCOLS.iter().flat_map(|protocol| protocol.password_variables);
    [ANY_PROTOCOL].iter().chain(of_protocols).copied().collect()
}

/// The first line of a file. Like every password that dyno reads, it is blanked in all output.
fn read_password_file(path: &Path) -> Result<Password, Failure> {
    let text = Zeroizing::new(read_text(path).map_err(|error| unreadable(path, &error))?);
    let password = Password::new(text.lines().next().unwrap_or_default());
    password.hide();
    Ok(password)
}

/// The failure for a file of a login that cannot be read.
pub(crate) fn unreadable(path: &Path, error: &io::Error) -> Failure {
    let message = format!("cannot read {}: {error}", path.display());
    Failure::new(ErrorClass::Connection, "", message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_of_the_environment_is_for_the_protocol_of_its_variable_or_for_all() {
        const OTHER: ClientDefaults = ClientDefaults {
            password_variables: &["OTHER_PASSWORD"],
            option_file: ".other",
            option_file_variable: None,
        };
        assert_eq!(password_variables(), ["DYNO_PASSWORD", "MYSQL_PWD", "PGPASSWORD"]);
        let found = |given: Vec<(&'static str, Password)>| {
            set_environment_passwords(given);
            [&mysql::CLIENT_DEFAULTS, &OTHER]
                .map(|protocol| LoginSources::of_process(protocol).environment_password)
        };
        let [any, own] = ["any", "own"].map(Password::new);
        let both = vec![("MYSQL_PWD", own.clone()), ("DYNO_PASSWORD", any.clone())];
        assert_eq!(found(both), [Some(any.clone()), Some(any)]);
        assert_eq!(found(vec![("MYSQL_PWD", own.clone())]), [Some(own), None]);
        assert_eq!(found(Vec::new()), [None, None]);
    }
}
