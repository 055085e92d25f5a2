//! Logins against scripted servers, and proofs against known ones.

use aws_lc_rs::encoding::{AsDer, PublicKeyX509Der};
use aws_lc_rs::rsa::{KeySize, OAEP_SHA1_MGF1SHA1, OaepPrivateDecryptingKey, PrivateDecryptingKey};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::super::{Greeting, Malformed};
use super::*;
use crate::Password;

const NONCE: &[u8; 20] = b"abcdefghijklmnopqrst";
const OK: &[u8] = &[0, 0, 0, 2, 0, 0, 0];
const DENIED: &[u8] = b"\xff\x15\x04#28000Access denied";
const FAST: &[u8] = &[1, 3];
const FULL: &[u8] = &[1, 4];

/// A server's RSA key: what it decrypts with, and what it sends.
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

    /// What the server makes of an encrypted password: decrypts it and takes the challenge out.
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

/// Logs in by what the server says in turn; returns the first proof and all turns.
fn converse(
    liked: &str,
    password: &str,
    (channel, public_key): (Channel, PublicKey<'_>),
    server: &[&[u8]],
) -> (String, Vec<u8>, Vec<Result<Turn, LoginError>>) {
    let password = Password::new(password);
    let credentials = Credentials { password: &password, channel, public_key };
    let (mut login, opening) = Login::begin(&greeting(liked), credentials).unwrap();
    let turns = server.iter().map(|payload| login.hear(payload)).collect();
    (opening.method.to_owned(), opening.proof, turns)
}

const OPEN: (Channel, PublicKey<'_>) = (Channel::Open, PublicKey::Withheld);
const ASKING: (Channel, PublicKey<'_>) = (Channel::Open, PublicKey::FromServer);
const PRIVATE: (Channel, PublicKey<'_>) = (Channel::Private, PublicKey::Withheld);
const ACCEPTED: Result<Turn, LoginError> = Ok(Turn::Accepted { status: 2 });

fn answer(bytes: &[u8]) -> Result<Turn, LoginError> {
    Ok(Turn::Answer(bytes.to_vec()))
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn the_native_password_is_scrambled_as_the_server_checks_it() {
    // The server holds SHA1(SHA1(password)); from the proof it gets SHA1(password) back.
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
fn a_login_begins_with_what_the_server_likes_or_else_the_native_password() {
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
    for channel in [OPEN, ASKING, PRIVATE] {
        let (_, _, turns) = converse("caching_sha2_password", "secret", channel, &[FAST, OK]);
        assert_eq!(turns, [Ok(Turn::Listen), ACCEPTED]);
    }
}

#[test]
fn an_uncached_password_is_told_as_it_is_where_nobody_can_read_along() {
    let (_, _, turns) = converse("caching_sha2_password", "secret", PRIVATE, &[FULL, OK]);
    assert_eq!(turns, [answer(b"secret\0"), ACCEPTED]);
}

#[test]
fn an_uncached_password_is_encrypted_with_the_key_that_the_server_sends() {
    let pair = KeyPair::generate();
    let key = [b"\x01", pair.pem.as_bytes()].concat();
    let (_, _, turns) = converse("caching_sha2_password", "secret", ASKING, &[FULL, &key, OK]);
    assert_eq!(turns[0], answer(&[2]));
    let Ok(Turn::Answer(encrypted)) = &turns[1] else { panic!("{turns:?}") };
    assert_eq!(pair.password(encrypted), "secret");
    assert_eq!(turns[2], ACCEPTED);
}

#[test]
fn an_uncached_password_is_encrypted_with_a_key_that_is_known() {
    let pair = KeyPair::generate();
    let key = ServerKey::from_pem(pair.pem.as_bytes()).unwrap();
    let known = (Channel::Open, PublicKey::Known(&key));
    let long = "x".repeat(40);
    for method in ["caching_sha2_password", "sha256_password"] {
        let ask = if method == "sha256_password" { switch(method, NONCE) } else { FULL.to_vec() };
        let (_, _, turns) = converse(method, &long, known, &[&ask, OK]);
        let Ok(Turn::Answer(encrypted)) = &turns[0] else { panic!("{turns:?}") };
        assert_eq!(pair.password(encrypted), long, "{method}");
        assert_eq!(turns[1], ACCEPTED);
    }
}

#[test]
fn a_password_stays_here_where_others_could_read_it_and_no_key_may_be_asked_for() {
    let (_, _, turns) = converse("caching_sha2_password", "secret", OPEN, &[FULL]);
    assert_eq!(turns, [Err(LoginError::NoKey(Method::CachingSha2Password))]);
    let (_, _, turns) = converse("", "secret", OPEN, &[&switch("sha256_password", NONCE)]);
    assert_eq!(turns, [Err(LoginError::NoKey(Method::Sha256Password))]);
    for channel in [OPEN, ASKING] {
        let clear = switch("mysql_clear_password", b"");
        let (_, _, turns) = converse("", "secret", channel, &[&clear]);
        assert_eq!(turns, [Err(LoginError::NeedsPrivateChannel("mysql_clear_password"))]);
    }
    let (_, _, turns) =
        converse("", "secret", PRIVATE, &[&switch("mysql_clear_password", b""), OK]);
    assert_eq!(turns, [answer(b"secret\0"), ACCEPTED]);
}

#[test]
fn no_password_needs_no_key() {
    for method in ["caching_sha2_password", "sha256_password"] {
        let switch = switch(method, &[NONCE.as_slice(), &[0]].concat());
        let (_, _, turns) = converse("", "", OPEN, &[&switch, OK]);
        assert_eq!(turns, [answer(&[0]), ACCEPTED], "{method}");
    }
    // TiDB asks all the same when the lone zero comes with the answer to the greeting.
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
fn a_server_may_try_several_methods_in_turn_but_not_for_ever() {
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
fn a_step_that_the_method_does_not_have_breaks_the_protocol() {
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
    let (channel, public_key) = PRIVATE;
    let begun = Login::begin(&short, Credentials { password: &password, channel, public_key });
    let malformed = Malformed("a login challenge of the wrong length");
    assert_eq!(begun.unwrap_err(), LoginError::Malformed(malformed));
}

#[test]
fn a_key_that_is_none_or_too_short_is_said_to_be() {
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
fn what_a_person_reads() {
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
        told(OPEN, &[FULL]),
        told(ASKING, &[FULL, DENIED]),
        told(ASKING, &[FULL, b"\x01junk"]),
        told(ASKING, &[DENIED]),
    ]
    .join("\n");
    insta::assert_snapshot!(all, @"
    the server asks for the login method tidb_sm3_password (TiDB's, of SM3 hashes), which dyno does not speak: log in as a user identified with caching_sha2_password over TLS
    the server asks for the login method parsec (MariaDB's, from 11.6 on), which dyno does not speak: log in as a user identified with ed25519
    the server asks for the login method authentication_webauthn_client, which dyno does not speak: log in as a user identified with caching_sha2_password, ed25519 or mysql_native_password
    the server asks for the login method mysql_old_password (of servers before 4.1), which dyno does not speak: log in as a user identified with mysql_native_password
    the server asks for the password itself, by mysql_clear_password, and others could read it on the way: log in over TLS (ssl-mode=required) or a unix socket
    caching_sha2_password needs the password itself once, and others could read it on the way: log in over TLS (ssl-mode=required), or name the server's RSA key (server-public-key-path=FILE), or trust the network with the key that the server sends (get-server-public-key=1)
    Access denied (1045), when asked for its RSA key; a server that has none, such as TiDB, takes this password only over TLS (ssl-mode=required)
    what the server sent to encrypt the password with is no RSA public key in PEM of 2,048 to 8,192 bits: log in over TLS (ssl-mode=required)
    Access denied
    ");
}

#[test]
fn a_login_under_way_does_not_show_the_password() {
    let password = Password::new("hors3");
    let (channel, public_key) = ASKING;
    let credentials = Credentials { password: &password, channel, public_key };
    let (login, _) = Login::begin(&greeting("caching_sha2_password"), credentials).unwrap();
    assert!(!format!("{login:?} {credentials:?}").contains("hors3"));
}
