//! `caching_sha2_password` and `sha256_password`: what is sent of the password, and the words of the
//! exchange.
//!
//! Source: MySQL's source documentation, "Caching_sha2_password information": when the server has no
//! hash of the password in its cache it needs the password itself, in the clear where nobody can read
//! along, and otherwise encrypted with the server's RSA key.

use sha2::{Digest, Sha256};

/// From the server: the proof was compared with the cache and is right.
pub(super) const FAST_SUCCESS: &[u8] = &[3];
/// From the server: nothing to compare with, so the password itself is needed.
pub(super) const FULL_LOGIN: &[u8] = &[4];
/// To the server: its RSA key is needed.
pub(super) const CACHING_SHA2_KEY_REQUEST: &[u8] = &[2];
/// The same in `sha256_password`.
pub(super) const SHA256_KEY_REQUEST: &[u8] = &[1];
/// No password at all is proven by a lone zero.
pub(super) const NO_PASSWORD: &[u8] = &[0];

/// `SHA256(password) XOR SHA256(SHA256(SHA256(password)) + nonce)`.
pub(super) fn scramble(password: &[u8], nonce: &[u8]) -> Vec<u8> {
    if password.is_empty() {
        return NO_PASSWORD.to_vec();
    }
    let once = Sha256::digest(password);
    let twice = Sha256::digest(once);
    let mixed = Sha256::new().chain_update(twice).chain_update(nonce).finalize();
    once.iter().zip(&mixed).map(|(left, right)| left ^ right).collect()
}

/// The password with the zero that ends it.
pub(super) fn in_clear(password: &[u8]) -> Vec<u8> {
    [password, &[0]].concat()
}

/// The password and its zero mixed with the nonce, over and over: what the RSA key encrypts.
pub(super) fn mixed_with_nonce(password: &[u8], nonce: &[u8]) -> Vec<u8> {
    in_clear(password).iter().zip(nonce.iter().cycle()).map(|(left, right)| left ^ right).collect()
}
