//! What another process needs to reach the same system: values that can be written and read, and apart from them the
//! secrets, so that they are written only where that is meant.

use std::net::SocketAddr;
use std::path::PathBuf;

use measure::{ErrorClass, Failure};
use net::Endpoint;
use net::tls::SetupFault;
use plan::Password;
use serde::{Deserialize, Serialize};

use crate::mysql::{self, RsaKeySource, StatementProtocol};
use crate::rpc::{Method, Protocol, Service};
use crate::tls_material::TlsMaterial;
use crate::{Address, CertificateCheck, Encryption, Target, Timeouts, Tls};

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
    addresses: Vec<PortableAddress>,
    user: String,
    database: Option<String>,
    protocol: StatementProtocol,
    rsa_key: RsaKeySource,
    enable_cleartext_plugin: bool,
    encryption: PortableEncryption,
    timeouts: Timeouts,
}

/// A service, without its secrets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PortableService {
    protocol: Protocol,
    addresses: Vec<PortableAddress>,
    method: Option<Method>,
    tls: Option<PortableTls>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct PortableAddress {
    name: String,
    endpoint: PortableEndpoint,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum PortableEndpoint {
    Tcp(SocketAddr),
    Unix(PathBuf),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum PortableEncryption {
    Never,
    WhenOffered(PortableTls),
    Always(PortableTls),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct PortableTls {
    check: CertificateCheck,
    authorities: Option<Vec<u8>>,
}

impl PortableTarget {
    /// The form of these settings.
    pub(crate) fn of(config: &mysql::Config, timeouts: Timeouts) -> (Self, Secrets) {
        let mysql::Config {
            addresses,
            user,
            password,
            database,
            protocol,
            rsa_key,
            enable_cleartext_plugin,
            encryption,
        } = config;
        let (encryption, tls) = match encryption {
            Encryption::Never => (PortableEncryption::Never, None),
            Encryption::WhenOffered(tls) => {
                (PortableEncryption::WhenOffered(PortableTls::of(tls)), Some(tls))
            }
            Encryption::Always(tls) => {
                (PortableEncryption::Always(PortableTls::of(tls)), Some(tls))
            }
        };
        let portable = Self {
            addresses: addresses.iter().map(PortableAddress::of).collect(),
            user: user.clone(),
            database: database.clone(),
            protocol: *protocol,
            rsa_key: rsa_key.clone(),
            enable_cleartext_plugin: *enable_cleartext_plugin,
            encryption,
            timeouts,
        };
        (portable, Secrets { password: password.clone(), certificate: certificate(tls) })
    }

    /// The target that it is the form of.
    ///
    /// # Errors
    /// When this machine cannot use its settings of TLS.
    pub fn target(&self, secrets: &Secrets) -> Result<Target, Failure> {
        let tls = |portable: &PortableTls| portable.tls(secrets);
        let encryption = match &self.encryption {
            PortableEncryption::Never => Encryption::Never,
            PortableEncryption::WhenOffered(portable) => Encryption::WhenOffered(tls(portable)?),
            PortableEncryption::Always(portable) => Encryption::Always(tls(portable)?),
        };
        let config = mysql::Config {
            addresses: self.addresses.iter().map(PortableAddress::address).collect(),
            user: self.user.clone(),
            password: secrets.password.clone(),
            database: self.database.clone(),
            protocol: self.protocol,
            rsa_key: self.rsa_key.clone(),
            enable_cleartext_plugin: self.enable_cleartext_plugin,
            encryption,
        };
        Ok(Target::mysql(config).with_timeouts(self.timeouts))
    }
}

impl Service {
    /// Its form for another process.
    pub fn portable(&self) -> (PortableService, Secrets) {
        let Self { protocol, addresses, method, tls } = self;
        let portable = PortableService {
            protocol: *protocol,
            addresses: addresses.iter().map(PortableAddress::of).collect(),
            method: method.clone(),
            tls: tls.as_ref().map(PortableTls::of),
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
            addresses: self.addresses.iter().map(PortableAddress::address).collect(),
            method: self.method.clone(),
            tls: tls.map(|tls| self.protocol.announced(tls)),
        })
    }
}

impl PortableAddress {
    fn of(address: &Address) -> Self {
        let endpoint = match &address.endpoint {
            Endpoint::Tcp(address) => PortableEndpoint::Tcp(*address),
            Endpoint::Unix(path) => PortableEndpoint::Unix(path.clone()),
        };
        Self { name: address.name.clone(), endpoint }
    }

    fn address(&self) -> Address {
        let endpoint = match &self.endpoint {
            PortableEndpoint::Tcp(address) => Endpoint::Tcp(*address),
            PortableEndpoint::Unix(path) => Endpoint::Unix(path.clone()),
        };
        Address { name: self.name.clone(), endpoint }
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
