//! Another user of the machine must not be able to do anything to a managed server. As root, these tests act as that
//! user; otherwise they check what would refuse access.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::Output;

use driver::LoginSources;
use driver::Target;
use driver::mysql::Url;
use nix::unistd::geteuid;

use super::*;
use crate::Scratch;
use crate::ask::rows;

/// `nobody` on Debian.
const STRANGER: u32 = 65_534;

/// The output of a program that runs as another user; as our own user when we are not root.
fn as_stranger(program: &str, arguments: &[&str]) -> Output {
    let mut command = crate::process::command(program);
    if geteuid().is_root() {
        command.uid(STRANGER).gid(STRANGER);
    }
    command.args(arguments).current_dir("/").output().unwrap()
}

fn refusal(arguments: &[&str]) -> String {
    let client = ["--no-defaults", "--execute=SELECT 'in'"];
    let output = as_stranger("mariadb", &[&client, arguments].concat());
    assert!(!output.status.success(), "{output:?}");
    String::from_utf8(output.stderr).unwrap()
}

fn mode(path: &Path) -> u32 {
    path.symlink_metadata().unwrap().permissions().mode() & 0o7777
}

fn started() -> (Daemon, Scratch) {
    let scratch = Scratch::make().unwrap();
    (start(Settings::default(), scratch.path()).unwrap(), scratch)
}

#[test]
fn logins_without_the_password_are_refused() {
    let (server, _scratch) = started();
    let (port, socket) = (format!("--port={}", server.port()), server.socket());
    for user in ["root", "", "mysql", "nobody"] {
        let user = format!("--user={user}");
        let told = refusal(&["--host=127.0.0.1", &port, &user]);
        assert!(told.contains("ERROR 1045"), "{user}: {told}");
        let told = refusal(&[&format!("--socket={}", socket.display()), &user]);
        let expected = if geteuid().is_root() { "ERROR 2002" } else { "ERROR 1045" };
        assert!(told.contains(expected), "{user}: {told}");
    }
}

#[test]
fn other_users_cannot_enter_or_read_the_folder() {
    let (server, _scratch) = started();
    let server_folder = &server.server_folder;
    let folder = server_folder.log().parent().unwrap().to_owned();
    assert_eq!((mode(&folder), mode(&server_folder.log())), (0o700, 0o600));
    assert_eq!((mode(&server_folder.socket()), mode(&server_folder.data())), (0o600, 0o700));
    if geteuid().is_root() {
        for (program, path) in
            [("ls", &folder), ("cat", &server_folder.log()), ("ls", &server_folder.data())]
        {
            let output = as_stranger(program, &[&path.display().to_string()]);
            assert!(!output.status.success() && output.stdout.is_empty(), "{output:?}");
        }
    }
}

#[test]
fn the_server_is_not_root() {
    let (server, _scratch) = started();
    let status = fs::read_to_string(format!("/proc/{}/status", server.pid())).unwrap();
    let ids = |label: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(label)).unwrap();
        line.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    assert!(ids("Uid:").iter().all(|id| id != "0"), "{status}");
    assert!(!geteuid().is_root() || ids("Groups:").is_empty(), "{status}");
}

#[test]
fn no_statement_reads_or_writes_a_file() {
    let (server, scratch) = started();
    let config = Url::parse(&server.url()).unwrap().resolve(&LoginSources::default()).unwrap();
    let target = Target::mysql(config);
    let folder = scratch.subfolder("open").unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
    let file = folder.join("written");
    let outfile = format!("SELECT 1 INTO OUTFILE '{}'", file.display());
    let refused = rows(&target, &outfile, &mut ignore_progress).unwrap_err().to_string();
    assert!(refused.contains("--secure-file-priv"), "{refused}");
    assert!(!file.exists());
    let read = rows(&target, "SELECT LOAD_FILE('/etc/passwd')", &mut ignore_progress).unwrap();
    assert_eq!(read, [[driver::Datum::Null]]);
}

#[test]
fn the_password_is_in_no_process_list_and_in_no_file_of_the_server() {
    let (server, _scratch) = started();
    let url = server.url();
    let password = url.split([':', '@']).nth(2).unwrap().to_owned();
    assert_eq!(password.len(), 32, "{url}");
    let holds = |path: &Path| {
        let bytes = fs::read(path).unwrap_or_default();
        bytes.windows(password.len()).any(|part| part == password.as_bytes())
    };
    for process in fs::read_dir("/proc").unwrap().flatten() {
        for name in ["cmdline", "environ"] {
            assert!(!holds(&process.path().join(name)), "{}/{name}", process.path().display());
        }
    }
    let folder = server.server_folder.log().parent().unwrap().to_owned();
    let data = server.server_folder.data();
    for folder in [folder, data.join("mysql"), data] {
        for file in fs::read_dir(folder).unwrap().flatten() {
            assert!(!holds(&file.path()), "{}", file.path().display());
        }
    }
}

#[test]
fn a_missing_user_is_reported_before_the_start() {
    let scratch = Scratch::make().unwrap();
    let settings = Settings { user: Some("no-such-user".to_owned()), ..Settings::default() };
    let error = start(settings, scratch.path()).unwrap_err().to_string();
    assert!(error.starts_with("`user`: there is no user no-such-user"), "{error}");
}
