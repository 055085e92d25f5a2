//! `caching_sha2_password` and `sha256_password`: the forms of the password that are sent, and the messages of the
//! exchange.
//!
//! Source: MySQL's source documentation, "Caching_sha2_password information". When the server has no hash of the
//! password in its cache, it needs the password itself: as it is on a private channel, and otherwise encrypted with
//! the server's RSA key.

use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

/// From the server: the proof matches the cache.
pub(super) const FAST_SUCCESS: &[u8] = &[3];
/// From the server: the cache has no entry, so the password itself is needed.
pub(super) const FULL_LOGIN: &[u8] = &[4];
/// To the server: a request for its RSA key.
pub(super) const CACHING_SHA2_KEY_REQUEST: &[u8] = &[2];
/// The same in `sha256_password`.
pub(super) const SHA256_KEY_REQUEST: &[u8] = &[1];
/// The proof of an empty password: a single zero.
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

pub(super) fn in_clear(password: &[u8]) -> Vec<u8> {
    [password, &[0]].concat()
}

/// The password and its zero mixed with the repeated nonce: the text that the RSA key encrypts.
pub(super) fn mixed_with_nonce(password: &[u8], nonce: &[u8]) -> Vec<u8> {
    let clear = Zeroizing::new(in_clear(password));
    clear.iter().zip(nonce.iter().cycle()).map(|(left, right)| left ^ right).collect()
}
