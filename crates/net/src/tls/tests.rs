//! The state machine with a rustls server, both in memory: handshakes and answers that are cut anywhere, certificates
//! of all kinds, and peers that violate the protocol.

mod certificates;
mod fuzz;
mod machine;
mod trust;

use std::io::{Read as _, Write as _};
use std::sync::Arc;

use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::version::{TLS12, TLS13};
use rustls::{RootCertStore, ServerConfig, ServerConnection, SupportedProtocolVersion};

pub(crate) use certificates::{Authority, Issued, Lifetime};

use super::*;

pub(crate) const VERSIONS: [&SupportedProtocolVersion; 2] = [&TLS12, &TLS13];

/// The settings of a server with this certificate, which requires a certificate of `clients` if that is
/// given.
pub(crate) fn server_config(
    issued: &Issued,
    version: &'static SupportedProtocolVersion,
    clients: Option<&Authority>,
) -> Arc<ServerConfig> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(&[version])
        .unwrap();
    let builder = match clients {
        None => builder.with_no_client_auth(),
        Some(authority) => {
            let mut roots = RootCertStore::empty();
            roots.add(authority.der()).unwrap();
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
            builder.with_client_cert_verifier(verifier.build().unwrap())
        }
    };
    let key = PrivateKeyDer::try_from(issued.key_der.clone()).unwrap();
    let chain = vec![CertificateDer::from(issued.der.clone())];
    Arc::new(builder.with_single_cert(chain, key).unwrap())
}

/// A server without sockets, and the plain bytes that it has received.
pub(crate) struct Server(pub(crate) ServerConnection, Vec<u8>);

impl Server {
    pub(crate) fn new(config: &Arc<ServerConfig>) -> Self {
        Self(ServerConnection::new(Arc::clone(config)).unwrap(), Vec::new())
    }

    /// Takes a client's bytes; on an error the client gets an alert.
    pub(crate) fn receive(&mut self, mut records: &[u8]) {
        while !records.is_empty() {
            self.0.read_tls(&mut records).unwrap();
            if self.0.process_new_packets().is_err() {
                return;
            }
            // The end of the received bytes is an error here, because the connection has not ended.
            let _ = self.0.reader().read_to_end(&mut self.1);
        }
    }

    pub(crate) fn records(&mut self) -> Vec<u8> {
        let mut records = Vec::new();
        while self.0.wants_write() {
            self.0.write_tls(&mut records).unwrap();
        }
        records
    }

    /// The records of an answer, together.
    pub(crate) fn answer(&mut self, plain: &[u8]) -> Vec<u8> {
        self.0.set_buffer_limit(None);
        self.0.writer().write_all(plain).unwrap();
        self.records()
    }

    /// The plain bytes of the client.
    pub(crate) fn received(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.1)
    }
}

pub(crate) fn records_of(machine: &mut Machine) -> Vec<u8> {
    let outgoing = machine.outgoing();
    let records = outgoing.bytes().to_vec();
    outgoing.advance(records.len());
    records
}

/// Exchanges bytes until neither side has any to send. The server's bytes are split in two at offset `cut`.
pub(crate) fn talk(
    machine: &mut Machine,
    server: &mut Server,
    cut: usize,
) -> Result<usize, TlsFault> {
    let mut said = 0;
    loop {
        let to_server = records_of(machine);
        server.receive(&to_server);
        let mut to_client = server.records();
        if to_server.is_empty() && to_client.is_empty() {
            return Ok(said);
        }
        let at = cut.saturating_sub(said).min(to_client.len());
        said += to_client.len();
        let (head, tail) = to_client.split_at_mut(at);
        machine.shake_hands(head)?;
        machine.shake_hands(tail)?;
    }
}

/// Reads all plain bytes of `records`, which arrive in pieces of `step` bytes.
pub(crate) fn open_all(
    machine: &mut Machine,
    records: &[u8],
    step: usize,
) -> Result<Vec<u8>, TlsFault> {
    let mut plain = Vec::new();
    for piece in records.chunks(step) {
        let mut piece = piece.to_vec();
        let mut fresh = &mut piece[..];
        while let Opened::Plain(()) = machine.open(fresh, |bytes| plain.extend_from_slice(bytes))? {
            fresh = &mut [];
        }
    }
    Ok(plain)
}

/// A client that trusts `authority` for everything but does not check names.
pub(crate) fn client(authority: &Authority) -> TlsClient {
    TlsClient::new(Trust::Authority(Roots::Pem(authority.pem().as_bytes())), None).unwrap()
}

pub(crate) fn connected(version: &'static SupportedProtocolVersion) -> (Machine, Server) {
    let authority = Authority::new("authority");
    let issued = authority.issue(&["db.example"], Lifetime::Now);
    let mut machine = Machine::new(&client(&authority), "db.example").unwrap();
    let mut server = Server::new(&server_config(&issued, version, None));
    talk(&mut machine, &mut server, 0).unwrap();
    assert!(machine.is_secure());
    (machine, server)
}
