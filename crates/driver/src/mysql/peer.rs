//! The server at the other end of a connection: its address, the protection of the connection, and how the login was
//! made.

use std::rc::Rc;

use net::Endpoint;

use super::codec::{Channel, Method, PasswordSent};
use crate::Address;
use crate::ssl_options::CertificateCheck;

/// The facts that a session knows about its server.
#[derive(Debug)]
pub(super) struct Peer {
    pub(super) address: Address,
    /// How the certificate was checked; `None` when the connection is not encrypted.
    pub(super) certificate: Option<CertificateCheck>,
    /// The login's method and the form in which the password was sent; `None` before the login.
    pub(super) login: Option<(Method, PasswordSent)>,
    /// Whether the server began the session without autocommit, so that dyno turned it on.
    pub(super) sets_autocommit: bool,
    /// The texts of the session's statements, shortened.
    pub(super) texts: Vec<Rc<str>>,
}

impl Peer {
    pub(super) fn new(address: Address) -> Self {
        Self { address, certificate: None, login: None, sets_autocommit: false, texts: Vec::new() }
    }

    pub(super) fn is_on_unix_socket(&self) -> bool {
        matches!(self.address.endpoint, Endpoint::Unix(_))
    }

    /// Who can read the bytes on the wire.
    pub(super) fn channel(&self) -> Channel {
        match self.certificate {
            _ if self.is_on_unix_socket() => Channel::Private,
            Some(check) if check.verifies_server() => Channel::Private,
            Some(_) => Channel::Unverified,
            None => Channel::Open,
        }
    }

    /// For the record: the protection of the connection, how the login was made, and whether autocommit was turned on.
    pub(super) fn settings(&self) -> Vec<(String, String)> {
        let login = self.login.map(|(method, sent)| ("login", login_text(method, sent)));
        let autocommit = self.sets_autocommit.then(|| {
            ("autocommit of dyno's sessions", "ON: the server began them with OFF".to_owned())
        });
        [("connection", self.connection())]
            .into_iter()
            .chain(login)
            .chain(autocommit)
            .map(|(name, value)| (name.to_owned(), value))
            .collect()
    }

    fn connection(&self) -> String {
        let certificate =
            self.certificate.map(|check| format!("encrypted, {}", check.description()));
        match (self.is_on_unix_socket(), certificate) {
            (true, None) => "unix socket".to_owned(),
            (true, Some(certificate)) => format!("unix socket, {certificate}"),
            (false, None) => "not encrypted".to_owned(),
            (false, Some(certificate)) => certificate,
        }
    }
}

fn login_text(method: Method, sent: PasswordSent) -> String {
    let sent = match sent {
        PasswordSent::Proof => "the password was not sent, only a proof of it",
        PasswordSent::EncryptedWithKnownKey => {
            "the password was sent encrypted with the RSA key of server-public-key-path"
        }
        PasswordSent::EncryptedWithServersKey => {
            "the password was sent encrypted with an RSA key that came with the connection and was \
             not verified"
        }
        PasswordSent::Clear => "the password itself was sent",
    };
    format!("{}: {sent}", method.name())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer(endpoint: Endpoint, certificate: Option<CertificateCheck>) -> Peer {
        let address = Address { name: "db1:3306".to_owned(), endpoint };
        Peer { certificate, ..Peer::new(address) }
    }

    #[test]
    fn only_a_verified_server_or_a_unix_socket_is_a_private_channel() {
        use CertificateCheck::{AnyHost, Host, NamedAuthority, Nothing};
        let checks = [None, Some(Nothing), Some(AnyHost), Some(NamedAuthority), Some(Host)];
        let tcp = || Endpoint::Tcp("127.0.0.1:3306".parse().unwrap());
        let unix = || Endpoint::Unix("/run/s".into());
        let channels = checks.map(|check| peer(tcp(), check).channel());
        use Channel::{Open, Private, Unverified};
        assert_eq!(channels, [Open, Unverified, Unverified, Private, Private]);
        assert!(checks.into_iter().all(|check| peer(unix(), check).channel() == Private));
        let mut texts = checks.map(|check| peer(tcp(), check).connection()).to_vec();
        texts.extend([None, Some(Nothing)].map(|check| peer(unix(), check).connection()));
        insta::assert_snapshot!(texts.join("\n"), @"
        not encrypted
        encrypted, certificate not verified (protects against onlookers only)
        encrypted, certificate verified against this machine's CAs, for any host name (protects against onlookers only)
        encrypted, certificate verified against the CA of ssl-ca, for any host name
        encrypted, certificate verified against a trusted CA, and for the host name
        unix socket
        unix socket, encrypted, certificate not verified (protects against onlookers only)
        ");
    }

    #[test]
    fn the_record_says_what_was_sent_of_the_password() {
        let mut peer = peer(Endpoint::Unix("/run/s".into()), None);
        assert_eq!(peer.settings(), [("connection".to_owned(), "unix socket".to_owned())]);
        peer.login = Some((Method::ClearPassword, PasswordSent::Clear));
        let (name, text) = peer.settings().swap_remove(1);
        assert_eq!(
            (&*name, &*text),
            ("login", "mysql_clear_password: the password itself was sent")
        );
    }
}
