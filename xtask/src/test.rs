//! All checks and tests, with real servers for the tests that need them.

use std::process::{Command, ExitCode, ExitStatus};

use anyhow::Context;
use clap::Args;
use system::mariadb::{self, Settings};

use crate::interrupt::Interrupt;
use crate::needs::{self, Install};
use crate::peers::{GO_TPC, GO_YCSB};
use crate::{cluster, go_server, shell, tidb, tidy};

/// The environment variable that holds the server's address in tests.
const SERVER_VARIABLE: &str = "DYNO_TEST_MYSQL";

/// What `cargo xtask test` takes.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Only say what is missing, install nothing
    #[arg(long)]
    no_install: bool,
    /// Arguments for `cargo test`, such as `--package dyno-driver`; with some, only those tests run
    #[arg(last = true)]
    cargo_test: Vec<String>,
}

/// Runs the checks, then the tests. The last lines and the exit code are those of the tests, unless a check failed.
///
/// # Errors
/// When something is missing, the server does not start, or a signal arrived.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let interrupt = Interrupt::watch()?;
    let install = if arguments.no_install { Install::No } else { Install::Yes };
    needs::provide(&[needs::MARIADB, needs::SYSBENCH, needs::GO, needs::IP], install, &interrupt)?;
    let failed = if arguments.cargo_test.is_empty() { checks(&interrupt)? } else { Vec::new() };
    let tests = tests(&arguments.cargo_test, &interrupt)?;
    if failed.is_empty() {
        return Ok(exit_code(tests));
    }
    eprintln!("xtask: beside the tests, this failed (see above): {}", failed.join(", "));
    Ok(ExitCode::FAILURE)
}

/// The checks other than tests; returns those that failed.
fn checks(interrupt: &Interrupt) -> anyhow::Result<Vec<&'static str>> {
    let mut failed = Vec::new();
    if !shell::run(&mut shell::cargo(&["fmt", "--all", "--check"]), interrupt)?.success() {
        failed.push("cargo fmt --check");
    }
    let clippy = ["clippy", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"];
    if !shell::run(&mut shell::cargo(&clippy), interrupt)?.success() {
        failed.push("cargo clippy");
    }
    if tidy::run()? != ExitCode::SUCCESS {
        failed.push("cargo xtask tidy");
    }
    Ok(failed)
}

/// Runs all tests, with a server that is stopped after them.
fn tests(arguments: &[String], interrupt: &Interrupt) -> anyhow::Result<ExitStatus> {
    if arguments.is_empty() {
        let mut build = shell::cargo(&["test", "--workspace", "--no-run", "--quiet"]);
        // When this fails, the run below fails too and reports why.
        shell::run(&mut build, interrupt)?;
    }
    let go_mysql = go_server::build(interrupt)?;
    let tidb = tidb::build(interrupt)?;
    let cluster = cluster::build(interrupt)?;
    let go_ycsb = GO_YCSB.build(interrupt)?;
    let go_tpc = GO_TPC.build(interrupt)?;
    let scratch = tempfile::tempdir().context("no folder for the server's data")?;
    // Files that interrupted tests leave are removed with the folder.
    let temporary = scratch.path().join("tests");
    std::fs::create_dir(&temporary).context("no folder for the tests' data")?;
    let server = mariadb::start(Settings::default(), scratch.path())?;
    let mut test = shell::cargo(&["test"]);
    if arguments.is_empty() {
        test.args(["--workspace", "--no-fail-fast"]);
    }
    test.args(arguments).env(SERVER_VARIABLE, server.url()).env("TMPDIR", &temporary);
    test.env(go_server::VARIABLE, &go_mysql).env(tidb::VARIABLE, &tidb);
    test.envs(cluster).env(GO_YCSB.variable, &go_ycsb).env(GO_TPC.variable, &go_tpc);
    eprintln!("xtask: {SERVER_VARIABLE} is a MariaDB on port {}", server.port());
    let status = shell::run(without_logins(&mut test), interrupt);
    if let Some(why) = server.exited() {
        eprintln!("xtask: {why}");
    }
    server.stop()?;
    status
}

/// The tests determine which account is used, not the user's environment.
fn without_logins(command: &mut Command) -> &mut Command {
    for name in ["MYSQL_PWD", "MYSQL_HOST", "MYSQL_TCP_PORT", "MYSQL_UNIX_PORT"] {
        command.env_remove(name);
    }
    command
}

fn exit_code(status: ExitStatus) -> ExitCode {
    // No code: a signal ended the tests.
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    code.map_or(ExitCode::FAILURE, ExitCode::from)
}
