//! Whether and how a connection is encrypted, by the options of MySQL's clients: `ssl-mode`, `ssl-ca`, `ssl-cert`,
//! `ssl-key`. The files are read here, once for all connections.
//!
//! Source: MySQL Reference Manual, "Command Options for Encrypted Connections".

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use measure::{ErrorClass, Failure};
use net::tls::{SetupFault, TlsClient};
use plan::Password;
use serde::{Deserialize, Serialize};

use crate::tls_material::TlsMaterial;

/// The values of `ssl-mode`, from the weakest to the strongest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SslMode {
    Disabled,
    /// Encrypted over TCP when the server refuses a connection that is not. Only PostgreSQL's clients have it.
    Allowed,
    /// Encrypted over TCP when the server offers it; the server's certificate is not checked.
    #[default]
    Preferred,
    /// Always encrypted; the server's certificate is not checked.
    Required,
    /// Encrypted, and a trusted authority has signed the server's certificate.
    VerifyCa,
    /// Also, the certificate is for the host that was connected to.
    VerifyIdentity,
}

impl SslMode {
    /// Every mode of MySQL's clients, in order.
    pub const ALL: [Self; 5] =
        [Self::Disabled, Self::Preferred, Self::Required, Self::VerifyCa, Self::VerifyIdentity];

    /// The allowed values, in words.
    pub const ALLOWED: &'static str =
        "allowed are DISABLED, PREFERRED, REQUIRED, VERIFY_CA and VERIFY_IDENTITY";

    /// Whether there is no connection without encryption.
    pub(crate) fn is_always(self) -> bool {
        !matches!(self, Self::Disabled | Self::Allowed | Self::Preferred)
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Disabled => "DISABLED",
            Self::Allowed => "ALLOWED",
            Self::Preferred => "PREFERRED",
            Self::Required => "REQUIRED",
            Self::VerifyCa => "VERIFY_CA",
            Self::VerifyIdentity => "VERIFY_IDENTITY",
        }
    }

    /// The mode of that name in upper or lower case; `verify-ca` is the same as `VERIFY_CA`.
    pub fn from_name(name: &str) -> Option<Self> {
        let name = name.replace('-', "_");
        Self::ALL.into_iter().find(|mode| mode.name().eq_ignore_ascii_case(&name))
    }
}

impl fmt::Display for SslMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Options for encryption from one source; another source may supply what is missing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SslOptions {
    pub mode: Option<SslMode>,
    /// A file with the certificates of the authorities that are trusted, in place of this machine's.
    pub ca: Option<PathBuf>,
    pub cert: Option<PathBuf>,
    pub key: Option<PathBuf>,
}

/// What the options are called, for messages: each protocol's clients have names of their own.
#[derive(Debug)]
pub(crate) struct SslWords {
    pub(crate) mode: &'static str,
    pub(crate) ca: &'static str,
    pub(crate) cert: &'static str,
    pub(crate) key: &'static str,
    /// Without TLS, with TLS that protects against onlookers only, and without a check of the server's name.
    pub(crate) plain: &'static str,
    pub(crate) unchecked: &'static str,
    pub(crate) unnamed: &'static str,
}

/// The names of MySQL's clients, which services have too.
pub(crate) static SSL_WORDS: SslWords = SslWords {
    mode: "ssl-mode",
    ca: "ssl-ca",
    cert: "ssl-cert",
    key: "ssl-key",
    plain: "ssl-mode=DISABLED",
    unchecked: "ssl-mode=REQUIRED",
    unnamed: "ssl-mode=VERIFY_CA",
};

/// How a server's certificate is checked, which determines what may be sent to that server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CertificateCheck {
    Nothing,
    /// One of this machine's many authorities signed it. They sign a certificate for any owner of a host, so this
    /// does not show which server answers.
    AnyHost,
    /// An authority of `ssl-ca` signed it.
    NamedAuthority,
    /// A trusted authority signed it for the host of the URL.
    Host,
}

impl CertificateCheck {
    /// Whether an attacker's server fails the check.
    pub(crate) fn verifies_server(self) -> bool {
        matches!(self, Self::NamedAuthority | Self::Host)
    }

    pub(crate) fn description(self) -> &'static str {
        match self {
            Self::Nothing => "certificate not verified (protects against onlookers only)",
            Self::AnyHost => {
                "certificate verified against this machine's CAs, for any host name (protects \
                 against onlookers only)"
            }
            Self::NamedAuthority => {
                "certificate verified against the CA of ssl-ca, for any host name"
            }
            Self::Host => "certificate verified against a trusted CA, and for the host name",
        }
    }
}

/// How connections become encrypted.
#[derive(Clone, Debug, PartialEq)]
pub struct Tls {
    pub client: TlsClient,
    pub check: CertificateCheck,
    pub(crate) material: Arc<TlsMaterial>,
}

impl Tls {
    /// The settings that are made of this.
    pub(crate) fn of(material: TlsMaterial) -> Result<Self, SetupFault> {
        let (client, check) = (material.client()?, material.check);
        Ok(Self { client, check, material: Arc::new(material) })
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub enum Encryption {
    #[default]
    Never,
    /// Over TCP, if the server refuses a login without it.
    WhenRefused(Tls),
    /// Over TCP, if the server offers it.
    WhenOffered(Tls),
    /// Encryption is required: without it there is no connection.
    Always(Tls),
}

impl SslOptions {
    /// These options, with those of `other` where these are not set. A certificate and its key belong together, so
    /// they come from one source.
    #[must_use]
    pub fn or(self, other: &Self) -> Self {
        let (cert, key) = match (self.cert, self.key) {
            (None, None) => (other.cert.clone(), other.key.clone()),
            own => own,
        };
        Self { mode: self.mode.or(other.mode), ca: self.ca.or_else(|| other.ca.clone()), cert, key }
    }

    /// The mode in effect: with an authority but no mode, the certificate is checked, as with MySQL's clients.
    pub(crate) fn effective_mode(&self) -> SslMode {
        let unsaid = if self.ca.is_some() { SslMode::VerifyCa } else { SslMode::default() };
        self.mode.unwrap_or(unsaid)
    }

    pub(crate) fn encryption(&self, words: &SslWords) -> Result<Encryption, Failure> {
        let mode = self.effective_mode();
        Ok(match mode {
            SslMode::Disabled => Encryption::Never,
            SslMode::Allowed => Encryption::WhenRefused(self.tls(mode, words)?),
            SslMode::Preferred => Encryption::WhenOffered(self.tls(mode, words)?),
            _ => Encryption::Always(self.tls(mode, words)?),
        })
    }

    /// Reads the files that are named, for a protocol whose servers do not say whether they offer TLS: `None`, for no
    /// encryption, unless a mode or an authority is given.
    ///
    /// # Errors
    /// When a file cannot be used, or the mode cannot be one of a service.
    pub fn tls_from_start(&self) -> Result<Option<Tls>, Failure> {
        match self.effective_mode() {
            SslMode::Disabled => Ok(None),
            SslMode::Preferred if self.mode.is_none() => Ok(None),
            SslMode::Preferred => Err(Failure::new(
                ErrorClass::Login,
                "",
                "ssl-mode=PREFERRED: a service does not say whether it offers TLS; write DISABLED, REQUIRED, \
                 VERIFY_CA or VERIFY_IDENTITY",
            )),
            mode => self.tls(mode, &SSL_WORDS).map(Some),
        }
    }

    fn tls(&self, mode: SslMode, words: &SslWords) -> Result<Tls, Failure> {
        let check = match (mode, &self.ca) {
            (SslMode::VerifyIdentity, _) => CertificateCheck::Host,
            (SslMode::VerifyCa, Some(_)) => CertificateCheck::NamedAuthority,
            (SslMode::VerifyCa, None) => CertificateCheck::AnyHost,
            _ => CertificateCheck::Nothing,
        };
        Tls::of(self.material(check)?).map_err(|fault| self.unusable(&fault, words))
    }

    fn material(&self, check: CertificateCheck) -> Result<TlsMaterial, Failure> {
        let authorities = self.ca.as_deref().map(read).transpose()?;
        // When only one of the two is named, that file holds both, as with MySQL's clients.
        let files = self.cert.as_deref().or(self.key.as_deref());
        let files = files.zip(self.key.as_deref().or(self.cert.as_deref()));
        let pems =
            files.map(|(cert, key)| Ok::<_, Failure>([read(cert)?, read(key)?])).transpose()?;
        Ok(TlsMaterial {
            check,
            authorities,
            certificate: pems.map(|it| it.map(Password::of_bytes)),
        })
    }

    /// A failure with the file, its error and the remedy.
    fn unusable(&self, fault: &SetupFault, words: &SslWords) -> Failure {
        let cert = self.cert.as_ref().or(self.key.as_ref());
        let key = self.key.as_ref().or(self.cert.as_ref());
        let mismatch;
        let (option, file, remedy) = match fault {
            SetupFault::NoRoots(_) => {
                (words.ca, self.ca.as_ref(), "name the authority's certificate")
            }
            SetupFault::NoCertificate(_) => (words.cert, cert, "name the client's certificate"),
            SetupFault::NoKey(_) => {
                (words.key, key, "name the private key of the client's certificate")
            }
            SetupFault::EncryptedKey => {
                (words.key, key, "take the passphrase off: openssl pkey -in KEY -out PLAIN_KEY")
            }
            SetupFault::KeyMismatch => {
                mismatch =
                    format!("name the key that was made with the certificate of {}", words.cert);
                (words.key, key, mismatch.as_str())
            }
            SetupFault::NoSystemRoots(_) => (words.ca, None, "name an authority's certificate"),
            SetupFault::Other(_) => (words.mode, None, "check the ssl options"),
        };
        let place = file.map(|file| format!(" {}", file.display())).unwrap_or_default();
        let message = format!("{option}{place}: {fault}; {remedy}");
        Failure::new(ErrorClass::Login, "", message)
    }
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    fs::read(path).map_err(|error| {
        let message = format!("cannot read {}: {error}", path.display());
        Failure::new(ErrorClass::Login, "", message)
    })
}

#[cfg(test)]
mod tests;
