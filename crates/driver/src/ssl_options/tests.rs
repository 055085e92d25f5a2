//! Tests of modes, precedence, and messages about files that cannot be used.

use super::*;

#[test]
fn modes_are_read_as_people_write_them() {
    for (text, mode) in [
        ("DISABLED", Some(SslMode::Disabled)),
        ("preferred", Some(SslMode::Preferred)),
        ("Required", Some(SslMode::Required)),
        ("verify-ca", Some(SslMode::VerifyCa)),
        ("VERIFY_IDENTITY", Some(SslMode::VerifyIdentity)),
        ("verify", None),
        ("", None),
    ] {
        assert_eq!(SslMode::from_name(text), mode, "{text}");
    }
}

fn options(mode: Option<SslMode>, files: [&str; 3]) -> SslOptions {
    let [ca, cert, key] = files.map(|file| (!file.is_empty()).then(|| PathBuf::from(file)));
    SslOptions { mode, ca, cert, key }
}

#[test]
fn the_more_specific_ssl_option_wins_and_certificates_keep_their_keys() {
    let near = options(Some(SslMode::Required), ["", "near-cert", ""]);
    let far = options(Some(SslMode::Disabled), ["far-ca", "far-cert", "far-key"]);
    let both = options(Some(SslMode::Required), ["far-ca", "near-cert", ""]);
    assert_eq!(near.or(&far), both);
    assert_eq!(SslOptions::default().or(&far), far);
}

#[test]
fn naming_a_ca_implies_verify_ca_unless_a_mode_is_given() {
    let mode = |mode, ca| options(mode, [ca, "", ""]).effective_mode();
    assert_eq!(mode(None, ""), SslMode::Preferred);
    assert_eq!(mode(None, "ca"), SslMode::VerifyCa);
    assert_eq!(mode(Some(SslMode::Required), "ca"), SslMode::Required);
    assert_eq!(mode(Some(SslMode::VerifyIdentity), "ca"), SslMode::VerifyIdentity);
}

#[test]
fn files_are_read_only_when_something_is_to_be_encrypted() {
    let missing = ["/nonexistent/ca", "", ""];
    assert_eq!(
        options(Some(SslMode::Disabled), missing).encryption(&SSL_WORDS),
        Ok(Encryption::Never)
    );
    for mode in [None, Some(SslMode::Preferred), Some(SslMode::VerifyIdentity)] {
        let failure = options(mode, missing).encryption(&SSL_WORDS).unwrap_err();
        assert_eq!(
            failure.message,
            "cannot read /nonexistent/ca: No such file or directory (os error 2)"
        );
        assert_eq!(failure.key.class, ErrorClass::Login);
    }
}
