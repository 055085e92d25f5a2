//! The server's RSA key, which encrypts a password where others could read it on the wire.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use num_bigint::BigUint;
use ring::rand::{SecureRandom as _, SystemRandom};
use serde::{Deserialize, Serialize};
use sha1::{Digest as _, Sha1};
use zeroize::Zeroizing;

const BEGIN: &str = "-----BEGIN PUBLIC KEY-----";
const END: &str = "-----END PUBLIC KEY-----";
/// The bytes of a hash of SHA-1.
const HASH_LENGTH: usize = 20;
/// An AlgorithmIdentifier without its head: `rsaEncryption` without parameters (RFC 8017, appendix A.1).
const RSA_ENCRYPTION: &[u8] = b"\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x01\x05\x00";

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
        key.numbers().ok_or(BadKey::NoKey)?;
        Ok(key)
    }

    /// RSA-OAEP with SHA-1, as the protocol defines it (`RSA_PKCS1_OAEP_PADDING`; RFC 8017, section 7.1.1).
    pub(crate) fn encrypt(&self, text: &[u8]) -> Result<Vec<u8>, BadKey> {
        let Numbers { modulus, exponent } = self.numbers().ok_or(BadKey::NoKey)?;
        let length = modulus.bits().div_ceil(8) as usize;
        let padded = padded(text, length)?;
        let encrypted = BigUint::from_bytes_be(&padded).modpow(&exponent, &modulus).to_bytes_be();
        Ok([vec![0; length - encrypted.len()], encrypted].concat())
    }

    /// The numbers of a usable key.
    fn numbers(&self) -> Option<Numbers> {
        let mut key = only(SEQUENCE, &self.der)?;
        if take(SEQUENCE, &mut key)? != RSA_ENCRYPTION {
            return None;
        }
        // The bit string has no unused bits.
        let mut numbers = only(SEQUENCE, only(BIT_STRING, key)?.strip_prefix(&[0])?)?;
        let modulus = BigUint::from_bytes_be(take(INTEGER, &mut numbers)?);
        let exponent = BigUint::from_bytes_be(only(INTEGER, numbers)?);
        let is_usable = (2_048..=8_192).contains(&modulus.bits()) && modulus.bit(0);
        let encrypts = (2..=33).contains(&exponent.bits()) && exponent.bit(0);
        (is_usable && encrypts).then_some(Numbers { modulus, exponent })
    }
}

/// What a public key consists of.
struct Numbers {
    modulus: BigUint,
    exponent: BigUint,
}

const INTEGER: u8 = 0x02;
const BIT_STRING: u8 = 0x03;
const SEQUENCE: u8 = 0x30;

/// Takes the content of DER's first element, which must have this tag.
fn take<'a>(tag: u8, der: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (&[found, head], rest) = der.split_first_chunk()?;
    let (length, rest) = match (head, rest) {
        (0..=0x7f, rest) => (usize::from(head), rest),
        (0x81, [length, rest @ ..]) => (usize::from(*length), rest),
        (0x82, [high, low, rest @ ..]) => (usize::from(u16::from_be_bytes([*high, *low])), rest),
        _ => return None,
    };
    let (content, rest) = rest.split_at_checked(length)?;
    *der = rest;
    (found == tag).then_some(content)
}

/// The content of DER's only element.
fn only(tag: u8, mut der: &[u8]) -> Option<&[u8]> {
    let content = take(tag, &mut der)?;
    der.is_empty().then_some(content)
}

/// The text with OAEP's random padding, as long as the key.
fn padded(text: &[u8], length: usize) -> Result<Zeroizing<Vec<u8>>, BadKey> {
    let zeros = length.checked_sub(2 * HASH_LENGTH + 2 + text.len()).ok_or(BadKey::TooShort)?;
    let mut seed = [0; HASH_LENGTH];
    SystemRandom::new().fill(&mut seed).expect("the system has random bytes");
    let label = Sha1::digest([]);
    let mut block = Zeroizing::new([&label, vec![0; zeros].as_slice(), &[1], text].concat());
    mask(&mut block, &seed);
    mask(&mut seed, &block);
    Ok(Zeroizing::new([&[0], seed.as_slice(), &block].concat()))
}

/// Mixes the text with the mask that MGF1 makes of `seed` (RFC 8017, appendix B.2.1).
pub(super) fn mask(text: &mut [u8], seed: &[u8]) {
    for (number, part) in (0_u32..).zip(text.chunks_mut(HASH_LENGTH)) {
        let hash = Sha1::new().chain_update(seed).chain_update(number.to_be_bytes()).finalize();
        part.iter_mut().zip(hash).for_each(|(byte, mixed)| *byte ^= mixed);
    }
}

impl fmt::Debug for ServerKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ServerKey({} bytes)", self.der.len())
    }
}
