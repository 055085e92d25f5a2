//! The archive of a program: the program, its pages, plans and documents, the licences, and what it was made with.
//! The order, times and owners of files are fixed, so that the same files give the same bytes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::compile::{self, GLIBC, Program, Sources};
use super::licences;
use crate::interrupt::Interrupt;
use crate::shell;

/// dyno's version.
pub(super) const VERSION: &str = env!("CARGO_PKG_VERSION");
/// What is taken from the repository as it is.
const TAKEN: [&str; 8] = [
    "CHANGELOG.md",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "METHODOLOGY.md",
    "README.md",
    "SECURITY.md",
    "docs",
    "plans",
];
/// Shells, and the names that their completions have.
const SHELLS: [(&str, &str); 3] = [("bash", "dyno"), ("zsh", "_dyno"), ("fish", "dyno.fish")];
/// The copyright file of Rust's standard library, among Debian's packages.
const STANDARD_LIBRARY: &str = "usr/share/doc/libstd-rust-dev/copyright";

/// The files of a program's archive. The package and the image are made from them too.
pub(super) struct Staged<'a> {
    pub(super) sources: &'a Sources<'a>,
    pub(super) program: &'a Program,
    /// The folder with the files; `package.metadata.deb` of `crates/cli` names it too.
    pub(super) folder: PathBuf,
}

impl<'a> Staged<'a> {
    /// Gathers the files in a folder of the build, in place of those of the program before.
    pub(super) fn gather(
        sources: &'a Sources<'a>,
        program: &'a Program,
        interrupt: &Interrupt,
    ) -> anyhow::Result<Self> {
        let folder = sources.folder.join("staged");
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::create_dir_all(folder.join("completions"))?;
        let mut copy = Command::new("cp");
        copy.arg("--recursive").args(TAKEN.map(|name| sources.path().join(name)));
        shell::must(copy.arg(&program.path).arg(&folder), interrupt)?;
        for (shell, file) in SHELLS {
            let text = sources.run(program, &["completions", shell])?;
            fs::write(folder.join("completions").join(file), text)?;
        }
        sources.run(program, &["manual", &folder.join("man").to_string_lossy()])?;
        let materials = materials(sources, program.target.triple, interrupt)?;
        fs::write(folder.join("dyno.cdx.json"), &materials)?;
        let standard_library = fs::read_to_string(sources.tools.debian().join(STANDARD_LIBRARY))?;
        let licences = licences::of(&materials, &compile::registry(), &standard_library)?;
        fs::write(folder.join("LICENCES.txt"), licences)?;
        // What the program was made from and with, and what it needs.
        let build = format!(
            "dyno {VERSION}\ncommit     {}\nprocessor  {}\ncompilers  {}\nneeds      glibc {GLIBC}; {}\n",
            sources.commit.id,
            program.target.name,
            sources.compilers()?,
            program.libraries.join(", "),
        );
        fs::write(folder.join("BUILD.txt"), build)?;
        Ok(Self { sources, program, folder })
    }

    /// The name of the archive, and of the only folder in it.
    pub(super) fn name(&self) -> String {
        format!("dyno-{VERSION}-{}-linux", self.program.target.name)
    }

    /// Writes the archive into `folder`, and returns its path.
    pub(super) fn pack(&self, folder: &Path, interrupt: &Interrupt) -> anyhow::Result<PathBuf> {
        let path = folder.join(format!("{}.tar.gz", self.name()));
        let mut tar = tar(&path, &self.sources.folder, self.sources.commit.seconds);
        tar.arg(format!("--transform=s,^staged,{},", self.name()));
        tar.args(["--use-compress-program", "gzip --no-name --best", "staged"]);
        shell::must(&mut tar, interrupt)?;
        Ok(path)
    }

    /// Writes the Debian package into `folder`, and returns its path.
    pub(super) fn pack_debian(
        &self,
        folder: &Path,
        interrupt: &Interrupt,
    ) -> anyhow::Result<PathBuf> {
        let target = self.program.target;
        let path = folder.join(format!("dyno_{VERSION}_{}.deb", target.debian));
        let mut deb = self.sources.tool("cargo-deb");
        deb.args(["--package", "dyno-bench", "--no-build", "--no-strip", "--deb-version", VERSION]);
        deb.args(["--target", target.triple, "--output"]).arg(&path);
        shell::must(&mut deb, interrupt)?;
        Ok(path)
    }
}

/// A command that packs files of `folder`, whose names are its further arguments, the same way each time: sorted by
/// name, of root, with one time in seconds since 1970, and with the rights that everybody has to read.
pub(super) fn tar(path: &Path, folder: &Path, seconds: u64) -> Command {
    let time = format!("--mtime=@{seconds}");
    let mut tar = shell::command("tar", &["--create", "--format=gnu", "--sort=name", &time]);
    tar.args(["--owner=0", "--group=0", "--numeric-owner", "--mode=u=rwX,go=rX"]);
    tar.arg("--file").arg(path).arg("--directory").arg(folder);
    tar
}

/// The bill of materials (CycloneDX 1.5), without paths of the build.
fn materials(sources: &Sources<'_>, triple: &str, interrupt: &Interrupt) -> anyhow::Result<String> {
    let mut write = sources.tool("cargo-cyclonedx");
    write.args(["cyclonedx", "--manifest-path=crates/cli/Cargo.toml", "--format=json"]);
    write.args(["--spec-version=1.5", "--no-build-deps", "--override-filename=dyno.cdx"]);
    shell::must(write.args(["--target", triple]), interrupt)?;
    let text = fs::read_to_string(sources.path().join("crates/cli/dyno.cdx.json"))?;
    Ok(text.replace(&sources.path().display().to_string(), "/build"))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;
    use crate::paths;

    #[test]
    fn what_the_archive_takes_is_in_the_repository() {
        for name in TAKEN {
            assert!(paths::root().join(name).exists(), "{name}");
        }
    }

    #[test]
    fn the_package_depends_on_the_glibc_that_the_program_is_linked_with() {
        let manifest = fs::read_to_string(paths::root().join("crates/cli/Cargo.toml")).unwrap();
        assert!(manifest.contains(&format!("depends = \"libc6 (>= {GLIBC})\"")));
    }

    #[test]
    fn documents_name_the_files_of_this_version() {
        let text = |name: &str| fs::read_to_string(paths::root().join(name)).unwrap();
        assert!(text("README.md").contains(&format!("dyno-{VERSION}-$(uname -m)-linux.tar.gz")));
        let install = text("docs/install.md");
        assert!(install.contains(&format!("dyno-{VERSION}-x86_64-linux.tar.gz")));
        assert!(install.contains(&format!("dyno_{VERSION}_amd64.deb")));
    }

    /// The bytes of an archive of two files, which are made in this order at this time with these rights.
    fn packed(names: [&str; 2], seconds: u64, mode: u32) -> Vec<u8> {
        let folder = tempfile::tempdir().unwrap();
        for name in names {
            let path = folder.path().join(name);
            fs::write(&path, name).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            let file = fs::File::options().write(true).open(&path).unwrap();
            file.set_modified(UNIX_EPOCH + Duration::from_secs(seconds)).unwrap();
        }
        let out = tempfile::NamedTempFile::new().unwrap();
        let mut tar = tar(out.path(), folder.path(), 1_000_000_000);
        assert!(tar.arg(".").status().unwrap().success());
        fs::read(out.path()).unwrap()
    }

    #[test]
    fn order_times_and_rights_of_files_change_no_byte_of_an_archive() {
        let first = packed(["a", "b"], 1_700_000_000, 0o700);
        assert!(first == packed(["b", "a"], 1_600_000_000, 0o755));
        assert!(first != packed(["a", "b"], 1_700_000_000, 0o600), "a program stays one");
        assert!(first != packed(["a", "c"], 1_700_000_000, 0o700));
    }
}
