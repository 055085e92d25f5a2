//! The Debian package of a program, made from the files of its archive by dpkg-deb, which takes the times of files
//! and of the package from `SOURCE_DATE_EPOCH`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::archive::{LICENCES, MATERIALS, Staged, VERSION};
use super::symbols::Version;
use super::target::Target;
use crate::interrupt::Interrupt;
use crate::shell;

/// Where each file of the archive goes: folders with all that is in them, or files.
const PLACES: [(&str, &str); 14] = [
    ("dyno", "usr/bin/dyno"),
    ("completions/dyno", "usr/share/bash-completion/completions/dyno"),
    ("completions/_dyno", "usr/share/zsh/vendor-completions/_dyno"),
    ("completions/dyno.fish", "usr/share/fish/vendor_completions.d/dyno.fish"),
    ("man", "usr/share/man/man1"),
    ("plans", "usr/share/doc/dyno/plans"),
    ("docs", "usr/share/doc/dyno/docs"),
    ("README.md", "usr/share/doc/dyno/README.md"),
    ("METHODOLOGY.md", "usr/share/doc/dyno/METHODOLOGY.md"),
    ("SECURITY.md", "usr/share/doc/dyno/SECURITY.md"),
    ("CHANGELOG.md", "usr/share/doc/dyno/CHANGELOG.md"),
    ("BUILD.txt", "usr/share/doc/dyno/BUILD.txt"),
    (MATERIALS, "usr/share/doc/dyno/dyno.cdx.json"),
    (LICENCES, "usr/share/doc/dyno/LICENCES.txt"),
];

/// Writes the package into `folder`, and returns its path.
///
/// # Errors
/// When a file is missing or dpkg-deb fails.
pub(crate) fn write(
    staged: &Staged<'_>,
    folder: &Path,
    interrupt: &Interrupt,
) -> anyhow::Result<PathBuf> {
    let program = staged.program;
    let files = staged.parent.join(format!("{}.deb", staged.name));
    if files.exists() {
        fs::remove_dir_all(&files)?;
    }
    for (from, to) in PLACES {
        let to = files.join(to);
        fs::create_dir_all(to.parent().unwrap_or(&files))?;
        let mut copy = Command::new("cp");
        shell::must(copy.arg("--recursive").arg(staged.folder().join(from)).arg(&to), interrupt)?;
    }
    let documents = files.join("usr/share/doc/dyno");
    fs::write(documents.join("copyright"), copyright(&staged.folder())?)?;
    let mut compress = Command::new("gzip");
    compress.args(["--no-name", "--best", "--recursive"]).arg(files.join("usr/share/man/man1"));
    shell::must(&mut compress, interrupt)?;
    fs::create_dir(files.join("DEBIAN"))?;
    fs::write(files.join("DEBIAN/control"), control(program.target, program.needed.glibc))?;
    let mut rights = Command::new("chmod");
    shell::must(rights.args(["--recursive", "u=rwX,go=rX"]).arg(&files), interrupt)?;
    let path = folder.join(format!("dyno_{VERSION}_{}.deb", program.target.debian()));
    let mut build = shell::command("dpkg-deb", &["--root-owner-group", "-Zgzip", "--build"]);
    build.env("SOURCE_DATE_EPOCH", staged.sources.commit.seconds.to_string());
    shell::must(build.arg(&files).arg(&path), interrupt)?;
    Ok(path)
}

/// The package's own description. Source: Debian Policy, 5.3.
fn control(target: Target, glibc: Version) -> String {
    format!(
        "Package: dyno\nVersion: {VERSION}\nArchitecture: {}\nSection: database\nPriority: optional\n\
         Maintainer: The developers of dyno <dyno@example.invalid>\n\
         Depends: libc6 (>= {glibc}), libgcc-s1\nRecommends: ca-certificates\n\
         Description: load tester for databases and RPC services\n \
         dyno reads a plan, starts a real system or connects to one, prepares and\n \
         verifies its data, offers load and measures it.\n",
        target.debian(),
    )
}

/// dyno's own licences; those of its crates are in a file beside.
fn copyright(folder: &Path) -> anyhow::Result<String> {
    let mit = fs::read_to_string(folder.join("LICENSE-MIT"))?;
    Ok(format!(
        "dyno is under the MIT licence, which follows, or Apache 2.0, which is in\n\
         /usr/share/common-licenses/Apache-2.0, at your choice.\n\
         {LICENCES} has the licences of the crates that it contains.\n\n{mit}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_package_depends_on_the_library_that_has_the_symbols() {
        let control = control(Target::Aarch64, Version(2, 34));
        assert!(control.contains("\nArchitecture: arm64\n"), "{control}");
        assert!(control.contains("\nDepends: libc6 (>= 2.34), libgcc-s1\n"), "{control}");
        assert!(control.ends_with("measures it.\n"), "{control}");
    }
}
