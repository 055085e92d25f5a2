//! How `dyno up` shows the login of a system that it keeps up, and who can see it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::own_server::wait_until;
use crate::sandbox::{Sandbox, both};
use crate::server::login;
use crate::tidb::{is_there, login_in, process_in};

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().permissions().mode() & 0o7777
}

/// The file with the URL, as named by `dyno up`.
fn login_file(text: &str) -> PathBuf {
    let line = text.lines().find_map(|line| line.strip_prefix("  login    ")).expect("it is named");
    line.strip_suffix(" (the URL with its password)").unwrap().into()
}

fn parent_of(pid: i32) -> i32 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    stat.rsplit_once(") ").unwrap().1.split(' ').nth(1).unwrap().parse().unwrap()
}

/// Whether any process has this text in its arguments or its environment.
fn is_in_process_list(text: &str) -> bool {
    let holds = |path: PathBuf| {
        let bytes = fs::read(path).unwrap_or_default();
        bytes.windows(text.len()).any(|part| part == text.as_bytes())
    };
    let processes = fs::read_dir("/proc").unwrap().flatten();
    processes
        .map(|entry| entry.path())
        .any(|process| ["cmdline", "environ"].iter().any(|name| holds(process.join(name))))
}

#[test]
fn a_detached_server_is_reached_by_a_file_that_only_its_owner_reads() {
    let sandbox = Sandbox::new();
    let said = String::from_utf8(sandbox.succeed(["up", "mariadb", "--detach"]).stdout).unwrap();
    let listed = String::from_utf8(sandbox.succeed(["up", "--list"]).stdout).unwrap();
    let file = login_file(&listed);
    assert_eq!(file, login_file(&said));
    assert_eq!(mode(&file), 0o600);
    let url = login_in(&listed);
    let password = login(&url).password;
    assert_eq!(password.len(), 32, "{url}");
    assert!(said.contains("  url      mysql://root:***@127.0.0.1:"), "{said}");
    assert!(!format!("{said}{listed}").contains(&password));
    assert!(!is_in_process_list(&password));
    let state = sandbox.path().join(".local/state/dyno/up");
    assert_eq!(mode(&state), 0o700);
    for entry in fs::read_dir(&state).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
        assert!(!fs::read_to_string(&path).unwrap().contains(&password));
    }
    let system = format!("--system={url}");
    let arguments = ["bench", "sysbench/oltp_point_select", &system, "--events=20"];
    let run = sandbox.dyno(arguments).arg("--table-size=50").output().unwrap();
    assert!(run.status.success(), "{}", both(&run));
    sandbox.succeed(["down", "mariadb"]);
    assert!(!file.exists(), "the file goes with the server");
}

#[test]
fn a_system_in_the_foreground_is_listed_until_it_is_stopped() {
    let sandbox = Sandbox::new();
    let listed = || String::from_utf8(sandbox.succeed(["up", "--list"]).stdout).unwrap();
    assert_eq!(listed(), "no system is up\n");
    let out = sandbox.path().join("out");
    let mut up = sandbox.dyno(["up", "mariadb"]);
    let mut up = up.stdout(fs::File::create(&out).unwrap()).spawn().unwrap();
    let said = || fs::read_to_string(&out).unwrap();
    wait_until("it is up", || said().contains("Ctrl-C stops it"));
    // The entry is written after the text.
    wait_until("it is listed", || listed() != "no system is up\n");
    assert_eq!(format!("{}Ctrl-C stops it and removes its data.\n", listed()), said());
    assert!(is_there(process_in(&listed())));
    kill(Pid::from_raw(up.id().cast_signed()), Signal::SIGINT).unwrap();
    assert!(up.wait().unwrap().success());
    assert_eq!(listed(), "no system is up\n");
}

#[test]
fn a_detached_server_that_died_is_listed_with_the_reason_until_dyno_down() {
    let sandbox = Sandbox::new();
    let said = String::from_utf8(sandbox.succeed(["up", "mariadb", "--detach"]).stdout).unwrap();
    let title = said.lines().next().unwrap();
    assert!(title.starts_with("MariaDB "), "{said}");
    let server = process_in(&said);
    let keeper = parent_of(server);
    kill(Pid::from_raw(server), Signal::SIGKILL).unwrap();
    wait_until("its keeper is gone", || !is_there(keeper));
    let listed = String::from_utf8(sandbox.succeed(["up", "--list"]).stdout).unwrap();
    let told = format!("{title}\n  has ended; `dyno down` removes this entry\n");
    assert!(listed.starts_with(&told), "{listed}");
    let reason = "error: MariaDB ended by itself (signal: 9 (SIGKILL)): another process killed it";
    assert!(listed.contains(reason), "{listed}");
    let down = String::from_utf8(sandbox.succeed(["down"]).stdout).unwrap();
    assert!(down.starts_with(&format!("had already ended: {title}\n")), "{down}");
    assert!(down.contains(reason), "{down}");
    let left = String::from_utf8(sandbox.succeed(["up", "--list"]).stdout).unwrap();
    assert_eq!(left, "no system is up\n");
}

#[test]
fn only_a_terminal_is_shown_the_password() {
    let sandbox = Sandbox::new();
    let out = sandbox.path().join("terminal");
    let program = env!("CARGO_BIN_EXE_dyno");
    // A separate terminal, with its output in a file.
    let mut terminal = Command::new("script");
    terminal.args(["--quiet", "--flush", "--return", "--command"]);
    terminal.arg(format!("{program} up mariadb")).arg(&out);
    terminal.env("HOME", sandbox.path()).current_dir(sandbox.path());
    let mut child = terminal.stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
    let shown = || fs::read_to_string(&out).unwrap_or_default().replace("\r\n", "\n");
    wait_until("it is up", || shown().contains("Ctrl-C stops it"));
    let url = login_in(&shown());
    assert!(shown().contains(&format!("  url      {url}\n")), "{}", shown());
    assert_eq!(login(&url).password.len(), 32);
    let server = process_in(&shown());
    kill(Pid::from_raw(parent_of(server)), Signal::SIGINT).unwrap();
    child.wait().unwrap();
    assert!(!is_there(server));
}
