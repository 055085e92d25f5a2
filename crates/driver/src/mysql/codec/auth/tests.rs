//! Logins against scripted servers, and proofs against known ones.

use aws_lc_rs::encoding::{AsDer, PublicKeyX509Der};
use aws_lc_rs::rsa::{KeySize, OAEP_SHA1_MGF1SHA1, OaepPrivateDecryptingKey, PrivateDecryptingKey};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use plan::Password;

use super::super::{Greeting, Malformed};
use super::*;

const NONCE: &[u8; 20] = b"abcdefghijklmnopqrst";
const OK: &[u8] = &[0, 0, 0, 2, 0, 0, 0];
const DENIED: &[u8] = b"\xff\x15\x04#28000Access denied";
const FAST: &[u8] = &[1, 3];
const FULL: &[u8] = &[1, 4];

/// A server's RSA key: the private half to decrypt with, and the public half to send.
struct KeyPair {
    private: OaepPrivateDecryptingKey,
    pem: String,
}

impl KeyPair {
    fn generate() -> Self {
        let private = PrivateDecryptingKey::generate(KeySize::Rsa2048).unwrap();
        let der = AsDer::<PublicKeyX509Der<'_>>::as_der(&private.public_key()).unwrap();
        let base64 = STANDARD.encode(der.as_ref());
        let lines: Vec<&str> =
            base64.as_bytes().chunks(64).map(|line| std::str::from_utf8(line).unwrap()).collect();
        let pem =
            format!("-----BEGIN PUBLIC KEY-----\n{}\n-----END PUBLIC KEY-----\n", lines.join("\n"));
        Self { private: OaepPrivateDecryptingKey::new(private).unwrap(), pem }
    }

    /// The password as the server recovers it: decrypts the message and removes the challenge.
    fn password(&self, encrypted: &[u8]) -> String {
        let mut room = vec![0; self.private.min_output_size()];
        let text = self.private.decrypt(&OAEP_SHA1_MGF1SHA1, encrypted, &mut room, None).unwrap();
        let mixed = text.iter().zip(NONCE.iter().cycle());
        let mut clear: Vec<u8> = mixed.map(|(left, right)| left ^ right).collect();
        assert_eq!(clear.pop(), Some(0), "a zero ends the password");
        String::from_utf8(clear).unwrap()
    }
}

fn greeting(method: &str) -> Greeting {
    Greeting {
        version: "8.0".into(),
        connection_id: 1,
        capabilities: 0,
        nonce: NONCE.to_vec(),
        method: method.into(),
    }
}

fn switch(method: &str, nonce: &[u8]) -> Vec<u8> {
    [b"\xfe", method.as_bytes(), b"\0", nonce].concat()
}

/// The conditions under which a password is sent.
#[derive(Clone, Copy)]
struct Terms<'a> {
    channel: Channel,
    public_key: PublicKey<'a>,
    allows_clear_password: bool,
}

impl<'a> Terms<'a> {
    const fn of(channel: Channel, public_key: PublicKey<'a>) -> Self {
        Self { channel, public_key, allows_clear_password: false }
    }

    const fn allowing_clear(self) -> Self {
        Self { allows_clear_password: true, ..self }
    }

    fn credentials(self, password: &'a Password) -> Credentials<'a> {
        let Self { channel, public_key, allows_clear_password } = self;
        Credentials { password, channel, public_key, allows_clear_password }
    }
}

/// Logs in with these messages of the server, in turn; returns the first proof and all turns.
fn converse(
    liked: &str,
    password: &str,
    terms: Terms<'_>,
    server: &[&[u8]],
) -> (String, Vec<u8>, Vec<Result<LoginAction, LoginError>>) {
    let password = Password::new(password);
    let credentials = terms.credentials(&password);
    let (mut login, opening) = Login::begin(&greeting(liked), credentials).unwrap();
    let turns = server.iter().map(|payload| login.on_message(payload)).collect();
    (opening.method.to_owned(), opening.proof, turns)
}

const OPEN: Terms<'_> = Terms::of(Channel::Open, PublicKey::Withheld);
const ASKING: Terms<'_> = Terms::of(Channel::Open, PublicKey::FromServer);
const UNVERIFIED: Terms<'_> = Terms::of(Channel::Unverified, PublicKey::Withheld);
const PRIVATE: Terms<'_> = Terms::of(Channel::Private, PublicKey::Withheld);
const ACCEPTED: Result<LoginAction, LoginError> = Ok(LoginAction::Accepted { status: 2 });

fn answer(bytes: &[u8]) -> Result<LoginAction, LoginError> {
    Ok(LoginAction::Answer(bytes.to_vec()))
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn the_native_password_is_scrambled_as_the_server_checks_it() {
    // The server stores SHA1(SHA1(password)) and recovers SHA1(password) from the proof.
    use sha1::{Digest, Sha1};
    let proof = native_password::scramble(b"secret", NONCE);
    let stored = Sha1::digest(Sha1::digest(b"secret"));
    let mask = Sha1::new().chain_update(NONCE).chain_update(stored).finalize();
    let once: Vec<u8> = proof.iter().zip(&mask).map(|(left, right)| left ^ right).collect();
    assert_eq!(Sha1::digest(once), stored);
    assert_eq!(native_password::scramble(b"", NONCE), b"");
}

#[test]
fn the_sha2_password_is_scrambled_as_other_drivers_do() {
    // Vectors: the tests of Go's MySQL driver, `TestScrambleSHA256Pass`.
    let nonce = [10, 47, 74, 111, 75, 73, 34, 48, 88, 76, 114, 74, 37, 13, 3, 80, 82, 2, 23, 21];
    let proof = |password: &str| hexadecimal(&sha2_password::scramble(password.as_bytes(), &nonce));
    assert_eq!(proof("secret"), "f490e76f66d9d86665ce54d98c78d0acfe2fb0b08b423da807144873d30b312c");
    assert_eq!(
        proof("secret2"),
        "abc3934a012cf342e876071c8ee202de51785b430258a7a0138bc79c4d800bc6"
    );
    assert_eq!(proof(""), "00");
}

#[test]
fn a_login_starts_with_the_servers_method_or_native_password() {
    let begins = |liked| {
        let (method, proof, _) = converse(liked, "secret", PRIVATE, &[]);
        (method, proof.len())
    };
    assert_eq!(begins("caching_sha2_password"), ("caching_sha2_password".into(), 32));
    for other in ["mysql_native_password", "", "sha256_password", "mysql_clear_password", "x"] {
        assert_eq!(begins(other), ("mysql_native_password".into(), 20), "{other}");
    }
}

#[test]
fn a_cached_password_takes_the_fast_path_on_any_channel() {
    for channel in [OPEN, ASKING, UNVERIFIED, PRIVATE] {
        let (_, _, turns) = converse("caching_sha2_password", "secret", channel, &[FAST, OK]);
        assert_eq!(turns, [Ok(LoginAction::Listen), ACCEPTED]);
    }
}

#[test]
fn an_uncached_password_is_sent_in_clear_to_a_verified_server() {
    let (_, _, turns) = converse("caching_sha2_password", "secret", PRIVATE, &[FULL, OK]);
    assert_eq!(turns, [answer(b"secret\0"), ACCEPTED]);
}

#[test]
fn an_uncached_password_is_sent_to_an_unverified_server_only_when_the_user_allows_it() {
    let pair = KeyPair::generate();
    let key = ServerKey::from_pem(pair.pem.as_bytes()).unwrap();
    let keys = [PublicKey::Withheld, PublicKey::FromServer, PublicKey::Known(&key)];
    for terms in keys.map(|key| Terms::of(Channel::Unverified, key)) {
        for method in [Method::CachingSha2Password, Method::Sha256Password] {
            let ask = match method {
                Method::CachingSha2Password => FULL.to_vec(),
                _ => switch(method.name(), NONCE),
            };
            let (_, _, turns) = converse("caching_sha2_password", "secret", terms, &[&ask]);
            assert_eq!(turns, [Err(LoginError::UnverifiedServer(method))]);
            let terms = terms.allowing_clear();
            let (_, _, turns) = converse("caching_sha2_password", "secret", terms, &[&ask, OK]);
            assert_eq!(turns, [answer(b"secret\0"), ACCEPTED]);
        }
    }
}

#[test]
fn a_server_that_asks_for_the_clear_password_gets_it_in_tls_only_when_the_user_allows_it() {
    let clear = switch("mysql_clear_password", b"");
    for terms in [UNVERIFIED, PRIVATE] {
        let (_, _, turns) = converse("", "secret", terms, &[&clear]);
        assert_eq!(turns, [Err(LoginError::ClearPasswordNotAllowed)]);
        let (_, _, turns) = converse("", "secret", terms.allowing_clear(), &[&clear, OK]);
        assert_eq!(turns, [answer(b"secret\0"), ACCEPTED]);
    }
    for terms in [OPEN, ASKING, OPEN.allowing_clear(), ASKING.allowing_clear()] {
        let (_, _, turns) = converse("", "secret", terms, &[&clear]);
        assert_eq!(turns, [Err(LoginError::ClearPasswordOnOpenChannel)]);
    }
}

#[test]
fn the_summary_keeps_the_most_that_any_method_has_sent() {
    let pair = KeyPair::generate();
    let key = ServerKey::from_pem(pair.pem.as_bytes()).unwrap();
    let sent_key = [b"\x01", pair.pem.as_bytes()].concat();
    let known = Terms::of(Channel::Open, PublicKey::Known(&key));
    let native = switch("mysql_native_password", NONCE);
    let summary = |terms: Terms<'_>, server: &[&[u8]]| {
        let password = Password::new("secret");
        let credentials = terms.credentials(&password);
        let (mut login, _) = Login::begin(&greeting("caching_sha2_password"), credentials).unwrap();
        server.iter().for_each(|payload| drop(login.on_message(payload).unwrap()));
        login.summary()
    };
    use Method::{CachingSha2Password, NativePassword};
    assert_eq!(summary(OPEN, &[FAST, OK]), (CachingSha2Password, PasswordSent::Proof));
    let encrypted = (CachingSha2Password, PasswordSent::EncryptedWithKnownKey);
    assert_eq!(summary(known, &[FULL, OK]), encrypted);
    let encrypted = (CachingSha2Password, PasswordSent::EncryptedWithServersKey);
    assert_eq!(summary(ASKING, &[FULL, &sent_key, OK]), encrypted);
    let clear = (NativePassword, PasswordSent::Clear);
    assert_eq!(summary(PRIVATE, &[FULL, &native, OK]), clear);
}

#[test]
fn an_uncached_password_is_encrypted_with_the_key_that_the_server_sends() {
    let pair = KeyPair::generate();
    let key = [b"\x01", pair.pem.as_bytes()].concat();
    let (_, _, turns) = converse("caching_sha2_password", "secret", ASKING, &[FULL, &key, OK]);
    assert_eq!(turns[0], answer(&[2]));
    let Ok(LoginAction::Answer(encrypted)) = &turns[1] else { panic!("{turns:?}") };
    assert_eq!(pair.password(encrypted), "secret");
    assert_eq!(turns[2], ACCEPTED);
}

#[test]
fn an_uncached_password_is_encrypted_with_a_key_that_is_known() {
    let pair = KeyPair::generate();
    let key = ServerKey::from_pem(pair.pem.as_bytes()).unwrap();
    let known = Terms::of(Channel::Open, PublicKey::Known(&key));
    let long = "x".repeat(40);
    for method in ["caching_sha2_password", "sha256_password"] {
        let ask = if method == "sha256_password" { switch(method, NONCE) } else { FULL.to_vec() };
        let (_, _, turns) = converse(method, &long, known, &[&ask, OK]);
        let Ok(LoginAction::Answer(encrypted)) = &turns[0] else { panic!("{turns:?}") };
        assert_eq!(pair.password(encrypted), long, "{method}");
        assert_eq!(turns[1], ACCEPTED);
    }
}

#[test]
fn an_uncached_password_is_not_sent_on_an_open_connection_without_a_key() {
    let (_, _, turns) = converse("caching_sha2_password", "secret", OPEN, &[FULL]);
    assert_eq!(turns, [Err(LoginError::NoKey(Method::CachingSha2Password))]);
    let (_, _, turns) = converse("", "secret", OPEN, &[&switch("sha256_password", NONCE)]);
    assert_eq!(turns, [Err(LoginError::NoKey(Method::Sha256Password))]);
}

#[test]
fn no_password_needs_no_key() {
    for method in ["caching_sha2_password", "sha256_password"] {
        let switch = switch(method, &[NONCE.as_slice(), &[0]].concat());
        let (_, _, turns) = converse("", "", OPEN, &[&switch, OK]);
        assert_eq!(turns, [answer(&[0]), ACCEPTED], "{method}");
    }
    // TiDB still asks when the single zero comes with the answer to the greeting.
    let (_, proof, turns) = converse("caching_sha2_password", "", OPEN, &[FULL, OK]);
    assert_eq!((proof.as_slice(), turns), (&[0][..], vec![answer(&[0]), ACCEPTED]));
}

#[test]
fn a_signature_answers_a_challenge_of_32_bytes_even_one_that_ends_with_zero() {
    for nonce in [[1; 32], [0; 32]] {
        let (_, _, turns) = converse("", "secret", OPEN, &[&switch("client_ed25519", &nonce), OK]);
        assert_eq!(turns, [answer(&ed25519::sign(b"secret", &nonce)), ACCEPTED]);
    }
    let (_, _, turns) = converse("", "secret", OPEN, &[&switch("client_ed25519", NONCE)]);
    assert!(matches!(turns[..], [Err(LoginError::Malformed(_))]), "{turns:?}");
}

#[test]
fn the_number_of_login_method_switches_is_limited() {
    let native = switch("mysql_native_password", NONCE);
    let ed25519 = switch("client_ed25519", &[1; 32]);
    let (_, _, turns) = converse("", "secret", OPEN, &[&ed25519, &native, OK]);
    assert_eq!(turns[1], answer(&native_password::scramble(b"secret", NONCE)));
    assert_eq!(turns[2], ACCEPTED);
    let (_, _, turns) = converse("", "secret", OPEN, &[native.as_slice(); 9]);
    assert!(turns[..8].iter().all(Result::is_ok));
    assert_eq!(turns[8], Err(LoginError::EndlessSwitches("mysql_native_password".into())));
}

#[test]
fn unexpected_login_data_is_a_protocol_error() {
    let wrong: [(&str, &[&[u8]]); 6] = [
        ("mysql_native_password", &[FULL]),
        ("caching_sha2_password", &[&[1]]),
        ("caching_sha2_password", &[&[1, 5]]),
        ("caching_sha2_password", &[FAST, FULL]),
        ("caching_sha2_password", &[FAST, FAST]),
        ("caching_sha2_password", &[b"\x07"]),
    ];
    for (method, server) in wrong {
        let (_, _, turns) = converse(method, "secret", PRIVATE, server);
        assert!(
            matches!(turns.last(), Some(Err(LoginError::Malformed(_)))),
            "{server:?}: {turns:?}"
        );
    }
    let short = Greeting { nonce: b"abc".to_vec(), ..greeting("caching_sha2_password") };
    let password = Password::new("secret");
    let begun = Login::begin(&short, PRIVATE.credentials(&password));
    let malformed = Malformed("a login challenge of the wrong length");
    assert_eq!(begun.unwrap_err(), LoginError::Malformed(malformed));
}

#[test]
fn invalid_and_short_rsa_keys_are_reported() {
    let junk = b"\x01-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----";
    for key in [b"\x01".as_slice(), b"\x01junk", junk] {
        let (_, _, turns) = converse("caching_sha2_password", "secret", ASKING, &[FULL, key]);
        assert_eq!(turns[1], Err(LoginError::BadKey(BadKey::NoKey)));
    }
    let pair = KeyPair::generate();
    let key = ServerKey::from_pem(pair.pem.as_bytes()).unwrap();
    assert_eq!(key.encrypt(&[1; 214]).unwrap().len(), 256);
    assert_eq!(key.encrypt(&[1; 215]), Err(BadKey::TooShort));
}

#[test]
fn login_error_messages() {
    let told = |channel, server: &[&[u8]]| {
        let (_, _, turns) = converse("caching_sha2_password", "hors3", channel, server);
        let text = turns.into_iter().rev().find_map(Result::err).unwrap().to_string();
        assert!(!text.contains("hors3"), "{text}");
        text
    };
    let unknown = |name| told(OPEN, &[&switch(name, NONCE)]);
    let all = [
        unknown("tidb_sm3_password"),
        unknown("parsec"),
        unknown("authentication_webauthn_client"),
        told(OPEN, &[b"\xfe"]),
        told(OPEN, &[&switch("mysql_clear_password", b"")]),
        told(UNVERIFIED, &[&switch("mysql_clear_password", b"")]),
        told(UNVERIFIED, &[FULL]),
        told(OPEN, &[FULL]),
        told(ASKING, &[FULL, DENIED]),
        told(ASKING, &[FULL, b"\x01junk"]),
        told(ASKING, &[DENIED]),
    ]
    .join("\n");
    insta::assert_snapshot!(all, @r#"
    the server asks for the login method tidb_sm3_password (TiDB's, of SM3 hashes), which dyno does not speak: log in as a user identified with caching_sha2_password over TLS
    the server asks for the login method parsec (MariaDB's, from 11.6 on), which dyno does not speak: log in as a user identified with ed25519
    the server asks for the login method authentication_webauthn_client, which dyno does not speak: log in as a user identified with caching_sha2_password, ed25519 or mysql_native_password
    the server asks for the login method mysql_old_password (of servers before 4.1), which dyno does not speak: log in as a user identified with mysql_native_password
    the server asks for the password itself (mysql_clear_password), and the connection is not encrypted: anyone on the way could read the password; encrypt the connection by ssl-mode=VERIFY_CA and ssl-ca=FILE in the URL (in the plan ssl_mode = "verify_ca" and ssl_ca = "FILE"), and allow this method by enable-cleartext-plugin=1 in the URL (in the plan enable_cleartext_plugin = true)
    the server asks for the password itself (mysql_clear_password): if this server is not the one that you mean, its owner would have your password; allow this method by enable-cleartext-plugin=1 in the URL (in the plan enable_cleartext_plugin = true), and verify who answers by ssl-mode=VERIFY_CA and ssl-ca=FILE in the URL (in the plan ssl_mode = "verify_ca" and ssl_ca = "FILE")
    caching_sha2_password needs the password itself this time, and the server's certificate was not verified: anyone who answers in the server's place would have your password; verify the certificate by ssl-mode=VERIFY_CA and ssl-ca=FILE in the URL (in the plan ssl_mode = "verify_ca" and ssl_ca = "FILE"), or send the password all the same by enable-cleartext-plugin=1 in the URL (in the plan enable_cleartext_plugin = true)
    caching_sha2_password needs the password itself this time, and the connection is not encrypted: anyone on the way could read the password; encrypt the connection by ssl-mode=VERIFY_CA and ssl-ca=FILE in the URL (in the plan ssl_mode = "verify_ca" and ssl_ca = "FILE"), or name the server's RSA key by server-public-key-path=FILE in the URL (in the plan server_public_key_path = "FILE"), or accept any key that comes, even an attacker's, by get-server-public-key=1 in the URL (in the plan get_server_public_key = true)
    Access denied (1045), when asked for its RSA key; a server that has none, such as TiDB, takes this password only over TLS: encrypt the connection by ssl-mode=VERIFY_CA and ssl-ca=FILE in the URL (in the plan ssl_mode = "verify_ca" and ssl_ca = "FILE")
    what the server sent to encrypt the password with is no RSA public key in PEM of 2,048 to 8,192 bits: encrypt the connection by ssl-mode=VERIFY_CA and ssl-ca=FILE in the URL (in the plan ssl_mode = "verify_ca" and ssl_ca = "FILE")
    Access denied
    "#);
}

#[test]
fn a_login_under_way_does_not_show_the_password() {
    let password = Password::new("hors3");
    let credentials = ASKING.credentials(&password);
    let (login, _) = Login::begin(&greeting("caching_sha2_password"), credentials).unwrap();
    assert!(!format!("{login:?} {credentials:?}").contains("hors3"));
}
