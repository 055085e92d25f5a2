//! TLS errors, distinguished as far as different remedies exist.

use std::io;

use rustls::pki_types::UnixTime;
use rustls::{AlertDescription, CertificateError, Error};

/// Why TLS settings cannot be used. It names no files, because only their content is known here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SetupFault {
    /// The authorities that this machine trusts cannot be found.
    #[error("this system has no list of trusted authorities: {0}")]
    NoSystemRoots(String),
    /// The file of authorities contains no usable certificate.
    #[error("it holds no usable certificate in PEM form: {0}")]
    NoRoots(String),
    /// The file of the client's certificate contains none.
    #[error("it holds no usable certificate in PEM form: {0}")]
    NoCertificate(String),
    /// The file of the client's key contains none.
    #[error("it holds no usable private key in PEM form: {0}")]
    NoKey(String),
    #[error("its private key is encrypted with a passphrase")]
    EncryptedKey,
    /// The client's key belongs to another certificate.
    #[error("the private key does not belong to the certificate")]
    KeyMismatch,
    #[error("{0}")]
    Other(String),
}

/// Why a TLS handshake or connection failed. The [`io::Error`]s of a stream with TLS contain it: see
/// [`TlsFault::of`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TlsFault {
    /// The peer does not speak TLS.
    #[error("what the server sent is not TLS")]
    NotTls,
    /// The server closed the connection during the handshake.
    #[error("the server closed the connection in the middle of the TLS handshake")]
    Closed,
    /// The certificate is not signed by a trusted authority.
    #[error("the server's certificate is signed by no trusted authority")]
    UnknownIssuer,
    /// The certificate is for another host.
    #[error("the server's certificate is not for `{name}` but for {presented}")]
    WrongName { name: String, presented: String },
    /// A host that no certificate can be for.
    #[error("`{0}` is neither a host name nor an address, so no certificate can be for it")]
    UnusableName(String),
    #[error("the server's certificate has expired{0}")]
    Expired(Since),
    #[error("the server's certificate is not valid yet")]
    NotValidYet,
    /// Something else is wrong with the certificate.
    #[error("the server's certificate cannot be checked: {0}")]
    BadCertificate(String),
    /// The server requires a client certificate and got none.
    #[error("the server demands a client certificate")]
    CertificateDemanded,
    /// The server rejects the client certificate.
    #[error("the server refuses the client certificate: alert {0}")]
    CertificateRefused(String),
    /// The server ended TLS with an alert.
    #[error("the server ended TLS with the alert {0}")]
    Alert(String),
    /// The two sides have no version or cipher suite in common.
    #[error("the server and dyno have no version or cipher suite of TLS in common: {0}")]
    NothingInCommon(String),
    /// The keys have reached their safe number of uses, and this version of TLS cannot renew them.
    #[error("the keys of this connection are used up, and TLS 1.2 cannot renew them")]
    KeysUsedUp,
    /// The server breaks the protocol.
    #[error("the server breaks the TLS protocol: {0}")]
    Broken(String),
}

/// How long ago a certificate expired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Since(Option<u64>);

impl std::fmt::Display for Since {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        const DAY_S: u64 = 24 * 60 * 60;
        match self.0 {
            None => Ok(()),
            Some(seconds) if seconds < DAY_S => write!(f, " less than a day ago"),
            Some(seconds) if seconds < 2 * DAY_S => write!(f, " a day ago"),
            Some(seconds) => write!(f, " {} days ago", seconds / DAY_S),
        }
    }
}

impl Since {
    fn new(then: UnixTime, now: UnixTime) -> Self {
        Self(Some(now.as_secs().saturating_sub(then.as_secs())))
    }
}

impl TlsFault {
    /// The TLS fault that `error` of a stream contains, if any.
    pub fn of(error: &io::Error) -> Option<&Self> {
        error.get_ref()?.downcast_ref()
    }

    pub(crate) fn from_handshake(error: Error) -> Self {
        match error {
            // The first bytes were not valid TLS, so the peer does not use TLS at all.
            Error::InvalidMessage(_) => Self::NotTls,
            other => Self::from(other),
        }
    }

    fn of_certificate(error: CertificateError) -> Self {
        match error {
            CertificateError::UnknownIssuer => Self::UnknownIssuer,
            CertificateError::Expired => Self::Expired(Since(None)),
            CertificateError::ExpiredContext { time, not_after } => {
                Self::Expired(Since::new(not_after, time))
            }
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
                Self::NotValidYet
            }
            CertificateError::NotValidForNameContext { expected, presented } => {
                Self::WrongName { name: expected.to_str().into(), presented: names(&presented) }
            }
            CertificateError::Other(error) => {
                Self::BadCertificate(in_words(&error.0.to_string()).to_owned())
            }
            other => Self::BadCertificate(format!("{other:?}")),
        }
    }

    fn of_alert(alert: AlertDescription) -> Self {
        let name = words(alert);
        match alert {
            AlertDescription::CertificateRequired | AlertDescription::NoCertificate => {
                Self::CertificateDemanded
            }
            AlertDescription::BadCertificate
            | AlertDescription::UnsupportedCertificate
            | AlertDescription::CertificateRevoked
            | AlertDescription::CertificateExpired
            | AlertDescription::CertificateUnknown
            | AlertDescription::UnknownCA => Self::CertificateRefused(name),
            AlertDescription::ProtocolVersion
            | AlertDescription::HandshakeFailure
            | AlertDescription::InsufficientSecurity => {
                Self::NothingInCommon(format!("alert {name}"))
            }
            _ => Self::Alert(name),
        }
    }
}

impl From<Error> for TlsFault {
    fn from(error: Error) -> Self {
        match error {
            Error::InvalidCertificate(error) => Self::of_certificate(error),
            Error::AlertReceived(alert) => Self::of_alert(alert),
            Error::PeerIncompatible(what) => Self::NothingInCommon(format!("{what:?}")),
            Error::EncryptError => Self::KeysUsedUp,
            Error::NoCertificatesPresented => Self::BadCertificate("it sent none".into()),
            other => Self::Broken(other.to_string()),
        }
    }
}

impl From<TlsFault> for io::Error {
    fn from(fault: TlsFault) -> Self {
        Self::new(io::ErrorKind::InvalidData, fault)
    }
}

/// The texts for frequent errors, by their names in the certificate verifier.
fn in_words(name: &str) -> &str {
    match name {
        "UnsupportedCertVersion" => "it is of an X.509 version before 3",
        "CaUsedAsEndEntity" => "it is an authority's own, not one for a server",
        other => other,
    }
}

/// The first few names in a certificate, as text. They come from outside.
fn names(presented: &[String]) -> String {
    const SHOWN: usize = 5;
    if presented.is_empty() {
        return "nobody (it has no subjectAltName)".to_owned();
    }
    let clean = |name: &String| -> String {
        // rustls formats them with their kind, as `DnsName("db.example")`.
        let inner = name.split_once('(').and_then(|(_, rest)| rest.strip_suffix(')'));
        let inner = inner.unwrap_or(name).trim_matches('"');
        inner.chars().filter(|letter| !letter.is_control()).take(255).collect()
    };
    let mut text: Vec<String> = presented.iter().take(SHOWN).map(clean).collect();
    if presented.len() > SHOWN {
        text.push(format!("{} more", presented.len() - SHOWN));
    }
    text.join(", ")
}

/// An alert's name as the standard spells it (RFC 8446, section 6): `unknown_ca` for `UnknownCA`.
fn words(alert: AlertDescription) -> String {
    let name = format!("{alert:?}").replace("CA", "Ca");
    let mut text = String::with_capacity(name.len() + 4);
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !text.is_empty() {
            text.push('_');
        }
        text.push(letter.to_ascii_lowercase());
    }
    text
}
