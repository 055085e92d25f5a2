//! Records of TLS (RFC 8446, section 5.1) without any encryption, and the settings of a server that encrypts.

use std::io;
use std::sync::{Arc, OnceLock};

use rcgen::{CertificateParams, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;

use crate::{Act, Framing, LengthField, LengthForm, Phase};

/// Content types of records.
pub mod kind {
    /// An alert.
    pub const ALERT: u8 = 21;
    /// Messages of the handshake.
    pub const HANDSHAKE: u8 = 22;
}

/// A record.
pub fn record(kind: u8, content: &[u8]) -> Vec<u8> {
    let [high, low] = (content.len() as u16).to_be_bytes();
    [&[kind, 3, 3, high, low], content].concat()
}

/// A ServerHello of TLS 1.2 without extensions (RFC 5246, section 7.4.1.3).
fn server_hello() -> Vec<u8> {
    let mut content = vec![2, 0, 0, 38, 3, 3];
    content.extend_from_slice(&[7; 32]);
    // No session id; ECDHE_RSA_WITH_AES_128_GCM_SHA256; no compression.
    content.extend_from_slice(&[0, 0xc0, 0x2f, 0]);
    record(kind::HANDSHAKE, &content)
}

/// The handshake on a connection on which all of this comes before.
pub fn handshake(before: Vec<Act>) -> Phase {
    // A certificate of 64 KiB minus a byte, the longest message that clients take, in records of one byte.
    let head = record(kind::HANDSHAKE, &[11, 0, 0xff, 0xff]);
    Phase {
        name: "TLS handshake",
        before,
        asked: Some(Framing::TlsRecord),
        due: server_hello(),
        length: Some(LengthField { at: 3, bytes: 2, form: LengthForm::HighFirst }),
        next: record(kind::HANDSHAKE, &[14, 0, 0, 0]),
        first_of_many: [server_hello(), head].concat(),
        repeated: record(kind::HANDSHAKE, &[0xff]),
    }
}

/// What is not of a handshake, in place of the records that follow it: no key of the connection has encrypted it.
pub fn at_record(before: &[Act]) -> Phase {
    // The content type of encrypted bytes (RFC 8446, section 5.1).
    const APPLICATION_DATA: u8 = 23;
    let begun = [Act::Encrypt, Act::Receive(Framing::Bytes(1)), Act::Decrypt];
    Phase {
        name: "TLS record",
        before: [before, &begun].concat(),
        asked: None,
        due: record(APPLICATION_DATA, &[7; 100]),
        next: record(kind::HANDSHAKE, &[14, 0, 0, 0]),
        first_of_many: Vec::new(),
        // A change of ciphers, which is ignored in a handshake.
        repeated: record(20, &[1]),
        ..handshake(Vec::new())
    }
}

/// The same phase of a connection that is encrypted from its first byte on.
pub fn within(phase: Phase) -> Phase {
    Phase { before: [vec![Act::Encrypt], phase.before].concat(), ..phase }
}

/// The settings of a server for `localhost` whose certificate no authority has signed, and that speaks HTTP/2 with
/// clients that offer it. They are the same in the whole process.
///
/// # Errors
/// When no certificate can be made.
pub fn own_certificate() -> io::Result<Arc<ServerConfig>> {
    static CONFIG: OnceLock<Arc<ServerConfig>> = OnceLock::new();
    if let Some(config) = CONFIG.get() {
        return Ok(Arc::clone(config));
    }
    let config = made_config().map_err(io::Error::other)?;
    Ok(Arc::clone(CONFIG.get_or_init(|| config)))
}

fn made_config() -> Result<Arc<ServerConfig>, Box<dyn std::error::Error + Send + Sync>> {
    let key = KeyPair::generate()?;
    let certificate = CertificateParams::new(vec!["localhost".to_owned()])?.self_signed(&key)?;
    let key = PrivateKeyDer::try_from(key.serialize_der())?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(provider);
    let builder = builder.with_safe_default_protocol_versions()?.with_no_client_auth();
    let mut config = builder.with_single_cert(vec![certificate.der().clone()], key)?;
    config.alpn_protocols = vec![b"h2".to_vec()];
    Ok(Arc::new(config))
}
