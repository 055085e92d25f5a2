//! Where the server comes from: a program that the user names, an installed one, or a build.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use super::build::{self, BuildOptions};
use crate::ProgressListener;
use crate::programs::{find, is_executable};

/// Where to look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Source {
    /// On PATH, then TiUP, then a build.
    #[default]
    Any,
    /// `tidb-server` on PATH, and nowhere else.
    Path,
    /// `tiup playground`, and nothing else.
    TiUp,
    /// A build from the Go module, even when there are others.
    Build,
}

/// The options that decide where the server comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Choice {
    /// A program that the user names; it has precedence.
    pub(super) binary: Option<PathBuf>,
    /// Where to look when the user names none.
    pub(super) source: Source,
    pub(super) build: BuildOptions,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Program {
    Server(PathBuf),
    /// `tiup`, which starts a TiDB on a TiKV of its own.
    TiUp(PathBuf),
}

impl Choice {
    /// Finds the program; builds it when no other source is left.
    ///
    /// # Errors
    /// When there is none, with what to do about it.
    pub(super) fn program(&self, listener: &mut ProgressListener<'_>) -> anyhow::Result<Program> {
        if let Some(binary) = &self.binary {
            if !is_executable(binary) {
                bail!("`binary`: {} is not a program that can be run", binary.display());
            }
            return Ok(Program::Server(binary.clone()));
        }
        let found = match self.source {
            Source::Any => installed().or_else(tiup),
            Source::Path => Some(installed().context(
                "tidb-server is not on PATH: name it with `binary`, or have one built with \
                 source = \"build\"",
            )?),
            Source::TiUp => Some(
                tiup().context("tiup is neither on PATH nor in ~/.tiup/bin: https://tiup.io")?,
            ),
            Source::Build => None,
        };
        match found {
            Some(program) => Ok(program),
            None => build::provide(&self.build, listener).map(Program::Server),
        }
    }
}

impl Choice {
    /// What has to be built, and how long that takes; `None` when there is a program.
    pub(super) fn build_to_come(&self) -> Option<String> {
        let is_built = match self.source {
            _ if self.binary.is_some() => false,
            Source::Any => installed().or_else(tiup).is_none(),
            Source::Path | Source::TiUp => false,
            Source::Build => true,
        };
        is_built.then(|| build::to_come(&self.build)).flatten()
    }
}

fn installed() -> Option<Program> {
    find("tidb-server", &[]).map(Program::Server)
}

/// TiUP's installer uses a folder that only new shells have on their PATH.
fn tiup() -> Option<Program> {
    let server_folder =
        std::env::var_os("HOME").map(|server_folder| Path::new(&server_folder).join(".tiup/bin"));
    let folders: Vec<&Path> = server_folder.iter().map(PathBuf::as_path).collect();
    find("tiup", &folders).map(Program::TiUp)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(binary: &str) -> anyhow::Result<Program> {
        let choice = Choice { binary: Some(PathBuf::from(binary)), ..Choice::default() };
        choice.program(&mut |_| panic!("nothing is built"))
    }

    #[test]
    fn a_missing_binary_is_refused_by_name() {
        let error = named("/opt/none/tidb-server").unwrap_err().to_string();
        assert_eq!(error, "`binary`: /opt/none/tidb-server is not a program that can be run");
    }

    #[test]
    fn an_explicit_binary_is_preferred() {
        assert_eq!(named("/bin/sh").unwrap(), Program::Server(PathBuf::from("/bin/sh")));
    }
}
