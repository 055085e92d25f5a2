//! What a URL does not contain: user, password and address from other sources, and the addresses of host names.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use measure::{ErrorClass, Failure};
use net::Endpoint;
use plan::{Password, read_text_lossy};
use zeroize::Zeroizing;

use super::config::{Config, Negotiation};
use super::password_file;
use super::url::{PORT, SSL_WORDS, Url};
use crate::Address;
use crate::login::{ClientDefaults, LoginSources, unreadable};
use crate::ssl_options::{SslMode, SslOptions};
use crate::url_parts::Host;

/// The server is not asked then, so a mode that goes without TLS where it is not offered has no meaning.
const WEAK: &str =
    "sslnegotiation=direct begins with TLS, so it takes sslmode=require, verify-ca or verify-full";

/// What PostgreSQL's own clients read.
pub const CLIENT_DEFAULTS: ClientDefaults = ClientDefaults {
    password_variables: &["PGPASSWORD"],
    option_file: ".pgpass",
    option_file_variable: Some("PGPASSFILE"),
};

impl Url {
    /// Adds what the URL does not contain, and looks up host names.
    ///
    /// # Errors
    /// A password file that cannot be read or that others may read, an unknown host.
    pub fn resolve(&self, sources: &LoginSources) -> Result<Config, Failure> {
        let user = self.user.clone().or_else(|| sources.default_user.clone());
        let user = user.unwrap_or_else(|| "postgres".to_owned());
        let database = self.database.clone().unwrap_or_else(|| user.clone());
        let password = match sources.password(self.password.as_ref())? {
            Some(password) => Some(password),
            None => self.password_of_file(sources.option_file.as_deref(), (&database, &user))?,
        };
        let (negotiation, ssl) = (self.negotiation.unwrap_or_default(), self.checked_ssl());
        if negotiation == Negotiation::Direct && !ssl.effective_mode().is_always() {
            return Err(Failure::new(ErrorClass::Login, "", WEAK));
        }
        Ok(Config {
            addresses: self.addresses()?,
            user,
            password: password.unwrap_or_default(),
            database: Some(database),
            protocol: self.protocol.unwrap_or_default(),
            negotiation,
            channel_binding: self.channel_binding.unwrap_or_default(),
            methods: self.methods.unwrap_or_default(),
            options: self.options.clone(),
            encryption: ssl.encryption(&SSL_WORDS)?,
            keys: Default::default(),
            is_for_watching: false,
            sessions: Default::default(),
        })
    }

    /// To libpq a named authority checks the certificate where encryption alone is required, too.
    fn checked_ssl(&self) -> SslOptions {
        match (self.ssl.mode, &self.ssl.ca) {
            (Some(SslMode::Required), Some(_)) => {
                SslOptions { mode: Some(SslMode::VerifyCa), ..self.ssl.clone() }
            }
            _ => self.ssl.clone(),
        }
    }

    /// The URL's addresses; without any, this machine's.
    fn addresses(&self) -> Result<Vec<Address>, Failure> {
        let port = self.port.unwrap_or(PORT);
        if let Some(folder) = &self.socket {
            let path = folder.join(format!(".s.PGSQL.{port}"));
            let name = path.display().to_string();
            return Ok(vec![Address { name, endpoint: Endpoint::Unix(path) }]);
        }
        let look_up = |host: &Host| {
            Address::look_up(&host.name, host.port.unwrap_or(port), &host.with_port(port))
        };
        if self.hosts.is_empty() {
            return Ok(vec![look_up(&Host { name: "127.0.0.1".to_owned(), port: None })?]);
        }
        self.hosts.iter().map(look_up).collect()
    }

    /// The password of the file that PostgreSQL's clients read; `None` when it is not there or has none for this login.
    fn password_of_file(
        &self,
        path: Option<&Path>,
        (database, user): (&str, &str),
    ) -> Result<Option<Password>, Failure> {
        let Some(path) = path else { return Ok(None) };
        let metadata = match fs::metadata(path) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(unreadable(path, &error)),
        };
        if metadata.permissions().mode() & 0o077 != 0 {
            let message = format!(
                "{}: others may read it, so it is not used; chmod 600 it, or give the password in another way",
                path.display()
            );
            return Err(Failure::new(ErrorClass::Login, "", message));
        }
        let text = read_text_lossy(path).map_err(|error| unreadable(path, &error))?;
        let text = Zeroizing::new(text);
        let host = self.hosts.first().map_or("localhost", |host| host.name.as_str());
        let port = self.hosts.first().and_then(|host| host.port).or(self.port).unwrap_or(PORT);
        let found = password_file::find(&text, [host, &port.to_string(), database, user]);
        found.iter().for_each(Password::hide);
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn direct_tls_is_refused_where_encryption_is_not_required() {
        let sources = LoginSources::default();
        let resolve = |mode: &str| {
            let url = format!("postgres://me@127.0.0.1:7/test?sslnegotiation=direct&{mode}");
            Url::parse(&url).unwrap().resolve(&sources)
        };
        for weak in ["sslmode=disable", "sslmode=allow", "sslmode=prefer", "ps=text"] {
            assert_eq!(resolve(weak).unwrap_err().message, WEAK, "{weak}");
        }
        assert!(resolve("sslmode=require").is_ok());
    }

    #[test]
    fn a_password_file_that_others_may_read_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pgpass");
        fs::write(&path, "127.0.0.1:7:test:me:hors3\n").unwrap();
        let mode = |mode| fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        let sources = LoginSources { option_file: Some(path.clone()), ..LoginSources::default() };
        let resolve = |url| Url::parse(url).unwrap().resolve(&sources);
        mode(0o640);
        let told = resolve("postgres://me@127.0.0.1:7/test").unwrap_err();
        assert!(told.message.contains("others may read it"), "{told}");
        assert!(resolve("postgres://me:own@127.0.0.1:7/test").is_ok(), "it is not needed");
        mode(0o600);
        let config = resolve("postgres://me@127.0.0.1:7/test").unwrap();
        assert_eq!(config.password, Password::new("hors3"));
        assert_eq!(config.to_string(), "postgresql://me@127.0.0.1:7/test");
        let other = resolve("postgres://you@127.0.0.1:7").unwrap();
        assert_eq!(other.password, Password::default());
        assert_eq!(other.database.as_deref(), Some("you"));
    }
}
