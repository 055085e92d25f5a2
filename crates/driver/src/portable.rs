//! What another process needs to reach the same system: values that can be written and read, and apart from them the
//! secrets, so that they are written only where that is meant.

use measure::{ErrorClass, Failure};
use net::tls::SetupFault;
use plan::Password;
use serde::{Deserialize, Serialize};

use crate::rpc::{Method, Protocol, Service};
use crate::tls_material::TlsMaterial;
use crate::{Address, CertificateCheck, Encryption, Target, Timeouts, Tls, mysql, postgres};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Secrets {
    /// The password of the login; empty for none.
    pub password: Password,
    /// The certificates of the client and their private key.
    pub certificate: Option<[Password; 2]>,
}

/// A server of a database and the login for it, without its secrets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PortableTarget {
    login: PortableLogin,
    encryption: PortableEncryption,
    timeouts: Timeouts,
}

/// The settings of a protocol, without password and encryption.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum PortableLogin {
    MySql(mysql::Config),
    Postgres(postgres::Config),
}

/// A service, without its secrets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PortableService {
    protocol: Protocol,
    addresses: Vec<Address>,
    method: Option<Method>,
    tls: Option<PortableTls>,
    authority: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum PortableEncryption {
    Never,
    WhenRefused(PortableTls),
    WhenOffered(PortableTls),
    Always(PortableTls),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct PortableTls {
    check: CertificateCheck,
    authorities: Option<Vec<u8>>,
}

impl PortableTarget {
    /// The form of these settings, and their secrets apart.
    pub(crate) fn of(
        login: PortableLogin,
        password: &Password,
        encryption: &Encryption,
        timeouts: Timeouts,
    ) -> (Self, Secrets) {
        let (encryption, tls) = match encryption {
            Encryption::Never => (PortableEncryption::Never, None),
            Encryption::WhenRefused(tls) => {
                (PortableEncryption::WhenRefused(PortableTls::of(tls)), Some(tls))
            }
            Encryption::WhenOffered(tls) => {
                (PortableEncryption::WhenOffered(PortableTls::of(tls)), Some(tls))
            }
            Encryption::Always(tls) => {
                (PortableEncryption::Always(PortableTls::of(tls)), Some(tls))
            }
        };
        let secrets = Secrets { password: password.clone(), certificate: certificate(tls) };
        (Self { login, encryption, timeouts }, secrets)
    }

    /// The target that it is the form of.
    ///
    /// # Errors
    /// When this machine cannot use its settings of TLS.
    pub fn target(&self, secrets: &Secrets) -> Result<Target, Failure> {
        let tls = |portable: &PortableTls| portable.tls(secrets);
        let encryption = match &self.encryption {
            PortableEncryption::Never => Encryption::Never,
            PortableEncryption::WhenRefused(portable) => Encryption::WhenRefused(tls(portable)?),
            PortableEncryption::WhenOffered(portable) => Encryption::WhenOffered(tls(portable)?),
            PortableEncryption::Always(portable) => Encryption::Always(tls(portable)?),
        };
        let password = secrets.password.clone();
        let target = match self.login.clone() {
            PortableLogin::MySql(config) => {
                Target::mysql(mysql::Config { password, encryption, ..config })
            }
            PortableLogin::Postgres(config) => {
                Target::postgres(postgres::Config { password, encryption, ..config })
            }
        };
        Ok(target.with_timeouts(self.timeouts))
    }
}

impl Service {
    /// Its form for another process.
    pub fn portable(&self) -> (PortableService, Secrets) {
        let Self { protocol, addresses, method, tls, authority } = self;
        let portable = PortableService {
            protocol: *protocol,
            addresses: addresses.clone(),
            method: method.clone(),
            tls: tls.as_ref().map(PortableTls::of),
            authority: authority.clone(),
        };
        let secrets =
            Secrets { password: Password::default(), certificate: certificate(tls.as_ref()) };
        (portable, secrets)
    }
}

impl PortableService {
    /// The service that it is the form of.
    ///
    /// # Errors
    /// When this machine cannot use its settings of TLS.
    pub fn service(&self, secrets: &Secrets) -> Result<Service, Failure> {
        let tls = self.tls.as_ref().map(|portable| portable.tls(secrets)).transpose()?;
        Ok(Service {
            protocol: self.protocol,
            addresses: self.addresses.clone(),
            method: self.method.clone(),
            tls: tls.map(|tls| self.protocol.announced(tls)),
            authority: self.authority.clone(),
        })
    }
}

impl PortableTls {
    fn of(tls: &Tls) -> Self {
        Self { check: tls.check, authorities: tls.material.authorities.clone() }
    }

    fn tls(&self, secrets: &Secrets) -> Result<Tls, Failure> {
        let (check, authorities) = (self.check, self.authorities.clone());
        let certificate = secrets.certificate.clone();
        Tls::of(TlsMaterial { check, authorities, certificate }).map_err(|fault| unusable(&fault))
    }
}

fn certificate(tls: Option<&Tls>) -> Option<[Password; 2]> {
    tls.and_then(|tls| tls.material.certificate.clone())
}

fn unusable(fault: &SetupFault) -> Failure {
    let remedy = match fault {
        SetupFault::NoSystemRoots(_) => {
            "; install this machine's certificates of authorities, or name the authority with ssl-ca"
        }
        _ => "",
    };
    Failure::new(ErrorClass::Login, "", format!("TLS cannot be used here: {fault}{remedy}"))
}

#[cfg(test)]
mod tests;
