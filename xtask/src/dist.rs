//! Builds the binary for distribution.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;

use crate::interrupt::Interrupt;
use crate::{paths, shell};

/// The profile of what is handed out.
pub(crate) const PROFILE: &str = "dist";

/// Builds and says where it lies and how big it is.
///
/// # Errors
/// When the build fails.
pub(crate) fn run() -> anyhow::Result<ExitCode> {
    let binary = build(PROFILE, &Interrupt::watch()?)?;
    let bytes = std::fs::metadata(&binary)
        .with_context(|| format!("cargo built no {}", binary.display()))?
        .len();
    println!("{} ({} KiB)", binary.display(), bytes / 1024);
    Ok(ExitCode::SUCCESS)
}

/// Builds with a profile of cargo's, and returns the binary's path.
///
/// # Errors
/// When the build fails.
pub(crate) fn build(profile: &str, interrupt: &Interrupt) -> anyhow::Result<PathBuf> {
    let mut build = shell::cargo(&["build", "--profile", profile, "--package", "dyno-bench"]);
    shell::must(&mut build, interrupt)?;
    Ok(paths::target().join(profile).join("dyno"))
}
