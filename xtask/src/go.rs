//! Programs that Go builds for tests and for comparison. Each is pinned by a module of its own and never linked in.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;

use crate::interrupt::Interrupt;
use crate::{paths, shell};

/// The version of Go that also builds TiDB, so that only one has to be downloaded.
const TOOLCHAIN: &str = "go1.25.12";

/// A program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GoProgram {
    /// Its path below the folder of cargo's output.
    pub(crate) path: &'static str,
    /// The folder of its module below the repository's root.
    pub(crate) module: &'static str,
    pub(crate) package: &'static str,
    /// Further arguments of the build.
    pub(crate) flags: &'static [&'static str],
}

/// The server for tests of logins.
pub(crate) const GO_MYSQL: GoProgram = GoProgram::plain("go-mysql", "systems/go-mysql", ".");
/// YCSB in Go.
pub(crate) const GO_YCSB: GoProgram =
    GoProgram::plain("go-ycsb", "xtask/peers/go-ycsb", "github.com/pingcap/go-ycsb/cmd/go-ycsb");
/// TPC-C and TPC-H in Go.
pub(crate) const GO_TPC: GoProgram =
    GoProgram::plain("go-tpc", "xtask/peers/go-tpc", "github.com/pingcap/go-tpc/cmd/go-tpc");
/// trpc-go's own client as a load generator.
pub(crate) const TRPC_CLIENT: GoProgram =
    GoProgram::plain("trpc-client", "xtask/peers/trpc-client", ".");
/// The load generator of gRPC in Go.
pub(crate) const GHZ: GoProgram =
    GoProgram::plain("ghz", "xtask/peers/ghz", "github.com/bojand/ghz/cmd/ghz");

impl GoProgram {
    const fn plain(path: &'static str, module: &'static str, package: &'static str) -> Self {
        Self { path, module, package, flags: &[] }
    }

    /// Builds the program: minutes the first time, a second after that. Returns its path.
    pub(crate) fn build(&self, interrupt: &Interrupt) -> anyhow::Result<PathBuf> {
        self.build_from(&paths::root().join(self.module), interrupt)
    }

    /// As [`GoProgram::build`], from another folder with its module.
    pub(crate) fn build_from(
        &self,
        module: &Path,
        interrupt: &Interrupt,
    ) -> anyhow::Result<PathBuf> {
        let program = paths::target().join(self.path);
        eprintln!("xtask: building {} (minutes the first time)", self.path);
        let mut build = command(module, &["build", "-mod=readonly", "-trimpath"])?;
        build.args(self.flags).arg("-o").arg(&program).arg(self.package);
        shell::must(&mut build, interrupt)
            .with_context(|| format!("cannot build {}", self.module))?;
        Ok(program)
    }
}

/// A command of Go in the folder of a module.
pub(crate) fn command(module: &Path, arguments: &[&str]) -> anyhow::Result<Command> {
    let go = system::go_program(TOOLCHAIN)?;
    let mut command = shell::command(&go.display().to_string(), arguments);
    command.current_dir(module).env("GOTOOLCHAIN", TOOLCHAIN).env("GOWORK", "off");
    Ok(command)
}
