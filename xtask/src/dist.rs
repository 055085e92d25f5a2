//! Builds the binary for distribution.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;

use crate::interrupt::Interrupt;
use crate::{paths, shell};

/// The profile of what is handed out.
pub(crate) const PROFILE: &str = "dist";

/// A dyno for a task.
#[derive(Args)]
pub(crate) struct Binary {
    /// A dyno that is already built, instead of building one
    #[arg(long)]
    dyno: Option<PathBuf>,
}

impl Binary {
    /// Its path; it is built with `profile` when none is named.
    pub(crate) fn provide(&self, profile: &str, interrupt: &Interrupt) -> anyhow::Result<PathBuf> {
        match &self.dyno {
            Some(dyno) => dyno.canonicalize().with_context(|| format!("no {}", dyno.display())),
            None => build(profile, interrupt),
        }
    }
}

/// Builds the binary, and prints its path and size.
pub(crate) fn run() -> anyhow::Result<ExitCode> {
    let binary = build(PROFILE, &Interrupt::watch()?)?;
    let bytes = std::fs::metadata(&binary)
        .with_context(|| format!("cargo built no {}", binary.display()))?
        .len();
    println!("{} ({} KiB)", binary.display(), bytes / 1024);
    Ok(ExitCode::SUCCESS)
}

/// Builds with a profile of cargo's, and returns the binary's path.
fn build(profile: &str, interrupt: &Interrupt) -> anyhow::Result<PathBuf> {
    let mut build = shell::cargo(&["build", "--profile", profile, "--package", "dyno-bench"]);
    shell::must(&mut build, interrupt)?;
    Ok(paths::target().join(profile).join("dyno"))
}
