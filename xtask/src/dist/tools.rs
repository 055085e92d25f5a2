//! The tools of the build, each of a fixed version, in cargo's output folder: cargo-zigbuild, which links with the glibc
//! that dyno promises, and Debian's Rust, whose packages have signatures and the standard library of all processors.
//!
//! Debian's packages are unpacked, not installed. Its Rust takes a newer glibc than the machine may have, so that
//! glibc's own dynamic linker starts it. What it compiles does not depend on it.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};
use clap::Args;

use super::target::Target;
use crate::interrupt::Interrupt;
use crate::{paths, shell};

/// The release whose Rust can compile dyno.
const RELEASE: &str = "forky";
/// The keys of Debian's archive, from the package `debian-archive-keyring`.
const KEYS: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";
/// The packages that a folder was unpacked from are written here when it is complete.
const RECIPE: &str = "unpacked-from";
/// The compiler of C and linker: its package of Python.
const ZIG: &str = "ziglang==0.15.2";
/// Subcommands of cargo.
const CARGO_TOOLS: [&str; 3] =
    ["cargo-zigbuild@0.24.1", "cargo-cyclonedx@0.5.9", "cargo-deb@3.8.0"];
/// Registers qemu in a namespace, and runs a command there: programs for its processor start like others, with the
/// libraries of a folder. Linux has registrations of a user namespace since 6.7. The kernel opens the emulator now
/// (flag F), for programs in other roots too.
const EMULATE: &str = "set -e; misc=/proc/sys/fs/binfmt_misc; mount -t binfmt_misc binfmt_misc $misc; \
    cat /usr/lib/binfmt.d/$0.conf > $misc/register; export QEMU_LD_PREFIX=$1; shift; exec \"$@\"";

/// Where Debian's packages come from.
#[derive(Args)]
pub(crate) struct Source {
    /// Mirror of Debian's packages, such as one of snapshot.debian.org for a day's compilers
    #[arg(long, default_value = "http://deb.debian.org/debian")]
    mirror: String,
}

/// The complete tools.
pub(crate) struct Tools(PathBuf);

impl Tools {
    /// The tools; those that are missing, or of another version, are installed first.
    pub(crate) fn provide(source: &Source, interrupt: &Interrupt) -> anyhow::Result<Self> {
        let own = std::env::consts::ARCH;
        ensure!(own == Target::X86_64.name, "dist runs on an x86-64; this is {own}");
        let tools = Self(paths::target().join("tools"));
        tools.unpack_debian(source, interrupt)?;
        let zig = tools.0.join(ZIG);
        if !zig.exists() {
            let mut install = shell::command("pip3", &["install", "--quiet", ZIG, "--target"]);
            shell::must(install.arg(&zig), interrupt)?;
        }
        for tool in CARGO_TOOLS {
            let root = tools.0.join(tool);
            if !root.join("bin").exists() {
                let mut install = shell::cargo(&["install", "--locked", tool, "--root"]);
                shell::must(install.arg(root), interrupt)?;
            }
        }
        Ok(tools)
    }

    /// Rust's compiler and standard library, glibc for all processors, and certificates for images.
    fn unpack_debian(&self, source: &Source, interrupt: &Interrupt) -> anyhow::Result<()> {
        let debian = self.debian();
        let recipe = packages(source);
        if fs::read_to_string(debian.join(RECIPE)).is_ok_and(|made| made == recipe.join("\n")) {
            return Ok(());
        }
        ensure!(Path::new(KEYS).exists(), "no {KEYS}: install debian-archive-keyring");
        if debian.exists() {
            fs::remove_dir_all(&debian).context("cannot remove the old packages")?;
        }
        // It makes the folder itself, but not the one around it.
        fs::create_dir_all(&self.0).with_context(|| self.0.display().to_string())?;
        let mut unpack = shell::command("mmdebstrap", &["--variant=extract", RELEASE]);
        shell::must(unpack.arg(&debian).args(&recipe), interrupt)?;
        // Debian's package of its basic folders would make these links.
        for folder in ["lib", "lib64"] {
            symlink(format!("usr/{folder}"), debian.join(folder))?;
        }
        let libraries = debian.join("usr/lib/x86_64-linux-gnu");
        let (libraries, usr) = (libraries.display(), debian.join("usr"));
        let usr = usr.display();
        let script = format!(
            "#!/bin/sh\nexec {libraries}/ld-linux-x86-64.so.2 --library-path {libraries} \
             {usr}/bin/rustc --sysroot {usr} \"$@\"\n"
        );
        fs::write(self.rustc(), script)?;
        fs::set_permissions(self.rustc(), fs::Permissions::from_mode(0o755))?;
        Ok(fs::write(debian.join(RECIPE), recipe.join("\n"))?)
    }

    pub(crate) fn debian(&self) -> PathBuf {
        self.0.join("debian")
    }

    pub(crate) fn rustc(&self) -> PathBuf {
        self.0.join("rustc")
    }

    pub(crate) fn zig(&self) -> PathBuf {
        self.0.join(ZIG).join("ziglang/zig")
    }

    /// A subcommand of cargo.
    pub(crate) fn cargo_tool(&self, name: &str) -> PathBuf {
        let tool = CARGO_TOOLS.iter().find(|tool| tool.starts_with(name)).unwrap_or(&name);
        self.0.join(tool).join("bin").join(name)
    }

    /// A command that starts programs of a processor, with Debian's libraries.
    pub(crate) fn command(&self, target: Target, program: &Path) -> Command {
        if !target.is_emulated() {
            return shell::command(&program.to_string_lossy(), &[]);
        }
        let apart = ["--user", "--map-root-user", "--mount", "sh", "-c", EMULATE];
        let mut command = shell::command("unshare", &apart);
        command.arg(format!("qemu-{}", target.name)).arg(self.debian()).arg(program);
        command
    }
}

/// The arguments of mmdebstrap that name the packages and where they come from. apt refuses lists and packages without
/// a signature of Debian's.
fn packages(source: &Source) -> [String; 4] {
    let of_all = |package: &str| Target::ALL.map(|it| format!("{package}:{}", it.debian)).join(",");
    let libraries = ["libstd-rust-dev", "libc6"].map(of_all).join(",");
    [
        format!("--include=rustc,ca-certificates,{libraries}"),
        format!("--architectures={}", Target::ALL.map(|target| target.debian).join(",")),
        // Lists of a fixed day are past the day until which a mirror vouches for them.
        "--aptopt=Acquire::Check-Valid-Until \"false\"".to_owned(),
        format!("deb [signed-by={KEYS}] {} {RELEASE} main", source.mirror),
    ]
}
