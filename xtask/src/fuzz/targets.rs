//! The targets of all rooms: builds their tests with libFuzzer and a counter on every edge, and lists them.

use std::fs;
use std::io::{BufRead, BufReader, Seek};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};
use serde_json::Value;
use toml::Table;

use crate::interrupt::Interrupt;
use crate::{paths, shell};

/// Instrumentation as libFuzzer reads it. Source: clang.llvm.org/docs/SanitizerCoverage.html; the flags are those of
/// cargo-fuzz, so that they work with a stable compiler.
const INSTRUMENTATION: [&str; 7] = [
    "--cfg=fuzzing",
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "-Cllvm-args=-simplifycfg-branch-fold-threshold=0",
];

/// A property of bytes in the tests of a room.
#[derive(Debug)]
pub(crate) struct Target {
    pub(crate) name: String,
    /// Its test, with modules.
    test: String,
    /// The room's tests.
    program: PathBuf,
    /// The inputs that searches have found.
    pub(crate) inputs: PathBuf,
}

impl Target {
    /// A command that runs its test.
    pub(crate) fn test(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args([&*self.test, "--exact", "--nocapture", "--test-threads=1"]);
        command
    }
}

/// The folder for everything that fuzzing makes.
pub(crate) fn folder() -> PathBuf {
    let folder = paths::target().join("fuzz");
    // Compilers run in other folders than this task.
    std::path::absolute(&folder).unwrap_or(folder)
}

/// All targets by name.
pub(crate) fn targets(interrupt: &Interrupt) -> anyhow::Result<Vec<Target>> {
    fs::create_dir_all(folder()).with_context(|| format!("no {}", folder().display()))?;
    let libfuzzer = libfuzzer(interrupt)?;
    let mut targets = Vec::new();
    for program in tests(&packages()?, &libfuzzer, interrupt)? {
        let mut list = Command::new(&program);
        let listed = shell::output(list.args(["--list", "--format", "terse"]))?;
        targets.extend(of_list(&listed, &program));
    }
    targets.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(targets)
}

/// The tests that have a corpus.
pub(super) fn of_list(list: &str, program: &Path) -> Vec<Target> {
    let tests = list.lines().filter_map(|line| line.strip_suffix(": test"));
    let target = |test: &str| {
        let name = test.rsplit("::").next()?;
        let corpus = fuzzing::folder().join(name).with_extension("txt");
        corpus.exists().then(|| Target {
            name: name.to_owned(),
            test: test.to_owned(),
            program: program.to_path_buf(),
            inputs: folder().join("inputs").join(name),
        })
    };
    tests.filter_map(target).collect()
}

/// Builds libFuzzer, a library in C++, which takes most of a search's time when it is not optimised.
fn libfuzzer(interrupt: &Interrupt) -> anyhow::Result<PathBuf> {
    let mut build = shell::cargo(&["build", "--release", "--locked"]);
    build.args(["--manifest-path", "fuzz/Cargo.toml"]);
    build.arg("--target-dir").arg(folder().join("libfuzzer"));
    let messages = messages(&mut build, interrupt)?;
    let built = messages.iter().find(|message| {
        let package = message["package_id"].as_str().unwrap_or_default();
        message["reason"] == "build-script-executed" && package.contains("libfuzzer-sys")
    });
    let built = built.and_then(|message| message["out_dir"].as_str());
    Ok(Path::new(built.context("cargo did not tell where libFuzzer is")?).join("libfuzzer.a"))
}

/// Builds the tests of packages, and returns the programs.
fn tests(
    packages: &[String],
    libfuzzer: &Path,
    interrupt: &Interrupt,
) -> anyhow::Result<Vec<PathBuf>> {
    let mut build = shell::cargo(&["test", "--no-run", "--locked", "--lib", "--profile", "fuzz"]);
    // When the processor and system are named, build scripts are built without the flags.
    let host = shell::output(&mut shell::command("rustc", &["--print", "host-tuple"]))?;
    build.args(["--target", host.trim()]).arg("--target-dir").arg(folder().join("build"));
    for package in packages {
        build.args(["--package", package]);
    }
    let link = [format!("-Clink-arg={}", libfuzzer.display()), "-Clink-arg=-lstdc++".to_owned()];
    let flags: Vec<&str> =
        INSTRUMENTATION.into_iter().chain(link.iter().map(String::as_str)).collect();
    build.env("CARGO_ENCODED_RUSTFLAGS", flags.join("\u{1f}"));
    let messages = messages(&mut build, interrupt)?;
    let programs = messages.iter().filter(|message| message["profile"]["test"] == true);
    Ok(programs.filter_map(|message| message["executable"].as_str()).map(PathBuf::from).collect())
}

/// The packages whose tests have targets.
fn packages() -> anyhow::Result<Vec<String>> {
    let mut packages = Vec::new();
    let folder = paths::root().join("crates");
    for room in fs::read_dir(&folder).with_context(|| format!("no {}", folder.display()))? {
        let path = room?.path().join("Cargo.toml");
        let text =
            fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let manifest: Table = text.parse().with_context(|| format!("{}", path.display()))?;
        let tests = manifest.get("dev-dependencies");
        if tests.is_some_and(|tests| tests.get("fuzzing").is_some()) {
            packages.extend(manifest["package"]["name"].as_str().map(str::to_owned));
        }
    }
    Ok(packages)
}

/// Runs cargo, and returns the messages that it writes for programs.
fn messages(build: &mut Command, interrupt: &Interrupt) -> anyhow::Result<Vec<Value>> {
    // Another search may build in the same folder, so that the file has no name.
    let mut file = tempfile::tempfile().context("no file for the messages of cargo")?;
    build.arg("--message-format=json-render-diagnostics").stdout(file.try_clone()?);
    if !shell::run(build, interrupt)?.success() {
        bail!("the build failed; libFuzzer needs a compiler of C++, such as g++");
    }
    file.rewind()?;
    let messages = BufReader::new(file).lines();
    messages.map(|line| Ok(serde_json::from_str(&line?)?)).collect()
}
