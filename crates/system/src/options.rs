//! Options that several kinds of managed systems share.

use std::path::{Path, PathBuf};

use driver::{SslMode, SslOptions};
use nix::sched::CpuSet;
use plan::OptionReader;

use crate::process::cpu_set;
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
        reader.reject(name, message, "create it first, or give another path");
    }
    Some(file)
}

/// The options for encryption (docs/tls.md); relative files are relative to `folder`.
pub(crate) fn ssl(reader: &mut OptionReader<'_>, folder: &Path) -> SslOptions {
    let modes = SslMode::ALL.map(|mode| (mode.name(), Some(mode)));
    let mode = reader.choice("ssl_mode", None, &modes);
    let mut file = |name| reader.text(name).map(|file| folder.join(file));
    SslOptions { mode, ca: file("ssl_ca"), cert: file("ssl_cert"), key: file("ssl_key") }
}

/// `cpus = "0-3,8"`
pub(crate) fn cpus(reader: &mut OptionReader<'_>) -> Option<CpuSet> {
    cpus_called(reader, "cpus")
}

/// The same, under another name.
pub(crate) fn cpus_called(reader: &mut OptionReader<'_>, name: &str) -> Option<CpuSet> {
    reader.cpus(name).as_ref().map(cpu_set)
}

/// Levels of x86-64 that Go compiles for, as the plan and the build name them.
const LEVELS: [(&str, Option<&str>); 4] =
    [("v1", Some("v1")), ("v2", Some("v2")), ("v3", Some("v3")), ("v4", Some("v4"))];

/// `goamd64 = "v3"`: the level of x86-64 instructions of a build.
pub(crate) fn goamd64(reader: &mut OptionReader<'_>) -> Option<String> {
    reader.choice("goamd64", None, &LEVELS).map(str::to_owned)
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
        let help = "remove it: dyno chooses free ports, a folder and an account for a server that it starts; give \
                    the URL of a server that is already running";
        reader.reject(option, format!("`{argument}` is set by dyno itself"), help);
    }
}
