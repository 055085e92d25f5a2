//! Plants a fault for each target in a copy of the repository, and searches for it, to show that the search and the
//! property find faults.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, Stdio};

use anyhow::{Context, bail};
use serde::Deserialize;

use super::build::{self, Target};
use super::figures::Figures;
use super::search::{Limits, observe};
use crate::interrupt::Interrupt;
use crate::{paths, shell};

/// The faults, below the root of the repository.
const FILE: &str = "fuzz/planted.toml";
/// The environment variable that names the fault of a process.
const VARIABLE: &str = "DYNO_FUZZ_PLANTED";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Planted {
    fault: Vec<Fault>,
}

/// An expression that is replaced.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Fault {
    target: String,
    /// Below the root of the repository.
    file: PathBuf,
    /// The right expression, which the file has once.
    right: String,
    wrong: String,
}

impl Fault {
    /// The text with the fault, which only processes have that the environment names it to.
    fn plant(&self, text: &str) -> anyhow::Result<String> {
        let Self { target, file, right, wrong } = self;
        let Some((before, after)) = text.split_once(&**right) else {
            bail!("{}: `{right}` is not there", file.display());
        };
        let is_of_name = |it: char| it.is_alphanumeric() || it == '_';
        let is_cut = right.starts_with(is_of_name)
            && before.ends_with(|it| it == '.' || is_of_name(it))
            || right.ends_with(is_of_name) && after.starts_with(is_of_name);
        if is_cut || after.contains(&**right) {
            bail!("{}: `{right}` is not there once, with whole names", file.display());
        }
        let is_asked = format!("std::env::var(\"{VARIABLE}\").is_ok_and(|it| it == \"{target}\")");
        let either = format!("(if {is_asked} {{ {wrong} }} else {{ {right} }})");
        Ok(format!("{before}{either}{after}"))
    }
}

fn read(root: &Path) -> anyhow::Result<Vec<Fault>> {
    let text = fs::read_to_string(root.join(FILE)).with_context(|| format!("no {FILE}"))?;
    let planted: Planted = toml::from_str(&text).with_context(|| FILE.to_owned())?;
    Ok(planted.fault)
}

/// Searches for every fault, and prints how it was found.
pub(super) fn run(
    (rooms, is_wanted): (&[String], impl Fn(&str) -> bool),
    limits: &Limits,
    interrupt: &Interrupt,
) -> anyhow::Result<ExitCode> {
    let faults = read(paths::root())?;
    let root = build::folder().join("planted");
    copy(&root, &faults)?;
    let targets = build::targets(&root, rooms, interrupt)?;
    println!(
        "| target | found by its corpus alone | found by a search | inputs | CPU, s |\n|---|---|---|---:|---:|"
    );
    let mut is_missed = false;
    for target in targets.iter().filter(|target| is_wanted(&target.name)) {
        let by_corpus = is_found_by_corpus(target)?;
        let figures = search(target, limits, interrupt)?;
        interrupt.check()?;
        is_missed |= figures.fault.is_none();
        let [by_corpus, by_search] = [by_corpus, figures.fault.is_some()]
            .map(|is_found| if is_found { "yes" } else { "no" });
        let (inputs, seconds) = (figures.inputs, figures.cpu.as_secs_f64());
        println!("| {} | {by_corpus} | {by_search} | {inputs} | {seconds:.1} |", target.name);
    }
    Ok(if is_missed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Whether the test fails that runs without a search.
fn is_found_by_corpus(target: &Target) -> anyhow::Result<bool> {
    let mut test = target.test();
    let test = test.env(VARIABLE, &target.name).stdout(Stdio::null()).stderr(Stdio::null());
    Ok(!test.status().context("cannot run the tests")?.success())
}

/// Searches from the corpus alone.
fn search(target: &Target, limits: &Limits, interrupt: &Interrupt) -> anyhow::Result<Figures> {
    let inputs = build::folder().join("planted-inputs").join(&target.name);
    if inputs.exists() {
        fs::remove_dir_all(&inputs)
            .with_context(|| format!("cannot empty {}", inputs.display()))?;
    }
    let mut command = target.test();
    command.env(VARIABLE, &target.name);
    observe(&mut command, &inputs, Figures::new(&target.name), limits, interrupt)
}

/// Copies the files of the repository, with the faults. Files that are the same stay as they are, so that cargo builds
/// only what has changed.
fn copy(root: &Path, faults: &[Fault]) -> anyhow::Result<()> {
    let listed = shell::command("git", &["ls-files", "-z"]).output().context("cannot run git")?;
    let names = String::from_utf8(listed.stdout).context("a file's name is no text")?;
    for name in names.split_terminator('\0') {
        let from = paths::root().join(name);
        // A file may be removed and still be in the index.
        let Ok(mut bytes) = fs::read(&from) else { continue };
        for fault in faults.iter().filter(|fault| fault.file == Path::new(name)) {
            let text = String::from_utf8(bytes).with_context(|| name.to_owned())?;
            bytes = fault.plant(&text)?.into_bytes();
        }
        let to = root.join(name);
        if fs::read(&to).is_ok_and(|there| there == bytes) {
            continue;
        }
        let folder = to.parent().unwrap_or(root);
        fs::create_dir_all(folder).with_context(|| format!("no {}", folder.display()))?;
        fs::write(&to, bytes).with_context(|| format!("cannot write {}", to.display()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_target_has_a_fault_that_can_be_planted() {
        let root = paths::root();
        let faults = read(root).unwrap();
        let mut names = BTreeSet::new();
        for fault in &faults {
            let text = fs::read_to_string(root.join(&fault.file)).unwrap();
            let planted = fault.plant(&text).unwrap();
            assert!(planted.contains(&fault.wrong), "{fault:?}");
            assert!(names.insert(fault.target.clone()), "{} has two", fault.target);
        }
        let corpora = fs::read_dir(fuzzing::folder()).unwrap();
        let corpora = corpora.map(|file| file.unwrap().path());
        let corpora: BTreeSet<String> =
            corpora.map(|path| path.file_stem().unwrap().to_string_lossy().into_owned()).collect();
        assert_eq!(names, corpora);
    }
}
