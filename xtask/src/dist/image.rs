//! The container image of a program: nothing but the program, the libraries that it needs from the build root, and
//! the certificates of authorities. buildah writes it to a folder, without a service and without a registry; tar
//! packs that, since buildah's own archives contain the time at which they were made.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};

use super::archive::{self, LICENCES, Staged, VERSION};
use crate::interrupt::Interrupt;
use crate::shell;

/// The program in the image.
const PROGRAM: &str = "/usr/bin/dyno";
/// The load that an image is tried with: on SQLite, with a record and a report.
const LOAD: [&str; 7] = [
    "bench",
    "sysbench/oltp_read_write",
    "--tables=1",
    "--table-size=100",
    "--clients=2",
    "--time=1s",
    "--out=/work/results",
];
/// The folder in which dyno runs, for plans and results of the host.
const WORK: &str = "work";
/// What the folder of an image has. Source: OCI Image Layout 1.0.
const LAYOUT: [&str; 3] = ["blobs", "index.json", "oci-layout"];
/// The licences of the libraries from the build root, by Debian's package.
const OF_LIBRARIES: [&str; 2] = ["libc6", "libgcc-s1"];
/// The certificates of authorities, in the build root and in the image.
const CERTIFICATES: &str = "etc/ssl/certs/ca-certificates.crt";

/// Writes the image into `folder`, and returns its path.
///
/// # Errors
/// When a file is missing, or buildah fails.
pub(crate) fn write(
    staged: &Staged<'_>,
    folder: &Path,
    interrupt: &Interrupt,
) -> anyhow::Result<PathBuf> {
    let name = format!("{}.image", staged.name);
    let files = staged.parent.join(&name);
    gather(staged, &files)?;
    let layout = staged.parent.join(format!("{}.oci", staged.name));
    if layout.exists() {
        fs::remove_dir_all(&layout)?;
    }
    let storage = staged.parent.join("buildah");
    let buildah = |arguments: &[&str]| {
        let mut command = Command::new("buildah");
        command.arg("--root").arg(storage.join("root")).arg("--runroot").arg(storage.join("run"));
        command.arg("--storage-driver=vfs").args(arguments);
        command
    };
    let container =
        output(&mut buildah(&["from", "--arch", staged.program.target.debian(), "scratch"]))?;
    shell::must(buildah(&["copy", "--quiet", &container]).arg(&files).arg("/"), interrupt)?;
    let (entry, work) = (format!(r#"["{PROGRAM}"]"#), format!("/{WORK}"));
    let commit = &staged.sources.commit;
    let revision = format!("org.opencontainers.image.revision={}", commit.id);
    let mut configure = buildah(&["config", "--entrypoint", &entry, "--workingdir", &work]);
    shell::must(configure.args(["--label", &revision]).arg(&container), interrupt)?;
    let place = format!("oci:{}:{VERSION}", layout.display());
    let time = commit.seconds.to_string();
    let write = ["commit", "--quiet", "--rm", "--timestamp", &time, &container, &place];
    shell::must(&mut buildah(&write), interrupt)?;
    let path = folder.join(format!("{}-image.tar", staged.name));
    shell::must(archive::tar(&path, &layout, commit.seconds).args(LAYOUT), interrupt)?;
    try_load(staged, &name, interrupt).context("the image runs no load")?;
    Ok(path)
}

/// Runs a short load with nothing but the files of the image, as a container's first process, under an emulator where
/// it is for another processor.
fn try_load(staged: &Staged<'_>, name: &str, interrupt: &Interrupt) -> anyhow::Result<()> {
    let files = format!("{}/{name}", archive::inside(staged.sources));
    // The image itself leaves this folder to whoever starts it.
    let processes = format!("{files}/proc");
    let root = staged.sources.root;
    fs::create_dir(root.path(&processes))?;
    let mount = format!("--mount-proc={processes}");
    // Within a root that is no mount of its own, the propagation of mounts cannot be changed.
    let apart = ["unshare", "--pid", "--fork", "--propagation", "unchanged", &mount];
    let alone = ["env", "-i", "/usr/sbin/chroot", &files, PROGRAM];
    shell::must(&mut root.command("/", &[], &[&apart[..], &alone, &LOAD].concat())?, interrupt)
}

/// Puts the files of the image into a folder.
fn gather(staged: &Staged<'_>, files: &Path) -> anyhow::Result<()> {
    if files.exists() {
        fs::remove_dir_all(files)?;
    }
    let program = staged.program;
    let (root, target) = (staged.sources.root, program.target);
    let libraries = format!("usr/lib/{}", target.gnu());
    let linker = target.dynamic_linker();
    let name = linker.rsplit('/').next().unwrap_or(linker);
    let in_root = |name: &str| root.path(target.libraries()).join(name);
    let mut copies = vec![
        (program.path.clone(), PROGRAM.trim_start_matches('/').to_owned()),
        (in_root(name), linker.to_owned()),
        (root.path(CERTIFICATES), CERTIFICATES.to_owned()),
        (staged.folder().join(LICENCES), format!("usr/share/doc/dyno/{LICENCES}")),
    ];
    for package in OF_LIBRARIES {
        let licence = format!("usr/share/doc/{package}/copyright");
        copies.push((root.path(&licence), licence));
    }
    for library in program.needed.libraries.iter().filter(|library| *library != name) {
        copies.push((in_root(library), format!("{libraries}/{library}")));
    }
    for (from, to) in copies {
        let to = files.join(to);
        fs::create_dir_all(to.parent().unwrap_or(files))?;
        fs::copy(&from, &to).with_context(|| format!("no {}", from.display()))?;
    }
    for folder in [WORK, "tmp"] {
        fs::create_dir(files.join(folder))?;
    }
    // Everybody may write there, and remove what is theirs.
    fs::set_permissions(files.join("tmp"), fs::Permissions::from_mode(0o1777))?;
    Ok(())
}

/// The line that a command prints.
fn output(command: &mut Command) -> anyhow::Result<String> {
    shell::say(command);
    let output = command.output().context("cannot run buildah")?;
    ensure!(output.status.success(), "buildah: {}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
