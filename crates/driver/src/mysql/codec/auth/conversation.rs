//! The conversation of a login, from the greeting to the server's final answer: messages in, messages out.

use plan::Password;
use zeroize::Zeroizing;

use super::super::{AuthReply, Greeting, Malformed};
use super::method::NONCE_BYTES;
use super::{LoginError, Method, ServerKey, ed25519, native_password, sha2_password};

/// A server may let its users choose among several methods and tries them in turn (MariaDB, `IDENTIFIED VIA a OR b`).
/// More changes of the method than this are an error.
const SWITCHES_MAX: u8 = 8;

/// Who can read the bytes on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Channel {
    /// Only the server: TLS with a certificate that was verified, or a unix socket.
    Private,
    /// Only the other end, which may be an attacker: TLS with a certificate that was not verified.
    Unverified,
    /// Anyone on the network path.
    Open,
}

/// Where the server's RSA key comes from, on an open channel.
#[derive(Clone, Copy, Debug)]
pub(crate) enum PublicKey<'a> {
    Known(&'a ServerKey),
    /// From the server, over the same channel: an attacker on the path could send another one.
    FromServer,
    Withheld,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Credentials<'a> {
    pub(crate) password: &'a Password,
    pub(crate) channel: Channel,
    pub(crate) public_key: PublicKey<'a>,
    /// Whether the user allows the password itself to be sent in TLS to a server that asks for it
    /// by `mysql_clear_password`, or whose certificate was not verified.
    pub(crate) allows_clear_password: bool,
}

/// The form in which a login has sent the password, from least to most revealing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum PasswordSent {
    /// A hash or a signature of the server's challenge.
    Proof,
    /// The password, encrypted with an RSA key that was known before.
    EncryptedWithKnownKey,
    /// The password, encrypted with the RSA key that the server sent.
    EncryptedWithServersKey,
    Clear,
}

/// The first step of a login, in the answer to the server's greeting.
#[derive(Debug)]
pub(crate) struct LoginStart {
    pub(crate) method: &'static str,
    /// The proof of the password: 20, 32 or very few bytes.
    pub(crate) proof: Vec<u8>,
}

/// What the client does after a message of the server.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum LoginAction {
    Answer(Vec<u8>),
    /// Wait for the server's next message.
    Listen,
    /// Logged in; the session begins with these status bits.
    Accepted {
        status: u16,
    },
}

#[derive(Debug)]
pub(crate) struct Login<'a> {
    credentials: Credentials<'a>,
    method: Method,
    nonce: Vec<u8>,
    state: State,
    sent: PasswordSent,
    switches: u8,
}

/// The last message that the client sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    ProofSent,
    KeyRequested,
    /// Everything: only success or an error can follow.
    CredentialsSent,
}

impl<'a> Login<'a> {
    /// Begins a login, with the server's own method where that saves a round trip.
    pub(crate) fn begin(
        greeting: &Greeting,
        credentials: Credentials<'a>,
    ) -> Result<(Self, LoginStart), LoginError> {
        let method = Method::first(&greeting.method);
        let nonce = greeting.nonce.clone();
        let (state, sent) = (State::CredentialsSent, PasswordSent::Proof);
        let mut login = Self { credentials, method, nonce, state, sent, switches: 0 };
        let proof = login.make_proof()?;
        Ok((login, LoginStart { method: method.name(), proof }))
    }

    /// The method in use, and the most revealing form in which the password has been sent so far.
    pub(crate) fn summary(&self) -> (Method, PasswordSent) {
        (self.method, self.sent)
    }

    /// Processes the server's next message.
    pub(crate) fn on_message(&mut self, payload: &[u8]) -> Result<LoginAction, LoginError> {
        match AuthReply::parse(payload)? {
            AuthReply::Accepted { status } => Ok(LoginAction::Accepted { status }),
            AuthReply::Refused(error) if self.state == State::KeyRequested => {
                Err(LoginError::KeyRefused(error))
            }
            AuthReply::Refused(error) => Err(LoginError::Refused(error)),
            AuthReply::Switch { method, nonce } => self.switch(method, nonce),
            AuthReply::More { data } => self.on_more_data(&data),
        }
    }

    fn switch(&mut self, name: String, nonce: Vec<u8>) -> Result<LoginAction, LoginError> {
        self.switches += 1;
        if self.switches > SWITCHES_MAX {
            return Err(LoginError::EndlessSwitches(name));
        }
        self.method = Method::named(&name).ok_or(LoginError::UnknownMethod(name))?;
        self.nonce = nonce;
        self.make_proof().map(LoginAction::Answer)
    }

    fn make_proof(&mut self) -> Result<Vec<u8>, LoginError> {
        let password = self.credentials.password;
        self.state = State::CredentialsSent;
        match self.method {
            Method::NativePassword => {
                let nonce = self.nonce()?;
                Ok(password.reveal(|password| native_password::scramble(password, nonce)))
            }
            Method::CachingSha2Password => {
                self.state = State::ProofSent;
                let nonce = self.nonce()?;
                Ok(password.reveal(|password| sha2_password::scramble(password, nonce)))
            }
            Method::Sha256Password => self.send_password(sha2_password::SHA256_KEY_REQUEST),
            Method::Ed25519 => {
                let nonce = self.nonce.as_slice().try_into().map_err(|_| WRONG_CHALLENGE)?;
                Ok(password.reveal(|password| ed25519::sign(password, nonce)))
            }
            Method::ClearPassword => match self.credentials.channel {
                Channel::Open => Err(LoginError::ClearPasswordOnOpenChannel),
                _ if !self.credentials.allows_clear_password => {
                    Err(LoginError::ClearPasswordNotAllowed)
                }
                _ => Ok(self.in_clear()),
            },
        }
    }

    fn on_more_data(&mut self, data: &[u8]) -> Result<LoginAction, LoginError> {
        match (self.state, data) {
            (State::ProofSent, sha2_password::FAST_SUCCESS) => {
                self.state = State::CredentialsSent;
                Ok(LoginAction::Listen)
            }
            (State::ProofSent, sha2_password::FULL_LOGIN) => {
                self.send_password(sha2_password::CACHING_SHA2_KEY_REQUEST).map(LoginAction::Answer)
            }
            (State::KeyRequested, pem) => {
                let key = ServerKey::from_pem(pem)?;
                self.encrypted(&key, PasswordSent::EncryptedWithServersKey).map(LoginAction::Answer)
            }
            _ => Err(Malformed("a step of the login that its method does not have").into()),
        }
    }

    /// Sends the password itself in the form that this channel allows, or requests the key that it needs for that.
    fn send_password(&mut self, key_request: &[u8]) -> Result<Vec<u8>, LoginError> {
        self.state = State::CredentialsSent;
        if self.credentials.password.is_empty() {
            return Ok(sha2_password::NO_PASSWORD.to_vec());
        }
        match (self.credentials.channel, self.credentials.public_key) {
            (Channel::Private, _) => Ok(self.in_clear()),
            // Within TLS, servers accept the password only as it is, never encrypted with their RSA key.
            (Channel::Unverified, _) if self.credentials.allows_clear_password => {
                Ok(self.in_clear())
            }
            (Channel::Unverified, _) => Err(LoginError::UnverifiedServer(self.method)),
            (Channel::Open, PublicKey::Known(key)) => {
                self.encrypted(key, PasswordSent::EncryptedWithKnownKey)
            }
            (Channel::Open, PublicKey::FromServer) => {
                self.state = State::KeyRequested;
                Ok(key_request.to_vec())
            }
            (Channel::Open, PublicKey::Withheld) => Err(LoginError::NoKey(self.method)),
        }
    }

    fn in_clear(&mut self) -> Vec<u8> {
        self.sent = PasswordSent::Clear;
        self.credentials.password.reveal(sha2_password::in_clear)
    }

    fn encrypted(&mut self, key: &ServerKey, sent: PasswordSent) -> Result<Vec<u8>, LoginError> {
        self.state = State::CredentialsSent;
        self.sent = self.sent.max(sent);
        let nonce = self.nonce()?;
        let encrypted = self.credentials.password.reveal(|password| {
            key.encrypt(&Zeroizing::new(sha2_password::mixed_with_nonce(password, nonce)))
        });
        Ok(encrypted?)
    }

    /// The challenge, without a zero at its end.
    fn nonce(&self) -> Result<&[u8], Malformed> {
        self.nonce.get(..NONCE_BYTES).ok_or(WRONG_CHALLENGE)
    }
}

const WRONG_CHALLENGE: Malformed = Malformed("a login challenge of the wrong length");
