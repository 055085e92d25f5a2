//! The first messages of a connection, and what a server answers to them.

use super::bind::append_text;
use super::wire::{Cursor, Malformed, append_message};

/// Protocol 3.0.
const VERSION: u32 = 3 << 16;
const TLS_REQUEST: u32 = 80_877_103;
const CANCEL_REQUEST: u32 = 80_877_102;

fn finish(out: &mut [u8], start: usize) {
    let length = ((out.len() - start) as u32).to_be_bytes();
    out[start..start + 4].copy_from_slice(&length);
}

/// Begins a session with these settings, by name. The first message has no kind.
pub(crate) fn append_startup(out: &mut Vec<u8>, settings: &[(&str, &str)]) {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    out.extend_from_slice(&VERSION.to_be_bytes());
    for (name, value) in settings {
        append_text(out, name);
        append_text(out, value);
    }
    out.push(0);
    finish(out, start);
}

/// Asks whether the server takes TLS; it answers with one byte.
pub(crate) fn append_tls_request(out: &mut Vec<u8>) {
    out.extend_from_slice(&8_u32.to_be_bytes());
    out.extend_from_slice(&TLS_REQUEST.to_be_bytes());
}

/// Ends the statement of another session, which is known by its key; nothing is answered.
pub(crate) fn append_cancel(out: &mut Vec<u8>, key: &[u8]) {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    out.extend_from_slice(&CANCEL_REQUEST.to_be_bytes());
    out.extend_from_slice(key);
    finish(out, start);
}

/// What the server wants next in a login.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Authentication {
    Accepted,
    Cleartext,
    Md5 {
        salt: [u8; 4],
    },
    /// The names of mechanisms, the preferred one first.
    Sasl(Vec<String>),
    SaslContinue(Vec<u8>),
    SaslFinal(Vec<u8>),
    /// Kerberos, SSPI and the like.
    Other(i32),
}

/// More mechanisms than any server has.
const MECHANISMS_MAX: usize = 16;

impl Authentication {
    pub(crate) fn parse(body: &[u8]) -> Result<Self, Malformed> {
        let mut cursor = Cursor(body);
        Ok(match cursor.i32()? {
            0 => Self::Accepted,
            3 => Self::Cleartext,
            5 => Self::Md5 {
                salt: cursor.bytes(4)?.try_into().map_err(|_| Malformed("a salt of no length"))?,
            },
            10 => {
                let mut names = Vec::new();
                loop {
                    let name = cursor.text()?;
                    if name.is_empty() || names.len() == MECHANISMS_MAX {
                        break;
                    }
                    names.push(super::shown(name, 64));
                }
                Self::Sasl(names)
            }
            11 => Self::SaslContinue(cursor.0.to_vec()),
            12 => Self::SaslFinal(cursor.0.to_vec()),
            other => Self::Other(other),
        })
    }
}

/// The first answer of a SASL exchange.
pub(crate) fn append_sasl(out: &mut Vec<u8>, mechanism: &str, first: &[u8]) {
    let mut body = Vec::new();
    append_text(&mut body, mechanism);
    body.extend_from_slice(&(first.len() as u32).to_be_bytes());
    body.extend_from_slice(first);
    append_message(out, super::kind::PASSWORD, &body);
}
