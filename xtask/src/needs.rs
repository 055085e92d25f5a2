//! Programs of the operating system that a task needs, and their Debian packages.

use std::io::IsTerminal;
use std::process::Command;

use anyhow::{Context, bail};
use clap::Args;

use crate::interrupt::Interrupt;
use crate::shell;

/// A program and the package that contains it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Need {
    program: &'static str,
    package: &'static str,
}

pub(crate) const MARIADB: Need = Need { program: "mariadbd", package: "mariadb-server" };
pub(crate) const POSTGRES: Need = Need { program: "pg_ctlcluster", package: "postgresql" };
pub(crate) const PGBOUNCER: Need = Need { program: "pgbouncer", package: "pgbouncer" };
pub(crate) const COMPILER: Need = Need { program: "cc", package: "gcc" };
/// Any version: one that is too old for a build downloads a newer one as a module.
pub(crate) const GO: Need = Need { program: "go", package: "golang-go" };
/// For profiles of servers that have none themselves.
pub(crate) const PERF: Need = Need { program: "perf", package: "linux-perf" };
/// For the network namespaces of tests.
pub(crate) const IP: Need = Need { program: "ip", package: "iproute2" };
/// For a network that loses packets.
pub(crate) const NFT: Need = Need { program: "nft", package: "nftables" };
/// The load generator of HTTP/2.
pub(crate) const H2LOAD: Need = Need { program: "h2load", package: "nghttp2-client" };
/// Other hosts of tests are reached on loopback.
pub(crate) const SSHD: Need = Need { program: "sshd", package: "openssh-server" };
pub(crate) const SSH: Need = Need { program: "ssh", package: "openssh-client" };
pub(crate) const SYSBENCH: Need = Need { program: "sysbench", package: "sysbench" };

/// Unpacks Debian's Rust for `dist`.
pub(crate) const MMDEBSTRAP: Need = Need { program: "mmdebstrap", package: "mmdebstrap" };
/// Writes container images.
pub(crate) const BUILDAH: Need = Need { program: "buildah", package: "buildah" };
/// Fetches zig, and for tests the readers of formats and a PostgreSQL.
pub(crate) const PIP: Need = Need { program: "pip3", package: "python3-pip" };
/// Runs programs for other processors.
pub(crate) const QEMU: Need = Need { program: "qemu-riscv64-static", package: "qemu-user-static" };

/// The browser in which a test opens a report.
pub(crate) const CHROMIUM: Need = Need { program: "chromium", package: "chromium" };
/// Scrapes the metrics of a run.
pub(crate) const PROMETHEUS: Need = Need { program: "prometheus", package: "prometheus" };
/// For the text of a report on paper.
pub(crate) const PDFTOTEXT: Need = Need { program: "pdftotext", package: "poppler-utils" };

/// What the tests need.
pub(crate) const OF_TESTS: [Need; 14] = [
    MARIADB, POSTGRES, PGBOUNCER, SYSBENCH, GO, IP, NFT, SSH, SSHD, CHROMIUM, PDFTOTEXT, PERF, PIP,
    PROMETHEUS,
];

/// Other folders of programs: those of servers, and that of Go's own archive.
const FOLDERS: [&str; 3] = ["/usr/sbin", "/usr/local/sbin", "/usr/local/go/bin"];

/// Whether missing programs are installed with the package manager, as root or with sudo.
#[derive(Args)]
pub(crate) struct Install {
    /// Report missing programs instead of installing them
    #[arg(long)]
    no_install: bool,
}

impl Install {
    /// Makes sure that `needs` are installed.
    ///
    /// # Errors
    /// When something is missing and may not or cannot be installed, with the command that would.
    pub(crate) fn provide(&self, needs: &[Need], interrupt: &Interrupt) -> anyhow::Result<()> {
        let missing = missing(needs);
        if missing.is_empty() {
            return Ok(());
        }
        let packages: Vec<&str> = missing.iter().map(|need| need.package).collect();
        let by_hand = format!("apt-get install {}", packages.join(" "));
        for need in &missing {
            eprintln!("xtask: {} is missing (Debian package {})", need.program, need.package);
        }
        if self.no_install {
            bail!("missing programs; on Debian and Ubuntu: {by_hand}");
        }
        apt_get(&packages, interrupt)
            .with_context(|| format!("cannot install what is missing; do it by hand: {by_hand}"))?;
        let still: Vec<&str> = self::missing(needs).iter().map(|need| need.program).collect();
        if !still.is_empty() {
            bail!("still missing after the installation: {}", still.join(", "));
        }
        Ok(())
    }
}

fn missing(needs: &[Need]) -> Vec<Need> {
    needs.iter().copied().filter(|need| !is_there(need.program)).collect()
}

fn is_there(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .chain(FOLDERS.map(Into::into))
        .any(|folder| folder.join(program).is_file())
}

/// Updates the package lists and installs, without questions. Another installation is waited for, as that of the
/// updates that a new machine makes by itself.
fn apt_get(packages: &[&str], interrupt: &Interrupt) -> anyhow::Result<()> {
    if !is_there("apt-get") {
        bail!("there is no apt-get here");
    }
    eprintln!("xtask: installing {} with apt-get", packages.join(", "));
    let apt_get = ["apt-get", "--option=DPkg::Lock::Timeout=300", "--quiet"];
    shell::must(as_root(&apt_get)?.arg("update"), interrupt)?;
    let mut install = as_root(&apt_get)?;
    install.args(["install", "--yes", "--no-install-recommends"]);
    shell::must(install.args(packages), interrupt)
}

/// A command with the rights to install; sudo asks for a password only where a user can answer.
fn as_root(words: &[&str]) -> anyhow::Result<Command> {
    let words = [&["env", "DEBIAN_FRONTEND=noninteractive"], words].concat();
    if nix::unistd::geteuid().is_root() {
        return Ok(shell::command(words[0], &words[1..]));
    }
    if !is_there("sudo") {
        bail!("this takes root's rights, and there is no sudo");
    }
    let mut sudo = Command::new("sudo");
    if !std::io::stdin().is_terminal() {
        sudo.arg("--non-interactive");
    }
    sudo.args(words);
    Ok(sudo)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_install_lists_missing_programs_and_those_that_are_there_are_enough() {
        let interrupt = Interrupt::watch().unwrap();
        let provide = |program, package| {
            Install { no_install: true }.provide(&[Need { program, package }], &interrupt)
        };
        let error = provide("no-such-program-anywhere", "no-package").unwrap_err().to_string();
        assert_eq!(error, "missing programs; on Debian and Ubuntu: apt-get install no-package");
        provide("sh", "dash").unwrap();
    }
}
