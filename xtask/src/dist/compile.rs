//! Compiles the checked-out commit for other machines, so that the same commit gives the same bytes: the sources are
//! those of the commit, not of the folder, and no path of the build remains in a program.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, ensure};

use super::PROFILE;
use super::target::Target;
use super::tools::Tools;
use crate::interrupt::Interrupt;
use crate::{paths, shell};

/// The oldest C library that dyno has to run with: Ubuntu 22.04's. The linker knows no newer symbols.
pub(super) const GLIBC: &str = "2.35";
/// Libraries of glibc that a program may need, beside its dynamic linker.
const LIBRARIES: [&str; 2] = ["libc.so.6", "libm.so.6"];

/// A commit.
#[derive(Clone, Debug)]
pub(crate) struct Commit {
    pub(crate) id: String,
    /// When it was made, seconds since 1970: the time of all files that are handed out.
    pub(crate) seconds: u64,
}

impl Commit {
    pub(crate) fn checked_out() -> anyhow::Result<Self> {
        let text = shell::output(&mut shell::command("git", &["log", "-1", "--format=%H %ct"]))?;
        let (id, seconds) = text.trim().split_once(' ').context("git has no commit")?;
        Ok(Self { id: id.to_owned(), seconds: seconds.parse()? })
    }

    /// Its first digits, as `dyno --version` prints them.
    pub(crate) fn short(&self) -> &str {
        self.id.get(..12).unwrap_or(&self.id)
    }
}

/// A clone of the repository at a commit.
pub(crate) struct Sources<'a> {
    pub(crate) tools: &'a Tools,
    pub(crate) commit: Commit,
    /// The folder of the build, with the sources and cargo's output.
    pub(crate) folder: PathBuf,
}

/// A program that was compiled.
pub(crate) struct Program {
    pub(crate) target: Target,
    pub(crate) path: PathBuf,
    /// The libraries that it needs.
    pub(crate) libraries: Vec<String>,
}

impl<'a> Sources<'a> {
    /// Checks out the commit in a clone, in a folder of that name.
    pub(crate) fn check_out(
        tools: &'a Tools,
        name: &str,
        interrupt: &Interrupt,
    ) -> anyhow::Result<Self> {
        let commit = Commit::checked_out()?;
        let folder = paths::target().join("archives").join(name);
        let clone = folder.join("dyno");
        if !clone.exists() {
            // It shares this repository's objects.
            let mut git = shell::command("git", &["clone", "--quiet", "--shared", "--no-checkout"]);
            shell::must(git.arg(paths::root()).arg(&clone), interrupt)?;
        }
        let mut git = shell::command("git", &["checkout", "--quiet", "--force", "--detach"]);
        shell::must(git.arg(&commit.id).current_dir(clone), interrupt)?;
        Ok(Self { tools, commit, folder })
    }

    /// A subcommand of cargo that reads the sources. Files that it writes get the commit's time.
    pub(super) fn tool(&self, name: &str) -> Command {
        let mut command = Command::new(self.tools.cargo_tool(name));
        command.current_dir(self.path());
        command.env("SOURCE_DATE_EPOCH", self.commit.seconds.to_string());
        command
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.join("dyno")
    }

    /// Compiles dyno for processors, and checks what the programs need.
    pub(crate) fn compile(
        &self,
        targets: &[Target],
        interrupt: &Interrupt,
    ) -> anyhow::Result<Vec<Program>> {
        let mut build = self.tool("cargo-zigbuild");
        build.args(["build", "--package", "dyno-bench", "--profile", PROFILE]);
        shell::must(self.for_targets(&mut build, targets), interrupt)?;
        targets.iter().map(|target| self.compiled(*target)).collect()
    }

    fn compiled(&self, target: Target) -> anyhow::Result<Program> {
        let path = self.folder.join("target").join(target.triple).join(PROFILE).join("dyno");
        let read = shell::output(shell::command("readelf", &["--dynamic"]).arg(&path))?;
        let libraries = libraries(&read).with_context(|| format!("dyno for {}", target.name))?;
        let program = Program { target, path, libraries };
        let text = self.run(&program, &["--version"])?;
        let commit = self.commit.short();
        let processor = target.triple.split('-').next().unwrap_or_default();
        ensure!(
            text.contains(&format!(" {commit} ")) && text.contains(&format!(" {processor} ")),
            "the program is not of commit {commit} for {processor}; it says:\n{text}"
        );
        Ok(program)
    }

    /// Completes a command of cargo-zigbuild: the sources, the processors with the oldest glibc, and an environment in
    /// which only cargo's own variables are the user's.
    pub(crate) fn for_targets<'c>(
        &self,
        command: &'c mut Command,
        targets: &[Target],
    ) -> &'c mut Command {
        let is_kept = |name: &OsString| {
            let name = name.to_string_lossy();
            ["PATH", "HOME"].contains(&&*name)
                || name.starts_with("CARGO_")
                || name.starts_with("RUSTUP_")
        };
        command.env_clear().envs(std::env::vars_os().filter(|(name, _)| is_kept(name)));
        let (folder, registry) = (self.folder.display(), registry());
        let registry = registry.display();
        let map = |option: &str| format!("{option}={folder}=/build {option}={registry}=/registry");
        for target in targets {
            command.arg("--target").arg(format!("{}.{GLIBC}", target.triple));
            command.env(format!("CFLAGS_{}", target.triple), map("-ffile-prefix-map"));
        }
        command.arg("--locked").current_dir(self.path());
        command.env("RUSTFLAGS", map("--remap-path-prefix")).env("RUSTC", self.tools.rustc());
        command.env("CARGO_ZIGBUILD_ZIG_PATH", self.tools.zig());
        command.env("CARGO_TARGET_DIR", self.folder.join("target"));
        command.env("SOURCE_DATE_EPOCH", self.commit.seconds.to_string())
    }

    /// Runs the program, under an emulator where it is for another processor; returns what it prints.
    pub(super) fn run(&self, program: &Program, arguments: &[&str]) -> anyhow::Result<String> {
        shell::output(self.tools.command(program.target, &program.path).args(arguments))
    }

    pub(crate) fn compilers(&self) -> anyhow::Result<String> {
        let rust = shell::output(Command::new(self.tools.rustc()).arg("--version"))?;
        let zig = shell::output(Command::new(self.tools.zig()).arg("version"))?;
        Ok(format!("{}; zig {}", rust.trim(), zig.trim()))
    }
}

/// The libraries in what `readelf --dynamic` prints. One that is not on every system is refused.
fn libraries(text: &str) -> anyhow::Result<Vec<String>> {
    let needed = text.lines().filter(|line| line.contains("(NEEDED)"));
    let names = needed.filter_map(|line| line.split_once('[')?.1.split_once(']'));
    let mut names: Vec<String> = names.map(|(name, _)| name.to_owned()).collect();
    names.sort();
    let is_known = |name: &str| LIBRARIES.contains(&name) || name.starts_with("ld-linux-");
    let other = names.iter().find(|name| !is_known(name));
    ensure!(other.is_none(), "it needs a library that not every system has: {other:?}");
    ensure!(!names.is_empty(), "it needs no library: is this a program of glibc?");
    Ok(names)
}

/// The folder with the sources of crates, by registry.
pub(super) fn registry() -> PathBuf {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(std::env::home_dir()?.join(".cargo")));
    home.unwrap_or_default().join("registry/src")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_uncommon_library_is_refused() {
        let text = " 0x01 (NEEDED)  Shared library: [libm.so.6]\n 0x01 (NEEDED)  Shared library: [libc.so.6]\n";
        assert_eq!(libraries(text).unwrap(), LIBRARIES);
        let error = libraries(&text.replace("libm.so.6", "libssl.so.3")).unwrap_err().to_string();
        assert!(error.contains("libssl.so.3"), "{error}");
        assert!(libraries("no libraries").is_err());
    }
}
