//! `dyno completions SHELL`

use std::process::ExitCode;

use anyhow::Result;
use clap::CommandFactory;
use clap_complete::Shell;

use crate::args::Args;

pub(crate) fn run(shell: Shell) -> Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "dyno", &mut script);
    super::print(&String::from_utf8_lossy(&script))?;
    Ok(ExitCode::SUCCESS)
}
