//! The step before the login that encrypts a connection.

use std::io::ErrorKind;

use measure::{ErrorClass, Failure};
use net::tls::TlsFault;

use super::Config;
use super::secured::Secured;
use super::session::Session;
use crate::ssl_options::Encryption;

impl Session {
    /// Encrypts the connection if required. A unix socket cannot be read by others, so PostgreSQL's clients never
    /// encrypt there.
    pub(super) async fn secure(
        &mut self,
        config: &Config,
        encryption: &Encryption,
    ) -> Result<(), Failure> {
        let (tls, is_required) = match encryption {
            _ if self.peer.is_on_unix_socket() => return Ok(()),
            Encryption::Never | Encryption::WhenRefused(_) => return Ok(()),
            Encryption::WhenOffered(tls) => (tls, false),
            Encryption::Always(tls) => (tls, true),
        };
        let secured = Secured { tls: tls.clone(), negotiation: config.negotiation };
        let address = &self.peer.address;
        match secured.encrypt(&mut self.stream, address).await {
            Ok(true) => self.peer.secured = Some(secured),
            Ok(false) if is_required => return Err(self.not_offered()),
            Ok(false) => {}
            // What TLS finds wrong has words of its own.
            Err(error)
                if error.kind() == ErrorKind::InvalidData && TlsFault::of(&error).is_none() =>
            {
                let message = format!(
                    "{}: the answer to the request for TLS is none of PostgreSQL, or bytes came behind it",
                    address.name
                );
                return Err(Failure::new(ErrorClass::Protocol, "", message));
            }
            Err(error) => return Err(self.lost(&error)),
        }
        Ok(())
    }

    /// For the record: the encryption of this connection.
    pub(super) fn encryption(&self) -> String {
        match self.stream.cipher() {
            Some(cipher) => cipher.to_string(),
            None if self.peer.is_on_unix_socket() => "none (unix socket)".to_owned(),
            None => "none".to_owned(),
        }
    }

    fn not_offered(&self) -> Failure {
        let message = format!(
            "{}: TLS is wanted, but the server does not offer it; give the server a certificate (its ssl, ssl_cert_file \
             and ssl_key_file), or go without by sslmode=prefer",
            self.peer.address.name
        );
        Failure::new(ErrorClass::Login, "", message)
    }
}
