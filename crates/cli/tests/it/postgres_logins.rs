//! Logins at a real PostgreSQL: every mode of TLS, with valid and invalid certificates, and every way of a password.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::PathBuf;

use driver::postgres::Url;
use driver::{Datum, LoginSources, Session, Target};
use measure::Failure;
use net::Handle;
use nix::unistd::User;
use system::Daemon;
use system::postgres::{Settings, start};
use tempfile::TempDir;

use crate::driver_support::run;
use crate::own_server::OwnServer;
use crate::tls::Authority;

/// The users, by how they log in. `nobody_may` is refused by name.
const HBA: &str = "local all postgres scram-sha-256\nlocal all trusted trust\nlocal all nobody_may peer\n\
    host all trusted all trust\nhost all by_md5 all md5\nhost all in_clear all password\n\
    hostssl all by_cert all cert\nhostssl all encrypted all scram-sha-256\nhostnossl all encrypted all reject\n\
    host all all all scram-sha-256\n";
const USERS: [&str; 7] = [
    "CREATE ROLE trusted LOGIN",
    "CREATE ROLE nobody_may LOGIN",
    "SET password_encryption = 'md5'; CREATE ROLE by_md5 LOGIN PASSWORD 'm'",
    "CREATE ROLE in_clear LOGIN PASSWORD 'c'",
    "CREATE ROLE by_cert LOGIN",
    "CREATE ROLE encrypted LOGIN PASSWORD 'e'",
    "CREATE ROLE by_scram LOGIN PASSWORD 'p w'",
];

/// A server, with the files `ca`, `other-ca`, `client` and `client-key`.
struct Server {
    daemon: Daemon,
    folder: TempDir,
}

impl Server {
    fn start(has_tls: bool) -> Self {
        let folder = TempDir::new().unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let (authority, other) = (Authority::new("ours"), Authority::new("others"));
        let (certificate, key) = authority.issue("localhost", 2999);
        let (client, client_key) = authority.issue("by_cert", 2999);
        let own = User::from_name("postgres").unwrap().filter(|_| nix::unistd::geteuid().is_root());
        for (name, text) in [
            ("ca", authority.1.as_str()),
            ("other-ca", &other.1),
            ("certificate", &certificate),
            ("key", &key),
            ("client", &client),
            ("client-key", &client_key),
            ("hba", HBA),
        ] {
            let file = folder.path().join(name);
            fs::write(&file, text).unwrap();
            // The server takes a key that its user alone can read.
            let is_secret = name == "key";
            let mode = if is_secret { 0o600 } else { 0o644 };
            fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
            if let Some(own) = own.as_ref().filter(|_| is_secret) {
                chown(&file, Some(own.uid.as_raw()), Some(own.gid.as_raw())).unwrap();
            }
        }
        let sockets = folder.path().join("sockets");
        fs::create_dir(&sockets).unwrap();
        fs::set_permissions(&sockets, fs::Permissions::from_mode(0o777)).unwrap();
        let file = |name: &str| folder.path().join(name).display().to_string();
        let mut settings = vec![
            format!("hba_file={}", file("hba")),
            format!("unix_socket_directories={}", file("sockets")),
        ];
        if has_tls {
            let files = [("ca", "ca"), ("cert", "certificate"), ("key", "key")];
            settings.push("ssl=on".to_owned());
            settings
                .extend(files.map(|(option, name)| format!("ssl_{option}_file={}", file(name))));
        }
        let daemon = start(Settings { settings, ..Settings::default() }, folder.path()).unwrap();
        let server = Self { daemon, folder };
        for statement in USERS {
            server.ask(&server.daemon.url(), statement).unwrap();
        }
        server
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// `user:password@` with options, in which `@ca` and similar names are replaced by the files.
    fn url(&self, login: &str, host: &str, options: &str) -> String {
        let mut options = options.to_owned();
        for name in ["other-ca", "ca", "client-key", "client"] {
            options = options.replace(&format!("@{name}"), &self.file(name).display().to_string());
        }
        let port = self.daemon.port();
        format!("postgresql://{login}@{host}:{port}/postgres?{options}")
    }

    /// A statement's first value, for a session with this URL.
    fn ask(&self, url: &str, statement: &'static str) -> Result<String, Failure> {
        let url = url.to_owned();
        run(|handle| async move {
            let mut session = open(&handle, &url).await?;
            let rows = session.rows(statement).await;
            session.close().await;
            Ok(match rows?.first().and_then(|row| row.first()) {
                Some(Datum::Text(text)) => text.clone(),
                other => format!("{other:?}"),
            })
        })
    }

    /// How the server says that a session with this URL is encrypted.
    fn version(&self, url: &str) -> Result<String, Failure> {
        let asked =
            "SELECT coalesce(version, 'none') FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
        self.ask(url, asked)
    }
}

async fn open(handle: &Handle, url: &str) -> Result<Session, Failure> {
    let config = Url::parse(url).unwrap().resolve(&LoginSources::default())?;
    Target::postgres(config).connect(handle, 0).await
}

#[test]
fn every_sslmode_does_what_libpq_says_with_and_without_tls() {
    let (with, without) = (Server::start(true), Server::start(false));
    let by_scram = "by_scram:p%20w";
    for (host, options, expected) in [
        ("127.0.0.1", "sslmode=disable", Ok("none")),
        ("127.0.0.1", "", Ok("TLSv1.3")),
        ("127.0.0.1", "sslmode=prefer", Ok("TLSv1.3")),
        ("127.0.0.1", "sslmode=allow", Ok("none")),
        ("127.0.0.1", "sslmode=require", Ok("TLSv1.3")),
        ("127.0.0.1", "sslmode=require&sslrootcert=@other-ca", Err("no trusted authority")),
        ("127.0.0.1", "sslmode=verify-ca&sslrootcert=@ca", Ok("TLSv1.3")),
        ("127.0.0.1", "sslmode=verify-ca&sslrootcert=@other-ca", Err("no trusted authority")),
        ("localhost", "sslmode=verify-full&sslrootcert=@ca", Ok("TLSv1.3")),
        (
            "127.0.0.1",
            "sslmode=verify-full&sslrootcert=@ca",
            Err("not for `127.0.0.1` but for localhost"),
        ),
        ("localhost", "sslmode=verify-full&sslrootcert=@other-ca", Err("no trusted authority")),
        ("localhost", "sslmode=verify-full&sslrootcert=system", Err("no trusted authority")),
        ("localhost", "sslmode=require&channel_binding=require", Ok("TLSv1.3")),
        ("localhost", "sslmode=disable&channel_binding=require", Err("channel_binding=require")),
    ] {
        let url = with.url(by_scram, host, options);
        match (with.version(&url), expected) {
            (Ok(version), Ok(expected)) => assert_eq!(version, expected, "{options}"),
            (Err(failure), Err(expected)) => {
                let told = failure.to_string();
                assert!(told.contains(expected), "{options}: {told}");
            }
            (found, _) => panic!("{options}: {found:?}"),
        }
    }
    for (options, is_refused) in [
        ("sslmode=disable", false),
        ("", false),
        ("sslmode=allow", false),
        ("sslmode=require", true),
        ("sslmode=verify-ca&sslrootcert=@ca", true),
        ("sslmode=verify-full&sslrootcert=@ca", true),
    ] {
        let found = without.version(&without.url(by_scram, "127.0.0.1", options));
        match found {
            Ok(version) => assert!(!is_refused && version == "none", "{options}: {version}"),
            Err(failure) => {
                let told = failure.to_string();
                assert!(is_refused && told.contains("does not offer it"), "{options}: {told}");
            }
        }
    }
}

#[test]
fn what_a_server_refuses_without_tls_is_tried_with_it_where_that_is_allowed() {
    let (with, without) = (Server::start(true), Server::start(false));
    let allow = "sslmode=allow";
    assert_eq!(with.version(&with.url("encrypted:e", "127.0.0.1", allow)).unwrap(), "TLSv1.3");
    let client = "sslmode=allow&sslcert=@client&sslkey=@client-key";
    assert_eq!(with.version(&with.url("by_cert", "127.0.0.1", client)).unwrap(), "TLSv1.3");
    // Both attempts are told of: the password is wrong in both, and the rules differ.
    for (server, login, told) in [
        (&with, "by_scram:no", ["password authentication failed", ""]),
        (&with, "encrypted:no", ["no encryption", "with TLS: 127.0.0.1"]),
        (&without, "encrypted:e", ["no encryption", "does not offer it"]),
    ] {
        let failure = server.version(&server.url(login, "127.0.0.1", allow)).unwrap_err();
        let text = failure.to_string();
        assert!(told.iter().all(|part| text.contains(part)), "{login}: {text}");
        assert!(failure.key.code.starts_with("28"), "{failure:?}");
    }
}

#[test]
fn every_way_of_a_login_works_and_a_wrong_one_is_refused_with_the_reason() {
    let server = Server::start(true);
    let socket = server.file("sockets").display().to_string();
    let over_socket = |user: &str| {
        format!("postgresql://{user}@/postgres?host={socket}&port={}", server.daemon.port())
    };
    let client = "sslmode=require&sslcert=@client&sslkey=@client-key";
    for url in [
        server.url("trusted", "127.0.0.1", ""),
        server.url("by_md5:m", "127.0.0.1", ""),
        server.url("by_md5:m", "127.0.0.1", "sslmode=disable&require_auth=md5"),
        server.url("in_clear:c", "127.0.0.1", ""),
        // Loopback: nobody else hears it.
        server.url("in_clear:c", "127.0.0.1", "sslmode=disable"),
        server.url("by_scram:p%20w", "127.0.0.1", "require_auth=scram-sha-256"),
        server.url("encrypted:e", "127.0.0.1", "sslmode=require"),
        server.url("by_cert", "127.0.0.1", client),
        over_socket("trusted"),
    ] {
        let user = server.ask(&url, "SELECT current_user::text").unwrap();
        assert!(url.contains(&format!("//{user}")), "{url}: {user}");
    }
    for (url, reason) in [
        (server.url("by_scram:no", "127.0.0.1", ""), "password authentication failed"),
        (server.url("by_md5:no", "127.0.0.1", ""), "password authentication failed"),
        (server.url("in_clear:no", "127.0.0.1", ""), "password authentication failed"),
        (server.url("by_cert", "127.0.0.1", "sslmode=require"), "valid client certificate"),
        (server.url("encrypted:e", "127.0.0.1", "sslmode=disable"), "no encryption"),
        (server.url("by_scram:p%20w", "127.0.0.1", "require_auth=md5"), "require_auth"),
        (server.url("in_clear:c", "127.0.0.1", "require_auth=!password"), "require_auth"),
        (over_socket("nobody_may"), "Peer authentication failed"),
    ] {
        let told = server.version(&url).unwrap_err().to_string();
        assert!(told.contains(reason), "{url}: {told}");
        assert!(!told.contains("p w") && !told.contains("p%20w"), "{told}");
    }
    // MySQL's server greets first, and is told from one that only listens.
    let mariadb = OwnServer::start(&[]);
    let port = mariadb.login().port;
    let url = format!("postgresql://u@127.0.0.1:{port}/postgres?sslmode=disable");
    assert!(server.version(&url).is_err());
}
