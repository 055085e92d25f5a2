//! Writes what `dyno --version` prints: the commit, the processor with the extensions that the compiler may use, and
//! the profile. A build from an archive of the repository needs no git: the archive contains the commit's number.
#![expect(clippy::disallowed_macros, reason = "cargo reads what a build script prints")]
#![expect(clippy::disallowed_methods, reason = "a build script is no part of dyno")]

use std::env;
use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;

/// Commit and date in an archive that `git archive` has made; elsewhere the placeholder for them.
const ARCHIVED: &str = include_str!("commit.txt");
/// The place of this crate in the repository.
const PLACE: &str = "crates/cli/";
const UNKNOWN: &str = "unknown";

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=commit.txt");
    let is_debug = variable("PROFILE") == "debug";
    let commit = archived(ARCHIVED).or_else(|| checked_out(is_debug));
    let commit = commit.unwrap_or_else(|| UNKNOWN.to_owned());
    let profile = if is_debug { "debug" } else { "optimised" };
    let target = variable("TARGET");
    let processor = target.split('-').next().unwrap_or_default();
    let extensions = variable("CARGO_CFG_TARGET_FEATURE").replace(',', " ");
    let text = format!(
        "{}\ncommit     {commit}\nprocessor  {processor} with {extensions}\nprofile    {profile}",
        variable("CARGO_PKG_VERSION")
    );
    println!("cargo::rustc-env=DYNO_COMMIT={commit}");
    println!("cargo::rustc-env=DYNO_PROFILE={profile}");
    fs::write(Path::new(&variable("OUT_DIR")).join("version.txt"), text)
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_default()
}

/// The first twelve digits of the commit, and its date.
fn short(line: &str) -> Option<String> {
    let (commit, date) = line.trim().split_once(' ')?;
    Some(format!("{} of {date}", commit.get(..12)?))
}

fn archived(text: &str) -> Option<String> {
    if text.starts_with('$') { None } else { short(text) }
}

/// The commit that is checked out. An optimised build also looks whether its files have changes; a debug build
/// measures nothing, and is not linked again for each of them.
fn checked_out(is_debug: bool) -> Option<String> {
    // The repository of another project may contain this one.
    if git(&["rev-parse", "--show-prefix"])? != PLACE {
        return None;
    }
    let moves = git(&["rev-parse", "--path-format=absolute", "--git-path", "logs/HEAD"])?;
    if Path::new(&moves).exists() {
        println!("cargo::rerun-if-changed={moves}");
    }
    let commit = short(&git(&["log", "-1", "--format=%H %cs"])?)?;
    if is_debug {
        return Some(commit);
    }
    println!("cargo::rerun-if-changed=..");
    println!("cargo::rerun-if-changed=../../Cargo.lock");
    let changes = git(&["status", "--porcelain", "--untracked-files=no"])?;
    Some(if changes.is_empty() { commit } else { format!("{commit}, with changes") })
}

/// What git prints; nothing when there is no git or no repository.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
