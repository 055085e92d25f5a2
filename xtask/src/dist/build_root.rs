//! The system in which dyno is built for other machines: Debian 12 with its compilers of C, and in a folder of it the
//! Rust compiler of a newer Debian. All programs are linked by Debian 12's linker with its glibc.
//!
//! Rust's compiler is a program of the newer glibc, so its own dynamic linker starts it. What it writes does not
//! depend on that glibc: symbols get their versions when a program is linked.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};
use clap::Args;

use super::target::Target;
use crate::interrupt::Interrupt;
use crate::{paths, shell};

/// The release whose glibc dyno is linked with.
const RELEASE: &str = "bookworm";
/// The release whose Rust can compile dyno.
const RUST_RELEASE: &str = "forky";
/// The keys of Debian's archive, from the package `debian-archive-keyring`.
const KEYS: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";
/// Packages of the build, beside the cross compilers. aws-lc takes CMake for some processors; images get
/// certificates.
const PACKAGES: [&str; 6] =
    ["gcc", "libc6-dev", "cmake", "make", "qemu-user-static", "ca-certificates"];
/// The folder of the newer release within the root.
const RUST: &str = "rust";
/// The packages that a root is made from are written here when it is complete.
const RECIPE: &str = "made-from";
/// The script that goes into the root; it runs outside.
const ENTER: &str = "enter";
/// cargo's folder in the root; the registry of the user is mounted there.
const CARGO_HOME: &str = "/cargo";

/// The variables of every command in the root. Its folders of programs are also those of the machine.
const ENVIRONMENT: [(&str, &str); 4] = [
    ("PATH", "/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"),
    ("HOME", "/root"),
    ("LC_ALL", "C"),
    ("CARGO_HOME", CARGO_HOME),
];

/// Where packages come from.
#[derive(Args)]
pub(crate) struct Source {
    /// Mirror of Debian's packages, such as one of snapshot.debian.org for a day's compilers
    #[arg(long, default_value = "http://deb.debian.org/debian")]
    mirror: String,
}

impl Source {
    /// A line of apt's sources; apt refuses lists and packages without a signature of Debian's.
    pub(super) fn line(&self, release: &str) -> String {
        format!("deb [signed-by={KEYS}] {} {release} main", self.mirror)
    }
}

/// A complete root.
pub(crate) struct BuildRoot(PathBuf);

impl BuildRoot {
    /// The root in cargo's output folder; it is made when there is none, or one from other packages.
    ///
    /// # Errors
    /// When this is no x86-64, root's rights are missing, or a package is not available or not signed.
    pub(crate) fn provide(source: &Source, interrupt: &Interrupt) -> anyhow::Result<Self> {
        if std::env::consts::ARCH != Target::X86_64.name() {
            bail!("the cross compilers are those of an x86-64; this is another processor");
        }
        if !nix::unistd::geteuid().is_root() {
            bail!("a root of its own takes root's rights: run this task as root");
        }
        let folder = paths::target().join("build-root");
        let recipe = format!(
            "{}\n{RELEASE}: {}\n{RUST_RELEASE}: {}\n",
            source.mirror,
            packages(),
            rust_packages()
        );
        if fs::read_to_string(folder.join(RECIPE)).ok().as_ref() == Some(&recipe) {
            let root = Self(folder);
            root.write_script(ENTER, &enter())?;
            return Ok(root);
        }
        if !Path::new(KEYS).exists() {
            bail!("there is no {KEYS}; install the package debian-archive-keyring");
        }
        if folder.exists() {
            fs::remove_dir_all(&folder).context("cannot remove the old root")?;
        }
        let make = |variant: &str, release: &str, packages: &str, folder: &Path| {
            shell::must(
                &mut bootstrap(&source.line(release), variant, release, packages, folder),
                interrupt,
            )
        };
        make("apt", RELEASE, &packages(), &folder)?;
        make("extract", RUST_RELEASE, &rust_packages(), &folder.join(RUST))?;
        let root = Self(folder);
        root.wrap_rust()?;
        root.write_script(ENTER, &enter())?;
        root.link_libraries()?;
        fs::write(root.path(RECIPE), recipe)?;
        Ok(root)
    }

    /// The place outside of a path in the root.
    pub(crate) fn path(&self, inside: &str) -> PathBuf {
        self.0.join(inside.trim_start_matches('/'))
    }

    /// A command in the root that runs in `folder`, with this environment alone. Folders of devices,
    /// processes, the kernel and cargo's registry are mounted for it alone. Programs for other processors start like
    /// others, by an emulator.
    ///
    /// # Errors
    /// When cargo's folder is not known.
    pub(crate) fn command(
        &self,
        folder: &str,
        environment: &[(String, String)],
        words: &[&str],
    ) -> anyhow::Result<Command> {
        let mut command = shell::command("unshare", &["--user", "--map-root-user", "--mount"]);
        command.arg(self.path(ENTER)).arg(&self.0).arg(registry()?);
        command.args(["env", &format!("--chdir={folder}")]).args(words);
        // Not by arguments of `env`: passwords are among the variables.
        command.env_clear().envs(ENVIRONMENT).envs(environment.iter().cloned());
        Ok(command)
    }

    /// Runs a short command in the root, and returns what it prints.
    ///
    /// # Errors
    /// When it fails, with what it printed as an error.
    pub(crate) fn output(&self, words: &[&str]) -> anyhow::Result<String> {
        let output = self.command("/", &[], words)?.output().context("cannot enter the root")?;
        if !output.status.success() {
            let error = String::from_utf8_lossy(&output.stderr);
            bail!("{} failed ({}): {}", words.join(" "), output.status, error.trim());
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Programs that start Rust's compiler and cargo with the libraries of their own release.
    fn wrap_rust(&self) -> anyhow::Result<()> {
        for (program, arguments) in
            [("rustc", format!("--sysroot /{RUST}/usr ")), ("cargo", String::new())]
        {
            let libraries = format!("/{RUST}/usr/lib/{}", Target::X86_64.gnu());
            let script = format!(
                "exec {libraries}/ld-linux-x86-64.so.2 --library-path {libraries} \
                 /{RUST}/usr/bin/{program} {arguments}\"$@\"\n"
            );
            self.write_script(&format!("usr/local/bin/{program}"), &script)?;
        }
        fs::create_dir_all(self.path(CARGO_HOME).join("registry"))?;
        Ok(())
    }

    /// Writes a program of the shell, without its first line, which it gets here.
    pub(crate) fn write_script(&self, inside: &str, script: &str) -> anyhow::Result<()> {
        let path = self.path(inside);
        fs::write(&path, format!("#!/bin/sh\n{script}"))?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
        Ok(())
    }

    /// Puts the libraries of the cross compilers where programs look for them, for the emulators.
    fn link_libraries(&self) -> anyhow::Result<()> {
        for target in Target::ALL.into_iter().filter(|target| target.emulator().is_some()) {
            let (gnu, linker) = (target.gnu(), target.dynamic_linker());
            let name = linker.rsplit('/').next().unwrap_or(linker);
            symlink(format!("/usr/{gnu}/lib/{name}"), self.path(linker))?;
            for entry in fs::read_dir(self.path(target.libraries()))? {
                let name = entry?.file_name().to_string_lossy().into_owned();
                if name.contains(".so.") {
                    let link = self.path(&format!("usr/lib/{gnu}/{name}"));
                    symlink(format!("/{}/{name}", target.libraries()), link)
                        .with_context(|| format!("cannot link {name} of {gnu}"))?;
                }
            }
        }
        Ok(())
    }
}

/// The packages of the build, with compilers for all processors.
fn packages() -> String {
    let mut packages = PACKAGES.join(",");
    for target in Target::ALL.into_iter().filter(|target| target.emulator().is_some()) {
        let (name, debian) = (target.name(), target.debian());
        write!(packages, ",gcc-{name}-linux-gnu,libc6-dev-{debian}-cross").unwrap_or_default();
    }
    packages
}

/// Rust's compiler, and its standard library for all processors.
fn rust_packages() -> String {
    let libraries = Target::ALL.map(|target| format!("libstd-rust-dev:{}", target.debian()));
    format!("rustc,cargo,{}", libraries.join(","))
}

/// The command that makes a root from the packages of a release and those that they depend on.
fn bootstrap(line: &str, variant: &str, release: &str, packages: &str, folder: &Path) -> Command {
    let all = Target::ALL.map(Target::debian).join(",");
    // Only the newer release has packages of all processors.
    let architectures = if release == RELEASE { Target::X86_64.debian() } else { &all };
    let mut command = shell::command("mmdebstrap", &["--mode=root"]);
    command.arg(format!("--variant={variant}")).arg(format!("--include={packages}"));
    command.arg(format!("--architectures={architectures}"));
    // Lists of a fixed day are past the day until which a mirror vouches for them. Their signatures are checked.
    command.arg("--aptopt=Acquire::Check-Valid-Until \"false\"");
    command.arg(release).arg(folder).arg(line);
    command
}

/// The folder with the sources of crates.
fn registry() -> anyhow::Result<PathBuf> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")));
    Ok(home.context("neither CARGO_HOME nor HOME is set")?.join("registry"))
}

/// A script of the shell: mounts folders, registers the emulators, and goes into the root. The registration is that
/// of a user namespace, which Linux has since 6.7; before, programs for other processors cannot be started.
fn enter() -> String {
    let mut script = "set -e; root=$1; registry=$2; shift 2\n\
         for folder in dev proc sys; do mount --rbind /$folder \"$root/$folder\"; done\n\
         mount --bind \"$registry\" \"$root/cargo/registry\"\n\
         if mount -t binfmt_misc binfmt_misc \"$root/proc/sys/fs/binfmt_misc\" 2>/dev/null; then\n"
        .to_owned();
    for target in Target::ALL {
        if let Some(emulator) = target.emulator() {
            let (magic, mask) = (magic(target), MASK);
            // F: the kernel opens the emulator now, and so it also runs programs in roots that do not have it.
            let line = format!(":{emulator}:M::{magic}:{mask}:/usr/bin/{emulator}:F");
            let register = "printf %s \"$1\" > /proc/sys/fs/binfmt_misc/register";
            writeln!(script, "chroot \"$root\" sh -c '{register}' sh '{line}'").unwrap_or_default();
        }
    }
    script + "fi\nexec chroot \"$root\" \"$@\"\n"
}

/// The bytes of a program's header that count: all but the version of the ABI, and the lowest bit of the type, which
/// is 2 for a program and 3 for one that can be loaded anywhere.
const MASK: &str =
    r"\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff";

/// The first twenty bytes of a program, as the kernel reads them.
fn magic(target: Target) -> String {
    let machine = target.elf_machine();
    format!(r"\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\x{machine:02x}\x00")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_processor_has_a_compiler_and_a_standard_library() {
        assert_eq!(
            packages(),
            "gcc,libc6-dev,cmake,make,qemu-user-static,ca-certificates,gcc-aarch64-linux-gnu,libc6-dev-arm64-cross,\
             gcc-riscv64-linux-gnu,libc6-dev-riscv64-cross"
        );
        assert_eq!(
            rust_packages(),
            "rustc,cargo,libstd-rust-dev:amd64,libstd-rust-dev:arm64,libstd-rust-dev:riscv64"
        );
    }

    #[test]
    fn packages_without_a_signature_are_refused() {
        let source = Source { mirror: "http://mirror/debian".to_owned() };
        let line = source.line(RELEASE);
        assert_eq!(line, format!("deb [signed-by={KEYS}] http://mirror/debian bookworm main"));
    }

    #[test]
    fn an_emulator_is_registered_for_the_headers_of_its_programs() {
        let script = enter();
        assert!(script.contains(r"\x02\x00\xf3\x00:"), "{script}");
        assert!(script.contains(r"\x02\x00\xb7\x00:"), "{script}");
        assert_eq!(MASK.matches(r"\x").count(), 20);
        assert_eq!(script.matches("/register").count(), 2);
    }
}
