//! The step between the greeting and the login that encrypts a connection.

use measure::{ErrorClass, Failure};

use super::Config;
use super::codec::{Greeting, Malformed, append_tls_request, capability};
use super::session::Session;
use crate::ssl_options::{Encryption, Tls};

/// The server's number for a refused login.
const ACCESS_DENIED: &str = "1045";

impl Session {
    /// Encrypts the connection if required: announces it to the server, and then sends everything in TLS, beginning
    /// with the login.
    pub(super) async fn secure(
        &mut self,
        greeting: &Greeting,
        config: &Config,
    ) -> Result<(), Failure> {
        let is_offered = greeting.capabilities & capability::TLS != 0;
        let tls = match &config.encryption {
            // MySQL's clients have no mode that encrypts only after a refusal.
            Encryption::Never | Encryption::WhenRefused(_) => return Ok(()),
            // A unix socket cannot be read by others, so MySQL's clients do not encrypt there either.
            Encryption::WhenOffered(_) if self.peer.is_on_unix_socket() || !is_offered => {
                return Ok(());
            }
            Encryption::Always(_) if !is_offered => return Err(self.not_offered()),
            Encryption::WhenOffered(tls) | Encryption::Always(tls) => tls,
        };
        // Unencrypted bytes must not be taken for bytes from TLS.
        if !self.packet_reader.is_empty() {
            return Err(self.broken(Malformed("bytes behind the greeting, before TLS was begun")));
        }
        self.capabilities |= capability::TLS;
        self.request.clear();
        append_tls_request(&mut self.request, self.capabilities, 1);
        self.send().await?;
        self.shake_hands(tls).await
    }

    async fn shake_hands(&mut self, tls: &Tls) -> Result<(), Failure> {
        let host = self.peer.address.host().to_owned();
        let secured = self.stream.secure(&tls.client, &host).await;
        secured.map_err(|error| self.lost(&error))?;
        self.peer.certificate = Some(tls.check);
        Ok(())
    }

    /// The number of the first packet of the login.
    pub(super) fn login_sequence(&self) -> u8 {
        if self.has(capability::TLS) { 2 } else { 1 }
    }

    /// For the record: the encryption of this connection.
    pub(super) fn encryption(&self) -> String {
        match self.stream.cipher() {
            Some(cipher) => cipher.to_string(),
            None if self.peer.is_on_unix_socket() => "none (unix socket)".to_owned(),
            None => "none".to_owned(),
        }
    }

    /// Adds a hint to a refused login: the server may accept this user only over TLS, or only with a certificate, but
    /// its message does not say so.
    pub(super) fn with_hint(&self, refusal: Failure, config: &Config) -> Failure {
        if refusal.key.code != ACCESS_DENIED {
            return refusal;
        }
        let hint = match &config.encryption {
            Encryption::WhenOffered(tls) | Encryption::Always(tls)
                if self.stream.cipher().is_some() && tls.client.lacked_certificate() =>
            {
                "; if the user is made with REQUIRE X509, give a certificate with ssl-cert and ssl-key"
            }
            Encryption::Never if !self.peer.is_on_unix_socket() => {
                "; if the user is made with REQUIRE SSL, do not set ssl-mode=DISABLED"
            }
            _ => return refusal,
        };
        Failure::new(refusal.key.class, ACCESS_DENIED, format!("{}{hint}", refusal.message))
    }

    fn not_offered(&self) -> Failure {
        let message = format!(
            "{}: TLS is wanted, but the server does not offer it; give the server a certificate (its \
             ssl_cert and ssl_key), or go without by ssl-mode=PREFERRED",
            self.peer.address.name
        );
        Failure::new(ErrorClass::Login, "", message)
    }
}
