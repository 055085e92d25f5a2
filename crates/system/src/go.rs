//! Go: found where it is installed, and used to build servers, with word of how far it has come.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;

use crate::process::toolchain_command;
use crate::programs::{find, is_executable};
use crate::subprocess::{create, run_to_end};
use crate::{ProgressEvent, ProgressListener};

mod toolchain;

/// How Go begins a line about a module that it fetches.
const DOWNLOADING: &str = "go: downloading ";

/// Something to build.
#[derive(Clone, Debug)]
pub(crate) struct Build<'a> {
    /// What people call it.
    pub(crate) name: &'a str,
    /// The folder of the module that is built in.
    pub(crate) module: &'a Path,
    /// The package of the program.
    pub(crate) package: &'a str,
    /// The version of Go, such as `go1.25.12`.
    pub(crate) toolchain: &'a str,
    /// Arguments of `go build`.
    pub(crate) arguments: &'a [String],
    /// Environment of the build.
    pub(crate) environment: &'a [(String, String)],
    /// Where the program goes.
    pub(crate) output: &'a Path,
    /// Where it says what it does.
    pub(crate) log: &'a Path,
}

/// Where Go is installed when it is not on PATH.
const FOLDERS: &[&str] = &["/usr/local/go/bin", "/usr/lib/go/bin"];

const MISSING: &str = "go is neither on PATH nor in /usr/local/go/bin: install it (https://go.dev/dl; \
                       Debian and Ubuntu: `apt-get install golang-go`)";

/// Go, ready to build with one of its versions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Go {
    program: PathBuf,
}

/// A Go that builds with `toolchain`, such as `go1.25.12`, when `GOTOOLCHAIN` says so in its
/// environment; for programs that are no systems.
///
/// # Errors
/// When there is none, with what to install.
pub fn go_program(toolchain: &str) -> anyhow::Result<PathBuf> {
    Go::find(toolchain).map(|go| go.program)
}

impl Go {
    /// Go as it is installed, with `toolchain` fetched when it is too old to do that by itself.
    ///
    /// # Errors
    /// When there is none, with what to install.
    pub(crate) fn find(toolchain: &str) -> anyhow::Result<Self> {
        let program = find("go", &[]).or_else(|| in_folder(FOLDERS)).context(MISSING)?;
        if toolchain::fetches_others(&program)? {
            return Ok(Self { program });
        }
        toolchain::fetch(&program, toolchain).map(|program| Self { program })
    }

    /// Builds a program.
    ///
    /// # Errors
    /// When a stop was requested, or with the last lines that Go said.
    pub(crate) fn build(
        &self,
        build: &Build<'_>,
        listener: &mut ProgressListener<'_>,
    ) -> anyhow::Result<()> {
        let listed = build.log.with_extension("packages");
        let mut list = self.command(build, "list");
        list.args(["-deps", "-f", "{{.ImportPath}}", build.package]);
        let name = format!("fetching the modules of {}", build.name);
        let look = || listener(stage(&name, lines(build.log, is_download), 0));
        run_to_end(list, &name, build.log, Some(create(&listed)?), look)?;
        let mut compile = self.command(build, "build");
        compile.arg("-v").args(build.arguments).arg("-o").arg(build.output).arg(build.package);
        // Packages that Go has built before are not named; the program itself is linked at the end,
        // and of that nothing is said.
        let total = lines(&listed, |_| true);
        let name = format!("building {}", build.name);
        let look = || listener(stage(&name, lines(build.log, is_package), total));
        run_to_end(compile, &name, build.log, None, look)
    }

    fn command(&self, build: &Build<'_>, verb: &str) -> Command {
        let mut command = toolchain_command(&self.program);
        command
            // What is built is decided by the module's two files and nothing else.
            .args([verb, "-mod=readonly"])
            .env("GOTOOLCHAIN", build.toolchain)
            .env("GOWORK", "off")
            .envs(build.environment.iter().map(|(name, value)| (name, value)))
            .current_dir(build.module);
        command
    }
}

fn stage(stage: &str, done: u64, total: u64) -> ProgressEvent<'_> {
    ProgressEvent::Progress { stage, done, total }
}

fn is_download(line: &str) -> bool {
    line.starts_with(DOWNLOADING)
}

fn is_package(line: &str) -> bool {
    !is_download(line)
}

/// How many lines of a file are of a kind, as far as it can be read.
fn lines(path: &Path, are_of_kind: impl Fn(&str) -> bool) -> u64 {
    let text = fs::read_to_string(path).unwrap_or_default();
    text.lines().filter(|line| are_of_kind(line)).count() as u64
}

fn in_folder(folders: &[&str]) -> Option<PathBuf> {
    folders.iter().map(|folder| Path::new(folder).join("go")).find(|file| is_executable(file))
}

#[cfg(test)]
mod tests;
