//! The server for tests of logins: built by Go from `systems/go-mysql`.

use std::path::PathBuf;

use anyhow::Context;

use crate::interrupt::Interrupt;
use crate::{paths, shell};

/// The environment variable that holds the program's path in tests.
pub(crate) const VARIABLE: &str = "DYNO_TEST_GO_MYSQL";

/// The version of Go that also builds TiDB, so that only one has to be downloaded.
const TOOLCHAIN: &str = "go1.25.12";

/// Builds the server: a minute the first time, a second after that. Returns the program.
///
/// # Errors
/// When there is no Go, or it cannot build it.
pub(crate) fn build(interrupt: &Interrupt) -> anyhow::Result<PathBuf> {
    let go = system::go_program(TOOLCHAIN)?.display().to_string();
    let program = paths::target().join("go-mysql");
    let mut build = shell::command(&go, &["build", "-mod=readonly", "-trimpath", "-o"]);
    build.arg(&program).arg(".").current_dir(paths::root().join("systems/go-mysql"));
    build.env("GOTOOLCHAIN", TOOLCHAIN).env("GOWORK", "off");
    shell::must(&mut build, interrupt).context("cannot build the server of systems/go-mysql")?;
    Ok(program)
}
