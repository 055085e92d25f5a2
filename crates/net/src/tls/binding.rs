//! What a proof of a password is bound to: the hash of the server's certificate.
//!
//! Source: RFC 5929, section 4.1, "tls-server-end-point"; RFC 5280, section 4.1, for the certificate's form.

use ring::digest::{Algorithm, SHA256, SHA384, SHA512, digest};

/// Numbers of signature algorithms (RFC 8017, 5758), without their last part: that of RSA, of RSA-PSS, of ECDSA.
const RSA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01];
const RSA_PSS: u8 = 0x0a;
const ECDSA: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04];
/// The number of a hash within the parameters of RSA-PSS (RFC 5754), without its last part.
const HASH: &[u8] = &[0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02];

const SEQUENCE: u8 = 0x30;
const NUMBER: u8 = 0x06;

/// The hash of a certificate in DER; `None` where none is defined for its signature, as with Ed25519.
pub(super) fn end_point_hash(certificate: &[u8]) -> Option<Vec<u8>> {
    let (content, _) = element(certificate, SEQUENCE)?;
    let (_signed, rest) = element(content, SEQUENCE)?;
    let (algorithm, _signature) = element(rest, SEQUENCE)?;
    let (number, parameters) = element(algorithm, NUMBER)?;
    let hash = hash_of(number, parameters)?;
    Some(digest(hash, certificate).as_ref().to_vec())
}

/// MD5 and SHA-1 are replaced by SHA-256.
fn hash_of(number: &[u8], parameters: &[u8]) -> Option<&'static Algorithm> {
    if let Some(&[last]) = number.strip_prefix(RSA) {
        return match last {
            0x04 | 0x05 | 0x0b => Some(&SHA256),
            0x0c => Some(&SHA384),
            0x0d => Some(&SHA512),
            RSA_PSS => {
                let mut windows = parameters.windows(HASH.len() + 1);
                match windows
                    .find(|window| window.starts_with(HASH))
                    .map(|window| window[HASH.len()])
                {
                    Some(0x02) => Some(&SHA384),
                    Some(0x03) => Some(&SHA512),
                    _ => Some(&SHA256),
                }
            }
            _ => None,
        };
    }
    match number.strip_prefix(ECDSA)? {
        [0x01] | [0x03, 0x02] => Some(&SHA256),
        [0x03, 0x03] => Some(&SHA384),
        [0x03, 0x04] => Some(&SHA512),
        _ => None,
    }
}

/// The content of the element of this kind at the front, and what follows it.
fn element(bytes: &[u8], kind: u8) -> Option<(&[u8], &[u8])> {
    let (&first, rest) = bytes.split_first()?;
    let (&short, rest) = rest.split_first()?;
    let (length, rest) = match short {
        0..=0x7f => (usize::from(short), rest),
        0x80 => return None,
        // A long form of up to four bytes.
        0x81..=0x84 => {
            let (long, rest) = rest.split_at_checked(usize::from(short & 0x7f))?;
            (long.iter().fold(0, |length, byte| length << 8 | usize::from(*byte)), rest)
        }
        _ => return None,
    };
    (first == kind).then(|| rest.split_at_checked(length)).flatten()
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, KeyPair, PKCS_ECDSA_P384_SHA384, PKCS_ED25519};

    use super::*;

    fn certificate(key: &KeyPair) -> Vec<u8> {
        let params = CertificateParams::new(vec!["db".to_owned()]).unwrap();
        params.self_signed(key).unwrap().der().to_vec()
    }

    #[test]
    fn the_hash_is_that_of_the_signature_and_ed25519_has_none() {
        let plain = certificate(&KeyPair::generate().unwrap());
        assert_eq!(end_point_hash(&plain).unwrap(), digest(&SHA256, &plain).as_ref());
        let longer = certificate(&KeyPair::generate_for(&PKCS_ECDSA_P384_SHA384).unwrap());
        assert_eq!(end_point_hash(&longer).unwrap(), digest(&SHA384, &longer).as_ref());
        let none = certificate(&KeyPair::generate_for(&PKCS_ED25519).unwrap());
        assert_eq!(end_point_hash(&none), None);
        (0..plain.len()).for_each(|cut| drop(end_point_hash(&plain[..cut])));
    }
}
