//! The container image of a program: nothing but the program, the libraries that it needs and the certificates of
//! authorities, both Debian's. buildah writes it to a folder, without a service and without a registry; tar packs
//! that, since buildah's own archives contain the time at which they were made.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;

use super::archive::{self, Staged, VERSION};
use crate::interrupt::Interrupt;
use crate::shell;

/// What buildah makes the image from. The working folder is for plans and results of the host.
const CONTAINERFILE: &str =
    "FROM scratch\nCOPY . /\nENTRYPOINT [\"/usr/bin/dyno\"]\nWORKDIR /work\n";
/// The load that an image is tried with: on SQLite, with a record and a report.
const LOAD: &str = "bench sysbench/oltp_read_write --tables=1 --table-size=100 --clients=2 --time=1s \
    --out=/work/results";
/// What the folder of an image has. Source: OCI Image Layout 1.0.
const LAYOUT: [&str; 3] = ["blobs", "index.json", "oci-layout"];
/// The licences of Debian's files, by package.
const PACKAGES: [&str; 2] = ["libc6", "ca-certificates"];

/// Writes the image into `folder`, and returns its path.
pub(super) fn write(
    staged: &Staged<'_>,
    folder: &Path,
    interrupt: &Interrupt,
) -> anyhow::Result<PathBuf> {
    let Staged { sources, program, .. } = staged;
    let [files, layout, storage, recipe] =
        ["image", "layout", "buildah", "Containerfile"].map(|name| sources.folder.join(name));
    gather(staged, &files)?;
    if layout.exists() {
        fs::remove_dir_all(&layout)?;
    }
    fs::write(&recipe, CONTAINERFILE)?;
    let mut buildah = Command::new("buildah");
    buildah.arg("--root").arg(storage.join("root")).arg("--runroot").arg(storage.join("run"));
    buildah.args(["--storage-driver=vfs", "build", "--quiet", "--no-cache", "--file"]).arg(recipe);
    buildah.args(["--arch", program.target.debian, "--timestamp"]);
    buildah.arg(sources.commit.seconds.to_string()).arg("--label");
    buildah.arg(format!("org.opencontainers.image.revision={}", sources.commit.id));
    buildah.arg(format!("--tag=oci:{}:{VERSION}", layout.display()));
    shell::must(buildah.arg(&files), interrupt)?;
    let path = folder.join(format!("{}-image.tar", staged.name()));
    let mut tar = archive::tar(&path, &layout, sources.commit.seconds);
    shell::must(tar.args(LAYOUT), interrupt)?;
    try_load(staged, &files, interrupt).context("the image runs no load")?;
    Ok(path)
}

/// Runs a short load with nothing but the files of the image, as a container's first process.
fn try_load(staged: &Staged<'_>, files: &Path, interrupt: &Interrupt) -> anyhow::Result<()> {
    // The image itself leaves this folder to whoever starts it.
    let processes = files.join("proc");
    fs::create_dir(&processes)?;
    let mut dyno = staged.sources.tools.command(staged.program.target, Path::new("unshare"));
    dyno.args(["--user", "--map-root-user", "--mount", "--pid", "--fork"]);
    dyno.arg(format!("--mount-proc={}", processes.display()));
    dyno.args(["env", "-i", "/usr/sbin/chroot"]).arg(files).arg("/usr/bin/dyno");
    shell::must(&mut shell::with(dyno, LOAD), interrupt)
}

/// Puts the files of the image into a folder.
fn gather(staged: &Staged<'_>, files: &Path) -> anyhow::Result<()> {
    if files.exists() {
        fs::remove_dir_all(files)?;
    }
    let Staged { sources, program, .. } = staged;
    let (debian, target) = (sources.tools.debian(), program.target);
    let libraries = format!("usr/lib/{}-linux-gnu", target.name);
    let mut copies = vec![
        (program.path.clone(), "usr/bin/dyno".to_owned()),
        (staged.folder.join("LICENCES.txt"), "usr/share/doc/dyno/LICENCES.txt".to_owned()),
    ];
    for package in PACKAGES {
        let licence = format!("usr/share/doc/{package}/copyright");
        copies.push((debian.join(&licence), licence));
    }
    for library in &program.libraries {
        let is_linker = library.starts_with("ld-linux-");
        let to = if is_linker { target.linker_folder } else { libraries.as_str() };
        copies.push((debian.join(&libraries).join(library), format!("{to}/{library}")));
    }
    for (from, to) in copies {
        let to = files.join(to);
        fs::create_dir_all(to.parent().unwrap_or(files))?;
        fs::copy(&from, &to).with_context(|| format!("no {}", from.display()))?;
    }
    let certificates = files.join("etc/ssl/certs");
    fs::create_dir_all(&certificates)?;
    let bundle = certificates_of(&debian.join("usr/share/ca-certificates/mozilla"))?;
    fs::write(certificates.join("ca-certificates.crt"), bundle)?;
    for folder in ["work", "tmp"] {
        fs::create_dir(files.join(folder))?;
    }
    // Everybody may write there, and remove what is theirs.
    fs::set_permissions(files.join("tmp"), fs::Permissions::from_mode(0o1777))?;
    Ok(())
}

/// All certificates of a folder, in one text, as Debian's update-ca-certificates makes it.
fn certificates_of(folder: &Path) -> anyhow::Result<String> {
    let entries = fs::read_dir(folder)?.map(|entry| Ok(entry?.path()));
    let mut paths = entries.collect::<anyhow::Result<Vec<_>>>()?;
    paths.sort();
    paths.iter().map(|path| Ok(fs::read_to_string(path)?)).collect()
}
