//! Compiles the checked-out commit for a processor, in the build root, so that the same commit gives the same bytes.
//!
//! The sources are those of the commit, not of the folder. No path of the build remains in a program, and nothing is
//! fetched: cargo compiles the crates of the lock file.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use super::PROFILE;
use super::build_root::BuildRoot;
use super::symbols::Needed;
use super::target::Target;
use crate::interrupt::Interrupt;
use crate::shell;

/// The folder of all sources in the root.
const BUILD: &str = "/build";

/// The folder of the sources in that of a build.
const SOURCES: &str = "dyno";
/// The number of the commit that is unpacked is written here when all its files are there.
const UNPACKED: &str = "commit";

/// A commit.
#[derive(Clone, Debug)]
pub(crate) struct Commit {
    pub(crate) id: String,
    /// When it was made, seconds since 1970: the time of all files that are handed out.
    pub(crate) seconds: u64,
}

impl Commit {
    /// The commit that is checked out.
    ///
    /// # Errors
    /// When this is no repository of git.
    pub(crate) fn checked_out() -> anyhow::Result<Self> {
        let output = shell::command("git", &["log", "-1", "--format=%H %ct"]).output();
        let output = output.context("cannot run git")?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let (id, seconds) = text.trim().split_once(' ').context("this is no repository of git")?;
        Ok(Self { id: id.to_owned(), seconds: seconds.parse()? })
    }

    /// Its first digits, as `dyno --version` prints them.
    pub(crate) fn short(&self) -> &str {
        self.id.get(..12).unwrap_or(&self.id)
    }
}

/// The sources of a commit in the root, and how many jobs compile them.
pub(crate) struct Sources<'a> {
    pub(crate) root: &'a BuildRoot,
    pub(crate) commit: Commit,
    /// The folder of this build in the root.
    folder: String,
    jobs: Option<usize>,
}

/// A program that was compiled.
pub(crate) struct Program {
    pub(crate) target: Target,
    /// Its path outside of the root.
    pub(crate) path: PathBuf,
    /// Its path in the root.
    pub(crate) path_inside: String,
    pub(crate) needed: Needed,
}

impl<'a> Sources<'a> {
    /// Puts the sources of the checked-out commit into a folder of the root, unless they are there already.
    ///
    /// # Errors
    /// When git has no commit, or a crate of the lock file cannot be fetched.
    pub(crate) fn unpack(
        root: &'a BuildRoot,
        name: &str,
        jobs: Option<usize>,
        interrupt: &Interrupt,
    ) -> anyhow::Result<Self> {
        let commit = Commit::checked_out()?;
        let folder = format!("{BUILD}/{name}");
        let outside = root.path(&folder);
        if fs::read_to_string(outside.join(UNPACKED)).ok().as_ref() != Some(&commit.id) {
            unpack(&commit, &outside, interrupt)?;
        }
        let mut fetch = shell::cargo(&["fetch", "--locked"]);
        shell::must(fetch.current_dir(outside.join(SOURCES)), interrupt)?;
        Ok(Self { root, commit, folder, jobs })
    }

    /// The folder of this build in the root.
    pub(crate) fn folder(&self) -> &str {
        &self.folder
    }

    /// The folder of the sources in the root.
    pub(crate) fn inside(&self) -> String {
        format!("{}/{SOURCES}", self.folder)
    }

    /// The folder of the sources outside of the root.
    pub(crate) fn outside(&self) -> PathBuf {
        self.root.path(&self.folder).join(SOURCES)
    }

    /// Compiles dyno, and checks what the program needs.
    ///
    /// # Errors
    /// When it does not compile, some system could not run it, or it does not start.
    pub(crate) fn compile(&self, target: Target, interrupt: &Interrupt) -> anyhow::Result<Program> {
        let build = ["build", "--package", "dyno-bench", "--profile", PROFILE];
        self.cargo(target, &build, &[], interrupt)?;
        let path_inside = format!("{}/target/{}/{PROFILE}/dyno", self.folder, target.triple());
        let read = ["readelf", "--dynamic", "--dyn-syms", "--wide", &path_inside];
        let needed = Needed::read(&self.root.output(&read)?)?;
        needed.check().with_context(|| format!("dyno for {}", target.name()))?;
        let program = Program { target, path: self.root.path(&path_inside), path_inside, needed };
        self.start(&program)?;
        Ok(program)
    }

    /// Runs cargo on the sources, for a processor. `task` is the subcommand with its arguments.
    ///
    /// # Errors
    /// When it fails.
    pub(crate) fn cargo(
        &self,
        target: Target,
        task: &[&str],
        environment: &[(String, String)],
        interrupt: &Interrupt,
    ) -> anyhow::Result<()> {
        let triple = target.triple();
        let jobs = self.jobs.map(|jobs| format!("--jobs={jobs}"));
        let (subcommand, arguments) = task.split_first().context("no task for cargo")?;
        let mut words = vec!["cargo", subcommand, "--locked", "--offline", "--target", triple];
        words.extend(jobs.as_deref());
        words.extend(arguments);
        let environment = [self.environment(target), environment.to_vec()].concat();
        let folder = self.inside();
        shell::must(&mut self.root.command(&folder, &environment, &words)?, interrupt)
            .with_context(|| format!("cargo {} for {}", task.join(" "), target.name()))
    }

    /// What the compilers take from the environment.
    fn environment(&self, target: Target) -> Vec<(String, String)> {
        let (folder, gnu) = (&self.folder, target.gnu());
        let triple = target.triple().replace('-', "_");
        let registry = "/cargo/registry/src";
        let rust =
            format!("--remap-path-prefix={folder}=/build --remap-path-prefix={registry}=/registry");
        let c = format!("-ffile-prefix-map={folder}=/build -ffile-prefix-map={registry}=/registry");
        let all = [
            (of_cargo(target, "RUSTFLAGS"), rust),
            (format!("CC_{triple}"), format!("{gnu}-gcc")),
            (format!("AR_{triple}"), format!("{gnu}-ar")),
            (format!("CFLAGS_{triple}"), c),
            ("CARGO_TARGET_DIR".to_owned(), format!("{folder}/target")),
            ("SOURCE_DATE_EPOCH".to_owned(), self.commit.seconds.to_string()),
        ];
        [linkers(target).to_vec(), all.to_vec()].concat()
    }

    /// Runs the program in the root, under an emulator where it is for another processor; returns what it prints.
    ///
    /// # Errors
    /// When it fails.
    pub(crate) fn run(&self, program: &Program, arguments: &[&str]) -> anyhow::Result<String> {
        let mut words: Vec<&str> = program.target.emulator().into_iter().collect();
        words.push(&program.path_inside);
        words.extend(arguments);
        self.root.output(&words)
    }

    /// Starts the program, and looks at what it says of itself.
    fn start(&self, program: &Program) -> anyhow::Result<()> {
        let text = self.run(program, &["--version"])?;
        let commit = self.commit.short();
        let processor = program.target.triple().split('-').next().unwrap_or_default();
        if text.contains(&format!(" {commit} ")) && text.contains(&format!(" {processor} ")) {
            return Ok(());
        }
        bail!("the program is not of commit {commit} for {processor}; it says:\n{text}")
    }

    /// The versions of the compilers.
    ///
    /// # Errors
    /// When they cannot be started.
    pub(crate) fn compilers(&self, target: Target) -> anyhow::Result<[String; 2]> {
        let gcc = format!("{}-gcc", target.gnu());
        let first = |words: &[&str]| -> anyhow::Result<String> {
            let text = self.root.output(words)?;
            Ok(text.lines().next().unwrap_or_default().to_owned())
        };
        Ok([first(&["rustc", "--version"])?, first(&[&gcc, "--version"])?])
    }
}

/// The variable of cargo for what a processor's programs are compiled with.
fn of_cargo(target: Target, name: &str) -> String {
    format!("CARGO_TARGET_{}_{name}", target.triple().replace('-', "_").to_uppercase())
}

/// The linkers of the build's own processor and of the target. With another linker, cargo compiles the build scripts
/// again, and then all crates; so the first one is the same for all targets.
fn linkers(target: Target) -> [(String, String); 2] {
    [Target::X86_64, target].map(|it| (of_cargo(it, "LINKER"), format!("{}-gcc", it.gnu())))
}

/// Puts the sources of a commit into a folder, in place of those of another one.
fn unpack(commit: &Commit, folder: &Path, interrupt: &Interrupt) -> anyhow::Result<()> {
    let (sources, unpacked) = (folder.join(SOURCES), folder.join(UNPACKED));
    if unpacked.exists() {
        fs::remove_file(&unpacked)?;
    }
    if sources.exists() {
        fs::remove_dir_all(&sources).context("cannot remove the old sources")?;
    }
    fs::create_dir_all(&sources)?;
    let archive = folder.join("sources.tar");
    let mut export = shell::command("git", &["archive", "--format=tar", "--output"]);
    shell::must(export.arg(&archive).arg(&commit.id), interrupt)?;
    // The files are as old as this moment, not as their commit: cargo compiles files that are newer than its output.
    let mut unpack = shell::command("tar", &["--extract", "--touch", "--file"]);
    shell::must(unpack.arg(&archive).arg("--directory").arg(&sources), interrupt)?;
    fs::write(&unpacked, &commit.id).context("cannot note the commit of the sources")
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;

    #[test]
    fn a_build_for_another_processor_keeps_the_build_scripts_of_the_one_before() {
        let [own, _] = linkers(Target::X86_64);
        let name = "CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_LINKER";
        assert_eq!(own, (name.to_owned(), "x86_64-linux-gnu-gcc".to_owned()));
        for target in Target::ALL {
            let [first, second] = linkers(target);
            assert_eq!(first, own);
            assert_eq!(second.1, format!("{}-linux-gnu-gcc", target.name()));
        }
    }

    #[test]
    fn unpacked_sources_name_their_commit_and_are_newer_than_it() {
        let folder = tempfile::tempdir().unwrap();
        let commit = Commit::checked_out().unwrap();
        fs::create_dir(folder.path().join(SOURCES)).unwrap();
        fs::write(folder.path().join(SOURCES).join("of-another-commit"), "").unwrap();
        unpack(&commit, folder.path(), &Interrupt::watch().unwrap()).unwrap();
        let sources = folder.path().join(SOURCES);
        assert!(!sources.join("of-another-commit").exists());
        let file = sources.join("crates/cli/commit.txt");
        assert!(fs::read_to_string(&file).unwrap().starts_with(&format!("{} 20", commit.id)));
        let made = UNIX_EPOCH + Duration::from_secs(commit.seconds);
        assert!(fs::metadata(&file).unwrap().modified().unwrap() > made);
        let unpacked = fs::read_to_string(folder.path().join(UNPACKED)).unwrap();
        assert_eq!(unpacked, commit.id);
    }
}
