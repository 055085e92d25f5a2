//! The TiDB cluster for the tests: PD, stores and TiDB of 2021, built by Go from `systems`.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};

use crate::go::{self, GoProgram};
use crate::interrupt::Interrupt;
use crate::{paths, shell};

/// Dependencies of that time use internals of Go that are no longer accessible without this.
const LINKER: &str = "-s -w -checklinkname=0";

const PD: GoProgram = GoProgram {
    path: "cluster/pd-server",
    module: "systems/pd",
    package: "github.com/tikv/pd/cmd/pd-server",
    // Without its web pages.
    flags: &["-tags", "without_dashboard", "-ldflags", LINKER],
};
const STORE: GoProgram = GoProgram {
    path: "cluster/unistore-server",
    module: "systems/unistore",
    package: "github.com/ngaut/unistore/cmd/unistore-server",
    flags: &["-ldflags", LINKER],
};
const TIDB: GoProgram = GoProgram {
    path: "cluster/tidb-server",
    module: "systems/tidb-2021",
    package: "github.com/pingcap/tidb/tidb-server",
    // With its version: a module knows its commit, but not its release.
    flags: &[
        "-ldflags",
        "-s -w -checklinkname=0 \
         -X github.com/pingcap/parser/mysql.TiDBReleaseVersion=v5.0.99-3d8084e972d1",
    ],
};

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
pub(crate) fn build(interrupt: &Interrupt) -> anyhow::Result<[(&'static str, PathBuf); 3]> {
    let store = patched_store(&paths::root().join(STORE.module), interrupt)?;
    Ok([
        ("DYNO_TEST_CLUSTER_TIKV", STORE.build_from(&store, interrupt)?),
        ("DYNO_TEST_CLUSTER_PD", PD.build(interrupt)?),
        ("DYNO_TEST_CLUSTER_TIDB", TIDB.build(interrupt)?),
    ])
}

/// A copy of the stores' module with the patched line, and a module that builds from it.
fn patched_store(module: &Path, interrupt: &Interrupt) -> anyhow::Result<PathBuf> {
    shell::must(&mut go::command(module, &["mod", "download", STORE_MODULE])?, interrupt)?;
    let list = ["list", "-mod=readonly", "-m", "-f", "{{.Dir}}", STORE_MODULE];
    let source = shell::output(&mut go::command(module, &list)?)?;
    let copy = paths::target().join("cluster/unistore");
    shell::must(shell::command("rm", &["-rf"]).arg(&copy), interrupt)?;
    fs::create_dir_all(&copy).with_context(|| format!("cannot make {}", copy.display()))?;
    let mut copying = shell::command("cp", &["-r", "--no-preserve=mode"]);
    shell::must(copying.arg(source.trim()).arg(copy.join("source")), interrupt)?;
    patch(&copy.join("source").join(STORE_FILE))?;
    fs::copy(module.join("go.sum"), copy.join("go.sum")).context("cannot copy go.sum")?;
    let wanted = fs::read_to_string(module.join("go.mod")).context("cannot read go.mod")?;
    let wanted = wanted + &format!("\nreplace {STORE_MODULE} => ./source\n");
    fs::write(copy.join("go.mod"), wanted).context("cannot write go.mod")?;
    Ok(copy)
}

fn patch(file: &Path) -> anyhow::Result<()> {
    let name = file.display();
    let text = fs::read_to_string(file).with_context(|| format!("cannot read {name}"))?;
    ensure!(text.contains(WIPES), "{name} has no line `{WIPES}` that could be patched");
    fs::write(file, text.replace(WIPES, WIPES_NOT)).with_context(|| format!("cannot write {name}"))
}
