//! The TLS state of one connection without its socket: it turns records into plain bytes and back.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use rustls::client::UnbufferedClientConnection;
use rustls::pki_types::ServerName;
use rustls::unbuffered::{ConnectionState, EncryptError, UnbufferedStatus};
use rustls::{Error, ProtocolVersion};

use super::binding::end_point_hash;
use super::outgoing::Outgoing;
use super::{TlsClient, TlsFault};

/// The most received bytes that may be buffered: a long handshake message, one read of the loop and one
/// record.
pub(super) const INCOMING_BYTES_MAX: usize = 192 * 1024;
/// A larger buffer is shrunk once it is empty.
const KEPT_BYTES: usize = 32 * 1024;
/// The most plain bytes that are encrypted at once.
const SEALED_BYTES: usize = 64 * 1024;

/// The negotiated version and cipher suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cipher {
    version: ProtocolVersion,
    suite: &'static str,
}

/// The usual form: `TLS 1.3, TLS_AES_256_GCM_SHA384`.
impl fmt::Display for Cipher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let version = match self.version {
            ProtocolVersion::TLSv1_3 => "TLS 1.3",
            ProtocolVersion::TLSv1_2 => "TLS 1.2",
            _ => "TLS",
        };
        write!(f, "{version}, {}", self.suite)
    }
}

/// The result of processing received bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Opened<T> {
    /// Plain bytes were passed on, with this result. There may be more.
    Plain(T),
    /// The received bytes contain no further plain bytes.
    Wanting,
    /// The peer has ended the TLS connection.
    Closed,
}

pub(crate) struct Machine {
    connection: UnbufferedClientConnection,
    /// Received bytes; those from index `taken` on are not processed yet.
    incoming: Vec<u8>,
    taken: usize,
    /// Plain bytes that arrived when nothing was being read.
    unread: Vec<u8>,
    outgoing: Outgoing,
    /// How many plain bytes are in `outgoing`.
    sealed: usize,
    /// Bytes received since the last plain ones.
    fruitless_bytes: usize,
    is_closed: bool,
    /// The error that ended the connection; rustls is not called after it.
    fault: Option<TlsFault>,
}

impl Machine {
    /// Begins a handshake with the server `host`.
    pub(crate) fn new(client: &TlsClient, host: &str) -> Result<Self, TlsFault> {
        let name = match ServerName::try_from(host) {
            Ok(name) => name.to_owned(),
            Err(_) if client.checks_names => return Err(TlsFault::UnusableName(host.to_owned())),
            // The name is not checked, and addresses are not sent to the server.
            Err(_) => ServerName::from(IpAddr::from([127, 0, 0, 1])),
        };
        let connection = UnbufferedClientConnection::new(Arc::clone(&client.config), name)?;
        let mut machine = Self {
            connection,
            incoming: Vec::new(),
            taken: 0,
            unread: Vec::new(),
            outgoing: Outgoing::default(),
            sealed: 0,
            fruitless_bytes: 0,
            is_closed: false,
            fault: None,
        };
        machine.shake_hands(&mut [])?;
        Ok(machine)
    }

    /// Continues the handshake after `fresh` was received.
    pub(crate) fn shake_hands(&mut self, fresh: &mut [u8]) -> Result<Opened<()>, TlsFault> {
        let mut early = Vec::new();
        let opened = self.open(fresh, |bytes| early.extend_from_slice(bytes));
        self.unread.extend_from_slice(&early);
        opened
    }

    pub(crate) fn is_secure(&self) -> bool {
        !self.connection.is_handshaking()
    }

    /// The hash of the server's certificate that a proof can be bound to, after the handshake.
    pub(crate) fn certificate_hash(&self) -> Option<Vec<u8>> {
        end_point_hash(self.connection.peer_certificates()?.first()?)
    }

    /// The negotiated version and cipher suite, after the handshake.
    pub(crate) fn cipher(&self) -> Option<Cipher> {
        let version = self.connection.protocol_version()?;
        let suite = self.connection.negotiated_cipher_suite()?.suite().as_str()?;
        // rustls has its own names for the suites of TLS 1.3; these are the standard's.
        let suite = match suite {
            "TLS13_AES_256_GCM_SHA384" => "TLS_AES_256_GCM_SHA384",
            "TLS13_AES_128_GCM_SHA256" => "TLS_AES_128_GCM_SHA256",
            "TLS13_CHACHA20_POLY1305_SHA256" => "TLS_CHACHA20_POLY1305_SHA256",
            other => other,
        };
        Some(Cipher { version, suite })
    }

    /// The number of bytes received since the last plain ones, which the reader counts.
    pub(crate) fn fruitless_bytes(&mut self) -> &mut usize {
        &mut self.fruitless_bytes
    }

    /// Whether there are received bytes that were not passed on.
    pub(crate) fn has_leftover(&self) -> bool {
        self.taken < self.incoming.len() || !self.unread.is_empty()
    }

    /// Reads received bytes, decrypts them in place, and passes the plain bytes of at most one record to `body`.
    pub(crate) fn open<T>(
        &mut self,
        fresh: &mut [u8],
        body: impl FnOnce(&[u8]) -> T,
    ) -> Result<Opened<T>, TlsFault> {
        if !self.unread.is_empty() {
            self.keep(fresh)?;
            return Ok(Opened::Plain(body(&std::mem::take(&mut self.unread))));
        }
        if self.is_closed {
            return Ok(Opened::Closed);
        }
        if self.taken < self.incoming.len() {
            self.keep(fresh)?;
            return self.open_kept(&[], body);
        }
        let mut used = 0;
        let opened = self.step(fresh, &mut used, &[], body);
        self.keep(&fresh[used..])?;
        opened
    }

    fn open_kept<T>(
        &mut self,
        seal: &[u8],
        body: impl FnOnce(&[u8]) -> T,
    ) -> Result<Opened<T>, TlsFault> {
        let mut incoming = std::mem::take(&mut self.incoming);
        let mut used = 0;
        let opened = self.step(&mut incoming[self.taken..], &mut used, seal, body);
        self.incoming = incoming;
        self.taken += used;
        self.forget();
        opened
    }

    /// Keeps bytes that cannot be processed yet.
    fn keep(&mut self, bytes: &[u8]) -> Result<(), TlsFault> {
        if bytes.is_empty() {
            return Ok(());
        }
        self.incoming.drain(..self.taken);
        self.taken = 0;
        if self.incoming.len() + bytes.len() > INCOMING_BYTES_MAX {
            return Err(TlsFault::Broken("a message without end".to_owned()));
        }
        self.incoming.extend_from_slice(bytes);
        Ok(())
    }

    /// Removes processed bytes.
    fn forget(&mut self) {
        if self.taken == self.incoming.len() {
            self.taken = 0;
            self.incoming.clear();
            self.incoming.shrink_to(KEPT_BYTES);
        }
    }

    /// Encrypts the first bytes of `plain` for [`Machine::outgoing`], a few records at a time.
    pub(crate) fn seal(&mut self, plain: &[u8]) -> Result<(), TlsFault> {
        let piece = &plain[..plain.len().min(SEALED_BYTES)];
        let mut unread = std::mem::take(&mut self.unread);
        let sealed = loop {
            // Bytes received meanwhile must be processed first, because rustls keeps offsets into them.
            match self.open_kept(piece, |bytes| unread.extend_from_slice(bytes)) {
                Ok(Opened::Plain(())) => {}
                Ok(Opened::Wanting) => break Ok(()),
                Ok(Opened::Closed) => break Err(TlsFault::Closed),
                Err(fault) => break Err(fault),
            }
        };
        self.unread = unread;
        self.sealed += piece.len();
        sealed
    }

    pub(crate) fn outgoing(&mut self) -> &mut Outgoing {
        &mut self.outgoing
    }

    /// How many plain bytes the records contained, after all of them are sent.
    pub(crate) fn take_sealed(&mut self) -> usize {
        std::mem::take(&mut self.sealed)
    }

    #[cfg(test)]
    pub(crate) fn capacity_bytes(&self) -> usize {
        self.incoming.capacity() + self.unread.capacity() + self.outgoing.capacity_bytes()
    }

    fn step<T>(
        &mut self,
        buffer: &mut [u8],
        used: &mut usize,
        seal: &[u8],
        body: impl FnOnce(&[u8]) -> T,
    ) -> Result<Opened<T>, TlsFault> {
        if let Some(fault) = &self.fault {
            return Err(fault.clone());
        }
        let (connection, outgoing) = (&mut self.connection, &mut self.outgoing);
        let stepped = step(connection, buffer, used, outgoing, seal, body);
        if let Ok(Opened::Closed) = stepped {
            self.is_closed = true;
        }
        stepped.map_err(|error| {
            drain_alert(&mut self.connection, &mut buffer[*used..], &mut self.outgoing);
            let fault = match self.connection.protocol_version() {
                None => TlsFault::from_handshake(error),
                Some(_) => error.into(),
            };
            self.fault.insert(fault).clone()
        })
    }
}

/// Lets rustls process `buffer` until there are plain bytes to pass on or nothing is left to do. `used` is the number
/// of processed bytes. `seal` is encrypted when all else is done.
fn step<T>(
    connection: &mut UnbufferedClientConnection,
    buffer: &mut [u8],
    used: &mut usize,
    outgoing: &mut Outgoing,
    seal: &[u8],
    body: impl FnOnce(&[u8]) -> T,
) -> Result<Opened<T>, Error> {
    loop {
        let UnbufferedStatus { mut discard, state } =
            connection.process_tls_records(&mut buffer[*used..]);
        let mut opened = None;
        match state {
            Ok(ConnectionState::ReadTraffic(mut traffic)) => {
                if let Some(record) = traffic.next_record() {
                    let record = record?;
                    discard += record.discard;
                    // An empty record must not be mistaken for the end of the stream.
                    if !record.payload.is_empty() {
                        *used += discard;
                        return Ok(Opened::Plain(body(record.payload)));
                    }
                }
            }
            Ok(ConnectionState::EncodeTlsData(mut data)) => {
                outgoing.encode(|room| data.encode(room))?;
            }
            // It is in `outgoing` and will be sent before all that is encrypted later.
            Ok(ConnectionState::TransmitTlsData(data)) => data.done(),
            Ok(ConnectionState::BlockedHandshake) => opened = Some(Opened::Wanting),
            Ok(ConnectionState::WriteTraffic(mut traffic)) => {
                if !seal.is_empty() {
                    let encrypted =
                        outgoing.encrypt(seal.len(), |room| traffic.encrypt(seal, room));
                    encrypted.map_err(exhausted)?;
                }
                opened = Some(Opened::Wanting);
            }
            Ok(ConnectionState::PeerClosed | ConnectionState::Closed) => {
                opened = Some(Opened::Closed);
            }
            Ok(_) => return Err(Error::General("an unknown state".to_owned())),
            Err(error) => {
                *used += discard;
                return Err(error);
            }
        }
        *used += discard;
        if let Some(opened) = opened {
            return Ok(opened);
        }
    }
}

/// With enough space, encryption fails only when the keys are used up.
fn exhausted(_error: EncryptError) -> Error {
    Error::EncryptError
}

/// After an error, takes the alert for the peer.
fn drain_alert(
    connection: &mut UnbufferedClientConnection,
    buffer: &mut [u8],
    outgoing: &mut Outgoing,
) {
    // With nothing to send, rustls would continue to read, which it does not expect after an error.
    while connection.wants_write() {
        let Ok(ConnectionState::EncodeTlsData(mut data)) =
            connection.process_tls_records(buffer).state
        else {
            return;
        };
        if outgoing.encode(|room| data.encode(room)).is_err() {
            return;
        }
    }
}
