//! Logins against scripted servers, and proofs against known ones.

use num_bigint::BigUint;
use plan::Password;
use sha1::{Digest as _, Sha1};

use super::super::{Greeting, Malformed};
use super::rsa::mask;
use super::*;

const NONCE: &[u8; 20] = b"abcdefghijklmnopqrst";
const OK: &[u8] = &[0, 0, 0, 2, 0, 0, 0];
const DENIED: &[u8] = b"\xff\x15\x04#28000Access denied";
const FAST: &[u8] = &[1, 3];
const FULL: &[u8] = &[1, 4];

/// A server's RSA key, which `openssl genrsa` made: the public half to send.
const PEM: &str = "\
-----BEGIN PUBLIC KEY-----
MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAslVrqygvLldJmoQNSdqx
/JsLPqh3xrvluSshDw11JVn66mb1Qcl/oUoDWfFP8lJlEthQqVN2pVQlVL+jlkpK
lu/4uJo0Pr1Zk9vJ00UXuwUyaS7ztIgOejxQ6LYfGQkjrrgxiwCF+5Z0ILAmohtS
wJwfprDkoOBs5l9WLxGnIfnXV2D7HydUtyEDApANZ8jaUNF+3MU9QRcONvoeApS/
AMmnw9/mxpECROCxVkoRZ4lSBQxlcJAfBRaykEgT5KJ2B6bka+VOHj718M0wDHAm
wXpVQz1xRdAXiyj7Sx7CYUewDBi7sxNui6459sMmXSV8O9BizFIjv8RGj5QB6be6
6QIDAQAB
-----END PUBLIC KEY-----
";
/// Its modulus.
const MODULUS: &str = "b2556bab282f2e57499a840d49dab1fc9b0b3ea877c6bbe5b92b210f0d752559faea66f541c97fa14a0359f14ff2526512d8\
    50a95376a5542554bfa3964a4a96eff8b89a343ebd5993dbc9d34517bb0532692ef3b4880e7a3c50e8b61f190923aeb8318b\
    0085fb967420b026a21b52c09c1fa6b0e4a0e06ce65f562f11a721f9d75760fb1f2754b7210302900d67c8da50d17edcc53d\
    41170e36fa1e0294bf00c9a7c3dfe6c6910244e0b1564a11678952050c6570901f0516b2904813e4a27607a6e46be54e1e3e\
    f5f0cd300c7026c17a55433d7145d0178b28fb4b1ec26147b00c18bbb3136e8bae39f6c3265d257c3bd062cc5223bfc4468f\
    9401e9b7bae9";
/// The private half, to decrypt with.
const PRIVATE_EXPONENT: &str = "16de630d12fd4b3d30a2f56dcf7b9183da0d62441aa956b2c4ab960a319e1a4e447727012ad0b5a2ba7487e602415f5fe1bf\
    9bf1bd7d18acc69017212f1128d3dbedc7c7d28cfc72ce70b57177c9ed6c385a35060085200cd1cb9daeae79e33fa5aa0384\
    6bea97e8392270a460f90daec5cbe89ada3ebd2389e94e352c022eeb7d0d4aff3762d67614bb11955b74c3b0a10d18bd8962\
    382445e37a3009f65830f23d656928728f49dbcb8e68b3cd2958dde6602c5bb6399816f76cbe1234629c25461a8c803f480f\
    0b57639db3ba043ac69fcfa1cf1b369da6b22763492dc5ce2c2b0eaa87cab8d56719bad0cfbe06ed653379c343ec0397a3f5\
    3b9956ece0df";
/// `known text`, encrypted by `openssl pkeyutl -encrypt -pkeyopt rsa_padding_mode:oaep`.
const OF_OPENSSL: &str = "3f8eb0cba72e666908e2b65ec19685e9de38ea9ee244ea5073b26d8170dbf429404df742dafb258c198c08fce04dd144c883\
    888ff3968721e4f4b83a3186605dda58cf42205a0aa16e5a1d812b643392a13ec8b66efbf374186da5d96c2a42c61533bd89\
    5a615d03e3c8cc06265431abbdfe30493f5953a75c75a1dca60b1414a4729cbaec7606cacc211f73cc37403551e274d7d6ad\
    efb945ff0c80783ceb2304402a8371a9de3f56a1c08d6ad877e1a6f97c9121ad8572db9c9736ba303aaad6e37d16642f9dbb\
    a817930e05c4305cf30a32ccf4d70bce687b815aac0f000b80a8c2f11a8ec356460b85433c21f9fd4746f99aced76750ea38\
    8ac6e00ff8c6";

fn number(hexadecimal: &str) -> BigUint {
    BigUint::parse_bytes(hexadecimal.as_bytes(), 16).unwrap()
}

/// The text as the server decrypts it.
fn decrypted(encrypted: &[u8]) -> Vec<u8> {
    let encrypted = BigUint::from_bytes_be(encrypted);
    let digits = encrypted.modpow(&number(PRIVATE_EXPONENT), &number(MODULUS)).to_bytes_be();
    // The zero in front of the padded text is left out, and zeros that follow it are put back.
    let padded = [vec![0; 255 - digits.len()], digits].concat();
    let (seed, block) = padded.split_at(20);
    let (mut seed, mut block) = (seed.to_vec(), block.to_vec());
    mask(&mut seed, &block);
    mask(&mut block, &seed);
    let (label, rest) = block.split_at(20);
    assert_eq!(label, Sha1::digest([]).as_slice());
    let start = rest.iter().position(|byte| *byte != 0).unwrap();
    assert_eq!(rest[start], 1);
    rest[start + 1..].to_vec()
}

/// The password as the server recovers it: decrypts the message and removes the challenge.
fn password(encrypted: &[u8]) -> String {
    let mixed = decrypted(encrypted);
    let mut clear: Vec<u8> = mixed.iter().zip(NONCE.iter().cycle()).map(|(l, r)| l ^ r).collect();
    assert_eq!(clear.pop(), Some(0), "a zero ends the password");
    String::from_utf8(clear).unwrap()
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
    let key = ServerKey::from_pem(PEM.as_bytes()).unwrap();
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
    let key = ServerKey::from_pem(PEM.as_bytes()).unwrap();
    let sent_key = [b"\x01", PEM.as_bytes()].concat();
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
    let key = [b"\x01", PEM.as_bytes()].concat();
    let (_, _, turns) = converse("caching_sha2_password", "secret", ASKING, &[FULL, &key, OK]);
    assert_eq!(turns[0], answer(&[2]));
    let Ok(LoginAction::Answer(encrypted)) = &turns[1] else { panic!("{turns:?}") };
    assert_eq!(password(encrypted), "secret");
    assert_eq!(turns[2], ACCEPTED);
}

#[test]
fn an_uncached_password_is_encrypted_with_a_key_that_is_known() {
    let key = ServerKey::from_pem(PEM.as_bytes()).unwrap();
    let known = Terms::of(Channel::Open, PublicKey::Known(&key));
    let long = "x".repeat(40);
    for method in ["caching_sha2_password", "sha256_password"] {
        let ask = if method == "sha256_password" { switch(method, NONCE) } else { FULL.to_vec() };
        let (_, _, turns) = converse(method, &long, known, &[&ask, OK]);
        let Ok(LoginAction::Answer(encrypted)) = &turns[0] else { panic!("{turns:?}") };
        assert_eq!(password(encrypted), long, "{method}");
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
fn text_is_encrypted_as_openssl_does_it() {
    assert_eq!(decrypted(&number(OF_OPENSSL).to_bytes_be()), b"known text");
    let key = ServerKey::from_pem(PEM.as_bytes()).unwrap();
    let encrypted = [(); 2].map(|()| key.encrypt(b"own text").unwrap());
    assert_ne!(encrypted[0], encrypted[1], "the padding is random");
    for encrypted in encrypted {
        assert_eq!(decrypted(&encrypted), b"own text");
    }
}

#[test]
fn invalid_and_short_rsa_keys_are_reported() {
    let junk = b"\x01-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----";
    for key in [b"\x01".as_slice(), b"\x01junk", junk] {
        let (_, _, turns) = converse("caching_sha2_password", "secret", ASKING, &[FULL, key]);
        assert_eq!(turns[1], Err(LoginError::BadKey(BadKey::NoKey)));
    }
    let key = ServerKey::from_pem(PEM.as_bytes()).unwrap();
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
