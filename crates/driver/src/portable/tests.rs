//! Settings that were written and read are the same, and their secrets are apart.

use std::fs;
use std::path::Path;
use std::time::Duration;

use fuzzing::SECRET;

use super::*;
use crate::LoginSources;
use crate::mysql::{RsaKeySource, StatementProtocol, Url};
use crate::{SslMode, SslOptions};

/// Writes a certificate that signed itself and its key, both in PEM form.
fn write_certificate(folder: &Path) -> SslOptions {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let [cert, key] = ["cert.pem", "key.pem"].map(|name| folder.join(name));
    fs::write(&cert, made.cert.pem()).unwrap();
    fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    let (mode, ca) = (Some(SslMode::VerifyIdentity), Some(cert.clone()));
    SslOptions { mode, ca, cert: Some(cert), key: Some(key) }
}

fn through_bytes<T: Serialize + serde::de::DeserializeOwned>(value: &T) -> (T, Vec<u8>) {
    let bytes = postcard::to_allocvec(value).unwrap();
    (postcard::from_bytes(&bytes).unwrap(), bytes)
}

fn has(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

#[test]
fn a_target_is_the_same_on_another_machine_and_its_secrets_are_apart() {
    let folder = tempfile::tempdir().unwrap();
    let ssl = write_certificate(folder.path());
    let url = format!("mysql://me:{SECRET}@127.0.0.1:3306,[::1]:3307/test");
    let url = Url { ssl, enable_cleartext_plugin: Some(true), ..Url::parse(&url).unwrap() };
    let config = mysql::Config {
        rsa_key: RsaKeySource::Server,
        protocol: StatementProtocol::Text,
        ..url.resolve(&LoginSources::default()).unwrap()
    };
    let timeouts = Timeouts { query: Some(Duration::from_millis(77)), ..Timeouts::default() };
    let target = Target::mysql(config).with_timeouts(timeouts);
    let (portable, secrets) = target.portable().unwrap();
    let (read, bytes) = through_bytes(&portable);
    assert_eq!(read, portable);
    assert!(!has(&bytes, SECRET.as_bytes()) && !has(&bytes, b"PRIVATE KEY"));
    assert!(has(&bytes, b"BEGIN CERTIFICATE"), "the authority is no secret");
    folder.close().unwrap();
    let again = read.target(&secrets).unwrap();
    assert_eq!(again.portable().unwrap(), (portable, secrets.clone()));
    assert_eq!(again.to_string(), target.to_string());
    assert_eq!(again.endpoints(), target.endpoints());
    let shown = format!("{read:?} {secrets:?} {again:?}");
    assert!(!shown.contains(SECRET) && !shown.contains("PRIVATE"), "{shown}");
    let other = read.target(&Secrets::default()).unwrap();
    assert_ne!(other.portable().unwrap().1, secrets, "the secrets come from nowhere else");
}

#[test]
fn every_mode_of_postgresql_is_the_same_on_another_machine() {
    for mode in ["disable", "allow", "prefer", "require"] {
        let url = format!("postgres://me:{SECRET}@127.0.0.1/test?sslmode={mode}&ps=text");
        let url = crate::postgres::Url::parse(&url).unwrap();
        let target = Target::postgres(url.resolve(&LoginSources::default()).unwrap());
        let (portable, secrets) = target.portable().unwrap();
        let (read, _) = through_bytes(&portable);
        assert_eq!(read, portable, "{mode}");
        assert_eq!(read.encryption == PortableEncryption::Never, mode == "disable");
        let again = read.target(&secrets).unwrap();
        assert_eq!(again.portable().unwrap(), (portable, secrets), "{mode}");
    }
}

#[test]
fn a_service_is_the_same_on_another_machine() {
    let folder = tempfile::tempdir().unwrap();
    let ssl = write_certificate(folder.path());
    let plain = Service::resolve(Protocol::Grpc, "grpc://127.0.0.1:7,127.0.0.1:8/a.B/C").unwrap();
    let named = Service { authority: Some("a.internal:7".to_owned()), ..plain.clone() };
    for service in [plain.clone(), plain.encrypted(&ssl).unwrap(), named] {
        let (portable, secrets) = service.portable();
        let (read, bytes) = through_bytes(&portable);
        assert!(!has(&bytes, b"PRIVATE KEY"));
        let again = read.service(&secrets).unwrap();
        assert_eq!(again.portable(), (portable, secrets));
        assert_eq!(
            (again.to_string(), again.endpoints()),
            (service.to_string(), service.endpoints())
        );
        assert_eq!(again.tls.is_some(), service.tls.is_some());
        assert_eq!(again.authority, service.authority);
    }
}

#[test]
fn an_authority_that_cannot_be_used_is_named() {
    let tls = PortableTls {
        check: CertificateCheck::NamedAuthority,
        authorities: Some(b"no certificate".to_vec()),
    };
    let failure = tls.tls(&Secrets::default()).unwrap_err();
    assert!(failure.message.starts_with("TLS cannot be used here: "), "{failure}");
}

#[test]
fn an_embedded_database_has_no_form_for_another_machine() {
    assert!(Target::sqlite(crate::sqlite::Config::new("x.db")).portable().is_none());
}
