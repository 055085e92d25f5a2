//! Children are watched, stopped and killed.

use std::os::unix::process::ExitStatusExt;
use std::thread;

use nix::sys::signal::kill;

use super::*;

const BOUND: Duration = Duration::from_secs(20);

fn shell(script: &str) -> Process {
    let mut command = command("sh");
    command.args(["-c", script]);
    Process::start(command, Confinement::default()).unwrap()
}

fn on(cpus: CpuSet) -> Confinement {
    Confinement { cpus: Some(cpus), ..Confinement::default() }
}

#[test]
fn a_process_that_exits_by_itself_is_noticed() {
    let process = shell("exit 3");
    assert_eq!(process.wait(BOUND).unwrap().code(), Some(3));
    assert_eq!(process.exit_status().unwrap().code(), Some(3));
}

#[test]
fn stop_sends_sigterm_and_returns_the_status() {
    let process = shell("trap 'exit 7' TERM; while :; do sleep 0.01; done");
    assert_eq!(process.exit_status(), None);
    // Until the shell has set its trap, TERM ends it as well; either way it is gone.
    let status = process.stop(BOUND).unwrap();
    assert!(status.code() == Some(7) || status.signal() == Some(15), "{status}");
}

#[test]
fn a_process_that_ignores_sigterm_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let ready = folder.path().join("ready");
    let process =
        shell(&format!("trap '' TERM; touch {}; while :; do sleep 0.01; done", ready.display()));
    while !ready.exists() {
        thread::sleep(Duration::from_millis(5));
    }
    let status = process.stop(Duration::from_millis(50)).unwrap();
    assert_eq!(status.signal(), Some(9));
}

#[test]
fn a_child_survives_the_thread_that_asked_for_it() {
    let process = thread::spawn(|| shell("sleep 60")).join().unwrap();
    assert_eq!(process.wait(Duration::from_millis(200)), None);
    assert_eq!(process.stop(BOUND).unwrap().signal(), Some(15));
}

#[test]
fn a_missing_program_is_named() {
    let error = Process::start(command("/no/such/server"), Confinement::default()).unwrap_err();
    assert_eq!(
        format!("{error:#}"),
        "cannot start /no/such/server: No such file or directory (os error 2)"
    );
}

#[test]
fn a_missing_cpu_in_a_set_is_named() {
    let cpus = super::parse_cpus("0,1023").unwrap();
    let error = Process::start(command("/bin/sleep"), on(cpus)).unwrap_err();
    let told = format!("{error:#}");
    assert!(told.starts_with("cannot start /bin/sleep: there is no CPU 1023: "), "{told}");
}

#[test]
fn a_child_stays_on_its_cpus() {
    let mut command = command("sleep");
    command.arg("60");
    let process = Process::start(command, on(parse_cpus("0").unwrap())).unwrap();
    let status = std::fs::read_to_string(format!("/proc/{}/status", process.pid())).unwrap();
    assert!(status.contains("Cpus_allowed_list:\t0\n"), "{status}");
    process.stop(BOUND).unwrap();
}

/// A shell script that starts `others` in the background and goes on with `rest`; returns when they run, with the first
/// of them.
fn with_others(others: &str, rest: &str) -> (Process, Pid) {
    let folder = tempfile::tempdir().unwrap();
    let said = folder.path().join("pid");
    let script = format!("{others} & echo $! > new; mv new {}; {rest}", said.display());
    let mut command = command("sh");
    command.args(["-c", &script]).current_dir(folder.path());
    let process = Process::start(command, Confinement::default()).unwrap();
    while !said.exists() {
        thread::sleep(Duration::from_millis(5));
    }
    let other = std::fs::read_to_string(said).unwrap().trim().parse().unwrap();
    (process, Pid::from_raw(other))
}

/// Another process collects its status.
fn has_ended(pid: Pid) -> bool {
    kill(pid, None).is_err() || is_zombie(pid)
}

#[test]
fn the_processes_that_a_child_leaves_are_killed() {
    let (process, other) = with_others("sleep 60", "sleep 0.3");
    assert_eq!(process.wait(BOUND).unwrap().code(), Some(0));
    while !has_ended(other) {
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_clean_end_waits_for_the_processes_that_a_child_leaves() {
    // The server behind a script that ends at once when it is asked to.
    let folder = tempfile::tempdir().unwrap();
    let saved = folder.path().join("saved");
    let server = format!(
        "sh -c 'trap \"sleep 0.5; echo > {}; exit\" TERM; while :; do sleep 0.01; done'",
        saved.display()
    );
    let (process, server) = with_others(&server, "wait");
    // Until it has set its trap.
    thread::sleep(Duration::from_millis(300));
    process.stop_while(BOUND, &mut || true).unwrap();
    assert!(has_ended(server) && saved.exists());
}

#[test]
fn a_clean_end_has_a_bound_for_the_processes_that_a_child_leaves() {
    let (process, server) =
        with_others("sh -c 'trap \"\" TERM; while :; do sleep 0.01; done'", "wait");
    thread::sleep(Duration::from_millis(300));
    process.stop_while(Duration::from_millis(300), &mut || true).unwrap();
    while !has_ended(server) {
        thread::sleep(Duration::from_millis(5));
    }
}

fn is_zombie(pid: Pid) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| stat.contains(") Z "))
}
