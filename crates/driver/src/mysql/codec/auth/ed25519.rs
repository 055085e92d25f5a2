//! `client_ed25519`: MariaDB's signature of a challenge.
//!
//! Standard ed25519 expands a seed of 32 bytes by SHA-512 into a scalar and a prefix; MariaDB expands
//! the password itself, of any length. Everything after that is the standard (RFC 8032, 5.1.6).
//! Source: MariaDB's knowledge base, "Authentication Plugin - ed25519".

use ed25519_dalek::VerifyingKey;
use ed25519_dalek::hazmat::{ExpandedSecretKey, raw_sign};
use sha2::{Digest, Sha512};

/// Length of MariaDB's challenge.
pub(super) const NONCE_BYTES: usize = 32;

/// The signature of `nonce`, 64 bytes.
pub(super) fn sign(password: &[u8], nonce: &[u8; NONCE_BYTES]) -> Vec<u8> {
    let secret = expand(password);
    raw_sign::<Sha512>(&secret, nonce, &VerifyingKey::from(&secret)).to_bytes().to_vec()
}

fn expand(password: &[u8]) -> ExpandedSecretKey {
    ExpandedSecretKey::from_bytes(&Sha512::digest(password).into())
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD_NO_PAD;
    use ed25519_dalek::Signature;

    use super::*;

    /// `ed25519_password("secret")`, from MariaDB's knowledge base.
    const PUBLIC_KEY_OF_SECRET: &str = "ZIgUREUg5PVgQ6LskhXmO+eZLS0nC8be6HPjYWR4YJY";

    #[test]
    fn a_password_has_the_public_key_that_mariadb_keeps() {
        let key = VerifyingKey::from(&expand(b"secret"));
        assert_eq!(STANDARD_NO_PAD.encode(key), PUBLIC_KEY_OF_SECRET);
    }

    #[test]
    fn a_signature_holds_for_its_challenge_and_no_other() {
        let key = VerifyingKey::from(&expand(b"secret"));
        let signature = Signature::from_slice(&sign(b"secret", &[7; 32])).unwrap();
        assert!(key.verify_strict(&[7; 32], &signature).is_ok());
        assert!(key.verify_strict(&[8; 32], &signature).is_err());
    }
}
