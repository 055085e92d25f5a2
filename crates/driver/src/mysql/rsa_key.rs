//! Where a server's RSA key comes from, as users of MySQL know it: `get-server-public-key` and
//! `server-public-key-path`. The file is read here, once for all connections.
//!
//! Source: MySQL Reference Manual, "Caching SHA-2 Pluggable Authentication".

use std::fs;
use std::path::{Path, PathBuf};

use measure::{ErrorClass, Failure};
use net::Endpoint;

use super::codec::{PublicKey, ServerKey};

/// What one place says about the key; what it leaves open, another may say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RsaKeyOptions {
    /// Whether the server may be asked for its key.
    pub get: Option<bool>,
    /// The file that holds the key.
    pub path: Option<PathBuf>,
}

/// Where the server's RSA key comes from, which encrypts the password for `caching_sha2_password` and
/// `sha256_password` when neither TLS nor a unix socket keeps others from reading along.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum RsaKeySource {
    /// From the server when it is on this machine, because nobody sits between; else nowhere.
    #[default]
    OwnMachine,
    /// From the server, wherever it is: whoever sits between could send a key of their own and read
    /// the password.
    Server,
    /// Nowhere, not even on this machine.
    Nowhere,
    /// This one.
    Given(ServerKey),
}

impl RsaKeyOptions {
    /// The same, with what `other` says where this says nothing.
    #[must_use]
    pub fn or(self, other: &Self) -> Self {
        Self { get: self.get.or(other.get), path: self.path.or_else(|| other.path.clone()) }
    }

    /// Reads the file that is named. A file's key comes before one that the server would send, as
    /// with MySQL's clients.
    pub(super) fn source(&self) -> Result<RsaKeySource, Failure> {
        match (&self.path, self.get) {
            (Some(path), _) => read(path).map(RsaKeySource::Given),
            (None, Some(true)) => Ok(RsaKeySource::Server),
            (None, Some(false)) => Ok(RsaKeySource::Nowhere),
            (None, None) => Ok(RsaKeySource::OwnMachine),
        }
    }
}

impl RsaKeySource {
    /// What a login to this address may do.
    pub(super) fn at(&self, endpoint: &Endpoint) -> PublicKey<'_> {
        let is_own_machine = match endpoint {
            Endpoint::Tcp(address) => address.ip().to_canonical().is_loopback(),
            Endpoint::Unix(_) => true,
        };
        match self {
            Self::Given(key) => PublicKey::Known(key),
            Self::Server => PublicKey::FromServer,
            Self::OwnMachine if is_own_machine => PublicKey::FromServer,
            Self::OwnMachine | Self::Nowhere => PublicKey::Withheld,
        }
    }
}

fn read(path: &Path) -> Result<ServerKey, Failure> {
    let told = |what: String| Failure::new(ErrorClass::Login, "", what);
    let pem =
        fs::read(path).map_err(|error| told(format!("cannot read {}: {error}", path.display())))?;
    ServerKey::from_pem(&pem).map_err(|problem| {
        told(format!(
            "server-public-key-path {}: {problem}; name the server's own, public_key.pem in its data \
             folder",
            path.display()
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::super::{LoginSources, Url, UrlError};
    use super::*;

    fn source(options: &str, sources: &LoginSources) -> Result<RsaKeySource, UrlError> {
        let url = Url::parse(&format!("mysql://127.0.0.1/{options}"))?;
        Ok(url.resolve(sources).unwrap().rsa_key)
    }

    #[test]
    fn the_url_says_where_the_key_comes_from() {
        let source = |options: &str| source(options, &LoginSources::default());
        assert_eq!(source(""), Ok(RsaKeySource::OwnMachine));
        assert_eq!(source("?get-server-public-key=1"), Ok(RsaKeySource::Server));
        assert_eq!(source("?get-server-public-key=0"), Ok(RsaKeySource::Nowhere));
        let wrong = source("?get-server-public-key=maybe").unwrap_err().to_string();
        assert_eq!(wrong, "`get-server-public-key` cannot be `maybe`; allowed are 1 and 0");
    }

    #[test]
    fn the_option_file_says_it_where_the_url_does_not() {
        let folder = tempfile::tempdir().unwrap();
        let (file, key) = (folder.path().join("my.cnf"), folder.path().join("public_key.pem"));
        let sources = LoginSources { option_file: Some(file.clone()), ..LoginSources::default() };
        for (text, due) in [
            ("get-server-public-key", RsaKeySource::Server),
            ("get_server_public_key=ON", RsaKeySource::Server),
            ("get-server-public-key=0", RsaKeySource::Nowhere),
            ("loose", RsaKeySource::OwnMachine),
        ] {
            fs::write(&file, format!("[client]\n{text}\n")).unwrap();
            assert_eq!(source("", &sources), Ok(due), "{text}");
            let url = source("?get-server-public-key=0", &sources);
            assert_eq!(url, Ok(RsaKeySource::Nowhere), "{text}");
        }
        fs::write(&key, super::super::fuzz::RSA_KEY).unwrap();
        let text = format!("[client]\nserver-public-key-path = {}\n", key.display());
        fs::write(&file, text).unwrap();
        let given = source("?get-server-public-key=1", &sources);
        assert!(matches!(given, Ok(RsaKeySource::Given(_))), "{given:?}");
    }

    #[test]
    fn only_this_machine_is_asked_unless_said_otherwise() {
        let asks = |address: &str| {
            let endpoint = Endpoint::Tcp(address.parse().unwrap());
            matches!(RsaKeySource::OwnMachine.at(&endpoint), PublicKey::FromServer)
        };
        let own = ["127.0.0.1:1", "127.8.0.1:1", "[::1]:1", "[::ffff:127.0.0.1]:1"];
        assert!(own.into_iter().all(asks));
        assert!(!["10.0.0.1:1", "[2001:db8::1]:1", "0.0.0.0:1"].into_iter().any(asks));
    }

    #[test]
    fn a_file_without_a_key_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("public_key.pem");
        let options = RsaKeyOptions { get: None, path: Some(path.clone()) };
        let missing = options.source().unwrap_err().message.clone();
        assert!(missing.starts_with(&format!("cannot read {}", path.display())), "{missing}");
        fs::write(&path, "no key").unwrap();
        let failure = options.source().unwrap_err();
        assert!(failure.message.contains("no RSA public key in PEM"), "{failure}");
        assert!(failure.message.contains(&path.display().to_string()), "{failure}");
    }
}
