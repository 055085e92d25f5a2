//! Tests on a real server: start, watch, copy and stop, none of which leaves anything behind.

use std::process::Stdio;
use std::thread;
use std::time::Duration;

use super::*;
use crate::mysql::sends_greeting;

/// Time between two checks.
const POLL_PERIOD: Duration = Duration::from_millis(20);
/// The number of checks before a test fails: two minutes.
const POLLS_MAX: usize = 6000;

fn process_lives(pid: u32) -> bool {
    // A zombie is dead, though its parent has not collected its status yet.
    std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat.rsplit_once(") ").is_some_and(|(_, state)| state.starts_with('Z')))
}

#[test]
fn stop_ends_the_server_and_removes_its_data() {
    let scratch = tempfile::tempdir().unwrap();
    let server = start(Settings::default(), scratch.path()).unwrap();
    let (pid, port) = (server.pid(), server.port());
    assert!(sends_greeting(port));
    assert!(server.socket().exists());
    assert_eq!(
        server.login().unwrap().to_string(),
        format!("mysql://root:***@127.0.0.1:{port}/test")
    );
    assert_eq!(server.exited(), None);
    server.stop().unwrap();
    assert!(!process_lives(pid));
    assert_eq!(std::fs::read_dir(scratch.path()).unwrap().count(), 0);
}

#[test]
fn dropping_a_server_stops_it() {
    let scratch = tempfile::tempdir().unwrap();
    let server = start(Settings::default(), scratch.path()).unwrap();
    let pid = server.pid();
    drop(server);
    assert!(!process_lives(pid));
}

#[test]
fn a_killed_server_is_reported_without_the_lines_of_its_log() {
    let scratch = tempfile::tempdir().unwrap();
    let server = start(Settings::default(), scratch.path()).unwrap();
    nix::sys::signal::kill(
        nix::unistd::Pid::from_raw(server.pid().cast_signed()),
        nix::sys::signal::Signal::SIGKILL,
    )
    .unwrap();
    let why = loop {
        match server.exited() {
            Some(why) => break why,
            None => thread::sleep(POLL_PERIOD),
        }
    };
    assert_eq!(
        why,
        "MariaDB ended by itself (signal: 9 (SIGKILL)): another process killed it, or the kernel did for lack of memory"
    );
}

#[test]
fn an_unknown_setting_is_shown_with_the_servers_message() {
    let scratch = tempfile::tempdir().unwrap();
    let arguments = vec!["no-such-setting=1".to_owned()];
    let settings = Settings { arguments, ..Settings::default() };
    let error = start(settings, scratch.path()).unwrap_err().to_string();
    assert!(error.contains("MariaDB did not start"), "{error}");
    assert!(error.contains("unknown variable 'no-such-setting=1'"), "{error}");
}

#[test]
fn settings_and_cpus_reach_the_server() {
    let scratch = tempfile::tempdir().unwrap();
    let settings = Settings {
        arguments: vec!["--max-connections=17".to_owned()],
        cpus: Some(crate::process::parse_cpus("0").unwrap()),
        ..Settings::default()
    };
    let server = start(settings, scratch.path()).unwrap();
    let process = format!("/proc/{}", server.pid());
    let arguments = std::fs::read_to_string(format!("{process}/cmdline")).unwrap();
    assert!(arguments.ends_with("--max-connections=17\0"), "{arguments}");
    let status = std::fs::read_to_string(format!("{process}/status")).unwrap();
    assert!(status.contains("Cpus_allowed_list:\t0\n"), "{status}");
}

#[test]
fn restore_brings_back_the_snapshot() {
    let scratch = tempfile::tempdir().unwrap();
    let mut server = start(Settings::default(), scratch.path()).unwrap();
    let error = server.restore(&mut ignore_progress).unwrap_err().to_string();
    assert_eq!(error, "no data was kept that could be restored");
    let (pid, port) = (server.pid(), server.port());
    let data = server.server_folder.data();
    server.snapshot(&mut ignore_progress).unwrap();
    std::fs::write(data.join("test/later"), "").unwrap();
    server.restore(&mut ignore_progress).unwrap();
    assert!(!data.join("test/later").exists());
    assert!(sends_greeting(port));
    assert_eq!(server.port(), port);
    assert_ne!(server.pid(), pid);
}

/// The environment variable with the folder in which the process that is killed names the server it has started.
const ORPHAN_FOLDER: &str = "DYNO_TEST_ORPHAN_FOLDER";

const THIS_TEST: &str = "mariadb::server::tests::a_managed_server_ends_when_dyno_is_killed";

/// The code of the process that is killed.
fn start_a_server_and_wait(folder: &Path) {
    let server = start(Settings::default(), folder).unwrap();
    std::fs::write(folder.join("pid.part"), server.pid().to_string()).unwrap();
    std::fs::rename(folder.join("pid.part"), folder.join("pid")).unwrap();
    thread::sleep(Duration::from_secs(120));
}

#[test]
fn a_managed_server_ends_when_dyno_is_killed() {
    if let Ok(folder) = std::env::var(ORPHAN_FOLDER) {
        return start_a_server_and_wait(Path::new(&folder));
    }
    let scratch = tempfile::tempdir().unwrap();
    let mut us = command(std::env::current_exe().unwrap())
        .args(["--exact", THIS_TEST])
        .env(ORPHAN_FOLDER, scratch.path())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let said = scratch.path().join("pid");
    while !said.exists() {
        assert_eq!(us.try_wait().unwrap(), None, "the process ended before it started a server");
        thread::sleep(POLL_PERIOD);
    }
    let pid: u32 = std::fs::read_to_string(said).unwrap().parse().unwrap();
    assert!(process_lives(pid));
    us.kill().unwrap();
    us.wait().unwrap();
    for _ in 0..POLLS_MAX {
        if !process_lives(pid) {
            return;
        }
        thread::sleep(POLL_PERIOD);
    }
    panic!("server {pid} is still there after its parent was killed");
}
