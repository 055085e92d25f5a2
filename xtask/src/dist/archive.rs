//! The archive of a program: the program, its pages, plans and documents, the licences, and what it was made with.
//! The order, times and owners of files are fixed, so that the same files give the same bytes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};
use jiff::Timestamp;

use super::compile::{Program, Sources};
use super::{crates, licences, sbom};
use crate::interrupt::Interrupt;
use crate::shell;

/// dyno's version.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");
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
/// The copyright file of Rust's standard library, in the build root.
const STANDARD_LIBRARY: &str = "/rust/usr/share/doc/libstd-rust-dev/copyright";
pub(crate) const LICENCES: &str = "LICENCES.txt";
pub(crate) const MATERIALS: &str = "dyno.cdx.json";

/// The files of a program's archive, in a folder of its name. The package and the image are made from them too.
pub(crate) struct Staged<'a> {
    pub(crate) sources: &'a Sources<'a>,
    pub(crate) program: &'a Program,
    pub(crate) name: String,
    /// The folder in which that folder is.
    pub(crate) parent: PathBuf,
}

impl<'a> Staged<'a> {
    /// Gathers the files in the folder of the build, where nothing else is read from.
    ///
    /// # Errors
    /// When a file is missing, or the program does not print its pages.
    pub(crate) fn gather(
        sources: &'a Sources<'a>,
        program: &'a Program,
        interrupt: &Interrupt,
    ) -> anyhow::Result<Self> {
        let name = format!("dyno-{VERSION}-{}-linux", program.target.name());
        let inside = inside(sources);
        let parent = sources.root.path(&inside);
        let folder = parent.join(&name);
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::create_dir_all(folder.join("completions"))?;
        let mut copy = Command::new("cp");
        copy.arg("--recursive").args(TAKEN.map(|name| sources.outside().join(name)));
        shell::must(copy.arg(&program.path).arg(&folder), interrupt)?;
        for (shell, file) in SHELLS {
            let text = sources.run(program, &["completions", shell])?;
            fs::write(folder.join("completions").join(file), text)?;
        }
        sources.run(program, &["manual", &format!("{inside}/{name}/man")])?;
        let crates = crates::of(&sources.outside(), program.target)?;
        let standard_library = fs::read_to_string(sources.root.path(STANDARD_LIBRARY))
            .context("the licence of Rust's standard library is not in the build root")?;
        fs::write(folder.join(LICENCES), licences::of(&crates, &standard_library)?)?;
        let seconds = i64::try_from(sources.commit.seconds)?;
        let materials = sbom::of(&crates, &Timestamp::from_second(seconds)?.to_string());
        fs::write(folder.join(MATERIALS), serde_json::to_string_pretty(&materials)? + "\n")?;
        fs::write(folder.join("BUILD.txt"), build_text(sources, program)?)?;
        Ok(Self { sources, program, name, parent })
    }

    /// The folder with the files.
    pub(crate) fn folder(&self) -> PathBuf {
        self.parent.join(&self.name)
    }

    /// Writes the archive into `folder`, and returns its path.
    ///
    /// # Errors
    /// When tar or gzip fails.
    pub(crate) fn pack(&self, folder: &Path, interrupt: &Interrupt) -> anyhow::Result<PathBuf> {
        let path = folder.join(format!("{}.tar.gz", self.name));
        let mut tar = tar(&path, &self.parent, self.sources.commit.seconds);
        tar.args(["--use-compress-program", "gzip --no-name --best"]).arg(&self.name);
        shell::must(&mut tar, interrupt)?;
        Ok(path)
    }
}

/// The folder of all such files, in the root.
pub(crate) fn inside(sources: &Sources<'_>) -> String {
    format!("{}/staged", sources.folder())
}

/// A command that packs files of `folder`, whose names are its further arguments, the same way each time: sorted by
/// name, of root, with one time in seconds since 1970, and with the rights that everybody has to read.
pub(crate) fn tar(path: &Path, folder: &Path, seconds: u64) -> Command {
    let time = format!("--mtime=@{seconds}");
    let mut tar = shell::command("tar", &["--create", "--format=gnu", "--sort=name", &time]);
    tar.args(["--owner=0", "--group=0", "--numeric-owner", "--mode=u=rwX,go=rX"]);
    tar.arg("--file").arg(path).arg("--directory").arg(folder);
    tar
}

/// What the program was made from and with, and what it needs.
fn build_text(sources: &Sources<'_>, program: &Program) -> anyhow::Result<String> {
    let [rust, c] = sources.compilers(program.target)?;
    let needed = &program.needed;
    Ok(format!(
        "dyno {VERSION}\ncommit     {}\nprocessor  {}\ncompilers  {rust}; {c}\n\
         needs      glibc {} ({}); {}\n",
        sources.commit.id,
        program.target.name(),
        needed.glibc,
        needed.newest.join(", "),
        needed.libraries.join(", "),
    ))
}

/// Writes `SHA256SUMS` for all other files of a folder, as `sha256sum --check` reads it.
///
/// # Errors
/// When sha256sum fails.
pub(crate) fn write_checksums(folder: &Path) -> anyhow::Result<()> {
    let sums = folder.join("SHA256SUMS");
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.path() != sums && entry.file_type()?.is_file() {
            names.push(entry.file_name());
        }
    }
    names.sort();
    let output = Command::new("sha256sum").args(names).current_dir(folder).output()?;
    ensure!(output.status.success(), "sha256sum: {}", String::from_utf8_lossy(&output.stderr));
    fs::write(&sums, output.stdout).context("cannot write the checksums")
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
        let files = folder.path().join("dyno");
        fs::create_dir(&files).unwrap();
        for name in names {
            let path = files.join(name);
            fs::write(&path, name).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            let file = fs::File::options().write(true).open(&path).unwrap();
            file.set_modified(UNIX_EPOCH + Duration::from_secs(seconds)).unwrap();
        }
        let path = folder.path().join("dyno.tar");
        let status = tar(&path, folder.path(), 1_000_000_000).arg("dyno").status().unwrap();
        assert!(status.success());
        fs::read(path).unwrap()
    }

    #[test]
    fn order_times_and_rights_of_files_change_no_byte_of_an_archive() {
        let first = packed(["a", "b"], 1_700_000_000, 0o700);
        assert!(first == packed(["b", "a"], 1_600_000_000, 0o755));
        assert!(first != packed(["a", "b"], 1_700_000_000, 0o600), "a program stays one");
        assert!(first != packed(["a", "c"], 1_700_000_000, 0o700));
    }

    #[test]
    fn checksums_are_those_of_all_files_by_name() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("b"), "").unwrap();
        fs::write(folder.path().join("a"), "abc").unwrap();
        write_checksums(folder.path()).unwrap();
        write_checksums(folder.path()).unwrap();
        let text = fs::read_to_string(folder.path().join("SHA256SUMS")).unwrap();
        // FIPS 180-4: the digests of "abc" and of nothing.
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        let nothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(text, format!("{abc}  a\n{nothing}  b\n"));
    }
}
