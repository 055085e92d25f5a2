//! The bill of materials of a program, in the format that scanners for known holes read (CycloneDX 1.5): every crate
//! with version, licence and checksum. cargo-cyclonedx writes it.

use std::fs;
use std::process::Command;

use anyhow::Context;

use super::compile::Sources;
use super::target::Target;
use crate::interrupt::Interrupt;
use crate::shell;

/// The text of the bill, without paths of the build.
///
/// # Errors
/// When cargo-cyclonedx fails.
pub(crate) fn of(
    sources: &Sources<'_>,
    target: Target,
    interrupt: &Interrupt,
) -> anyhow::Result<String> {
    let mut write = Command::new(sources.tools.cargo_tool("cargo-cyclonedx"));
    write.args(["cyclonedx", "--manifest-path=crates/cli/Cargo.toml", "--format=json"]);
    write.args(["--spec-version=1.5", "--no-build-deps", "--override-filename=dyno.cdx"]);
    write.args(["--target", target.triple]).current_dir(sources.path());
    write.env("SOURCE_DATE_EPOCH", sources.commit.seconds.to_string());
    shell::must(&mut write, interrupt)?;
    let text = fs::read_to_string(sources.path().join("crates/cli/dyno.cdx.json"))
        .context("cargo-cyclonedx wrote no bill")?;
    Ok(text.replace(&sources.path().display().to_string(), "/build"))
}
