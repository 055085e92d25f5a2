//! What to do about a connection that TLS ended.

use std::io;

use crate::Address;
use crate::ssl_options::SslWords;
use measure::{ErrorClass, Failure};
use net::tls::TlsFault;

/// A failure of a connection that TLS ended, if that is what `error` is; `words` are those of the protocol's options.
pub(crate) fn ended_by_tls(
    address: &Address,
    error: &io::Error,
    words: &SslWords,
) -> Option<Failure> {
    let fault = TlsFault::of(error)?;
    let SslWords { ca, cert, key, plain, unchecked, unnamed, .. } = words;
    let (class, remedy) = match fault {
        TlsFault::NotTls => (
            ErrorClass::Protocol,
            format!(
                "if the server speaks TLS there, a proxy between may break it: go round the proxy, or encrypt nothing by \
                 {plain}"
            ),
        ),
        TlsFault::Closed => return Some(lost_in_handshake(address)),
        TlsFault::UnknownIssuer => (
            ErrorClass::Login,
            format!(
                "name its authority's certificate with {ca}=FILE, or encrypt against onlookers only by {unchecked}"
            ),
        ),
        TlsFault::WrongName { .. } | TlsFault::UnusableName(_) => (
            ErrorClass::Login,
            format!("connect by a name that it is for, or leave the name unchecked by {unnamed}"),
        ),
        TlsFault::Expired(_) | TlsFault::NotValidYet => {
            (ErrorClass::Login, "renew it, or set this machine's clock".to_owned())
        }
        TlsFault::BadCertificate(_) => (
            ErrorClass::Login,
            format!(
                "make one for a server, of X.509 version 3 (docs/tls.md), or encrypt against onlookers only by {unchecked}"
            ),
        ),
        TlsFault::CertificateDemanded => {
            (ErrorClass::Login, format!("give one with {cert}=FILE and {key}=FILE"))
        }
        TlsFault::CertificateRefused(_) => (
            ErrorClass::Login,
            "give one that an authority of the server's ssl_ca has signed".to_owned(),
        ),
        TlsFault::NothingInCommon(_) => (
            ErrorClass::Login,
            "dyno speaks TLS 1.2 and 1.3 with keys that are agreed on for each connection (ECDHE)"
                .to_owned(),
        ),
        TlsFault::KeysUsedUp => {
            (ErrorClass::Connection, "a new connection has new ones".to_owned())
        }
        TlsFault::Alert(_) | TlsFault::Broken(_) => {
            (ErrorClass::Protocol, "the server's log may say why".to_owned())
        }
    };
    Some(Failure::new(class, "", format!("{}: {fault}; {remedy}", address.name)))
}

fn lost_in_handshake(address: &Address) -> Failure {
    let message = format!("{}: {}; its log may say why", address.name, TlsFault::Closed);
    Failure::new(ErrorClass::Connection, "", message)
}
