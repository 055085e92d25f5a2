//! Options that several kinds of managed systems share.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use driver::{SslMode, SslOptions};
use nix::sched::CpuSet;
use plan::OptionReader;
use plan::declared::{Choice, Named, choice, named};

use crate::process::{FlushGate, cpu_set};
use crate::programs::find;

/// The name of the option for a server's program, of every kind that has it.
pub(crate) const BINARY: &str = "binary";
pub(crate) const ARGUMENTS: Named =
    named("arguments", "none", "additional arguments of the server, as a list");
pub(crate) const CPUS: Named =
    named("cpus", "all", "CPUs that the server may use, such as \"0\" or \"0-3,8\"");
pub(crate) const HOLD_FLUSHES: Named = named(
    "hold_flushes",
    "not at all",
    "how long each flush of a file waits before it begins, such as 5ms; with 0s, `why` may hold them for a moment",
);
pub(crate) const ENV: Named =
    named("env", "none", "environment variables, such as { GOMAXPROCS = 4 }");
pub(crate) const SSL_CA: Named =
    named("ssl_ca", "this machine's", "file of trusted certificate authorities");
pub(crate) const SSL_CERT: Named = named("ssl_cert", "none", "file of the client's certificate");
pub(crate) const SSL_KEY: Named =
    named("ssl_key", "the file of ssl_cert", "file of that certificate's private key");
/// The name of the option for encryption, whose default depends on the kind.
pub(crate) const SSL_MODE: &str = "ssl_mode";

/// The level of x86-64 instructions of a build, as the plan and Go name it.
pub(crate) const GOAMD64: Choice<Option<&str>> = choice(
    "goamd64",
    ("v1", None),
    &[("v1", Some("v1")), ("v2", Some("v2")), ("v3", Some("v3")), ("v4", Some("v4"))],
    "x86-64 level of the build, v1 to v4",
);

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
    let mode = reader.choice(SSL_MODE, None, &modes);
    let mut file = |option: Named| reader.text(option.name).map(|file| folder.join(file));
    SslOptions { mode, ca: file(SSL_CA), cert: file(SSL_CERT), key: file(SSL_KEY) }
}

/// `cpus = "0-3,8"`
pub(crate) fn cpus(reader: &mut OptionReader<'_>) -> Option<CpuSet> {
    cpus_called(reader, CPUS.name)
}

/// `hold_flushes = "5ms"`
pub(crate) fn flushes(reader: &mut OptionReader<'_>) -> Option<Arc<FlushGate>> {
    reader.duration_given(HOLD_FLUSHES.name).map(FlushGate::new)
}

/// The same, under another name.
pub(crate) fn cpus_called(reader: &mut OptionReader<'_>, name: &str) -> Option<CpuSet> {
    reader.cpus(name).as_ref().map(cpu_set)
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
