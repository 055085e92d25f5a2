//! Every login method, on servers that require it: a real MariaDB, and a server in Go for the methods that MariaDB
//! does not have.

use driver::LoginSources;
use driver::mysql::Url;
use driver::{Datum, Target};
use measure::{Failure, Traffic};

use crate::driver_support::{address, cell, run};
use crate::go_mysql::{GoMysql, PASSWORD, PASSWORD_IN_URL, Place};
use crate::sandbox::{Sandbox, both};
use crate::server;

/// A connection without TLS; the server may send its RSA key.
const NO_TLS: &str = "?ssl-mode=disabled&get-server-public-key=1";
/// The same where the server offers no TLS.
const ASK_FOR_KEY: &str = "?get-server-public-key=1";
/// TLS with an unverified certificate, and permission to send the password nevertheless.
const UNVERIFIED: &str = "?ssl-mode=required&enable-cleartext-plugin=1";

fn target(url: &str) -> Result<Target, Failure> {
    Ok(Target::mysql(Url::parse(url).unwrap().resolve(&LoginSources::default())?))
}

/// Logs in and runs a query; returns the bytes sent and received until then.
fn log_in(url: &str) -> Result<Traffic, Failure> {
    let target = target(url)?;
    run(|handle| async move {
        let mut session = target.connect(&handle, 0).await?;
        let traffic = session.take_traffic();
        assert_eq!(cell(&mut session, "SELECT 1").await, Datum::Int(1));
        session.close().await;
        Ok(traffic)
    })
}

/// A login that must be refused because of its password; returns the message.
fn refused(url: &str) -> String {
    let failure = log_in(url).expect_err("a wrong password is let in");
    assert_eq!(failure.key.to_string(), "login 1045", "{failure}");
    assert!(!failure.message.contains("carr"), "{failure}");
    failure.message.clone()
}

/// The right password, a wrong one and none, for a user with a password and one without.
fn try_passwords(server: &GoMysql, place: Place, user: &str, options: &str) {
    let url = |login: &str| server.url(place, login, options);
    let tried = format!("{user} at {place:?} {options}");
    let expect = |login: &str| {
        log_in(&url(login)).unwrap_or_else(|failure| panic!("{tried}: {failure}"));
    };
    expect(&format!("{user}:{PASSWORD_IN_URL}"));
    expect(&format!("{user}_empty"));
    refused(&url(&format!("{user}:carrot")));
    refused(&url(user));
    refused(&url(&format!("{user}_empty:carrot")));
    // Now from the cache, if there is one.
    expect(&format!("{user}:{PASSWORD_IN_URL}"));
    refused(&url(&format!("{user}:carrot")));
}

#[test]
fn every_method_accepts_only_the_right_password_without_tls() {
    let server = GoMysql::start();
    for place in [Place::Tls, Place::Native] {
        for user in ["native", "caching", "sha256"] {
            try_passwords(&server, place, user, NO_TLS);
        }
    }
    for user in ["native", "caching"] {
        try_passwords(&server, Place::Plain, user, ASK_FOR_KEY);
    }
}

#[test]
fn every_method_accepts_only_the_right_password_over_tls() {
    let server = GoMysql::start();
    for place in [Place::Tls, Place::Native] {
        for user in ["native", "caching", "sha256", "clear"] {
            try_passwords(&server, place, user, UNVERIFIED);
        }
    }
}

/// Options that verify the server's certificate.
fn verified(server: &GoMysql) -> String {
    format!("?ssl-mode=verify-identity&ssl-ca={}", server.authority().display())
}

#[test]
fn sha2_passwords_need_no_further_option_when_the_certificate_is_verified() {
    let server = GoMysql::start();
    for user in ["native", "caching", "sha256"] {
        try_passwords(&server, Place::Tls, user, &verified(&server));
    }
}

/// A login that dyno aborts itself; returns the message.
fn withheld(url: &str) -> String {
    let failure = log_in(url).expect_err("the password is sent");
    assert_eq!(failure.key.to_string(), "login", "{failure}");
    assert!(!failure.message.contains("carr"), "{failure}");
    failure.message.clone()
}

#[test]
fn a_sha2_password_is_not_sent_to_an_unverified_server_without_the_option() {
    let server = GoMysql::start();
    let url = |user: &str, options: &str| {
        server.url(Place::Tls, &format!("{user}:{PASSWORD_IN_URL}"), options)
    };
    for options in ["", "?ssl-mode=required", "?get-server-public-key=1"] {
        for user in ["caching", "sha256"] {
            let told = withheld(&url(user, options));
            for words in ["certificate was not verified", "ssl-mode=VERIFY_CA", "ssl_ca"] {
                assert!(told.contains(words), "{words} in {told}");
            }
            assert!(told.contains("enable-cleartext-plugin=1"), "{told}");
            assert!(told.contains("enable_cleartext_plugin = true"), "{told}");
        }
    }
    log_in(&url("caching", UNVERIFIED)).unwrap();
    // Now the server has the password in its cache, so a proof is sufficient.
    log_in(&url("caching", "?ssl-mode=required")).unwrap();
    withheld(&url("sha256", "?ssl-mode=required"));
}

#[test]
fn the_clear_password_is_not_sent_without_the_option_even_to_a_verified_server() {
    let server = GoMysql::start();
    let url = |options: &str| server.url(Place::Tls, &format!("clear:{PASSWORD_IN_URL}"), options);
    let verified = verified(&server);
    for options in ["", "?ssl-mode=required", &verified] {
        let told = withheld(&url(options));
        for words in ["mysql_clear_password", "enable-cleartext-plugin=1", "ssl-ca=FILE"] {
            assert!(told.contains(words), "{words} in {told}");
        }
        assert!(told.contains("enable_cleartext_plugin = true"), "{told}");
    }
    log_in(&url(&format!("{verified}&enable-cleartext-plugin=1"))).unwrap();
}

#[test]
fn a_second_login_takes_the_fast_path() {
    let server = GoMysql::start();
    let url = server.url(Place::Plain, &format!("caching:{PASSWORD_IN_URL}"), ASK_FOR_KEY);
    let (full, fast) = (log_in(&url).unwrap(), log_in(&url).unwrap());
    // The key is 451 bytes of PEM, and the encrypted password is 256.
    assert!(full.received_bytes > fast.received_bytes + 451, "{full:?} {fast:?}");
    assert!(full.sent_bytes > fast.sent_bytes + 256, "{full:?} {fast:?}");
}

#[test]
fn the_rsa_key_comes_from_the_server_a_file_or_is_withheld() {
    let server = GoMysql::start();
    let login = format!("caching:{PASSWORD_IN_URL}");
    let url = |options: &str| server.url(Place::Plain, &login, options);
    // The server is at 127.0.0.1, where a tunnel to another machine might end.
    for options in ["", "?get-server-public-key=0"] {
        let told = withheld(&url(options));
        for word in [
            "caching_sha2_password",
            "ssl-mode=VERIFY_CA",
            "server-public-key-path=FILE",
            "server_public_key_path = ",
            "get-server-public-key=1",
            "get_server_public_key = true",
            server.address(Place::Plain),
        ] {
            assert!(told.contains(word), "{word} in {told}");
        }
    }

    let file = |path: &std::path::Path| {
        url(&format!("?get-server-public-key=0&server-public-key-path={}", path.display()))
    };
    // This server does not accept the password encrypted with another server's key.
    let other = GoMysql::start();
    let failure = log_in(&file(&other.public_key())).unwrap_err();
    assert!(failure.message.contains("decryption error"), "{failure}");
    let failure = log_in(&file(&server.authority())).unwrap_err();
    assert!(failure.message.contains("no RSA public key"), "{failure}");

    let full = log_in(&file(&server.public_key())).unwrap();
    assert!(full.received_bytes < 400, "the key was asked for all the same: {full:?}");
}

#[test]
fn the_clear_password_is_never_sent_without_tls() {
    let server = GoMysql::start();
    for options in ["", "?enable-cleartext-plugin=1"] {
        let url = server.url(Place::Plain, &format!("clear:{PASSWORD_IN_URL}"), options);
        let told = withheld(&url);
        assert!(told.contains("mysql_clear_password"), "{told}");
        assert!(told.contains("the connection is not encrypted"), "{told}");
    }
}

fn make_user(name: &str, identified: &str) {
    server::sql("INSTALL PLUGIN IF NOT EXISTS ed25519 SONAME 'auth_ed25519'");
    server::sql(&format!("CREATE OR REPLACE USER {name}@localhost IDENTIFIED {identified}"));
}

#[test]
fn mariadb_accepts_ed25519_logins() {
    let address = address();
    let long = "x".repeat(200);
    for (name, password) in [("login_ed", "carr1age"), ("login_ed_long", &long)] {
        make_user(name, &format!("VIA ed25519 USING PASSWORD('{password}')"));
        log_in(&format!("mysql://{name}:{password}@{address}/")).unwrap();
        refused(&format!("mysql://{name}:{password}x@{address}/"));
        refused(&format!("mysql://{name}@{address}/"));
    }
}

#[test]
fn mariadb_accepts_native_password_logins() {
    let address = address();
    make_user("login_native", "VIA mysql_native_password USING PASSWORD('carr1age')");
    log_in(&format!("mysql://login_native:carr1age@{address}/")).unwrap();
    refused(&format!("mysql://login_native:carrot@{address}/"));
    refused(&format!("mysql://login_native@{address}/"));
    make_user("login_native_empty", "VIA mysql_native_password");
    log_in(&format!("mysql://login_native_empty@{address}/")).unwrap();
    refused(&format!("mysql://login_native_empty:carrot@{address}/"));
}

#[test]
fn mariadb_users_with_two_methods_log_in() {
    let address = address();
    make_user(
        "login_both",
        "VIA ed25519 USING PASSWORD('carr1age') OR mysql_native_password USING PASSWORD('h0rse')",
    );
    log_in(&format!("mysql://login_both:carr1age@{address}/")).unwrap();
    log_in(&format!("mysql://login_both:h0rse@{address}/")).unwrap();
    refused(&format!("mysql://login_both:carrot@{address}/"));
}

#[test]
fn a_password_is_not_shown_when_its_login_is_refused() {
    let server = GoMysql::start();
    let sandbox = Sandbox::new();
    for (user, place) in [
        ("native", Place::Plain),
        ("caching", Place::Plain),
        ("clear", Place::Plain),
        ("sha256", Place::Tls),
        ("caching", Place::Tls),
    ] {
        let options = if place == Place::Plain { ASK_FOR_KEY } else { UNVERIFIED };
        for password in [PASSWORD_IN_URL.to_owned(), format!("{PASSWORD_IN_URL}0")] {
            let url = server.url(place, &format!("{user}:{password}"), options);
            let output = sandbox
                .dyno(["bench", "sysbench/oltp_point_select", "--events=1", "--system", &url])
                .output()
                .unwrap();
            // Even the right password does not help: this server supports only SELECT.
            assert_eq!(output.status.code(), Some(2), "{}", both(&output));
            let told = both(&output);
            assert!(!told.contains(PASSWORD) && !told.contains(PASSWORD_IN_URL), "{told}");
            assert!(!told.contains("panicked"), "{told}");
        }
    }
}
