//! Checks that no compiler does: which crate may import which, circles between files, how files open, how long they are,
//! words that do not belong in a room, and links of documents. ARCHITECTURE.md lists the invariants.

mod circles;
mod imports;
mod links;
mod shape;
mod source;
mod words;

use std::fmt;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context;

use crate::paths;
use source::Source;

/// A violation, and how to fix it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Finding {
    /// Path from the repository's root.
    file: String,
    /// Counted from 1.
    line: usize,
    message: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.message)
    }
}

/// Checks the repository and prints the violations.
pub(crate) fn run() -> anyhow::Result<ExitCode> {
    let findings = findings(paths::root())?;
    for finding in &findings {
        println!("{finding}");
    }
    if findings.is_empty() {
        eprintln!("xtask: tidy");
        return Ok(ExitCode::SUCCESS);
    }
    eprintln!("xtask: {} things are not tidy", findings.len());
    Ok(ExitCode::FAILURE)
}

/// All violations below `root`, by file and line.
fn findings(root: &Path) -> anyhow::Result<Vec<Finding>> {
    let mut findings = imports::check(root)?;
    findings.extend(links::check(root)?);
    let sources = sources(root)?;
    findings.extend(circles::check(&sources));
    for source in &sources {
        findings.extend(shape::check(source));
        findings.extend(words::check(source));
    }
    findings.sort();
    Ok(findings)
}

/// Every Rust file of the workspace.
fn sources(root: &Path) -> anyhow::Result<Vec<Source>> {
    let mut sources = Vec::new();
    for folder in ["crates", "xtask"] {
        let files = files(root, &root.join(folder), "rs")?;
        sources.extend(files.into_iter().map(|(name, text)| Source::new(name, text)));
    }
    let test_modules: Vec<String> = sources.iter().flat_map(Source::test_modules).collect();
    for source in &mut sources {
        source.is_test |= test_modules.iter().any(|module| is_within(&source.file, module));
    }
    Ok(sources)
}

/// Whether a file belongs to the module or to one below it.
fn is_within(file: &str, module: &str) -> bool {
    let rest = file.strip_prefix(module).unwrap_or_default();
    rest == ".rs" || rest.starts_with('/')
}

/// Every file below a folder whose name ends so, with its path from the root and its text.
fn files(root: &Path, folder: &Path, ending: &str) -> anyhow::Result<Vec<(String, String)>> {
    let mut all = Vec::new();
    let entries =
        fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))?;
    for entry in entries {
        let path = entry?.path();
        if path.is_dir() {
            all.extend(files(root, &path, ending)?);
        } else if path.extension().is_some_and(|it| it == ending) {
            all.push(read(root, &path)?);
        }
    }
    Ok(all)
}

/// A file's path from the root, and its text.
fn read(root: &Path, path: &Path) -> anyhow::Result<(String, String)> {
    let text =
        fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok((path.strip_prefix(root).unwrap_or(path).to_string_lossy().into_owned(), text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_repository_is_tidy() {
        let findings = findings(paths::root()).unwrap();
        let lines: Vec<String> = findings.iter().map(Finding::to_string).collect();
        assert!(lines.is_empty(), "not tidy:\n{}", lines.join("\n"));
    }
}
