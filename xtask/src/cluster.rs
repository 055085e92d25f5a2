//! The TiDB cluster for the tests: PD, stores and TiDB of 2021, built by Go from `systems`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

use anyhow::{Context, bail};

use crate::interrupt::Interrupt;
use crate::{paths, shell};

/// The version of Go that also builds TiDB, so that only one has to be downloaded.
const TOOLCHAIN: &str = "go1.25.12";
/// Dependencies of that time use internals of Go that are no longer accessible without this.
const LINKER: &str = "-s -w -checklinkname=0";

/// A server of the cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Member {
    /// The folder of its module below `systems`.
    module: &'static str,
    package: &'static str,
    /// The name of its program.
    program: &'static str,
    /// Build tags that leave out its web pages.
    tags: &'static str,
    /// The environment variable that holds the program's path in tests.
    variable: &'static str,
}

const PD: Member = Member {
    module: "pd",
    package: "github.com/tikv/pd/cmd/pd-server",
    program: "pd-server",
    tags: "without_dashboard",
    variable: "DYNO_TEST_CLUSTER_PD",
};
const STORE: Member = Member {
    module: "unistore",
    package: "github.com/ngaut/unistore/cmd/unistore-server",
    program: "unistore-server",
    tags: "",
    variable: "DYNO_TEST_CLUSTER_TIKV",
};
const TIDB: Member = Member {
    module: "tidb-2021",
    package: "github.com/pingcap/tidb/tidb-server",
    program: "tidb-server",
    tags: "",
    variable: "DYNO_TEST_CLUSTER_TIDB",
};
/// The variable for TiDB's version: a module knows its commit, but not its release.
const TIDB_VERSION: &str =
    " -X github.com/pingcap/parser/mysql.TiDBReleaseVersion=v5.0.99-3d8084e972d1";

/// The module of the stores, and the line of it that is patched.
///
/// The store wipes log entries once they are applied, while messages to other stores that contain them may still be
/// waiting. The receiving store then gets an empty entry and panics (`tocommit is out of range`); on a busy machine
/// this happens nearly always.
const STORE_MODULE: &str = "github.com/ngaut/unistore";
const STORE_FILE: &str = "raftstore/applier.go";
const WIPES: &str = "apply.entries[i] = eraftpb.Entry{}";
const WIPES_NOT: &str = "_ = i";

/// Builds the servers: some minutes the first time, seconds after that. Returns the environment of the tests: the
/// programs, by the names of variables.
///
/// # Errors
/// When there is no Go, or it cannot build them.
pub(crate) fn build(interrupt: &Interrupt) -> anyhow::Result<Vec<(&'static str, PathBuf)>> {
    eprintln!("xtask: building a TiDB cluster of 2021 for tests (4 to 6 minutes the first time)");
    let go = system::go_program(TOOLCHAIN)?;
    let of = |member: Member| paths::root().join("systems").join(member.module);
    let mended = mended_store(&go, &of(STORE), interrupt)?;
    let programs = [
        (PD, of(PD), LINKER.to_owned()),
        (STORE, mended, LINKER.to_owned()),
        (TIDB, of(TIDB), LINKER.to_owned() + TIDB_VERSION),
    ];
    let build = |(member, module, linker): &(Member, PathBuf, String)| {
        let program = folder().join(member.program);
        let mut build = go_command(&go, module, &["build", "-mod=readonly", "-trimpath"]);
        build.args(["-tags", member.tags, "-ldflags", linker, "-o"]).arg(&program);
        shell::must(build.arg(member.package), interrupt)
            .with_context(|| format!("cannot build {} of systems", member.module))?;
        Ok((member.variable, program))
    };
    programs.iter().map(build).collect()
}

/// The folder of the programs.
fn folder() -> PathBuf {
    paths::target().join("cluster")
}

fn go_command(go: &Path, module: &Path, arguments: &[&str]) -> Command {
    let mut command = shell::command(&go.display().to_string(), arguments);
    command.current_dir(module).env("GOTOOLCHAIN", TOOLCHAIN).env("GOWORK", "off");
    command
}

/// A copy of the stores' module with the patched line, and a module that builds from it.
fn mended_store(go: &Path, module: &Path, interrupt: &Interrupt) -> anyhow::Result<PathBuf> {
    shell::must(&mut go_command(go, module, &["mod", "download", STORE_MODULE]), interrupt)?;
    let list = ["list", "-mod=readonly", "-m", "-f", "{{.Dir}}", STORE_MODULE];
    let listed = go_command(go, module, &list).output().context("cannot run go list")?;
    let source = PathBuf::from(String::from_utf8_lossy(&listed.stdout).trim());
    let copy = folder().join("unistore");
    remove(&copy)?;
    fs::create_dir_all(&copy).with_context(|| format!("cannot make {}", copy.display()))?;
    let mut copying = shell::command("cp", &["-r", "--no-preserve=mode"]);
    shell::must(copying.arg(&source).arg(copy.join("source")), interrupt)?;
    mend(&copy.join("source").join(STORE_FILE))?;
    fs::copy(module.join("go.sum"), copy.join("go.sum")).context("cannot copy go.sum")?;
    let wanted = fs::read_to_string(module.join("go.mod")).context("cannot read go.mod")?;
    let wanted = wanted + &format!("\nreplace {STORE_MODULE} => ./source\n");
    fs::write(copy.join("go.mod"), wanted).context("cannot write go.mod")?;
    Ok(copy)
}

fn remove(folder: &Path) -> anyhow::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", folder.display()))
        }
        _ => Ok(()),
    }
}

fn mend(file: &Path) -> anyhow::Result<()> {
    let text =
        fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    if !text.contains(WIPES) {
        bail!("{} has no line `{WIPES}` that could be mended", file.display());
    }
    fs::write(file, text.replace(WIPES, WIPES_NOT))
        .with_context(|| format!("cannot write {}", file.display()))
}
