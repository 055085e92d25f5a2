//! Proofs of a password: SCRAM-SHA-256, also bound to the channel, and MD5.
//!
//! Source: RFC 5802 and 7677; RFC 5929 for the binding; PostgreSQL's documentation, "SASL Authentication".

use std::fmt;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use md5::{Digest as _, Md5};
use plan::Password;
use ring::{digest, hmac, pbkdf2};
use zeroize::{Zeroize, Zeroizing};

const KEY_BYTES: usize = digest::SHA256_OUTPUT_LEN;
/// A hostile server may ask for so many rounds that they take an hour. PostgreSQL's default is 4,096.
const ROUNDS_MAX: u32 = 100_000;
/// A salt has 16 bytes.
const SALT_BYTES_MAX: usize = 1_024;
/// How many servers with different salts are remembered.
const KNOWN_MAX: usize = 16;

/// What is wrong with a server's part of the exchange.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ScramError {
    #[error("the server's part of the SCRAM exchange is malformed")]
    Malformed,
    #[error("the server's nonce does not begin with dyno's: something stands between")]
    Nonce,
    #[error(
        "the server wants {0} rounds of SCRAM, and dyno does at most 100000: lower scram_iterations on the \
         server and set the password again"
    )]
    Rounds(u32),
    #[error("the server does not prove that it knows the password: something stands between")]
    Signature,
    #[error("the server ended the SCRAM exchange: {0}")]
    Refused(String),
}

/// How the exchange is bound to the channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Binding {
    /// The client cannot bind it.
    None,
    /// It could, but the server did not offer that; the server notices if somebody has taken its offer away.
    NotOffered,
    /// To the server's certificate, by this hash.
    Certificate(Vec<u8>),
}

impl Binding {
    fn header(&self) -> &'static str {
        match self {
            Self::None => "n,,",
            Self::NotOffered => "y,,",
            Self::Certificate(_) => "p=tls-server-end-point,,",
        }
    }

    fn encoded(&self) -> String {
        let mut bytes = self.header().as_bytes().to_vec();
        if let Self::Certificate(hash) = self {
            bytes.extend_from_slice(hash);
        }
        BASE64.encode(bytes)
    }
}

/// The keys that a password gives with one salt. They are as secret as the password.
struct Keys {
    client: [u8; KEY_BYTES],
    server: [u8; KEY_BYTES],
}

impl Drop for Keys {
    fn drop(&mut self) {
        self.client.zeroize();
        self.server.zeroize();
    }
}

impl Keys {
    fn of(password: &Password, salt: &[u8], rounds: NonZeroU32) -> Self {
        let mut salted = Zeroizing::new([0; KEY_BYTES]);
        password.reveal(|password| {
            let prepared = prepared(password);
            pbkdf2::derive(pbkdf2::PBKDF2_HMAC_SHA256, rounds, salt, &prepared, &mut *salted);
        });
        Self { client: sign(&*salted, b"Client Key"), server: sign(&*salted, b"Server Key") }
    }
}

/// A password by the rules of SASLprep; one that they forbid, or that is no UTF-8, as it is: the server does the same.
fn prepared(password: &[u8]) -> Zeroizing<Vec<u8>> {
    let text = std::str::from_utf8(password).ok();
    let text = text.and_then(|text| stringprep::saslprep(text).ok());
    Zeroizing::new(text.map_or_else(|| password.to_vec(), |text| text.as_bytes().to_vec()))
}

/// The keys for one salt and number of rounds.
struct KnownSalt {
    salt: Vec<u8>,
    rounds: NonZeroU32,
    keys: Arc<Keys>,
}

/// The keys of one user: they take thousands of hashes, the same for all sessions, so they are made once.
#[derive(Clone, Default)]
pub struct KnownKeys(Arc<Mutex<Vec<KnownSalt>>>);

impl KnownKeys {
    fn of(&self, password: &Password, salt: &[u8], rounds: NonZeroU32) -> Arc<Keys> {
        // Who waits here for another thread that makes the same keys does not make them again.
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(same) = known.iter().find(|it| it.salt == salt && it.rounds == rounds) {
            return Arc::clone(&same.keys);
        }
        let keys = Arc::new(Keys::of(password, salt, rounds));
        if known.len() == KNOWN_MAX {
            known.remove(0);
        }
        known.push(KnownSalt { salt: salt.to_vec(), rounds, keys: Arc::clone(&keys) });
        keys
    }
}

/// What is remembered makes no settings differ.
impl PartialEq for KnownKeys {
    fn eq(&self, _other: &Self) -> bool {
        true
    }
}

impl fmt::Debug for KnownKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KnownKeys")
    }
}

/// One exchange, from the client's side.
pub(crate) struct Scram {
    binding: Binding,
    nonce: String,
    /// What the server has to prove at the end; `None` before its first message.
    signature: Option<[u8; KEY_BYTES]>,
}

impl Scram {
    pub(crate) fn new(binding: Binding, nonce: String) -> Self {
        Self { binding, nonce, signature: None }
    }

    /// The client's first message. PostgreSQL ignores the name of the user here, because it knows it already.
    pub(crate) fn first(&self) -> String {
        format!("{}{}", self.binding.header(), self.bare())
    }

    fn bare(&self) -> String {
        format!("n=,r={}", self.nonce)
    }

    /// The client's last message, as the answer to the server's first one.
    pub(crate) fn answer(
        &mut self,
        server_first: &[u8],
        password: &Password,
        known: &KnownKeys,
    ) -> Result<Zeroizing<String>, ScramError> {
        let text = std::str::from_utf8(server_first).map_err(|_| ScramError::Malformed)?;
        let mut parts = text.split(',');
        let mut part = |name| parts.next().and_then(|part| part.strip_prefix(name));
        let nonce = part("r=").ok_or(ScramError::Malformed)?;
        let salt = part("s=").ok_or(ScramError::Malformed)?;
        let rounds = part("i=").and_then(|it| it.parse().ok()).ok_or(ScramError::Malformed)?;
        if !nonce.starts_with(&self.nonce) || nonce.len() == self.nonce.len() {
            return Err(ScramError::Nonce);
        }
        let salt = BASE64.decode(salt).map_err(|_| ScramError::Malformed)?;
        let rounds = NonZeroU32::new(rounds).ok_or(ScramError::Malformed)?;
        if rounds.get() > ROUNDS_MAX {
            return Err(ScramError::Rounds(rounds.get()));
        }
        if salt.is_empty() || salt.len() > SALT_BYTES_MAX {
            return Err(ScramError::Malformed);
        }
        let keys = known.of(password, &salt, rounds);
        let bound = format!("c={},r={nonce}", self.binding.encoded());
        let message = format!("{},{text},{bound}", self.bare());
        let stored = digest::digest(&digest::SHA256, &keys.client);
        let mut proof = Zeroizing::new(sign(stored.as_ref(), message.as_bytes()));
        proof.iter_mut().zip(keys.client).for_each(|(byte, key)| *byte ^= key);
        self.signature = Some(sign(&keys.server, message.as_bytes()));
        Ok(Zeroizing::new(format!("{bound},p={}", BASE64.encode(*proof))))
    }

    /// Checks the server's last message.
    pub(crate) fn verify(&self, server_final: &[u8]) -> Result<(), ScramError> {
        let text = std::str::from_utf8(server_final).map_err(|_| ScramError::Malformed)?;
        if let Some(error) = text.strip_prefix("e=") {
            return Err(ScramError::Refused(super::shown(error.as_bytes(), 100)));
        }
        let sent = text.strip_prefix("v=").and_then(|it| it.split(',').next());
        let sent = sent.and_then(|it| BASE64.decode(it).ok()).ok_or(ScramError::Malformed)?;
        match self.signature {
            Some(signature) if sent == signature => Ok(()),
            _ => Err(ScramError::Signature),
        }
    }
}

fn sign(key: &[u8], message: &[u8]) -> [u8; KEY_BYTES] {
    let key = hmac::Key::new(hmac::HMAC_SHA256, key);
    let mut signature = [0; KEY_BYTES];
    signature.copy_from_slice(hmac::sign(&key, message).as_ref());
    signature
}

/// The proof of a password by MD5: of the hash that the server stores, and its salt.
pub(crate) fn md5_response(user: &str, password: &Password, salt: [u8; 4]) -> Zeroizing<String> {
    let stored = password.reveal(|password| {
        let mut hash = Md5::new();
        hash.update(password);
        hash.update(user);
        Zeroizing::new(hex(&hash.finalize()))
    });
    let mut hash = Md5::new();
    hash.update(stored.as_bytes());
    hash.update(salt);
    Zeroizing::new(format!("md5{}", hex(&hash.finalize())))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The exchange of RFC 7677, section 3, with the name that PostgreSQL leaves out.
    const SERVER_FIRST: &str = "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,\
                                s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096";

    fn begun() -> Scram {
        Scram::new(Binding::None, "rOprNGfwEbeRWgbNEkqO".to_owned())
    }

    fn answered(server_first: &str) -> Result<Zeroizing<String>, ScramError> {
        begun().answer(server_first.as_bytes(), &Password::new("pencil"), &KnownKeys::default())
    }

    #[test]
    fn keys_are_those_of_the_rfc_and_are_made_once() {
        let known = KnownKeys::default();
        let salt = BASE64.decode("W22ZaJ0SNY7soEsUEjb6gQ==").unwrap();
        let rounds = NonZeroU32::new(4096).unwrap();
        let password = Password::new("pencil");
        let keys = known.of(&password, &salt, rounds);
        // The proof and the signature of the RFC's own exchange, with its user.
        let message = "n=user,r=rOprNGfwEbeRWgbNEkqO,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,\
                       s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096,c=biws,\
                       r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0";
        let signature = BASE64.encode(sign(&keys.server, message.as_bytes()));
        assert_eq!(signature, "6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=");
        assert!(Arc::ptr_eq(&keys, &known.of(&password, &salt, rounds)));
    }

    #[test]
    fn an_answer_has_the_binding_both_nonces_and_a_proof() {
        assert_eq!(begun().first(), "n,,n=,r=rOprNGfwEbeRWgbNEkqO");
        let text = answered(SERVER_FIRST).unwrap();
        let start = "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=";
        assert!(text.starts_with(start), "{}", *text);
        let bound = Scram::new(Binding::Certificate(vec![1, 2]), "n".to_owned());
        assert_eq!(bound.first(), "p=tls-server-end-point,,n=,r=n");
    }

    #[test]
    fn a_server_that_does_not_keep_to_the_exchange_is_refused() {
        let rounds = |rounds: u64| SERVER_FIRST.replace("i=4096", &format!("i={rounds}"));
        assert_eq!(answered(&rounds(1 << 31)).unwrap_err(), ScramError::Rounds(1 << 31));
        assert_eq!(answered(&rounds(0)).unwrap_err(), ScramError::Malformed);
        assert_eq!(answered(&rounds(1 << 40)).unwrap_err(), ScramError::Malformed);
        let nonce = SERVER_FIRST.replace("rOpr", "xOpr");
        assert_eq!(answered(&nonce).unwrap_err(), ScramError::Nonce);
        let none_of_its_own = "r=rOprNGfwEbeRWgbNEkqO,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096";
        assert_eq!(answered(none_of_its_own).unwrap_err(), ScramError::Nonce);
        for wrong in ["", "r=", "r=rOprNGfwEbeRWgbNEkqOx,s=%,i=4096", "x", "e=other"] {
            assert!(answered(wrong).is_err(), "{wrong}");
        }
        let mut scram = begun();
        assert_eq!(scram.verify(b"v=AAAA"), Err(ScramError::Signature), "nothing was proven");
        let password = Password::new("pencil");
        scram.answer(SERVER_FIRST.as_bytes(), &password, &KnownKeys::default()).unwrap();
        assert_eq!(scram.verify(b"v=AAAA"), Err(ScramError::Signature));
        assert_eq!(scram.verify(b"e=no"), Err(ScramError::Refused("no".to_owned())));
    }

    #[test]
    fn passwords_are_prepared_as_the_server_prepares_them() {
        assert_eq!(*prepared("\u{2168}\u{ad}x".as_bytes()), b"IXx");
        assert_eq!(*prepared(b"\xff\x01"), b"\xff\x01");
        assert_eq!(*prepared(b"bell\x07"), b"bell\x07", "forbidden");
    }

    #[test]
    fn an_md5_response_is_as_the_server_expects_it() {
        // select 'md5' || md5(md5('hors3' || 'root') || '\x01020304'::bytea), in the server's terms.
        let stored = hex(&Md5::digest(b"hors3root"));
        let wanted = hex(&Md5::digest([stored.as_bytes(), &[1, 2, 3, 4]].concat()));
        let response = md5_response("root", &Password::new("hors3"), [1, 2, 3, 4]);
        assert_eq!(*response, format!("md5{wanted}"));
    }
}
