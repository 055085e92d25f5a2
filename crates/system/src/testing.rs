//! Helpers for the tests of several kinds.

use std::io::Write;
use std::path::Path;
use std::process::Stdio;

use driver::{Datum, Timeouts};
use plan::{Options, Problem};

use crate::ask;
use crate::daemon::ignore_progress;
use crate::process::command;
use crate::{Access, Running, System};

/// The function with which a kind reads its options.
pub(crate) type Read = fn(&Options, &Path) -> Result<Box<dyn System>, Vec<Problem>>;

pub(crate) fn started(read: Read, options: &str, folder: &Path) -> anyhow::Result<Running> {
    let system = read(&Options::parse(options).unwrap(), folder).unwrap();
    system.start(folder, Timeouts::default(), &mut ignore_progress)
}

/// Writes a program, in a process of its own. A child that another test starts at that moment inherits this process's
/// open files until its exec, and a file that is open for writing cannot be run. Source: `ETXTBSY` of execve(2).
pub(crate) fn write_program(path: &Path, script: &str) {
    let mut writer = command("sh");
    writer.args(["-c", "cat > \"$0\" && chmod 755 \"$0\""]).arg(path).stdin(Stdio::piped());
    let mut writer = writer.spawn().unwrap();
    writer.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
    assert!(writer.wait().unwrap().success());
}

/// Runs statements, each in a session of its own; returns the last one's rows.
pub(crate) fn rows(running: &Running, statements: &[&str]) -> Vec<Vec<Datum>> {
    let Access::Database(target) = running.access() else { panic!("no database") };
    let mut rows = Vec::new();
    for statement in statements {
        rows = ask::rows(target, statement, &mut ignore_progress).unwrap();
    }
    rows
}

/// The messages for wrong options; a line for each problem.
pub(crate) fn problems(read: impl FnOnce() -> Result<Box<dyn System>, Vec<Problem>>) -> String {
    let Err(problems) = read() else { panic!("it was accepted") };
    let lines = problems.iter().map(|problem| {
        format!("{} | {}", problem.message, problem.help.as_deref().unwrap_or_default())
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The messages for each of these wrong options.
pub(crate) fn all_problems(read: Read, wrong: &[&str]) -> String {
    let read = |options: &str| read(&Options::parse(options).unwrap(), Path::new("/plans"));
    wrong.iter().map(|options| problems(|| read(options))).collect::<Vec<_>>().join("\n")
}
