//! What a dyno says of itself and of its host when a connection begins.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::thread;

use anyhow::Context;
use measure::{HostFacts, ProcessIdentity};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use system::watch::{own_boot, own_identity};

pub(crate) const OWN_PROGRAM: &str = "/proc/self/exe";
/// The version of this program, which both ends must have.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");
const READ_BYTES: usize = 256 << 10;

/// The first message of the other end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Hello {
    pub(crate) version: String,
    pub(crate) facts: HostFacts,
    /// The process, by which it is found where its host is watched; `None` when not known.
    pub(crate) process: Option<ProcessIdentity>,
}

impl Hello {
    /// That of this process.
    ///
    /// # Errors
    /// When this program cannot be read.
    pub(crate) fn own() -> anyhow::Result<Self> {
        let cores = thread::available_parallelism().map_or(1, |cores| cores.get());
        let facts = HostFacts {
            host: kernel("hostname"),
            processor: std::env::consts::ARCH.to_owned(),
            cores: u32::try_from(cores).unwrap_or(u32::MAX),
            kernel: format!("{} {}", kernel("ostype"), kernel("osrelease")),
            build: sha256(Path::new(OWN_PROGRAM))?,
            boot: own_boot(),
        };
        Ok(Self { version: VERSION.to_owned(), facts, process: own_identity() })
    }
}

/// A setting of the kernel; empty when not known.
fn kernel(file: &str) -> String {
    let text = std::fs::read_to_string(Path::new("/proc/sys/kernel").join(file));
    text.unwrap_or_default().trim().to_owned()
}

/// The SHA-256 of a file, in hexadecimal digits.
///
/// # Errors
/// When it cannot be read.
pub(crate) fn sha256(file: &Path) -> anyhow::Result<String> {
    let cannot_read = || format!("cannot read the program {}", file.display());
    let mut source = File::open(file).with_context(cannot_read)?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; READ_BYTES];
    loop {
        let length = source.read(&mut buffer).with_context(cannot_read)?;
        if length == 0 {
            break;
        }
        hash.update(&buffer[..length]);
    }
    Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_named_by_its_hash() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("abc");
        std::fs::write(&file, "abc").unwrap();
        // Source: FIPS 180-2, B.1.
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(sha256(&file).unwrap(), expected);
        assert!(sha256(&folder.path().join("no")).unwrap_err().to_string().contains("cannot read"));
    }

    #[test]
    fn a_process_knows_its_host() {
        let Hello { facts, version, process } = Hello::own().unwrap();
        assert_eq!((facts.processor.as_str(), version.as_str()), (std::env::consts::ARCH, VERSION));
        assert!(facts.cores >= 1 && facts.kernel.starts_with("Linux "), "{facts:?}");
        assert_eq!((facts.build.len(), facts.boot.len()), (64, 36));
        assert_eq!(process.map(|it| (it.boot, it.pid)), Some((facts.boot, std::process::id())));
    }
}
