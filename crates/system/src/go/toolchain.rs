//! The version of the installed Go, and how an old Go gets a newer one: as a module, from the module proxy.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, bail};

use crate::ProgressListener;
use crate::process::toolchain_command;
use crate::subprocess::output_of;

/// How long a download of Go may take.
const DOWNLOAD_BOUND: Duration = Duration::from_secs(30 * 60);
/// How long Go may take to print its environment.
const ASK_BOUND: Duration = Duration::from_secs(60);

/// From this version on, Go downloads and uses the version that a build requests.
const FETCHES_OTHERS: (u32, u32) = (1, 21);

/// Whether this Go downloads other versions by itself.
///
/// # Errors
/// When Go does not report its version.
pub(super) fn fetches_others(
    program: &Path,
    listener: &mut ProgressListener<'_>,
) -> anyhow::Result<bool> {
    let version = ask(program, "GOVERSION", listener)?;
    let Some(version) = parse(&version) else {
        bail!("{} calls its version {version:?}, which is none of Go's", program.display());
    };
    Ok(version >= FETCHES_OTHERS)
}

/// Major and minor version of `go1.25.12`.
fn parse(version: &str) -> Option<(u32, u32)> {
    let (major, rest) = version.strip_prefix("go")?.split_once('.')?;
    let minor = rest.split(|c: char| !c.is_ascii_digit()).next()?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// Lets an old Go download the module of a newer one; returns the program of the newer one.
///
/// # Errors
/// When the download fails, with Go's output, takes too long, or a stop was requested.
pub(super) fn fetch(
    old: &Path,
    version: &str,
    listener: &mut ProgressListener<'_>,
) -> anyhow::Result<PathBuf> {
    let platform = format!("{}-{}", ask(old, "GOOS", listener)?, ask(old, "GOARCH", listener)?);
    let module = format!("golang.org/toolchain@v0.0.1-{version}.{platform}");
    // Outside of every module, so that no module is changed.
    let folder = tempfile::tempdir().context("no folder for fetching Go")?;
    let mut download = toolchain_command(old);
    download.args(["mod", "download", &module]).current_dir(folder.path());
    download.env("GO111MODULE", "on").env("GOFLAGS", "-mod=mod");
    output_of(download, &format!("downloading {version}"), DOWNLOAD_BOUND, listener)
        .with_context(|| format!("{} is too old, and {version} is not available", old.display()))?;
    let root = Path::new(&ask(old, "GOMODCACHE", listener)?).join(module);
    make_executable(&root.join("bin"))?;
    for tools in list(&root.join("pkg/tool"))? {
        make_executable(&tools)?;
    }
    Ok(root.join("bin/go"))
}

/// Files of modules come without the permission to execute them.
fn make_executable(folder: &Path) -> anyhow::Result<()> {
    for file in list(folder)? {
        fs::set_permissions(&file, fs::Permissions::from_mode(0o555))
            .with_context(|| format!("cannot make {} executable", file.display()))?;
    }
    Ok(())
}

fn list(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).and_then(|entries| {
        entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<Vec<_>, _>>()
    });
    entries.with_context(|| format!("cannot list {}", folder.display()))
}

/// A value of Go's environment (`go env`).
fn ask(program: &Path, name: &str, listener: &mut ProgressListener<'_>) -> anyhow::Result<String> {
    let mut command = toolchain_command(program);
    command.args(["env", name]).env("GOTOOLCHAIN", "local");
    output_of(command, &format!("asking {} for {name}", program.display()), ASK_BOUND, listener)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_by_their_numbers() {
        for (version, expected) in [
            ("go1.25.12", Some((1, 25))),
            ("go1.9", Some((1, 9))),
            ("go1.22rc1", Some((1, 22))),
            ("devel +a1b2", None),
        ] {
            assert_eq!(parse(version), expected, "{version}");
        }
        assert!(parse("go1.9") < Some(FETCHES_OTHERS));
    }
}
