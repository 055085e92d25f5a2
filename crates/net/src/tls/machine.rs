//! The TLS of one connection without its socket: records in, plain bytes out, and the other way round.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use rustls::client::UnbufferedClientConnection;
use rustls::pki_types::ServerName;
use rustls::unbuffered::{ConnectionState, EncryptError, UnbufferedStatus};
use rustls::{Error, ProtocolVersion};

use super::outgoing::Outgoing;
use super::{TlsClient, TlsFault, Trust};

/// So much of what came may wait to be taken apart: a long message of a handshake, one read of a loop
/// and one record.
const INCOMING_BYTES_MAX: usize = 192 * 1024;
/// More room than this is given back when nothing waits.
const KEPT_BYTES: usize = 32 * 1024;
/// So much is sealed at once.
const SEALED_BYTES: usize = 64 * 1024;

/// What two sides agreed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cipher {
    version: ProtocolVersion,
    suite: &'static str,
}

/// As people know it: `TLS 1.3, TLS_AES_256_GCM_SHA384`.
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

/// What came of the bytes that came in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Opened<T> {
    /// Plain bytes, and what was made of them. There may be more.
    Plain(T),
    /// There is nothing more in what has come so far.
    Wanting,
    /// The peer has said that nothing more comes.
    Closed,
}

/// The TLS of one connection.
pub(crate) struct Machine {
    connection: UnbufferedClientConnection,
    /// What came and is not taken apart yet, after the first `taken`.
    incoming: Vec<u8>,
    taken: usize,
    /// Plain bytes that came when nobody wanted them.
    unread: Vec<u8>,
    outgoing: Outgoing,
    /// How many plain bytes are in `outgoing`.
    sealed: usize,
    is_closed: bool,
    /// What ended it; nothing is asked of rustls after that.
    fault: Option<TlsFault>,
}

impl Machine {
    /// Begins a handshake with the server that is called `host`.
    pub(crate) fn new(client: &TlsClient, host: &str) -> Result<Self, TlsFault> {
        let name = match ServerName::try_from(host) {
            Ok(name) => name.to_owned(),
            Err(_) if client.checks_names => return Err(TlsFault::UnusableName(host.to_owned())),
            // Nobody looks at it, and the server is not told addresses.
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
            is_closed: false,
            fault: None,
        };
        machine.shake_hands(&mut [])?;
        Ok(machine)
    }

    /// Goes on with the handshake after `fresh` has come.
    pub(crate) fn shake_hands(&mut self, fresh: &mut [u8]) -> Result<Opened<()>, TlsFault> {
        let mut early = Vec::new();
        let opened = self.open(fresh, |bytes| early.extend_from_slice(bytes));
        self.unread.extend_from_slice(&early);
        opened
    }

    /// Whether everything was said that comes before plain bytes.
    pub(crate) fn is_secure(&self) -> bool {
        !self.connection.is_handshaking()
    }

    /// What both sides agreed on, once they have.
    pub(crate) fn cipher(&self) -> Option<Cipher> {
        let version = self.connection.protocol_version()?;
        let suite = self.connection.negotiated_cipher_suite()?.suite().as_str()?;
        // rustls names the suites of TLS 1.3 in its own way; this is the standard's.
        let suite = match suite {
            "TLS13_AES_256_GCM_SHA384" => "TLS_AES_256_GCM_SHA384",
            "TLS13_AES_128_GCM_SHA256" => "TLS_AES_128_GCM_SHA256",
            "TLS13_CHACHA20_POLY1305_SHA256" => "TLS_CHACHA20_POLY1305_SHA256",
            other => other,
        };
        Some(Cipher { version, suite })
    }

    /// Whether something has come that was not handed out.
    pub(crate) fn has_leftover(&self) -> bool {
        self.taken < self.incoming.len() || !self.unread.is_empty()
    }

    /// Takes in what has come, deciphers it where it lies, and hands the plain bytes of at most one
    /// record to `body`.
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

    /// Keeps what cannot be taken apart yet.
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

    /// Forgets what was taken apart.
    fn forget(&mut self) {
        if self.taken == self.incoming.len() {
            self.taken = 0;
            self.incoming.clear();
            self.incoming.shrink_to(KEPT_BYTES);
        }
    }

    /// Makes records of the first of `plain`, for [`Machine::outgoing`]; at once, as far as goes into
    /// a few records.
    pub(crate) fn seal(&mut self, plain: &[u8]) -> Result<(), TlsFault> {
        let piece = &plain[..plain.len().min(SEALED_BYTES)];
        let mut unread = std::mem::take(&mut self.unread);
        let sealed = loop {
            // What came meanwhile has to be taken apart first, for rustls keeps places in it.
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

    /// Records that are to be sent.
    pub(crate) fn outgoing(&mut self) -> &mut Outgoing {
        &mut self.outgoing
    }

    /// How many plain bytes were in the records, now that all of them are sent.
    pub(crate) fn take_sealed(&mut self) -> usize {
        std::mem::take(&mut self.sealed)
    }

    /// Memory that is held here for bytes.
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

/// Has rustls go on in `buffer` until there is something to hand out or nothing left to do; `used` is
/// how much of it is done with. `seal` is made into records when all else is done.
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
                    // An empty record says nothing, and must not be taken for the end.
                    if !record.payload.is_empty() {
                        *used += discard;
                        return Ok(Opened::Plain(body(record.payload)));
                    }
                }
            }
            Ok(ConnectionState::EncodeTlsData(mut data)) => {
                outgoing.encode(|room| data.encode(room))?;
            }
            // It is in `outgoing` and will be sent; what is sealed later comes behind it.
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

/// Only keys that are used up cannot encrypt, once there is room.
fn exhausted(_error: EncryptError) -> Error {
    Error::EncryptError
}

/// After an error, takes over the alert that says so to the peer.
fn drain_alert(
    connection: &mut UnbufferedClientConnection,
    buffer: &mut [u8],
    outgoing: &mut Outgoing,
) {
    // Without anything to send, rustls would read on, and it does not expect to after an error.
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
