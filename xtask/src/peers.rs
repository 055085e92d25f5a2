//! Tools for comparison and for tests: built by Go from `xtask/peers`, never linked in.

use std::path::PathBuf;

use anyhow::Context;

use crate::interrupt::Interrupt;
use crate::{paths, shell};

/// The version of Go that also builds TiDB, so that only one has to be downloaded.
const TOOLCHAIN: &str = "go1.25.12";

/// A tool, pinned by a module of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Peer {
    /// Its name, and that of its folder.
    pub(crate) name: &'static str,
    /// The package of its program.
    package: &'static str,
    /// The environment variable that holds the program's path in tests.
    pub(crate) variable: &'static str,
}

/// YCSB in Go.
pub(crate) const GO_YCSB: Peer = Peer {
    name: "go-ycsb",
    package: "github.com/pingcap/go-ycsb/cmd/go-ycsb",
    variable: "DYNO_TEST_GO_YCSB",
};

/// TPC-C and TPC-H in Go.
pub(crate) const GO_TPC: Peer = Peer {
    name: "go-tpc",
    package: "github.com/pingcap/go-tpc/cmd/go-tpc",
    variable: "DYNO_TEST_GO_TPC",
};

impl Peer {
    /// Builds the tool: minutes the first time, a second after that. Returns the program.
    ///
    /// # Errors
    /// When there is no Go, or it cannot build it.
    pub(crate) fn build(self, interrupt: &Interrupt) -> anyhow::Result<PathBuf> {
        let go = system::go_program(TOOLCHAIN)?.display().to_string();
        let program = paths::target().join(self.name);
        eprintln!("xtask: building {} (minutes the first time)", self.name);
        let mut build = shell::command(&go, &["build", "-mod=readonly", "-trimpath", "-o"]);
        build.arg(&program).arg(self.package);
        build.current_dir(paths::root().join("xtask/peers").join(self.name));
        build.env("GOTOOLCHAIN", TOOLCHAIN).env("GOWORK", "off");
        shell::must(&mut build, interrupt)
            .with_context(|| format!("cannot build {} of xtask/peers", self.name))?;
        Ok(program)
    }
}
