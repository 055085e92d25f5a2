//! The help of `dyno` itself: its commands in groups.

use std::ffi::OsString;

use clap::{CommandFactory, FromArgMatches};

use super::Args;

/// Every command that is not hidden.
const GROUPS: [(&str, &[&str]); 5] = [
    ("Run", &["run", "bench", "why", "init"]),
    ("Data", &["prepare", "check", "cleanup", "generate"]),
    ("Look", &["report", "list", "compare", "history"]),
    ("Servers", &["up", "down", "echo", "ceiling"]),
    ("About", &["workloads", "systems", "schema", "completions", "manual"]),
];

/// The command line with its help.
fn command() -> clap::Command {
    let command = Args::command();
    let groups: String =
        GROUPS.iter().map(|(name, members)| group(&command, name, members)).collect();
    let options = heading("Options");
    command.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n{groups}\n{options}\n{{options}}{{after-help}}"
    ))
}

/// Reads the arguments of the process, of which the first is its name.
///
/// # Errors
/// What is wrong with them, or the help that was asked for.
pub(crate) fn parse(arguments: Vec<OsString>) -> Result<Args, clap::Error> {
    let mut command = command();
    let mut matches = command.try_get_matches_from_mut(arguments)?;
    Args::from_arg_matches_mut(&mut matches).map_err(|wrong| wrong.format(&mut command))
}

fn group(command: &clap::Command, name: &str, members: &[&str]) -> String {
    let line = |member: &&str| {
        let about = command.find_subcommand(member).and_then(clap::Command::get_about);
        let about = about.map(ToString::to_string).unwrap_or_default();
        // What follows is in the command's own help.
        let first = about.split([',', ':', '.']).next().unwrap_or_default();
        format!("  \x1b[1m{member:11}\x1b[0m  {first}\n")
    };
    let lines: String = members.iter().map(line).collect();
    format!("\n{}\n{lines}", heading(name))
}

/// A heading as clap shows its own; without a terminal clap leaves the style out.
fn heading(name: &str) -> String {
    format!("\x1b[1m\x1b[4m{name}:\x1b[0m")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_in_a_group() {
        let command = command();
        let visible = command.get_subcommands().filter(|command| !command.is_hide_set());
        let mut visible: Vec<&str> = visible.map(clap::Command::get_name).collect();
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
        visible.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(grouped, visible);
    }

    #[test]
    fn the_help_of_dyno_has_its_commands_in_groups() {
        insta::assert_snapshot!(command().render_help().to_string());
    }

    /// Those of every day, in at most as many lines as two screens have.
    #[test]
    fn the_short_help_of_bench_has_the_options_of_every_day() {
        let mut command = command();
        let bench = command.find_subcommand_mut("bench").unwrap();
        let help = bench.render_help().to_string();
        let options = help.lines().filter(|line| line.trim_start().starts_with('-'));
        assert_eq!(options.count(), 15 + 1, "and --help: {help}");
        insta::assert_snapshot!(help);
    }
}
