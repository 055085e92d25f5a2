//! What PostgreSQL's own clients read beside a URL: variables of the environment and the file of services.
//!
//! Source: PostgreSQL's documentation, "Environment Variables" and "The Connection Service File" of libpq.

use std::env;
use std::io;
use std::path::{Path, PathBuf};

use plan::{Password, read_text};
use zeroize::Zeroizing;

use super::url::{Url, UrlError};

/// The options that variables stand for. The password has a way of its own.
const VARIABLES: [(&str, &str); 13] = [
    ("PGHOST", "host"),
    ("PGPORT", "port"),
    ("PGDATABASE", "dbname"),
    ("PGUSER", "user"),
    ("PGOPTIONS", "options"),
    ("PGSSLMODE", "sslmode"),
    ("PGSSLNEGOTIATION", "sslnegotiation"),
    ("PGSSLROOTCERT", "sslrootcert"),
    ("PGSSLCERT", "sslcert"),
    ("PGSSLKEY", "sslkey"),
    ("PGCHANNELBINDING", "channel_binding"),
    ("PGREQUIREAUTH", "require_auth"),
    ("PGSERVICE", "service"),
];
/// Names another file of services than the one in the home folder.
const SERVICE_FILE_VARIABLE: &str = "PGSERVICEFILE";
const SERVICE_FILE: &str = ".pg_service.conf";

/// An option that is not in the URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place<'p> {
    Variable(&'p str),
    Line(&'p Path, usize),
}

impl Place<'_> {
    fn wrong(self, error: UrlError) -> UrlError {
        let place = match self {
            Self::Variable(name) => name.to_owned(),
            Self::Line(file, line) => format!("{}, line {line}", file.display()),
        };
        UrlError::Default { place, error: Box::new(error) }
    }
}

impl Url {
    /// Adds what the URL leaves to the environment of this process: first what its service says, then the variables.
    ///
    /// # Errors
    /// A value that is wrong, or a service that there is not, with its place.
    pub fn completed(self) -> Result<Self, UrlError> {
        let variable = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
        let home = env::home_dir().map(|home| home.join(SERVICE_FILE));
        let file = variable(SERVICE_FILE_VARIABLE).map(PathBuf::from).or(home);
        self.completed_by(variable, file.as_deref())
    }

    fn completed_by(
        self,
        variable: impl Fn(&str) -> Option<String>,
        services: Option<&Path>,
    ) -> Result<Self, UrlError> {
        let mut given = Self::default();
        for (name, option) in VARIABLES {
            if let Some(value) = variable(name) {
                let wrong = |error| Place::Variable(name).wrong(error);
                given.read_default(option, value).map_err(wrong)?;
            }
        }
        let service = self.service.clone().or(given.service.take());
        let said = match (&service, services) {
            (Some(service), Some(file)) => of_service(service, file)?,
            (Some(service), None) => return Err(UrlError::Service(service.clone())),
            (None, _) => Self::default(),
        };
        Ok(self.or(said).or(given))
    }

    /// The first of two that says something, for each part of a login.
    fn or(self, other: Self) -> Self {
        let is_placed = self.socket.is_some() || !self.hosts.is_empty();
        let (hosts, socket) =
            if is_placed { (self.hosts, self.socket) } else { (other.hosts, other.socket) };
        Self {
            user: self.user.or(other.user),
            password: self.password.or(other.password),
            hosts,
            socket,
            port: self.port.or(other.port),
            database: self.database.or(other.database),
            protocol: self.protocol.or(other.protocol),
            ssl: self.ssl.or(&other.ssl),
            negotiation: self.negotiation.or(other.negotiation),
            channel_binding: self.channel_binding.or(other.channel_binding),
            methods: self.methods.or(other.methods),
            options: self.options.or(other.options),
            service: self.service.or(other.service),
        }
    }

    /// Options that a URL has elsewhere.
    fn read_default(&mut self, option: &str, value: String) -> Result<(), UrlError> {
        match option {
            "user" => self.user = Some(value),
            "dbname" => self.database = Some(value),
            "password" => {
                let password = Password::new(value);
                password.hide();
                self.password = Some(password);
            }
            "service" => self.service = Some(value),
            _ => self.set_option(option, value)?,
        }
        Ok(())
    }
}

/// What a file says of a service.
fn of_service(service: &str, file: &Path) -> Result<Url, UrlError> {
    let unread = |error: io::Error| UrlError::Services {
        file: file.display().to_string(),
        error: error.to_string(),
    };
    let text = Zeroizing::new(read_text(file).map_err(unread)?);
    let mut url = Url::default();
    let (mut is_here, mut is_known) = (false, false);
    for (line, at) in text.lines().map(str::trim).zip(1..) {
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            is_here = name == service;
            is_known |= is_here;
            continue;
        }
        if !is_here || line.is_empty() || line.starts_with('#') {
            continue;
        }
        let wrong = |error| Place::Line(file, at).wrong(error);
        let (option, value) = line.split_once('=').ok_or(UrlError::NoValue).map_err(wrong)?;
        url.read_default(option.trim(), value.trim().to_owned()).map_err(wrong)?;
    }
    if is_known { Ok(url) } else { Err(UrlError::Service(service.to_owned())) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SslMode;

    fn completed(url: &str, variables: &[(&str, &str)], file: &Path) -> Result<Url, String> {
        let variable = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name)?;
            Some(found.1.to_owned())
        };
        let url = Url::parse(url).unwrap().completed_by(variable, Some(file));
        url.map_err(|error| error.to_string())
    }

    #[test]
    fn the_url_comes_first_then_its_service_then_the_environment() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("services");
        let text = "# ours\n[other]\nhost=no\n[test]\nhost = db.test\nport=7000\nuser=of_service\n\
                    password=h0rse\nsslmode=verify-full\n";
        std::fs::write(&file, text).unwrap();
        let variables =
            [("PGHOST", "env.test"), ("PGUSER", "env"), ("PGDATABASE", "data"), ("PGPORT", "1")];
        let url = completed("postgresql://me@/?service=test", &variables, &file).unwrap();
        let hosts: Vec<String> = url.hosts.iter().map(|host| host.name.clone()).collect();
        assert_eq!((hosts, url.port), (vec!["db.test".to_owned()], Some(7000)));
        assert_eq!((url.user.as_deref(), url.database.as_deref()), (Some("me"), Some("data")));
        assert_eq!(url.password, Some(Password::new("h0rse")));
        assert_eq!(url.ssl.mode, Some(SslMode::VerifyIdentity));
        let url = completed("postgresql://", &variables, &file).unwrap();
        assert_eq!((url.hosts[0].name.as_str(), url.port), ("env.test", Some(1)));
        let socket = completed("postgresql:///", &[("PGHOST", "/run/pg")], &file).unwrap();
        assert_eq!(socket.socket, Some(PathBuf::from("/run/pg")));
        let host = completed("postgresql://own/", &[("PGHOST", "/run/pg")], &file).unwrap();
        assert_eq!((host.socket, host.hosts.len()), (None, 1));
    }

    #[test]
    fn what_is_wrong_beside_the_url_is_told_with_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("services");
        std::fs::write(&file, "[test]\nsslmode=on\n[bare]\nhost\n").unwrap();
        let told =
            |url: &str, variables: &[(&str, &str)]| completed(url, variables, &file).unwrap_err();
        let port = told("postgresql://", &[("PGPORT", "none")]);
        assert!(port.starts_with("PGPORT: `port` cannot be `none`"), "{port}");
        let mode = told("postgresql://", &[("PGSERVICE", "test")]);
        assert!(mode.contains("services, line 2: `sslmode` cannot be `on`"), "{mode}");
        let bare = told("postgresql:///?service=bare", &[]);
        assert!(bare.contains("line 4: write name=value"), "{bare}");
        let none = told("postgresql:///?service=nowhere", &[]);
        assert!(none.contains("there is no service `nowhere`"), "{none}");
    }
}
