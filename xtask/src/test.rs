//! All checks and tests, with real servers for the tests that need them.

mod emulated;

use std::num::NonZero;
use std::panic::resume_unwind;
use std::path::PathBuf;
use std::process::{ExitCode, ExitStatus};
use std::thread;

use anyhow::{Context, bail};
use clap::Args;
use system::{mariadb, postgres};

use crate::go::{GO_MYSQL, GO_TPC, GO_YCSB};
use crate::interrupt::Interrupt;
use crate::{cluster, needs, readers, servers, shell, tidy};
use emulated::Emulated;

/// The variable with which libtest's number of tests at a time is set.
const THREADS_VARIABLE: &str = "RUST_TEST_THREADS";

/// The environment variable that holds the server's address in tests.
const SERVER_VARIABLE: &str = "DYNO_TEST_MYSQL";
const POSTGRES_VARIABLE: &str = "DYNO_TEST_POSTGRES";

/// No crate has examples in its documentation, for which cargo would read each crate once more.
const ALL_TESTS: [&str; 4] = ["--workspace", "--lib", "--bins", "--tests"];

/// What `cargo xtask test` takes.
#[derive(Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    install: needs::Install,
    #[command(flatten)]
    emulated: Emulated,
    /// Arguments for `cargo test`, such as `--package dyno-driver`; with some, only those tests run
    #[arg(last = true)]
    cargo_test: Vec<String>,
}

/// Runs the checks, then the tests. The last lines and the exit code are those of the tests, unless a check failed.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let interrupt = Interrupt::watch()?;
    if let Some(target) = arguments.emulated.target {
        let failed = arguments.emulated.run(target, &arguments.install, &interrupt)?;
        if failed.is_empty() {
            return Ok(ExitCode::SUCCESS);
        }
        bail!("on {}, this failed (see above): {}", target.name, failed.join(", "));
    }
    arguments.install.provide(&needs::OF_TESTS, &interrupt)?;
    let (failed, programs) = thread::scope(|scope| {
        let programs = scope.spawn(|| programs(&interrupt));
        let failed = prepare(&arguments.cargo_test, &interrupt);
        (failed, programs.join().unwrap_or_else(|panic| resume_unwind(panic)))
    });
    let (failed, programs) = (failed?, programs?);
    let tests = tests(&arguments.cargo_test, programs, &interrupt)?;
    if failed.is_empty() {
        return Ok(exit_code(tests));
    }
    eprintln!("xtask: beside the tests, this failed (see above): {}", failed.join(", "));
    Ok(ExitCode::FAILURE)
}

/// What `cargo xtask verdicts` takes.
#[derive(Args)]
pub(crate) struct Verdicts {
    /// How often each case is run
    #[arg(long, default_value_t = 5)]
    rounds: usize,
}

/// Runs the provoked cases of `why`, which are a test that nobody else runs.
pub(crate) fn verdicts(arguments: &Verdicts) -> anyhow::Result<ExitCode> {
    let mut test = shell::cargo(&["test", "--release", "--package", "dyno-bench", "--test", "it"]);
    test.args(["--", "--ignored", "--nocapture", "why::verdicts"]);
    test.env("DYNO_VERDICTS", arguments.rounds.to_string());
    Ok(exit_code(shell::run(&mut test, &Interrupt::watch()?)?))
}

/// Everything but the tests themselves that cargo does: the checks, then the build of all tests. Returns what failed.
fn prepare(arguments: &[String], interrupt: &Interrupt) -> anyhow::Result<Vec<&'static str>> {
    if !arguments.is_empty() {
        return Ok(Vec::new());
    }
    let failed = checks(interrupt)?;
    let build = [&["test", "--no-run", "--quiet"], &ALL_TESTS[..]].concat();
    // When this fails, the run of the tests fails too and reports why.
    shell::run(&mut shell::cargo(&build), interrupt)?;
    Ok(failed)
}

/// The programs that Go builds for the tests, by the names of their environment variables. The builds run beside those
/// of cargo: downloads, linkers and the last large package of either leave the CPUs to the other.
fn programs(interrupt: &Interrupt) -> anyhow::Result<Vec<(&'static str, PathBuf)>> {
    let mut programs = servers::build(interrupt)?.to_vec();
    programs.extend(cluster::build(interrupt)?);
    programs.push(("DYNO_TEST_GO_MYSQL", GO_MYSQL.build(interrupt)?));
    programs.push(("DYNO_TEST_GO_YCSB", GO_YCSB.build(interrupt)?));
    programs.push(("DYNO_TEST_GO_TPC", GO_TPC.build(interrupt)?));
    programs.push((readers::VARIABLE, readers::provide(interrupt)?));
    programs.push((readers::WHEEL_VARIABLE, readers::provide_wheel(interrupt)?));
    Ok(programs)
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
fn tests(
    arguments: &[String],
    programs: Vec<(&'static str, PathBuf)>,
    interrupt: &Interrupt,
) -> anyhow::Result<ExitStatus> {
    let scratch = tempfile::tempdir().context("no folder for the server's data")?;
    // Files that interrupted tests leave are removed with the folder.
    let temporary = scratch.path().join("tests");
    std::fs::create_dir(&temporary).context("no folder for the tests' data")?;
    let server = mariadb::start(mariadb::Settings::default(), scratch.path())?;
    let postgres = postgres::start(postgres::Settings::default(), scratch.path())?;
    let mut test = shell::cargo(&["test"]);
    if arguments.is_empty() {
        test.args(ALL_TESTS).arg("--no-fail-fast");
    }
    test.args(arguments).envs(programs);
    test.env(SERVER_VARIABLE, server.url()).env(POSTGRES_VARIABLE, postgres.url());
    test.env("TMPDIR", &temporary);
    if std::env::var_os(THREADS_VARIABLE).is_none() {
        // Tests of the whole program mostly wait: for servers that start, and for loads of some seconds.
        let cpus = thread::available_parallelism().map_or(1, NonZero::get);
        test.env(THREADS_VARIABLE, (2 * cpus).to_string());
    }
    eprintln!("xtask: {SERVER_VARIABLE} is a MariaDB on port {}", server.port());
    // The tests determine which account is used, not the user's environment.
    for name in ["MYSQL_PWD", "MYSQL_HOST", "MYSQL_TCP_PORT", "MYSQL_UNIX_PORT", "PGPASSWORD"] {
        test.env_remove(name);
    }
    let status = shell::run(&mut test, interrupt);
    for server in [server, postgres] {
        if let Some(why) = server.exited() {
            eprintln!("xtask: {why}");
        }
        server.stop()?;
    }
    status
}

fn exit_code(status: ExitStatus) -> ExitCode {
    // No code: a signal ended the tests.
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    code.map_or(ExitCode::FAILURE, ExitCode::from)
}
