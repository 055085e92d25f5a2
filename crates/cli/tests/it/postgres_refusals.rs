//! What a PostgreSQL refuses is told before the load, with the remedy.

use std::process::Output;

use driver::postgres::Url;
use driver::{LoginSources, Target};
use system::Daemon;
use system::postgres::{Settings, start};
use tempfile::TempDir;

use crate::driver_support::run;
use crate::sandbox::{Sandbox, both};

/// Runs statements on a session of its own.
pub(crate) fn ask(server: &Daemon, statements: &'static [&'static str]) {
    let config = Url::parse(&server.url()).unwrap().resolve(&LoginSources::default()).unwrap();
    run(|handle| async move {
        let mut session = Target::postgres(config).connect(&handle, 0).await.unwrap();
        for statement in statements {
            session.run(statement).await.unwrap();
        }
        session.close().await;
    });
}

fn bench(sandbox: &Sandbox, url: &str, more: &[&str]) -> Output {
    let mut command = sandbox.dyno(["bench", "oltp_point_select", "--tables=1", "--table-size=50"]);
    command.args(["--time=300ms", "--warm-up=0s", "--quiet", "--system", url]);
    command.args(more).output().unwrap()
}

#[test]
fn what_a_login_may_not_do_is_told_before_the_load_with_the_remedy() {
    let folder = TempDir::new().unwrap();
    let settings = Settings {
        settings: vec![
            "max_connections=10".to_owned(),
            "superuser_reserved_connections=3".to_owned(),
        ],
        ..Settings::default()
    };
    set_passable(&folder);
    let server = start(settings, folder.path()).unwrap();
    ask(
        &server,
        &[
            // As a new server of 15 or later has it.
            "REVOKE CREATE ON SCHEMA public FROM PUBLIC",
            "CREATE ROLE poor LOGIN PASSWORD 'p'",
            "CREATE ROLE reader LOGIN PASSWORD 'p'",
            "GRANT CREATE ON SCHEMA public TO reader",
            "ALTER ROLE reader SET default_transaction_read_only = on",
            "CREATE ROLE writer LOGIN PASSWORD 'p'",
            "GRANT CREATE ON SCHEMA public TO writer",
            // What the startup asks for wins.
            "ALTER ROLE writer SET client_encoding = 'LATIN1'",
        ],
    );
    let url = |user: &str| format!("postgresql://{user}:p@127.0.0.1:{}/postgres", server.port());
    for (user, clients, remedy) in [
        ("poor", "1", "GRANT CREATE ON SCHEMA public"),
        ("reader", "1", "use a primary that takes writes"),
        ("writer", "8", "set max_connections = "),
    ] {
        let sandbox = Sandbox::new();
        let output = bench(&sandbox, &url(user), &["--clients", clients]);
        let told = both(&output);
        assert!(!output.status.success() && told.contains(remedy), "{user}: {told}");
        assert!(!told.contains(":p@"), "{told}");
    }
    // Who may not make a checkpoint has none, and the report says so.
    for (url, may) in [(url("writer"), false), (server.url(), true)] {
        let sandbox = Sandbox::new();
        let output = bench(&sandbox, &url, &["--clients=6"]);
        assert!(output.status.success(), "{}", both(&output));
        let report = std::fs::read_to_string(sandbox.runs()[0].join("report.json")).unwrap();
        assert_eq!(report.contains("no CHECKPOINT after the load"), !may, "{}", both(&output));
    }
}

/// The server's account goes through it.
fn set_passable(folder: &TempDir) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755)).unwrap();
}
