//! Builds the binary for distribution.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;

use crate::interrupt::Interrupt;
use crate::{paths, shell};

/// Builds the binary and prints its path and size.
///
/// # Errors
/// When the build fails.
pub(crate) fn run() -> anyhow::Result<ExitCode> {
    let binary = build(&Interrupt::watch()?)?;
    let bytes = std::fs::metadata(&binary)
        .with_context(|| format!("cargo built no {}", binary.display()))?
        .len();
    println!("{} ({} KiB)", binary.display(), bytes / 1024);
    Ok(ExitCode::SUCCESS)
}

/// Builds and returns the binary's path.
///
/// # Errors
/// When the build fails.
pub(crate) fn build(interrupt: &Interrupt) -> anyhow::Result<PathBuf> {
    let mut build = shell::cargo(&["build", "--profile", "dist", "--package", "dyno-bench"]);
    shell::must(&mut build, interrupt)?;
    Ok(paths::target().join("dist/dyno"))
}
