//! The source of a server's RSA key, by the options of MySQL's clients: `get-server-public-key` and
//! `server-public-key-path`. The file is read here, once for all connections.
//!
//! Source: MySQL Reference Manual, "Caching SHA-2 Pluggable Authentication".

use std::fs;
use std::path::{Path, PathBuf};

use super::codec::{PublicKey, ServerKey};
use measure::{ErrorClass, Failure};
use serde::{Deserialize, Serialize};

/// Options for the key from one source; another source may supply what is missing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RsaKeyOptions {
    /// Whether dyno may request the key from the server.
    pub get: Option<bool>,
    pub path: Option<PathBuf>,
}

/// The source of the server's RSA key, which encrypts the password for `caching_sha2_password` and `sha256_password`
/// on a connection with neither TLS nor a unix socket.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum RsaKeySource {
    /// No source. This is also the default for loopback addresses: a tunnel may begin there.
    #[default]
    Nowhere,
    /// From the server: an attacker on the path could send another key and read the password.
    Server,
    Given(ServerKey),
}

impl RsaKeyOptions {
    /// These options, with those of `other` where these are not set.
    #[must_use]
    pub fn or(self, other: &Self) -> Self {
        Self { get: self.get.or(other.get), path: self.path.or_else(|| other.path.clone()) }
    }

    /// Reads the file that is named. A key from a file takes precedence over one from the server, as with MySQL's
    /// clients.
    pub(super) fn source(&self) -> Result<RsaKeySource, Failure> {
        match (&self.path, self.get) {
            (Some(path), _) => read(path).map(RsaKeySource::Given),
            (None, Some(true)) => Ok(RsaKeySource::Server),
            (None, Some(false) | None) => Ok(RsaKeySource::Nowhere),
        }
    }
}

impl RsaKeySource {
    pub(super) fn public_key(&self) -> PublicKey<'_> {
        match self {
            Self::Given(key) => PublicKey::Known(key),
            Self::Server => PublicKey::FromServer,
            Self::Nowhere => PublicKey::Withheld,
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
    use super::super::{Url, UrlError};
    use super::*;
    use crate::LoginSources;

    fn source(options: &str, sources: &LoginSources) -> Result<RsaKeySource, UrlError> {
        let url = Url::parse(&format!("mysql://127.0.0.1/{options}"))?;
        Ok(url.resolve(sources).unwrap().rsa_key)
    }

    #[test]
    fn the_url_selects_the_key_source() {
        let source = |options: &str| source(options, &LoginSources::default());
        // Even at 127.0.0.1, where a tunnel may begin.
        assert_eq!(source(""), Ok(RsaKeySource::Nowhere));
        assert_eq!(source("?get-server-public-key=1"), Ok(RsaKeySource::Server));
        assert_eq!(source("?get-server-public-key=0"), Ok(RsaKeySource::Nowhere));
        let wrong = source("?get-server-public-key=maybe").unwrap_err().to_string();
        assert_eq!(wrong, "`get-server-public-key` cannot be `maybe`; allowed are 1 and 0");
    }

    #[test]
    fn the_option_file_supplies_the_key_source_if_the_url_does_not() {
        let folder = tempfile::tempdir().unwrap();
        let (file, key) = (folder.path().join("my.cnf"), folder.path().join("public_key.pem"));
        let sources = LoginSources { option_file: Some(file.clone()), ..LoginSources::default() };
        for (text, due) in [
            ("get-server-public-key", RsaKeySource::Server),
            ("get_server_public_key=ON", RsaKeySource::Server),
            ("get-server-public-key=0", RsaKeySource::Nowhere),
            ("get-server-public-key=perhaps", RsaKeySource::Nowhere),
            ("loose", RsaKeySource::Nowhere),
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
