//! `dyno manual FOLDER`

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::CommandFactory;

use crate::args::Args;

/// Writes a page for dyno, and one for each of its subcommands.
pub(crate) fn run(folder: &Path) -> Result<ExitCode> {
    let written =
        fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(Args::command(), folder));
    written.with_context(|| format!("cannot write manual pages to {}", folder.display()))?;
    Ok(ExitCode::SUCCESS)
}
