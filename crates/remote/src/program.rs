//! Which program runs in another place, and the sums by which it is checked there.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use anyhow::{Context, bail};

use crate::hello::{OWN_PROGRAM, sha256};

/// A name of a processor is not longer.
const NAME_BYTES_MAX: usize = 32;
/// The polynomial of `cksum`. Source: POSIX.1-2024, cksum.
const POLYNOMIAL: u32 = 0x04c1_1db7;

/// A program for one kind of processor.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) path: PathBuf,
    pub(crate) bytes: u64,
    pub(crate) sha256: String,
}

impl Program {
    /// The program for a processor, as the kernel of its host names it: `own` when it is of the same kind, or the file
    /// `dyno-PROCESSOR` beside it.
    ///
    /// # Errors
    /// When there is none, with what to do; when it cannot be read.
    pub(crate) fn for_processor(own: &Path, machine: &str) -> anyhow::Result<Self> {
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if machine.is_empty() || machine.len() > NAME_BYTES_MAX || !machine.chars().all(is_name) {
            bail!("the host has a processor without a usable name: {machine:?}");
        }
        if architecture(machine) == std::env::consts::ARCH {
            return Self::at(own.to_owned());
        }
        // Where this program is; the link of the kernel has no folder.
        let real = std::fs::read_link(own).unwrap_or_else(|_| own.to_owned());
        let path = real.with_file_name(format!("dyno-{machine}"));
        if !path.is_file() {
            bail!(
                "the host has a processor {machine}, and this dyno is for {}: put a dyno of the same version for {machine} \
                 at {}",
                std::env::consts::ARCH,
                path.display()
            );
        }
        Self::at(path)
    }

    /// The program at a path.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(crate) fn at(path: PathBuf) -> anyhow::Result<Self> {
        static OWN_SHA256: OnceLock<String> = OnceLock::new();
        let cannot_read = || format!("cannot read the program {}", path.display());
        let bytes = std::fs::metadata(&path).with_context(cannot_read)?.len();
        let sha256 = match OWN_SHA256.get() {
            Some(known) if path == Path::new(OWN_PROGRAM) => known.clone(),
            _ => sha256(&path)?,
        };
        if path == Path::new(OWN_PROGRAM) {
            let _ = OWN_SHA256.set(sha256.clone());
        }
        Ok(Self { path, bytes, sha256 })
    }

    /// Its bytes.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub(crate) fn open(&self) -> anyhow::Result<File> {
        let open = File::open(&self.path);
        open.with_context(|| format!("cannot read the program {}", self.path.display()))
    }

    /// What `cksum` says of it: the CRC and the length.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(crate) fn cksum(&self) -> anyhow::Result<String> {
        let sum = cksum(BufReader::new(self.open()?));
        let (sum, length) = sum.with_context(|| format!("cannot read {}", self.path.display()))?;
        Ok(format!("{sum}-{length}"))
    }
}

/// The name that Rust has for a processor of the kernel's name.
fn architecture(machine: &str) -> &str {
    match machine {
        "ppc64le" | "ppc64" => "powerpc64",
        "i386" | "i486" | "i586" | "i686" => "x86",
        _ if machine.starts_with("armv") => "arm",
        _ => machine,
    }
}

fn cksum(mut source: impl BufRead) -> std::io::Result<(u32, u64)> {
    let table = table();
    let step = |crc: u32, byte: u8| (crc << 8) ^ table[usize::from((crc >> 24) as u8 ^ byte)];
    let (mut crc, mut length) = (0, 0_u64);
    loop {
        let bytes = source.fill_buf()?;
        if bytes.is_empty() {
            break;
        }
        crc = bytes.iter().copied().fold(crc, step);
        let read = bytes.len();
        length += read as u64;
        source.consume(read);
    }
    // The length follows, its lowest byte first, without zero bytes at the end.
    let mut left = length;
    while left > 0 {
        crc = step(crc, (left & 0xff) as u8);
        left >>= 8;
    }
    Ok((!crc, length))
}

fn table() -> [u32; 256] {
    let mut table = [0; 256];
    for (entry, byte) in table.iter_mut().zip(0_u32..) {
        let bit = |crc: u32, _| if crc >> 31 == 1 { (crc << 1) ^ POLYNOMIAL } else { crc << 1 };
        *entry = (0..8).fold(byte << 24, bit);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_those_of_the_program_cksum() {
        for bytes in [&b""[..], b"123456789", &[7; 70_000]] {
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join("file");
            std::fs::write(&file, bytes).unwrap();
            let output = system::command("cksum").arg(&file).output().unwrap();
            let words = String::from_utf8(output.stdout).unwrap();
            let words: Vec<&str> = words.split(' ').take(2).collect();
            assert_eq!(Program::at(file).unwrap().cksum().unwrap(), words.join("-"));
        }
    }

    #[test]
    fn another_processor_takes_the_file_beside_this_program() {
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path().join("dyno");
        std::fs::write(&own, "abc").unwrap();
        let same = Program::for_processor(&own, std::env::consts::ARCH).unwrap();
        assert_eq!((same.path, same.bytes), (own.clone(), 3));
        let error = Program::for_processor(&own, "mips").unwrap_err().to_string();
        let beside = folder.path().join("dyno-mips");
        assert!(error.contains(&format!("for mips at {}", beside.display())), "{error}");
        std::fs::write(&beside, "other").unwrap();
        assert_eq!(Program::for_processor(&own, "mips").unwrap().path, beside);
        for name in ["", "../x", "a b", &"x".repeat(33)] {
            let error = Program::for_processor(&own, name).unwrap_err().to_string();
            assert!(error.contains("without a usable name"), "{error}");
        }
    }
}
