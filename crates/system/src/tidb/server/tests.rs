//! Tests on a real server: start, watch, copy and stop, none of which leaves anything behind.

use std::thread;
use std::time::Duration;

use driver::LoginSources;
use driver::Target;
use driver::mysql::Url;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::*;
use crate::mysql::sends_greeting;

/// The server that `cargo xtask test` has built.
fn binary() -> PathBuf {
    std::env::var("DYNO_TEST_TIDB")
        .expect("DYNO_TEST_TIDB is not set: run `cargo xtask test`, which builds a TiDB")
        .into()
}

fn started(settings: Settings) -> (Daemon, tempfile::TempDir) {
    let scratch = tempfile::tempdir().unwrap();
    let binary = binary();
    (start(binary, settings, scratch.path()).unwrap(), scratch)
}

fn why_it_ended(server: &Daemon) -> String {
    loop {
        match server.exited() {
            Some(why) => return why,
            None => thread::sleep(Duration::from_millis(20)),
        }
    }
}

#[test]
fn stop_ends_the_server_and_removes_its_data() {
    let (mut server, scratch) = started(Settings::default());
    let port = server.port();
    assert_ne!(port, server.status_port());
    assert_eq!(
        server.login().unwrap().to_string(),
        format!("mysql://root:***@127.0.0.1:{port}/test")
    );
    let error = server.restore(&mut ignore_progress).unwrap_err().to_string();
    assert_eq!(error, "no data was kept that could be restored");
    let pid = server.pid();
    server.snapshot(&mut ignore_progress).unwrap();
    server.restore(&mut ignore_progress).unwrap();
    assert_eq!(server.port(), port);
    assert_ne!(server.pid(), pid);
    assert!(sends_greeting(port));
    assert_eq!(server.exited(), None);
    server.stop().unwrap();
    assert!(!sends_greeting(port));
    assert_eq!(std::fs::read_dir(scratch.path()).unwrap().count(), 0);
}

#[test]
fn settings_reach_the_server_and_its_exit_is_noticed() {
    let (server, _scratch) = started(Settings {
        arguments: vec!["-L".to_owned(), "warn".to_owned()],
        environment: vec![("GOMAXPROCS".to_owned(), "3".to_owned())],
        cpus: Some(crate::process::parse_cpus("0").unwrap()),
        config: None,
    });
    let process = format!("/proc/{}", server.pid());
    let read = |name: &str| std::fs::read_to_string(format!("{process}/{name}")).unwrap();
    assert!(read("cmdline").ends_with("-L\0warn\0"));
    assert!(read("environ").split('\0').any(|variable| variable == "GOMAXPROCS=3"));
    assert!(read("status").contains("Cpus_allowed_list:\t0\n"));
    // Go's runtime answers this signal with the reason, then with all its goroutines.
    kill(Pid::from_raw(server.pid().cast_signed()), Signal::SIGABRT).unwrap();
    let why = why_it_ended(&server);
    assert!(why.starts_with("TiDB ended by itself (exit status: 2); the end of its log:"), "{why}");
    assert!(why.contains("\nSIGABRT: abort\n"), "{why}");
}

#[test]
fn an_unknown_argument_is_shown_with_the_servers_message() {
    let scratch = tempfile::tempdir().unwrap();
    let arguments = vec!["-no-such-argument".to_owned()];
    let settings = Settings { arguments, ..Settings::default() };
    let error = start(binary(), settings, scratch.path()).unwrap_err().to_string();
    assert!(error.contains("TiDB did not start"), "{error}");
    assert!(error.contains("flag provided but not defined: -no-such-argument"), "{error}");
}

/// Runs the MariaDB client with this password, and returns its output.
fn ask_with(server: &Daemon, password: &str) -> std::process::Output {
    let mut client = command("mariadb");
    client.args(["--no-defaults", "--host=127.0.0.1", "--user=root"]);
    client.args([&format!("--port={}", server.port()), "--execute=SELECT 'in'"]);
    client.env("MYSQL_PWD", password).output().unwrap()
}

#[test]
fn accounts_on_storage_that_was_there_before_stay_as_they_are() {
    let secret = |arguments: &[&str]| {
        let arguments = arguments.iter().map(|&argument| argument.to_owned()).collect();
        let settings = Settings { arguments, ..Settings::default() };
        let storage = Storage::Unistore;
        let tidb = TiDb::new("/bin/true".into(), settings, storage, Secret::random().unwrap());
        tidb.secret
    };
    assert!(secret(&["-L", "warn", "-log-slow-query=path"]).is_some());
    assert_eq!(secret(&["-store", "tikv", "-path", "pd:2379"]), None);
    assert_eq!(secret(&["--path=pd:2379"]), None);
}

#[test]
fn the_password_is_required_from_the_first_moment_on() {
    let (mut server, _scratch) = started(Settings::default());
    let url = server.url();
    let password = url.split([':', '@']).nth(2).unwrap();
    let log = std::fs::read_to_string(server.server_folder.log()).unwrap();
    assert!(log.contains("executing -initialize-sql-file"), "it was set before it listened: {log}");
    assert!(!log.contains("InitializeSQLFile error") && !log.contains(password), "{log}");
    for _ in 0..2 {
        let refused = ask_with(&server, "");
        assert!(String::from_utf8_lossy(&refused.stderr).contains("ERROR 1045"), "{refused:?}");
        assert!(ask_with(&server, password).status.success());
        // The same after a stop and a start.
        server.snapshot(&mut ignore_progress).unwrap();
    }
}

/// As with a TiDB before 6.6, which cannot read a password before it listens.
#[test]
fn a_server_with_custom_init_statements_gets_its_password_after_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("first.sql");
    std::fs::write(&file, "CREATE DATABASE theirs;").unwrap();
    let argument = format!("-{FIRST_STATEMENTS}={}", file.display());
    let (server, _scratch) = started(Settings { arguments: vec![argument], ..Settings::default() });
    let url = server.url();
    let refused = ask_with(&server, "");
    assert!(String::from_utf8_lossy(&refused.stderr).contains("ERROR 1045"), "{refused:?}");
    assert!(ask_with(&server, url.split([':', '@']).nth(2).unwrap()).status.success());
    let config = Url::parse(&url).unwrap().resolve(&LoginSources::default()).unwrap();
    let theirs = crate::ask::rows(&Target::mysql(config), "USE theirs", &mut ignore_progress);
    assert!(theirs.is_ok(), "{theirs:?}");
}

#[test]
fn other_users_cannot_enter_the_folder_or_read_the_log() {
    use std::os::unix::fs::PermissionsExt;
    let (server, _scratch) = started(Settings::default());
    let mode = |path: &Path| path.symlink_metadata().unwrap().permissions().mode() & 0o7777;
    let server_folder = &server.server_folder;
    assert_eq!(mode(server_folder.log().parent().unwrap()), 0o700);
    for path in [server_folder.log(), server_folder.socket(), server_folder.accounts()] {
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
}
