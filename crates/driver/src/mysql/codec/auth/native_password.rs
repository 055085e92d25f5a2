//! `mysql_native_password`: a challenge mixed with SHA-1.

use sha1::{Digest, Sha1};

/// `SHA1(password) XOR SHA1(nonce + SHA1(SHA1(password)))`; empty for an empty password. Source: MySQL Internals,
/// "Secure Password Authentication".
pub(super) fn scramble(password: &[u8], nonce: &[u8]) -> Vec<u8> {
    if password.is_empty() {
        return Vec::new();
    }
    let once = Sha1::digest(password);
    let twice = Sha1::digest(once);
    let mixed = Sha1::new().chain_update(nonce).chain_update(twice).finalize();
    once.iter().zip(&mixed).map(|(left, right)| left ^ right).collect()
}
