//! `dyno completions SHELL`

use std::process::ExitCode;

use anyhow::Result;
use clap::CommandFactory;
use clap_complete::Shell;

use crate::args::Args;

pub(crate) fn run(shell: Shell) -> Result<ExitCode> {
    super::print(&script(shell))?;
    Ok(ExitCode::SUCCESS)
}

fn script(shell: Shell) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "dyno", &mut script);
    String::from_utf8_lossy(&script).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shells_complete_names_of_workloads_systems_and_options() {
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
            let script = script(shell);
            for name in ["tidb-cluster", "range_size=", "journal="] {
                assert!(script.contains(name), "{shell}: {name}");
            }
            // clap's script for fish completes options only.
            let has_workloads = script.contains("sysbench/oltp_read_write");
            assert!(has_workloads || shell == Shell::Fish, "{shell}");
        }
    }
}
