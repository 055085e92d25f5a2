//! The server's RSA key, which encrypts a password where others could read it on the wire.

use std::fmt;

use aws_lc_rs::rsa::{OAEP_SHA1_MGF1SHA1, OaepPublicEncryptingKey, PublicEncryptingKey};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

const BEGIN: &str = "-----BEGIN PUBLIC KEY-----";
const END: &str = "-----END PUBLIC KEY-----";

/// A server's public RSA key.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerKey {
    /// X.509 SubjectPublicKeyInfo.
    der: Vec<u8>,
}

/// An error of a key, or a text too long for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BadKey {
    /// Not in the format of the server's `public_key.pem`.
    #[error("no RSA public key in PEM of 2,048 to 8,192 bits")]
    NoKey,
    /// OAEP accepts texts up to the key's length less 42 bytes.
    #[error("an RSA key that is too short for this password")]
    TooShort,
}

impl ServerKey {
    /// Reads the key from PEM, the format in which the server sends it and stores it in `public_key.pem`.
    pub(crate) fn from_pem(pem: &[u8]) -> Result<Self, BadKey> {
        let text = std::str::from_utf8(pem).map_err(|_| BadKey::NoKey)?;
        let (_, rest) = text.split_once(BEGIN).ok_or(BadKey::NoKey)?;
        let (body, _) = rest.split_once(END).ok_or(BadKey::NoKey)?;
        let base64: String = body.split_ascii_whitespace().collect();
        let der = STANDARD.decode(base64).map_err(|_| BadKey::NoKey)?;
        let key = Self { der };
        key.encrypting()?;
        Ok(key)
    }

    /// RSA-OAEP with SHA-1, as the protocol defines it (`RSA_PKCS1_OAEP_PADDING`).
    pub(crate) fn encrypt(&self, text: &[u8]) -> Result<Vec<u8>, BadKey> {
        let key = self.encrypting()?;
        let mut encrypted = vec![0; key.ciphertext_size()];
        let filled = key.encrypt(&OAEP_SHA1_MGF1SHA1, text, &mut encrypted, None);
        let length = filled.map_err(|_| BadKey::TooShort)?.len();
        encrypted.truncate(length);
        Ok(encrypted)
    }

    fn encrypting(&self) -> Result<OaepPublicEncryptingKey, BadKey> {
        let key = PublicEncryptingKey::from_der(&self.der).map_err(|_| BadKey::NoKey)?;
        OaepPublicEncryptingKey::new(key).map_err(|_| BadKey::NoKey)
    }
}

impl fmt::Debug for ServerKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ServerKey({} bytes)", self.der.len())
    }
}
