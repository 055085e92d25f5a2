//! Builds TiDB from its Go module: once for each set of build options, kept in the cache folder.

use std::env::consts::ARCH;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use sha1::{Digest, Sha1};

use crate::cache::{Lock, cache_folder};
use crate::go::{Build, Go};
use crate::{ProgressEvent, ProgressListener};

/// The module that requires TiDB; the same files are in `systems/tidb`.
const GO_MOD: &str = include_str!("../../../../systems/tidb/go.mod");
const GO_SUM: &str = include_str!("../../../../systems/tidb/go.sum");
/// The package of the server within it.
const PACKAGE: &str = "github.com/pingcap/tidb/cmd/tidb-server";
/// The version that is compiled into TiDB: a module knows its commit, but not its release.
const RELEASE: &str = "v8.5.99-ac41d7e3c8fc";
/// The variable in which TiDB keeps its version.
const RELEASE_VARIABLE: &str = "github.com/pingcap/tidb/pkg/parser/mysql.TiDBReleaseVersion";

const FIRST_TIME: &str = "building TiDB from its Go module, once: 8 to 9 minutes on two cores that \
                          have nothing else to do, with 5 GB of downloads and intermediate results \
                          (go's own caches) and 3.3 GB of memory";

/// The options of a build.
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
    let place = BuildLocation::of(options)?;
    if place.server().exists() {
        return Ok(place.server());
    }
    let _lock = Lock::take(&place.lock(), listener)?;
    // Another process that had the lock may have built it.
    if !place.server().exists() {
        build(options, &place, listener)?;
    }
    Ok(place.server())
}

fn build(
    options: &BuildOptions,
    place: &BuildLocation,
    listener: &mut ProgressListener<'_>,
) -> anyhow::Result<()> {
    let go = Go::find(&toolchain()).context(
        "no tidb-server was named (`binary`, or --system tidb:PATH) or found, and none can be built",
    )?;
    let note = format!("{FIRST_TIME}; it goes to {}", place.folder.display());
    if listener(ProgressEvent::Note(&note)) == ControlFlow::Break(()) {
        bail!("interrupted before TiDB was built");
    }
    let module = place.folder.join("module");
    write(&module.join("go.mod"), GO_MOD)?;
    write(&module.join("go.sum"), GO_SUM)?;
    let output = place.folder.join("tidb-server.part");
    let job = Build {
        name: "TiDB",
        module: &module,
        package: PACKAGE,
        toolchain: &toolchain(),
        arguments: &arguments(),
        environment: &environment(options),
        output: &output,
        log: &place.folder.join("build.log"),
    };
    go.build(&job, listener)?;
    // A server gets its final name only once it is complete.
    fs::rename(&output, place.server())
        .with_context(|| format!("cannot rename {}", output.display()))
}

fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

/// The version of Go that the module needs; other versions compile servers that do not start.
fn toolchain() -> String {
    let version = GO_MOD.lines().find_map(|line| line.strip_prefix("go "));
    format!("go{}", version.unwrap_or_default().trim())
}

fn arguments() -> Vec<String> {
    let linker = format!("-s -w -X {RELEASE_VARIABLE}={RELEASE}");
    ["-trimpath", "-ldflags", &linker].map(str::to_owned).to_vec()
}

/// Sets the level even when it is the default, because the user's environment may set another one.
fn environment(options: &BuildOptions) -> Vec<(String, String)> {
    let goamd64 = options.goamd64.as_deref().unwrap_or("v1");
    vec![("GOAMD64".to_owned(), goamd64.to_owned())]
}

/// The location of a build.
struct BuildLocation {
    folder: PathBuf,
}

impl BuildLocation {
    fn of(options: &BuildOptions) -> anyhow::Result<Self> {
        Ok(Self { folder: cache_folder()?.join("tidb").join(key(options)) })
    }

    fn server(&self) -> PathBuf {
        self.folder.join("tidb-server")
    }

    fn lock(&self) -> PathBuf {
        self.folder.with_extension("lock")
    }
}

/// A name that depends on everything that affects the output of a build.
fn key(options: &BuildOptions) -> String {
    let mut hash = Sha1::new();
    let environment = environment(options);
    let decisive = [GO_MOD, GO_SUM, PACKAGE, ARCH].map(str::to_owned).into_iter();
    let decisive = decisive.chain(arguments());
    for part in decisive.chain(environment.into_iter().map(|(name, value)| name + "=" + &value)) {
        hash.update(part.len().to_le_bytes());
        hash.update(part);
    }
    hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_build_configuration_has_its_own_folder() {
        let of = |goamd64: Option<&str>| key(&BuildOptions { goamd64: goamd64.map(str::to_owned) });
        assert_eq!(of(None), of(Some("v1")));
        assert_ne!(of(None), of(Some("v3")));
        assert_eq!(of(None).len(), 16);
    }

    #[test]
    fn the_go_version_is_read_from_the_module() {
        assert_eq!(toolchain(), "go1.25.12");
        assert!(GO_MOD.contains(PACKAGE));
    }
}
