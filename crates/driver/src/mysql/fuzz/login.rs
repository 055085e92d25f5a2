//! Logins with servers that send arbitrary messages.

use plan::Password;

use super::super::codec::{
    Channel, Credentials, Greeting, Login, LoginAction, LoginError, Method, PacketReader,
    PasswordSent, PublicKey, ServerKey,
};
use super::{RSA_KEY, SECRET};

/// A server may change the method eight times, and each method has at most three answers.
const ANSWERS_MAX: usize = 9 * 3;

/// A login ends, never shows the password, and sends it unencrypted only to a server that was verified or that the
/// user has allowed.
pub(super) fn login(bytes: &[u8]) {
    let known = ServerKey::from_pem(RSA_KEY.as_bytes()).expect("the fuzzer's own key is one");
    let keys = [PublicKey::Known(&known), PublicKey::FromServer, PublicKey::Withheld];
    let password = Password::new(SECRET);
    for channel in [Channel::Open, Channel::Unverified, Channel::Private] {
        for public_key in keys {
            for allows_clear_password in [false, true] {
                let credentials =
                    Credentials { password: &password, channel, public_key, allows_clear_password };
                for liked in ["caching_sha2_password", "mysql_native_password"] {
                    converse(bytes, liked, credentials);
                }
            }
        }
    }
}

fn converse(bytes: &[u8], liked: &str, credentials: Credentials<'_>) {
    let may_send = match credentials.channel {
        Channel::Open => false,
        Channel::Unverified => credentials.allows_clear_password,
        Channel::Private => true,
    };
    let Ok((mut login, opening)) = Login::begin(&greeting(liked), credentials) else {
        panic!("a sound greeting is not answered");
    };
    assert!(!holds_secret(&opening.proof), "the first message tells the password");
    let mut packet_reader = PacketReader::default();
    packet_reader.push(bytes);
    let mut answers = 0;
    while let Ok(Some((payload, _))) = packet_reader.next() {
        match login.on_message(&payload) {
            Ok(LoginAction::Answer(answer)) => {
                answers += 1;
                assert!(answers <= ANSWERS_MAX, "the login does not end");
                let is_secret = holds_secret(&answer);
                assert!(may_send || !is_secret, "the password is sent to strangers");
                let (method, sent) = login.summary();
                let is_known = sent == PasswordSent::Clear;
                assert!(is_known || !is_secret, "the record hides that the password was sent");
                let is_allowed = credentials.allows_clear_password;
                assert!(is_allowed || method != Method::ClearPassword, "sent without permission");
            }
            Ok(LoginAction::Listen) => {}
            Ok(LoginAction::Accepted { .. }) => {
                assert_eq!(payload[0], 0, "a login that was not accepted is taken for one");
                return;
            }
            Err(error) => return assert_shown(&error),
        }
        assert!(!format!("{login:?}").contains(SECRET), "the password is shown");
    }
}

fn assert_shown(error: &LoginError) {
    let text = error.to_string();
    assert!(!text.contains(SECRET), "the password is shown: {text}");
    assert!(!text.contains(char::is_control), "a control character: {text:?}");
    assert!(text.len() < 8_192, "a message without end");
}

/// Whether these bytes contain the password, as it is or mixed with the challenge.
fn holds_secret(bytes: &[u8]) -> bool {
    bytes.windows(SECRET.len()).any(|window| {
        let is_clear = window == SECRET.as_bytes();
        let nonce = greeting("").nonce;
        let mixed = window.iter().zip(nonce.iter().cycle()).map(|(left, right)| left ^ right);
        is_clear || mixed.eq(SECRET.bytes())
    })
}

fn greeting(method: &str) -> Greeting {
    Greeting {
        version: "8.0".into(),
        connection_id: 1,
        capabilities: 0,
        nonce: b"abcdefghijklmnopqrst".to_vec(),
        method: method.into(),
    }
}

/// A key is refused, or its encrypted text has the key's length and does not contain the plain text.
pub(super) fn rsa_key(bytes: &[u8]) {
    let Ok(key) = ServerKey::from_pem(bytes) else { return };
    if let Ok(encrypted) = key.encrypt(SECRET.as_bytes()) {
        assert!((256..=1_024).contains(&encrypted.len()), "{} bytes", encrypted.len());
        assert!(!holds_secret(&encrypted), "the password is not encrypted");
    }
}
