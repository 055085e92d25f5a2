//! A password appears neither in the list of processes nor in any written or printed text.

use std::fs;
use std::path::Path;

use crate::own_server::{Background, wait_until};
use crate::sandbox::{Sandbox, both};
use crate::server;

const PASSWORD: &str = "pass-word-4711";
/// A value that is in the environment of the first dyno process when it begins.
const GIVEN: &str = "given-word-4712";

pub(crate) fn files_below(folder: &Path, found: &mut Vec<std::path::PathBuf>) {
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
    let sandbox = Sandbox::new();
    let user = server::user_with_password("dyno_secret_url", PASSWORD);
    let url = user.url(Some(PASSWORD));
    let mut command = sandbox.dyno(["bench", "sysbench/oltp_point_select", "--table-size=50"]);
    command.args([
        "--time=10m",
        "--repetitions=1",
        "--system",
        &url,
        "--existing=replace",
        "--cleanup",
    ]);
    let mut run = Background::start(&sandbox, &mut command);
    // The process first replaces itself.
    run.wait_for("0000", "measure", 1);
    let shown = fs::read(format!("/proc/{}/cmdline", run.pid())).unwrap();
    let shown = String::from_utf8_lossy(&shown).into_owned();
    run.interrupt();
    let output = run.finish();
    assert_eq!(output.status.code(), Some(130), "{}", both(&output));
    assert!(shown.contains("oltp_point_select"), "{shown}");
    assert!(!shown.contains(PASSWORD), "{shown}");
    assert!(!both(&output).contains(PASSWORD), "{}", both(&output));
    assert_nowhere_below(&sandbox.path().join("results"));
}

#[test]
fn a_password_comes_from_the_environment_a_file_or_the_option_file() {
    let sandbox = Sandbox::new();
    let user = server::user_with_password("dyno_secret_env", PASSWORD);
    let url = user.url(None);
    let bench = |sandbox: &Sandbox| {
        let mut command = sandbox.dyno(["bench", "sysbench/oltp_point_select", "--table-size=50"]);
        command.args(["--events=100", "--existing=replace", "--cleanup", "--system", &url]);
        command
    };
    let refused = bench(&sandbox).output().unwrap();
    assert_eq!(refused.status.code(), Some(2));
    assert!(both(&refused).contains("1045"), "{}", both(&refused));

    let from_environment = bench(&sandbox).env("DYNO_PASSWORD", PASSWORD).output().unwrap();
    assert!(from_environment.status.success(), "{}", both(&from_environment));

    let file = sandbox.file("secret", &format!("{PASSWORD}\n"));
    let option = format!("password_file={}", file.display());
    let from_file = bench(&sandbox).args(["--system-option", &option]).output().unwrap();
    assert!(from_file.status.success(), "{}", both(&from_file));

    sandbox.file(".my.cnf", &format!("[client]\npassword={PASSWORD}\n"));
    let from_option_file = bench(&sandbox).output().unwrap();
    assert!(from_option_file.status.success(), "{}", both(&from_option_file));
    assert_nowhere_below(&sandbox.path().join("results"));
}

/// A process that a dyno has started, and the data that all users or its own user can read about it.
#[derive(Debug)]
pub(crate) struct Child {
    pid: Option<u32>,
    pub(crate) program: String,
    arguments: String,
    environment: String,
}

/// The processes whose home in the environment is this sandbox.
pub(crate) fn children(sandbox: &Sandbox) -> Vec<Child> {
    let home = format!("HOME={}\0", sandbox.path().display());
    let read = |folder: &Path, name: &str| {
        let bytes = fs::read(folder.join(name)).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let folders = fs::read_dir("/proc").unwrap().map(|entry| entry.unwrap().path());
    let all = folders.map(|folder| Child {
        pid: folder.file_name().and_then(|name| name.to_str()?.parse().ok()),
        program: read(&folder, "comm").trim().to_owned(),
        arguments: read(&folder, "cmdline"),
        environment: read(&folder, "environ"),
    });
    all.filter(|child| child.environment.contains(&home)).collect()
}

#[test]
fn an_environment_variable_does_not_replace_the_command_line() {
    let sandbox = Sandbox::new();
    let hidden = "dyno\u{1f}--help";
    let output = sandbox.dyno(["--version"]).env("DYNO_HIDDEN_ARGUMENTS", hidden).output().unwrap();
    assert!(
        both(&output).contains(concat!("dyno ", env!("CARGO_PKG_VERSION"))),
        "{}",
        both(&output)
    );
    assert!(!both(&output).contains("Usage"), "{}", both(&output));
}

#[test]
fn arguments_in_a_descriptor_that_dyno_did_not_open_are_refused() {
    let said = Sandbox::new().fail(1, ["--arguments-in-descriptor=0", "bench"]);
    assert!(said.contains("is internal to dyno; remove it"), "{said}");
}

#[test]
fn a_build_gets_no_secrets_and_what_it_prints_of_them_is_blanked() {
    let sandbox = Sandbox::new();
    sandbox.file("look.sql", "SELECT :api_token;\n");
    sandbox.file("leak", &format!("connected with {PASSWORD}\n"));
    let dyno = env!("CARGO_BIN_EXE_dyno");
    let build = format!("cat leak; env > environment; {dyno} --version > said");
    let mut command = sandbox.dyno(["bench", "look.sql", "--system=sqlite", "--events=20"]);
    command.args(["-D", &format!("api_token='{PASSWORD}'"), "--warm-up=0s"]);
    command.args(["--set", &format!("systems.sqlite.build={build}")]);
    command.env("DYNO_PASSWORD", GIVEN).env("MYSQL_PWD", GIVEN).env("OTHER_TOKEN", GIVEN);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", both(&output));
    assert!(!both(&output).contains(PASSWORD), "{}", both(&output));
    let said = fs::read_to_string(sandbox.path().join("said")).unwrap();
    assert!(said.starts_with("dyno "), "the build's dyno ran its own command: {said}");
    let environment = fs::read_to_string(sandbox.path().join("environment")).unwrap();
    assert!(environment.contains("PATH="), "{environment}");
    assert!(!environment.contains("DYNO_"), "{environment}");
    assert!(!environment.contains(GIVEN) && !environment.contains(PASSWORD), "{environment}");
    let log = fs::read_to_string(sandbox.runs()[0].join("build-sqlite.log")).unwrap();
    assert_eq!(log, "connected with ***\n");
    assert_nowhere_below(&sandbox.path().join("results"));
}

#[test]
fn secrets_in_the_output_of_a_failed_build_are_blanked() {
    let sandbox = Sandbox::new();
    sandbox.file("look.sql", "SELECT :api_token;\n");
    sandbox.file("leak", &format!("no login with {PASSWORD}\n"));
    let mut command = sandbox.dyno(["bench", "look.sql", "--system=sqlite", "--events=20"]);
    command.args(["-D", &format!("api_token='{PASSWORD}'")]);
    let output = command.args(["--set", "systems.sqlite.build=cat leak; exit 3"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", both(&output));
    assert!(both(&output).contains("no login with ***"), "{}", both(&output));
    assert!(!both(&output).contains(PASSWORD), "{}", both(&output));
    assert_nowhere_below(&sandbox.path().join("results"));
}

#[test]
fn secrets_in_the_output_of_a_failed_start_are_blanked() {
    let sandbox = Sandbox::new();
    let script = "#!/bin/sh\necho root is $ROOT_PASSWORD, given is $DYNO_PASSWORD.\nexit 1\n";
    let server = sandbox.program("tidb-server", script);
    let mut command = sandbox.dyno(["bench", "sysbench/oltp_point_select", "--events=20"]);
    command.args(["--system", &format!("tidb:{}", server.display())]);
    command.args(["--system-option", &format!("env.ROOT_PASSWORD={PASSWORD}")]);
    let output = command.env("DYNO_PASSWORD", GIVEN).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", both(&output));
    assert!(both(&output).contains("root is ***, given is ."), "{}", both(&output));
    assert!(!both(&output).contains(PASSWORD), "{}", both(&output));
    assert!(!sandbox.path().join("results").exists(), "nothing was measured");
}

#[test]
fn a_secret_option_of_a_managed_server_reaches_that_server_alone() {
    let sandbox = Sandbox::new();
    let binary = std::env::var("DYNO_TEST_TIDB")
        .expect("DYNO_TEST_TIDB is not set: run `cargo xtask test`, which builds a TiDB");
    let mut command = sandbox.dyno(["bench", "sysbench/oltp_point_select", "--table-size=50"]);
    command.args(["--time=10m", "--repetitions=1", "--system", &format!("tidb:{binary}")]);
    command.args(["--system-option", &format!("env.ROOT_PASSWORD={PASSWORD}")]);
    let mut run = Background::start(&sandbox, command.env("DYNO_PASSWORD", GIVEN));
    run.wait_for("0000", "measure", 1);
    let (dyno, children) = (run.pid(), children(&sandbox));
    run.interrupt();
    let output = run.finish();
    assert_eq!(output.status.code(), Some(130), "{}", both(&output));
    let is_server = |child: &&Child| child.program.starts_with("tidb-server");
    assert_eq!(children.iter().filter(is_server).count(), 1, "{children:?}");
    assert!(children.len() >= 3, "dyno, the server and a guard: {children:?}");
    for child in &children {
        assert!(!child.arguments.contains(PASSWORD), "{child:?}");
        let is_the_one = child.environment.contains(PASSWORD);
        assert_eq!(is_the_one, is_server(&child), "{child:?}");
        // Only the process that was given the password has it, and no child inherits it.
        assert_eq!(child.environment.contains(GIVEN), child.pid == Some(dyno), "{child:?}");
    }
    assert!(!both(&output).contains(PASSWORD), "{}", both(&output));
    for format in ["text", "json", "markdown", "csv"] {
        let output = sandbox.succeed(["report", "--format", format]);
        assert!(!both(&output).contains(PASSWORD), "{format}: {}", both(&output));
    }
    let trial = fs::read_to_string(sandbox.runs()[0].join("trials/0000/trial.json")).unwrap();
    assert!(trial.contains("ROOT_PASSWORD"), "the setting is named: {trial}");
    assert_nowhere_below(&sandbox.path().join("results"));
}

#[test]
fn the_process_that_keeps_a_detached_server_shows_no_secret() {
    let sandbox = Sandbox::new();
    let option = format!("settings.report_password={PASSWORD}");
    let mut command = sandbox.dyno(["up", "mariadb", "--option", &option, "--detach"]);
    let output = command.env("DYNO_PASSWORD", GIVEN).output().unwrap();
    let children = children(&sandbox);
    sandbox.succeed(["down"]);
    assert!(output.status.success(), "{}", both(&output));
    wait_until("all is down", || self::children(&sandbox).is_empty());
    let count = |name: &str| children.iter().filter(|child| child.program == name).count();
    assert_eq!((count("dyno"), count("mariadbd")), (1, 1), "{children:?}");
    for child in &children {
        // The plan sets it as an argument of the server.
        assert_eq!(child.arguments.contains(PASSWORD), child.program == "mariadbd", "{child:?}");
        assert!(!child.environment.contains(PASSWORD), "{child:?}");
        assert!(!child.environment.contains(GIVEN), "{child:?}");
    }
    assert!(!both(&output).contains(PASSWORD), "{}", both(&output));
}
