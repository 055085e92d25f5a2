//! A password reaches neither the list of processes nor anything that is written or printed.

use std::fs;
use std::path::Path;

use crate::own_server::Background;
use crate::server;
use crate::support::{Desk, both};

const PASSWORD: &str = "pass-word-4711";

fn files_below(folder: &Path, found: &mut Vec<std::path::PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files_below(&path, found) } else { found.push(path) }
    }
}

fn assert_nowhere_below(folder: &Path) {
    let mut files = Vec::new();
    files_below(folder, &mut files);
    assert!(files.len() > 5, "a record has more files than {files:?}");
    for file in files {
        let bytes = fs::read(&file).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains(PASSWORD), "{} holds the password", file.display());
    }
}

#[test]
fn a_password_in_a_url_is_scrubbed_everywhere() {
    let desk = Desk::new();
    let user = server::user_with_password("dyno_secret_url", PASSWORD);
    let url = user.url(Some(PASSWORD));
    let mut command = desk.dyno(["bench", "sysbench/oltp_point_select", "--table-size=50"]);
    command.args(["--time=10m", "--system", &url, "--existing=replace", "--cleanup"]);
    let mut run = Background::start(&desk, &mut command);
    // Replacing itself is the first thing that the process does.
    run.wait_for("0000", "measure", 1);
    let shown = fs::read(format!("/proc/{}/cmdline", run.pid())).unwrap();
    let shown = String::from_utf8_lossy(&shown).into_owned();
    run.interrupt();
    let output = run.finish();
    assert_eq!(output.status.code(), Some(130), "{}", both(&output));
    assert!(shown.contains("oltp_point_select"), "{shown}");
    assert!(!shown.contains(PASSWORD), "{shown}");
    assert!(!both(&output).contains(PASSWORD), "{}", both(&output));
    assert_nowhere_below(&desk.path().join("results"));
}

#[test]
fn a_password_comes_from_the_environment_a_file_or_the_option_file() {
    let desk = Desk::new();
    let user = server::user_with_password("dyno_secret_env", PASSWORD);
    let url = user.url(None);
    let bench = |desk: &Desk| {
        let mut command = desk.dyno(["bench", "sysbench/oltp_point_select", "--table-size=50"]);
        command.args(["--events=100", "--existing=replace", "--cleanup", "--system", &url]);
        command
    };
    let refused = bench(&desk).output().unwrap();
    assert_eq!(refused.status.code(), Some(1));
    assert!(both(&refused).contains("1045"), "{}", both(&refused));

    let from_environment = bench(&desk).env("DYNO_PASSWORD", PASSWORD).output().unwrap();
    assert!(from_environment.status.success(), "{}", both(&from_environment));

    let file = desk.file("secret", &format!("{PASSWORD}\n"));
    let option = format!("password_file={}", file.display());
    let from_file = bench(&desk).args(["--system-option", &option]).output().unwrap();
    assert!(from_file.status.success(), "{}", both(&from_file));

    desk.file(".my.cnf", &format!("[client]\npassword={PASSWORD}\n"));
    let from_option_file = bench(&desk).output().unwrap();
    assert!(from_option_file.status.success(), "{}", both(&from_option_file));
    assert_nowhere_below(&desk.path().join("results"));
}
