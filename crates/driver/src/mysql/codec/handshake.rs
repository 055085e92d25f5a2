//! The first messages of a connection: greeting, login, change of the login method.

use super::server_error::shown;
use super::wire::{Cursor, Malformed, finish_packet, start_packet};
use super::{ServerError, capability};

/// `utf8mb4_general_ci`: known to every server that speaks this protocol.
const UTF8MB4: u8 = 45;
const PROTOCOL_VERSION: u8 = 10;
/// Length of the challenge in the greeting.
const NONCE_BYTES: usize = 20;
/// The longest challenge of any login method.
const NONCE_BYTES_MAX: usize = 64;
/// The longest version of a server.
const VERSION_CHARACTERS_MAX: usize = 256;
/// The longest name of a login method.
const METHOD_CHARACTERS_MAX: usize = 64;
/// The longest packet that dyno announces it accepts: the protocol's own limit.
const LONGEST_PACKET: u32 = 1 << 30;

/// The server's first message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Greeting {
    /// The server's version string, such as `8.0.11-TiDB-v8.5.0`.
    pub(crate) version: String,
    pub(crate) connection_id: u32,
    pub(crate) capabilities: u64,
    /// The challenge, which is mixed with the password.
    pub(crate) nonce: Vec<u8>,
    /// The login method that the server prefers.
    pub(crate) method: String,
}

impl Greeting {
    pub(crate) fn parse(payload: &[u8]) -> Result<Self, Malformed> {
        let mut cursor = Cursor(payload);
        if cursor.u8()? != PROTOCOL_VERSION {
            return Err(Malformed("the greeting is not that of a MySQL server, protocol 10"));
        }
        let version = shown(cursor.until_zero(), VERSION_CHARACTERS_MAX);
        let connection_id = cursor.u32()?;
        let mut nonce = cursor.bytes(8)?.to_vec();
        cursor.u8()?;
        let mut capabilities = u64::from(cursor.u16()?);
        let _charset = cursor.u8()?;
        let _status = cursor.u16()?;
        capabilities |= u64::from(cursor.u16()?) << 16;
        let nonce_length = usize::from(cursor.u8()?);
        cursor.bytes(6)?;
        let own = u64::from(cursor.u32()?);
        // MariaDB clears LONG_PASSWORD to identify itself, and then has bits of its own here.
        if capabilities & capability::LONG_PASSWORD == 0 {
            capabilities |= own << 32;
        }
        let rest = nonce_length.saturating_sub(8).max(13).min(cursor.0.len());
        nonce.extend_from_slice(cursor.bytes(rest)?);
        nonce.truncate(NONCE_BYTES);
        let method = shown(cursor.until_zero(), METHOD_CHARACTERS_MAX);
        Ok(Self { version, connection_id, capabilities, nonce, method })
    }
}

/// The client's answer to the greeting.
#[derive(Debug)]
pub(crate) struct LoginRequest<'a> {
    pub(crate) capabilities: u64,
    pub(crate) user: &'a str,
    /// The proof of the password, by `method`.
    pub(crate) proof: &'a [u8],
    pub(crate) database: Option<&'a str>,
    pub(crate) method: &'a str,
}

impl LoginRequest<'_> {
    pub(crate) fn encode(&self, out: &mut Vec<u8>, sequence: u8) {
        let start = start_packet(out);
        append_login_head(out, self.capabilities);
        append_zero_ended(out, self.user);
        // A proof is 32 bytes at most here, so its length is a single byte.
        out.push(self.proof.len() as u8);
        out.extend_from_slice(self.proof);
        if let Some(database) = self.database {
            append_zero_ended(out, database);
        }
        if self.capabilities & capability::PLUGIN_AUTH != 0 {
            append_zero_ended(out, self.method);
        }
        finish_packet(out, start, sequence);
    }
}

/// Appends the packet that precedes the login when TLS is used. It is the head of the login packet, so that the
/// server expects TLS.
pub(crate) fn append_tls_request(out: &mut Vec<u8>, capabilities: u64, sequence: u8) {
    let start = start_packet(out);
    append_login_head(out, capabilities);
    finish_packet(out, start, sequence);
}

fn append_login_head(out: &mut Vec<u8>, capabilities: u64) {
    let (usual, own_of_mariadb) = (capabilities as u32, (capabilities >> 32) as u32);
    out.extend_from_slice(&usual.to_le_bytes());
    out.extend_from_slice(&LONGEST_PACKET.to_le_bytes());
    out.push(UTF8MB4);
    out.extend_from_slice(&[0; 19]);
    out.extend_from_slice(&own_of_mariadb.to_le_bytes());
}

fn append_zero_ended(out: &mut Vec<u8>, text: &str) {
    out.extend(text.bytes().filter(|&byte| byte != 0));
    out.push(0);
}

/// The server's reply to a login.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum AuthReply {
    /// Accepted; the session begins with these status bits.
    Accepted {
        status: u16,
    },
    Refused(ServerError),
    /// A request to prove the password with another method. The challenge is as the server sent it, up to 64 bytes;
    /// in some methods it ends with a zero.
    Switch {
        method: String,
        nonce: Vec<u8>,
    },
    /// A further step of a method.
    More {
        data: Vec<u8>,
    },
}

impl AuthReply {
    pub(crate) fn parse(payload: &[u8]) -> Result<Self, Malformed> {
        let mut cursor = Cursor(payload);
        match cursor.u8()? {
            0x00 => {
                cursor.length()?;
                cursor.length()?;
                Ok(Self::Accepted { status: cursor.u16()? })
            }
            0x01 => Ok(Self::More { data: cursor.0.to_vec() }),
            0xff => Ok(Self::Refused(ServerError::parse(payload)?)),
            0xfe if cursor.0.is_empty() => {
                Ok(Self::Switch { method: "mysql_old_password".into(), nonce: Vec::new() })
            }
            0xfe => {
                let method = shown(cursor.until_zero(), METHOD_CHARACTERS_MAX);
                let nonce = cursor.0[..cursor.0.len().min(NONCE_BYTES_MAX)].to_vec();
                Ok(Self::Switch { method, nonce })
            }
            _ => Err(Malformed("an unknown answer to the login")),
        }
    }
}
