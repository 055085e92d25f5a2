//! The Debian package of a program, made by cargo-deb from the files of its archive; `package.metadata.deb` of
//! `crates/cli` says where each goes.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::archive::{Staged, VERSION};
use crate::interrupt::Interrupt;
use crate::shell;

/// Writes the package into `folder`, and returns its path.
///
/// # Errors
/// When cargo-deb fails.
pub(crate) fn write(
    staged: &Staged<'_>,
    folder: &Path,
    interrupt: &Interrupt,
) -> anyhow::Result<PathBuf> {
    let (sources, target) = (staged.sources, staged.program.target);
    let path = folder.join(format!("dyno_{VERSION}_{}.deb", target.debian));
    let mut deb = Command::new(sources.tools.cargo_tool("cargo-deb"));
    deb.args(["--package", "dyno-bench", "--no-build", "--no-strip", "--target", target.triple]);
    deb.args(["--deb-version", VERSION, "--compress-type", "gz", "--output"]).arg(&path);
    deb.env("SOURCE_DATE_EPOCH", sources.commit.seconds.to_string());
    shell::must(deb.current_dir(sources.path()), interrupt)?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::super::symbols::GLIBC_MAX;
    use crate::paths;

    #[test]
    fn the_package_depends_on_the_library_that_has_the_symbols() {
        let manifest =
            std::fs::read_to_string(paths::root().join("crates/cli/Cargo.toml")).unwrap();
        assert!(manifest.contains(&format!("depends = \"libc6 (>= {GLIBC_MAX})\"")));
    }
}
