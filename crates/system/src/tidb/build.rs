//! The build of TiDB from its Go module.

use std::path::PathBuf;

use crate::ProgressListener;
use crate::go::{EmbeddedProgram, level_environment};

/// The module that requires TiDB, and that needs this very version of Go: others compile servers that do not start.
const GO_MOD: &str = include_str!("../../../../systems/tidb/go.mod");
const GO_SUM: &str = include_str!("../../../../systems/tidb/go.sum");
const PACKAGE: &str = "github.com/pingcap/tidb/cmd/tidb-server";
/// The version that is compiled into TiDB: a module knows its commit, but not its release.
const RELEASE: &str = "v8.5.99-ac41d7e3c8fc";
const RELEASE_VARIABLE: &str = "github.com/pingcap/tidb/pkg/parser/mysql.TiDBReleaseVersion";

const FIRST_TIME: &str = "building TiDB from its Go module, once: 8 to 9 minutes on two cores that \
                          have nothing else to do, with 5 GB of downloads and intermediate results \
                          (go's own caches) and 3.3 GB of memory";

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BuildOptions {
    /// The level of x86-64 instructions that the compiler may use, `v1` to `v4`; `v1` when not set.
    pub goamd64: Option<String>,
}

/// The server that was built with these options; it is built now if it does not exist yet.
///
/// # Errors
/// When Go is missing (and what to install), the build fails, or a stop was requested.
pub fn provide(
    options: &BuildOptions,
    listener: &mut ProgressListener<'_>,
) -> anyhow::Result<PathBuf> {
    program(options).provide(listener)
}

/// What the build takes, if the server was not built with these options yet.
pub(super) fn to_come(options: &BuildOptions) -> Option<String> {
    program(options).build_to_come()
}

fn program(options: &BuildOptions) -> EmbeddedProgram<'static> {
    EmbeddedProgram {
        name: "TiDB",
        program: "tidb-server",
        cache: "tidb",
        files: &[("go.mod", GO_MOD), ("go.sum", GO_SUM)],
        package: PACKAGE,
        arguments: arguments(),
        environment: level_environment(options.goamd64.as_deref()),
        first_time: FIRST_TIME,
        need: "no tidb-server was named (`binary`, or --system tidb:PATH) or found, and none can be built",
    }
}

fn arguments() -> Vec<String> {
    let linker = format!("-s -w -X {RELEASE_VARIABLE}={RELEASE}");
    ["-trimpath", "-ldflags", &linker].map(str::to_owned).to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_build_configuration_has_its_own_folder() {
        let of = |goamd64: Option<&str>| {
            program(&BuildOptions { goamd64: goamd64.map(str::to_owned) }).key()
        };
        assert_eq!(of(None), of(Some("v1")));
        assert_ne!(of(None), of(Some("v3")));
        assert_eq!(of(None).len(), 16);
    }

    #[test]
    fn the_go_version_is_read_from_the_module() {
        assert_eq!(program(&BuildOptions::default()).toolchain(), "go1.25.12");
        assert!(GO_MOD.contains(PACKAGE));
    }
}
