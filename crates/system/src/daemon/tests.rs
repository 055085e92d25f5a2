//! Tests of what all managed servers have in common. Each kind has its own tests on real servers.

use tempfile::TempDir;

use super::*;

/// A shell script in place of a server: it answers once it has made a file `ready` in its scratch folder.
#[derive(Debug)]
struct Shell {
    script: &'static str,
    scratch: PathBuf,
}

impl Recipe for Shell {
    fn name(&self) -> &'static str {
        "Shell"
    }

    fn command(&self, _home: &ServerFolder, ports: Ports) -> Command {
        let mut command = crate::process::command("sh");
        command.args(["-c", self.script]).env("PORT", ports.main.to_string());
        command.current_dir(&self.scratch);
        command
    }

    fn cpus(&self) -> Option<CpuSet> {
        None
    }

    fn answers(&self, _ports: Ports) -> bool {
        self.scratch.join("ready").exists()
    }
}

fn started(script: &'static str) -> (anyhow::Result<Daemon>, TempDir) {
    let scratch = TempDir::new().unwrap();
    let shell = Shell { script, scratch: scratch.path().to_owned() };
    (Daemon::start(shell, scratch.path(), &mut ignore_progress), scratch)
}

#[test]
fn other_ports_are_tried_when_one_is_taken() {
    let script = "echo $PORT >> ports; test $(wc -l < ports) -ge 3 || \
                  { echo 'listen: bind: address already in use'; exit 1; }; \
                  touch ready; exec sleep 60";
    let (daemon, scratch) = started(script);
    let tried = std::fs::read_to_string(scratch.path().join("ports")).unwrap();
    let tried: Vec<u16> = tried.lines().map(|port| port.parse().unwrap()).collect();
    assert_eq!((tried.len(), tried[2]), (3, daemon.unwrap().port()));
}

#[test]
fn a_listener_can_abort_a_start_without_leftovers() {
    let scratch = TempDir::new().unwrap();
    let script = "trap '' TERM; echo $$ > new; mv new pid; sleep 60";
    let shell = Shell { script, scratch: scratch.path().to_owned() };
    let pid = scratch.path().join("pid");
    let mut stages = Vec::new();
    let mut once_started = |step: ProgressEvent<'_>| {
        let ProgressEvent::Stage { name: stage, .. } = step else { panic!("{step:?}") };
        stages.push(stage.to_owned());
        if pid.exists() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let error = Daemon::start(shell, scratch.path(), &mut once_started).unwrap_err();
    assert_eq!(error.to_string(), "interrupted while starting Shell");
    assert!(stages.iter().all(|stage| stage == "starting Shell"), "{stages:?}");
    let pid = std::fs::read_to_string(&pid).unwrap();
    assert!(!Path::new("/proc").join(pid.trim()).exists(), "process {pid} is still there");
    assert_eq!(std::fs::read_dir(scratch.path()).unwrap().count(), 1, "the file alone");
}

#[test]
fn output_of_a_failed_start_is_reported() {
    let (daemon, _scratch) = started("echo 'I have no data'; exit 3");
    let error = daemon.unwrap_err().to_string();
    assert_eq!(error, "Shell did not start (exit status: 3); it said:\nI have no data");
}

#[test]
fn the_end_of_the_log_explains_the_exit() {
    let script =
        "touch ready; until test -e seen; do sleep 0.01; done; echo 'panic: no more'; exit 7";
    let (daemon, scratch) = started(script);
    let daemon = daemon.unwrap();
    std::fs::write(scratch.path().join("seen"), "").unwrap();
    assert!(daemon.process.wait(STOP_BOUND).is_some());
    assert_eq!(
        daemon.exited().unwrap(),
        "Shell ended by itself (exit status: 7); the end of its log:\npanic: no more"
    );
}

#[test]
fn stopping_a_server_removes_its_folder() {
    let (daemon, scratch) = started("touch ready; exec sleep 60");
    let folders = || {
        scratch.path().read_dir().unwrap().filter(|entry| entry.as_ref().unwrap().path().is_dir())
    };
    assert_eq!(folders().count(), 1);
    daemon.unwrap().stop().unwrap();
    assert_eq!(folders().count(), 0);
}
