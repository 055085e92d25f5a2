//! Logins to a real TiDB, which has no RSA key and has its own methods.

use std::path::PathBuf;

use driver::LoginSources;
use driver::mysql::Url;
use driver::{Datum, Session, Target};
use measure::Failure;
use net::Handle;
use system::Daemon;
use system::tidb::{self, Settings};
use tempfile::TempDir;

use crate::driver_support::{cell, run};

/// The variable with the path of `tidb-server`.
const PROGRAM: &str = "DYNO_TEST_TIDB";

const USERS: [&str; 4] = [
    "CREATE USER login_native IDENTIFIED BY 'carr1age'",
    "CREATE USER login_caching IDENTIFIED WITH 'caching_sha2_password' BY 'carr1age'",
    // With BY '' TiDB stores the hash of an empty password, for which no proof succeeds.
    "CREATE USER login_caching_empty IDENTIFIED WITH 'caching_sha2_password'",
    "CREATE USER login_sm3 IDENTIFIED WITH 'tidb_sm3_password' BY 'carr1age'",
];

/// A TiDB that offers TLS and has these users.
fn start(folder: &TempDir) -> Daemon {
    let program = std::env::var(PROGRAM)
        .unwrap_or_else(|_| panic!("{PROGRAM} is not set: it names a tidb-server"));
    let config = folder.path().join("config.toml");
    std::fs::write(&config, "[security]\nauto-tls = true\n").unwrap();
    let settings = Settings { config: Some(config), ..Settings::default() };
    let server = tidb::start(PathBuf::from(program), settings, folder.path()).unwrap();
    let url = server.url();
    run(|handle| async move {
        let mut root = connect(&handle, &url).await.unwrap();
        for user in USERS {
            root.run(user).await.unwrap();
        }
        root.close().await;
    });
    server
}

async fn connect(handle: &Handle, url: &str) -> Result<Session, Failure> {
    let config = Url::parse(url).unwrap().resolve(&LoginSources::default())?;
    Target::mysql(config).connect(handle, 0).await
}

fn log_in(server: &Daemon, login: &str, mode: &str) -> Result<Datum, Failure> {
    let url = format!("mysql://{login}@127.0.0.1:{}/?ssl-mode={mode}", server.port());
    run(|handle| async move {
        let mut session = connect(&handle, &url).await?;
        let user = cell(&mut session, "SELECT SUBSTRING_INDEX(USER(), '@', 1)").await;
        session.close().await;
        Ok(user)
    })
}

#[test]
fn tidb_accepts_every_supported_login_method() {
    let folder = TempDir::new().unwrap();
    let server = start(&folder);
    let right = [
        ("login_native:carr1age", "disabled"),
        ("login_native:carr1age", "required"),
        // TiDB asks for the password itself at every login, also after one that succeeded.
        ("login_caching:carr1age", "required&enable-cleartext-plugin=1"),
        ("login_caching:carr1age", "preferred&enable-cleartext-plugin=1"),
        ("login_caching_empty", "required"),
        ("login_caching_empty", "disabled"),
    ];
    // TiDB made its certificate itself, so it cannot be verified.
    let failure = log_in(&server, "login_caching:carr1age", "required").unwrap_err();
    assert!(failure.message.contains("certificate was not verified"), "{failure}");
    for (login, mode) in right {
        let user = login.split(':').next().unwrap();
        let found = log_in(&server, login, mode).map_err(|failure| failure.to_string());
        assert_eq!(found, Ok(Datum::Text(user.to_owned())), "{login} {mode}");
    }
    for login in ["login_native:carrot", "login_caching:carrot", "login_caching"] {
        let failure = log_in(&server, login, "required&enable-cleartext-plugin=1").unwrap_err();
        assert_eq!(failure.key.to_string(), "login 1045", "{login}: {failure}");
        assert!(!failure.message.contains("carrot"), "{failure}");
    }
    let asking = "disabled&get-server-public-key=1";
    let failure = log_in(&server, "login_caching:carr1age", asking).unwrap_err();
    assert!(failure.message.contains("such as TiDB"), "{failure}");
    assert!(failure.message.contains("ssl-mode=VERIFY_CA"), "{failure}");
    let failure = log_in(&server, "login_sm3:carr1age", "required").unwrap_err();
    assert!(failure.message.contains("tidb_sm3_password"), "{failure}");
    server.stop().unwrap();
}
