//! Options that several kinds of managed systems have.

use std::path::{Path, PathBuf};

use nix::sched::CpuSet;
use plan::OptionReader;

use crate::process::parse_cpus;
use crate::programs::find;

/// A bare name is looked for where programs are; anything else is a path.
pub(crate) fn program(folder: &Path, binary: &str) -> PathBuf {
    match find(binary, &[]) {
        Some(found) if !binary.contains('/') => found,
        _ => within(folder, binary),
    }
}

/// A path that means the same in another working directory, such as that of a server.
fn within(folder: &Path, path: &str) -> PathBuf {
    let path = folder.join(path);
    std::path::absolute(&path).unwrap_or(path)
}

/// A file that must be there; a relative path counts from `folder`.
pub(crate) fn file(reader: &mut OptionReader<'_>, name: &str, folder: &Path) -> Option<PathBuf> {
    let file = within(folder, &reader.text(name)?);
    if !file.is_file() {
        let message = format!("there is no file {}", file.display());
        reader.reject(name, message, "make it first, or say another path");
    }
    Some(file)
}

/// `cpus = "0-3,8"`
pub(crate) fn cpus(reader: &mut OptionReader<'_>) -> Option<CpuSet> {
    cpus_called(reader, "cpus")
}

/// The same, by another name.
pub(crate) fn cpus_called(reader: &mut OptionReader<'_>, name: &str) -> Option<CpuSet> {
    let text = reader.text(name)?;
    match parse_cpus(&text) {
        Ok(cpus) => Some(cpus),
        Err(why) => {
            reader.reject(name, why, "write a set such as \"0\", \"0-3\" or \"0,2-3\"");
            None
        }
    }
}
