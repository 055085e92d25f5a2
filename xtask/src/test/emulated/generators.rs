//! A load that generators on two kinds of processors share: dyno of this machine, and the program that is handed out
//! for another one, which dyno brings to a shell in the build root and which an emulator runs there.

use std::fs::{self, File};

use anyhow::{Context, ensure};
use serde_json::Value;

use super::rows;
use crate::dist::{Program, Sources, Target};
use crate::interrupt::Interrupt;
use crate::{paths, shell};

/// The folder in the root with a stand-in for `uname`: the shell there is one of this machine, and so is its `uname`.
const STAND_IN: &str = "stand-in";
const LOAD: &str = "\
[systems.echo]
kind = \"echo\"
[workloads.call]
kind = \"rpc\"
connections = 4
[load]
clients = 8
warm_up = \"1s\"
time = \"4s\"
";

/// Runs the load, checks its report, and returns the rows of its trials.
///
/// # Errors
/// When the load fails, or a generator has no part in it.
pub(super) fn run(
    sources: &Sources<'_>,
    program: &Program,
    interrupt: &Interrupt,
) -> anyhow::Result<Vec<String>> {
    let target = program.target;
    let build = ["build", "--workspace", "--bin", "dyno"];
    shell::must(&mut shell::cargo(&build), interrupt)?;
    let scratch = tempfile::tempdir().context("no folder for the load")?;
    let dyno = scratch.path().join("dyno");
    fs::copy(paths::target().join("debug/dyno"), &dyno).context("no dyno of this machine")?;
    fs::copy(&program.path, scratch.path().join(format!("dyno-{}", target.name())))?;
    let plan = scratch.path().join("plan.toml");
    fs::write(&plan, plan_text(&place(sources, target)?)?)?;
    let written = scratch.path().join("report.json");
    let mut dyno = shell::command(&dyno.to_string_lossy(), &["run"]);
    dyno.arg(&plan).args(["--format=json", "--quiet", "--out"]).arg(scratch.path().join("results"));
    dyno.stdout(File::create(&written)?);
    shell::must(&mut dyno, interrupt)?;
    let report: Value = serde_json::from_slice(&fs::read(&written)?)?;
    check_parts(&report, target)?;
    // The coordinator runs on this machine's processor.
    rows(&report, Target::X86_64)
}

/// The words that run a command in the build root, where `uname` names the other processor.
fn place(sources: &Sources<'_>, target: Target) -> anyhow::Result<String> {
    let folder = format!("{}/{STAND_IN}", sources.folder());
    let outside = sources.root.path(&folder);
    fs::create_dir_all(&outside)?;
    let script =
        format!("case $1 in -m) echo {} ;; *) exec /usr/bin/uname \"$@\" ;; esac\n", target.name());
    sources.root.write_script(&format!("{folder}/uname"), &script)?;
    let path = format!("PATH={folder}:/usr/sbin:/usr/bin:/sbin:/bin");
    let command = sources.root.command("/", &[], &[&path])?;
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let words = words.map(|word| {
        let word = word.to_string_lossy();
        ensure!(!word.contains('\''), "a path with a quotation mark: {word}");
        Ok(format!("'{word}'"))
    });
    Ok(words.collect::<anyhow::Result<Vec<_>>>()?.join(" "))
}

fn plan_text(place: &str) -> anyhow::Result<String> {
    let place = serde_json::to_string(&format!("command:{place}"))?;
    Ok(format!("{LOAD}generators = [\"local\", {place}]\n"))
}

/// Refuses a report in which the load is not the sum of both generators, each on its processor.
fn check_parts(report: &Value, target: Target) -> anyhow::Result<()> {
    let trial = &report["trials"][0];
    let generators = trial["generators"].as_array().context("a trial without generators")?;
    let processors: Vec<&str> =
        generators.iter().filter_map(|it| it["host"]["processor"].as_str()).collect();
    let expected = [Target::X86_64.name(), target.name()];
    ensure!(processors == expected, "the generators ran on {processors:?}, not {expected:?}");
    let parts: Vec<u64> = generators.iter().filter_map(|it| it["transactions"].as_u64()).collect();
    ensure!(parts.len() == expected.len() && !parts.contains(&0), "their transactions: {parts:?}");
    let all = trial["transactions"].as_u64();
    let sum = parts.iter().sum();
    ensure!(all == Some(sum), "the trial has {all:?} transactions, and its generators {sum}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn report(processor: &str, parts: [u64; 2], all: u64) -> Value {
        let part = |processor: &str, transactions: u64| json!({ "host": { "processor": processor }, "transactions": transactions });
        let generators = [part("x86_64", parts[0]), part(processor, parts[1])];
        json!({ "trials": [{ "transactions": all, "generators": generators }] })
    }

    #[test]
    fn the_load_is_the_sum_of_generators_on_two_processors() {
        let check = |report: &Value| check_parts(report, Target::Riscv64);
        check(&report("riscv64", [600, 400], 1_000)).unwrap();
        let error = |report: &Value| check(report).unwrap_err().to_string();
        assert_eq!(
            error(&report("x86_64", [600, 400], 1_000)),
            r#"the generators ran on ["x86_64", "x86_64"], not ["x86_64", "riscv64"]"#
        );
        assert!(error(&report("riscv64", [1_000, 0], 1_000)).contains("[1000, 0]"));
        assert!(error(&report("riscv64", [600, 400], 999)).contains("its generators 1000"));
        assert_eq!(error(&json!({ "trials": [{}] })), "a trial without generators");
    }

    #[test]
    fn quoted_words_of_a_place_are_one_text_of_a_plan() {
        let text = plan_text("'unshare' '/a b/\"c\"'").unwrap();
        let plan: toml::Table = toml::from_str(&text).unwrap();
        let generators = plan["load"]["generators"].as_array().unwrap();
        assert_eq!(generators[1].as_str(), Some("command:'unshare' '/a b/\"c\"'"));
    }
}
