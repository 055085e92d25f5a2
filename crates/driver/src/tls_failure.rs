//! What to do about a connection that TLS ended.

use std::io;

use crate::Address;
use measure::{ErrorClass, Failure};
use net::tls::TlsFault;

/// A failure of a connection that TLS ended, if that is what `error` is.
pub(crate) fn ended_by_tls(address: &Address, error: &io::Error) -> Option<Failure> {
    let fault = TlsFault::of(error)?;
    let (class, remedy) = match fault {
        TlsFault::NotTls => (
            ErrorClass::Protocol,
            "if the server speaks TLS there, a proxy between may break it: go round the proxy, or \
             encrypt nothing by ssl-mode=DISABLED",
        ),
        TlsFault::Closed => return Some(lost_in_handshake(address)),
        TlsFault::UnknownIssuer => (
            ErrorClass::Login,
            "name its authority's certificate with ssl-ca=FILE, or encrypt against onlookers only by \
             ssl-mode=REQUIRED",
        ),
        TlsFault::WrongName { .. } | TlsFault::UnusableName(_) => (
            ErrorClass::Login,
            "connect by a name that it is for, or leave the name unchecked by ssl-mode=VERIFY_CA",
        ),
        TlsFault::Expired(_) | TlsFault::NotValidYet => {
            (ErrorClass::Login, "renew it, or set this machine's clock")
        }
        TlsFault::BadCertificate(_) => (
            ErrorClass::Login,
            "make one for a server, of X.509 version 3 (docs/tls.md), or encrypt against onlookers \
             only by ssl-mode=REQUIRED",
        ),
        TlsFault::CertificateDemanded => {
            (ErrorClass::Login, "give one with ssl-cert=FILE and ssl-key=FILE")
        }
        TlsFault::CertificateRefused(_) => {
            (ErrorClass::Login, "give one that an authority of the server's ssl_ca has signed")
        }
        TlsFault::NothingInCommon(_) => (
            ErrorClass::Login,
            "dyno speaks TLS 1.2 and 1.3 with keys that are agreed on for each connection (ECDHE)",
        ),
        TlsFault::KeysUsedUp => (ErrorClass::Connection, "a new connection has new ones"),
        TlsFault::Alert(_) | TlsFault::Broken(_) => {
            (ErrorClass::Protocol, "the server's log may say why")
        }
    };
    Some(Failure::new(class, "", format!("{}: {fault}; {remedy}", address.name)))
}

fn lost_in_handshake(address: &Address) -> Failure {
    let message = format!("{}: {}; its log may say why", address.name, TlsFault::Closed);
    Failure::new(ErrorClass::Connection, "", message)
}
