//! Finds an installed Go, builds servers with it, and reports the progress of builds.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::Context;

use crate::daemon::ignore_progress;
use crate::process::toolchain_command;
use crate::programs::{find, is_executable};
use crate::subprocess::{create, run_to_end};
use crate::{ProgressEvent, ProgressListener};

mod embedded;
mod toolchain;

pub(crate) use embedded::{EmbeddedProgram, level_environment};

/// The start of Go's lines about a module that it downloads.
const DOWNLOADING: &str = "go: downloading ";

/// How long Go may take to fetch the modules of a program.
const FETCH_BOUND: Duration = Duration::from_secs(30 * 60);
/// How long Go may take to build a program; the largest takes ten minutes on two cores.
const BUILD_BOUND: Duration = Duration::from_secs(2 * 60 * 60);

#[derive(Clone, Debug)]
pub(crate) struct Build<'a> {
    /// The program's name in messages.
    pub(crate) name: &'a str,
    pub(crate) module: &'a Path,
    pub(crate) package: &'a str,
    /// The version of Go, such as `go1.25.12`.
    pub(crate) toolchain: &'a str,
    pub(crate) arguments: &'a [String],
    pub(crate) environment: &'a [(String, String)],
    pub(crate) output: &'a Path,
    pub(crate) log: &'a Path,
}

/// Folders where Go may be installed when it is not on PATH.
const FOLDERS: &[&str] = &["/usr/local/go/bin", "/usr/lib/go/bin"];

const MISSING: &str = "go is neither on PATH nor in /usr/local/go/bin: install it (https://go.dev/dl; \
                       Debian and Ubuntu: `apt-get install golang-go`)";

/// Go, ready to build with one of its versions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Go {
    program: PathBuf,
}

/// A Go program that builds with `toolchain`, such as `go1.25.12`, when its environment sets `GOTOOLCHAIN`; for
/// programs that are not systems.
///
/// # Errors
/// When Go is not installed, with what to install.
pub fn go_program(toolchain: &str) -> anyhow::Result<PathBuf> {
    Go::find(toolchain, &mut ignore_progress).map(|go| go.program)
}

impl Go {
    /// The installed Go; downloads `toolchain` when the installed version is too old to do so by itself.
    ///
    /// # Errors
    /// When Go is not installed, with what to install, or a stop was requested.
    pub(crate) fn find(
        toolchain: &str,
        listener: &mut ProgressListener<'_>,
    ) -> anyhow::Result<Self> {
        let program = find("go", &[]).or_else(|| in_folder(FOLDERS)).context(MISSING)?;
        if toolchain::fetches_others(&program, listener)? {
            return Ok(Self { program });
        }
        toolchain::fetch(&program, toolchain, listener).map(|program| Self { program })
    }

    /// Builds a program.
    ///
    /// # Errors
    /// The last lines of Go's output, or that a stop was requested.
    pub(crate) fn build(
        &self,
        build: &Build<'_>,
        listener: &mut ProgressListener<'_>,
    ) -> anyhow::Result<()> {
        let listed = build.log.with_extension("packages");
        let mut list = self.command(build, "list");
        list.args(["-deps", "-f", "{{.ImportPath}}", build.package]);
        let name = format!("fetching the modules of {}", build.name);
        let look = || {
            let done = lines(build.log, is_download);
            listener(ProgressEvent::Stage { name: &name, done, total: 0 })
        };
        run_to_end(list, (&name, Some(FETCH_BOUND)), build.log, Some(create(&listed)?), look)?;
        let mut compile = self.command(build, "build");
        compile.arg("-v").args(build.arguments).arg("-o").arg(build.output).arg(build.package);
        // Go does not name packages that it has built before. It links the program at the end, and does not report
        // that step.
        let total = lines(&listed, |_| true);
        let name = format!("building {}", build.name);
        let look = || {
            let done = lines(build.log, is_package);
            listener(ProgressEvent::Stage { name: &name, done, total })
        };
        run_to_end(compile, (&name, Some(BUILD_BOUND)), build.log, None, look)
    }

    fn command(&self, build: &Build<'_>, verb: &str) -> Command {
        let mut command = toolchain_command(&self.program);
        command
            // The module's two files alone decide what is built.
            .args([verb, "-mod=readonly"])
            .env("GOTOOLCHAIN", build.toolchain)
            .env("GOWORK", "off")
            .envs(build.environment.iter().map(|(name, value)| (name, value)))
            .current_dir(build.module);
        command
    }
}

fn is_download(line: &str) -> bool {
    line.starts_with(DOWNLOADING)
}

fn is_package(line: &str) -> bool {
    !is_download(line)
}

/// Counts the lines of a file that match, as far as the file can be read.
fn lines(path: &Path, are_of_kind: impl Fn(&str) -> bool) -> u64 {
    let text = fs::read_to_string(path).unwrap_or_default();
    text.lines().filter(|line| are_of_kind(line)).count() as u64
}

fn in_folder(folders: &[&str]) -> Option<PathBuf> {
    folders.iter().map(|folder| Path::new(folder).join("go")).find(|file| is_executable(file))
}

#[cfg(test)]
mod tests;
