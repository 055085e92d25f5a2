//! Coverage-guided search for inputs that break a reader of outside input, with libFuzzer. The properties are in the
//! `fuzz` modules of the rooms, next to the code; `cargo test` checks each of them on its corpus.

mod targets;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::Args;

use crate::interrupt::Interrupt;
use crate::shell;
use targets::{Target, targets};

/// What `cargo xtask fuzz` takes.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Minutes of searching in all, divided evenly among the targets
    #[arg(long, default_value_t = 5.0)]
    minutes: f64,
    /// Only targets whose names begin with this, such as `mysql_url`
    #[arg(long = "target", value_name = "NAME")]
    wanted: Vec<String>,
}

/// Searches for each target in turn; an input that breaks a property is printed as a line of a corpus.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let interrupt = Interrupt::watch()?;
    let is_wanted = |target: &Target| {
        let mut beginnings = arguments.wanted.iter();
        arguments.wanted.is_empty() || beginnings.any(|it| target.name.starts_with(it))
    };
    let mut targets = targets(&interrupt)?;
    targets.retain(is_wanted);
    if targets.is_empty() {
        bail!("no target begins with {}", arguments.wanted.join(" or "));
    }
    let seconds = (60.0 * arguments.minutes / targets.len() as f64).ceil().max(1.0);
    let mut broken = Vec::new();
    for target in &targets {
        if let Some(fault) = search(target, seconds as u64, &interrupt)? {
            eprintln!("xtask: {}: {fault}", target.name);
            broken.push(&*target.name);
        }
    }
    println!("{} targets, {seconds} s each; broken: {}", targets.len(), broken.join(", "));
    Ok(if broken.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Searches for this long; returns what broke: an input as a line of a corpus, or the end of the process when it left
/// none, as when the system killed it.
fn search(target: &Target, seconds: u64, interrupt: &Interrupt) -> anyhow::Result<Option<String>> {
    let faults = targets::folder().join("faults").join(&target.name);
    fs::create_dir_all(&faults).with_context(|| format!("no {}", faults.display()))?;
    let before = files(&faults)?;
    let mut test = target.test();
    test.env("DYNO_FUZZ_INPUTS", &target.inputs).env("DYNO_FUZZ_FAULTS", &faults);
    test.env("DYNO_FUZZ_SECONDS", seconds.to_string());
    let status = shell::run(&mut test, interrupt)?;
    if status.success() {
        return Ok(None);
    }
    let new = files(&faults)?.into_iter().find(|file| !before.contains(file));
    Ok(Some(match new {
        Some(input) => format!("broken by the input\n{}", fuzzing::line(&fs::read(input)?)),
        None => format!("its process ended ({status}) and left no input"),
    }))
}

fn files(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_dies_without_an_input_is_a_fault_of_its_target() {
        let target = targets::of_list("fuzz::mysql_url: test\n", Path::new("false")).remove(0);
        let fault = search(&target, 1, &Interrupt::watch().unwrap()).unwrap();
        assert_eq!(fault.as_deref(), Some("its process ended (exit status: 1) and left no input"));
    }
}
