//! Options that several kinds of managed systems share.

use std::path::{Path, PathBuf};

use nix::sched::CpuSet;
use plan::OptionReader;

use crate::process::parse_cpus;
use crate::programs::find;

/// A bare name is searched where programs are; anything else is a path.
pub(crate) fn program(folder: &Path, binary: &str) -> PathBuf {
    match find(binary, &[]) {
        Some(found) if !binary.contains('/') => found,
        _ => within(folder, binary),
    }
}

/// An absolute path, which is also valid in the working directory of a server.
fn within(folder: &Path, path: &str) -> PathBuf {
    let path = folder.join(path);
    std::path::absolute(&path).unwrap_or(path)
}

/// A file that must exist; a relative path is relative to `folder`.
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

/// The same, under another name.
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

/// Arguments of a server as the plan gives them, without those named in `ours`: with these, dyno would not find the
/// server.
pub(crate) fn arguments(reader: &mut OptionReader<'_>, name: &str, ours: &[&str]) -> Vec<String> {
    let arguments = reader.texts(name);
    // An argument without a dash is the value of the one before.
    let named = arguments.iter().filter(|argument| argument.starts_with('-'));
    refuse_reserved(reader, name, named, ours);
    arguments
}

/// Refuses arguments that dyno sets itself: where a server listens, and where its data are.
pub(crate) fn refuse_reserved<'a>(
    reader: &mut OptionReader<'_>,
    option: &str,
    arguments: impl IntoIterator<Item = &'a String>,
    ours: &[&str],
) {
    let said =
        arguments.into_iter().map(|argument| argument.split(['=', ' ']).next().unwrap_or_default());
    for argument in said.filter(|said| ours.contains(&said.trim_start_matches('-'))) {
        let help = "leave it out: what dyno starts gets free ports, a folder and an account of its own; a server \
                    that is there is reached by its URL";
        reader.reject(option, format!("`{argument}` is dyno's to say"), help);
    }
}
