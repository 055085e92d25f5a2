//! Tests of URLs, option files and the sources of passwords.

use std::fs;
use std::path::Path;

use net::Endpoint;
use plan::Password;
use proptest::prelude::*;

use super::option_file::OptionFile;
use super::{StatementProtocol, Url, UrlError};
use crate::LoginSources;
use crate::{SslMode, SslOptions};

#[test]
fn a_full_url_is_read() {
    let url = Url::parse("mysql://me:p%40ss@db1:4000,[::1]:4001,db3/sb%2ftest?ps=off").unwrap();
    assert_eq!(url.user.as_deref(), Some("me"));
    assert_eq!(url.password, Some(Password::new("p@ss")));
    assert_eq!(url.database.as_deref(), Some("sb/test"));
    assert_eq!(url.protocol, Some(StatementProtocol::Text));
    assert_eq!(url.to_string(), "mysql://me@db1:4000,[::1]:4001,db3:3306/sb/test");
}

#[test]
fn a_socket_replaces_hosts() {
    let config = Url::parse("mysql:///test?socket=/run/my%20sql.sock").unwrap();
    let config = config.resolve(&LoginSources::default()).unwrap();
    assert_eq!(config.addresses[0].endpoint, Endpoint::Unix("/run/my sql.sock".into()));
    assert_eq!(config.to_string(), "mysql://root@/test?socket=/run/my sql.sock");
    // As other clients of the protocol write it.
    let local = Url::parse("mysql://root@localhost/test?socket=/run/my%20sql.sock").unwrap();
    assert_eq!(
        (local.hosts.len(), local.socket.as_deref()),
        (0, Some(Path::new("/run/my sql.sock")))
    );
    let port = Url::parse("mysql://localhost:3306/test?socket=/run/s");
    assert_eq!(port, Err(UrlError::HostsAndSocket));
    let both = Url::parse("mysql://db1/test?socket=/run/s");
    assert_eq!(both, Err(UrlError::HostsAndSocket));
}

#[test]
fn wrong_urls_say_what_is_wrong_without_a_password() {
    let told = |text: &str| Url::parse(text).unwrap_err().to_string();
    let all = [
        "postgres://me@db1/test",
        "mysql://me@db1:port/test",
        "mysql://root:secret/test",
        "mysql://me@db1:1:2/test",
        "mysql://me@db1/test?sp=on",
        "mysql://me@db1/test?ps=maybe",
        "mysql://me@db1/test?ssl-mode=verify",
        "mysql://me:se%2cret%@db1/test",
        "mysql://me@,db1/test",
        "mysql://root:se?cret@db1/test",
        "mysql://root:se/?cret@db1:3306/test",
        "mysql://me@root:%?cret@db1/test",
    ]
    .map(told)
    .join("\n");
    insta::assert_snapshot!(all, @r"
    expected a URL such as mysql://user@host:3306/database
    the port of host `db1` is no number from 1 to 65535
    the port of host `root` is no number from 1 to 65535
    write each host as host:port, with an IPv6 address in brackets, as [::1]:3306
    unknown option `sp`; known are socket=PATH, ps=on or ps=off, ssl-mode=MODE, ssl-ca=FILE, ssl-cert=FILE, ssl-key=FILE, get-server-public-key=1, server-public-key-path=FILE and enable-cleartext-plugin=1
    `ps` cannot be `maybe`; allowed are on and off
    `ssl-mode` cannot be `verify`; allowed are DISABLED, PREFERRED, REQUIRED, VERIFY_CA and VERIFY_IDENTITY
    a percent sign in the password must be followed by two hexadecimal digits (%25 is `%`)
    write each host as host:port, with an IPv6 address in brackets, as [::1]:3306
    write a question mark in a password as %3F
    write a question mark in a password as %3F
    write a question mark in a password as %3F
    ");
}

#[test]
fn passwords_are_not_shown_in_debug_output() {
    let url = Url::parse("mysql://me:hunter2@127.0.0.1/test").unwrap();
    let config = url.resolve(&LoginSources::default()).unwrap();
    let shown = format!("{url} {url:?} {config} {config:?} {:?}", Password::new("hunter2"));
    assert!(!shown.contains("hunter2"), "{shown}");
    assert_eq!(config.password, Password::new("hunter2"));
}

#[test]
fn an_option_file_gives_its_client_section() {
    let text = "[mysqld]\nuser=daemon\n[client] # mine\n# comment\nuser = me # who\n\
                password=\"a#b\\\\c\"\nhost=db9\nport=4000\nssl\n[mysql]\npassword=other\n";
    let options = OptionFile::parse(text);
    let wanted = OptionFile {
        user: Some("me".into()),
        password: Some(Password::new("a#b\\c")),
        host: Some("db9".into()),
        port: Some(4000),
        ssl: SslOptions { mode: Some(SslMode::Required), ..Default::default() },
        ..Default::default()
    };
    assert_eq!(options, wanted);
}

#[test]
fn the_clear_password_is_allowed_by_the_url_or_else_the_option_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("my.cnf");
    let sources = LoginSources { option_file: Some(file.clone()), ..LoginSources::default() };
    let is_allowed = |options: &str, text: &str| {
        fs::write(&file, format!("[client]\n{text}\n")).unwrap();
        let url = Url::parse(&format!("mysql://127.0.0.1/{options}")).unwrap();
        url.resolve(&sources).unwrap().enable_cleartext_plugin
    };
    for (options, text, due) in [
        ("", "", false),
        ("?enable-cleartext-plugin=1", "", true),
        ("", "enable-cleartext-plugin", true),
        ("", "enable_cleartext_plugin=ON", true),
        ("", "enable-cleartext-plugin=0", false),
        ("", "enable-cleartext-plugin=perhaps", false),
        ("?enable-cleartext-plugin=0", "enable-cleartext-plugin", false),
        ("?enable-cleartext-plugin=1", "enable-cleartext-plugin=0", true),
    ] {
        assert_eq!(is_allowed(options, text), due, "{options} {text}");
    }
    let wrong = Url::parse("mysql://127.0.0.1/?enable-cleartext-plugin=perhaps").unwrap_err();
    let told = "`enable-cleartext-plugin` cannot be `perhaps`; allowed are 1 and 0";
    assert_eq!(wrong.to_string(), told);
}

/// Sources of all kinds in `folder`.
fn sources(folder: &Path) -> LoginSources {
    let (password_file, option_file) = (folder.join("password"), folder.join("my.cnf"));
    fs::write(&password_file, "from file\n").unwrap();
    fs::write(&option_file, "[client]\nuser=cnf\npassword=from cnf\nhost=127.0.0.2\n").unwrap();
    LoginSources {
        password_file: Some(password_file),
        environment_password: Some(Password::new("from environment")),
        option_file: Some(option_file),
        default_user: Some("os".into()),
    }
}

#[test]
fn the_most_specific_password_source_wins() {
    let folder = tempfile::tempdir().unwrap();
    let mut sources = sources(folder.path());
    let password = |url: &str, sources: &LoginSources| {
        Url::parse(url).unwrap().resolve(sources).unwrap().password
    };
    let url = "mysql://127.0.0.1/test";
    assert_eq!(password("mysql://a:b@127.0.0.1/", &sources), Password::new("b"));
    assert_eq!(password(url, &sources), Password::new("from file"));
    sources.password_file = None;
    assert_eq!(password(url, &sources), Password::new("from environment"));
    sources.environment_password = None;
    assert_eq!(password(url, &sources), Password::new("from cnf"));
    sources.option_file = None;
    assert_eq!(password(url, &sources), Password::default());
}

#[test]
fn the_option_file_supplies_what_the_url_lacks() {
    let folder = tempfile::tempdir().unwrap();
    let config = Url::parse("mysql:///test").unwrap().resolve(&sources(folder.path())).unwrap();
    assert_eq!(config.to_string(), "mysql://cnf@127.0.0.2:3306/test");
    let config = Url::parse("mysql://me@127.0.0.3:4000").unwrap();
    let config = config.resolve(&sources(folder.path())).unwrap();
    assert_eq!(config.to_string(), "mysql://me@127.0.0.3:4000/");
}

#[test]
fn an_option_file_in_another_encoding_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("my.cnf");
    fs::write(&file, b"[client]\n# gr\xfc\xdfe\nuser=cnf\n").unwrap();
    let sources = LoginSources { option_file: Some(file), ..LoginSources::default() };
    let config = Url::parse("mysql://127.0.0.1/test").unwrap().resolve(&sources).unwrap();
    assert_eq!(config.user, "cnf");
}

#[test]
fn an_unreadable_option_file_stops_only_a_url_that_needs_it() {
    // A folder cannot be read as a file, whoever tries.
    let folder = tempfile::tempdir().unwrap();
    let sources =
        LoginSources { option_file: Some(folder.path().into()), ..LoginSources::default() };
    let resolved = |url: &str| Url::parse(url).unwrap().resolve(&sources);
    assert_eq!(resolved("mysql://me@127.0.0.1/test").unwrap().user, "me");
    assert_eq!(resolved("mysql://me@/test?socket=/run/s").unwrap().user, "me");
    for url in ["mysql://127.0.0.1/test", "mysql://me@/test"] {
        let failure = resolved(url).unwrap_err();
        assert!(failure.message.starts_with("cannot read "), "{failure}");
    }
}

#[test]
fn passwords_of_files_are_blanked_in_all_output() {
    let folder = tempfile::tempdir().unwrap();
    let [password_file, option_file] = ["password", "my.cnf"].map(|name| folder.path().join(name));
    fs::write(&password_file, "Zx9-of-a-file\n").unwrap();
    fs::write(&option_file, "[client]\npassword=Zx9-of-options\n").unwrap();
    let url = Url::parse("mysql://127.0.0.1/test").unwrap();
    for (sources, secret) in [
        (
            LoginSources { password_file: Some(password_file), ..Default::default() },
            "Zx9-of-a-file",
        ),
        (LoginSources { option_file: Some(option_file), ..Default::default() }, "Zx9-of-options"),
    ] {
        url.resolve(&sources).unwrap();
        let told = plan::scrub(&format!("the server said {secret}"));
        assert!(!told.contains(secret), "{told}");
    }
}

#[test]
fn a_missing_password_file_is_reported() {
    let sources =
        LoginSources { password_file: Some("/nonexistent/password".into()), ..Default::default() };
    let failure = Url::parse("mysql://127.0.0.1/").unwrap().resolve(&sources).unwrap_err();
    assert!(failure.message.starts_with("cannot read /nonexistent/password: "), "{failure}");
}

#[test]
fn clients_take_addresses_in_turn() {
    let config = Url::parse("mysql://127.0.0.1:1,127.0.0.1:2,127.0.0.1:3/").unwrap();
    let config = config.resolve(&LoginSources::default()).unwrap();
    let names: Vec<&str> =
        (0..5).filter_map(|index| config.address(index)).map(|one| one.name.as_str()).collect();
    let wanted = ["127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:3", "127.0.0.1:1", "127.0.0.1:2"];
    assert_eq!(names, wanted);
}

proptest! {
    #[test]
    fn any_text_is_a_url_or_an_error(text in "(mysql://)?[a-z:@/?=&%,\\[\\]0-9 é]*") {
        let _ = Url::parse(&text);
    }

    #[test]
    fn any_text_is_an_option_file(text in "(\\[client\\]\n)?[a-z=\"'\\\\#\n\\[\\] é]*") {
        let _ = OptionFile::parse(&text);
    }
}

#[test]
fn mariadb_option_files_use_their_own_ssl_options() {
    for (text, mode) in [
        ("ssl", Some(SslMode::Required)),
        ("ssl=0", Some(SslMode::Disabled)),
        ("skip-ssl", Some(SslMode::Disabled)),
        ("ssl-verify-server-cert\nssl", Some(SslMode::VerifyIdentity)),
        ("ssl_verify_server_cert = off", None),
        ("ssl-mode = verify-ca", Some(SslMode::VerifyCa)),
        ("skip-name-resolve", None),
    ] {
        assert_eq!(OptionFile::parse(&format!("[client]\n{text}\n")).ssl.mode, mode, "{text}");
    }
    let files = OptionFile::parse("[client]\nssl-ca=/a # mine\nssl_cert='/b'\nssl-key = /c\n").ssl;
    let [ca, cert, key] = ["/a", "/b", "/c"].map(|file| Some(file.into()));
    assert_eq!(files, SslOptions { mode: None, ca, cert, key });
    let wrong = OptionFile::parse("[client]\nssl-mode = verify\n");
    assert_eq!((wrong.unknown_mode.as_deref(), wrong.ssl.mode), (Some("verify"), None));
}
