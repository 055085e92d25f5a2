//! What the tests of several kinds share.

use std::path::Path;

use driver::{Datum, Timeouts};
use plan::{Options, Problem};

use crate::ask;
use crate::daemon::unattended;
use crate::{Access, Running, System};

/// How a kind reads its options.
pub(crate) type Read = fn(&Options, &Path) -> Result<Box<dyn System>, Vec<Problem>>;

/// What these options make, started on this folder.
pub(crate) fn started(read: Read, options: &str, folder: &Path) -> anyhow::Result<Running> {
    let system = read(&Options::parse(options).unwrap(), folder).unwrap();
    system.start(folder, Timeouts::default(), &mut unattended)
}

/// Runs statements, each in a session of its own; returns the last one's rows.
pub(crate) fn rows(running: &Running, statements: &[&str]) -> Vec<Vec<Datum>> {
    let Access::Database(target) = running.access() else { panic!("no database") };
    let mut rows = Vec::new();
    for statement in statements {
        rows = ask::rows(target, statement, &mut unattended).unwrap();
    }
    rows
}

/// What people read when these options are wrong; a line for each problem.
pub(crate) fn problems(read: impl FnOnce() -> Result<Box<dyn System>, Vec<Problem>>) -> String {
    let Err(problems) = read() else { panic!("it was accepted") };
    let lines = problems.iter().map(|problem| {
        format!("{} | {}", problem.message, problem.help.as_deref().unwrap_or_default())
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// What people read when each of these is wrong.
pub(crate) fn all_problems(read: Read, wrong: &[&str]) -> String {
    let read = |options: &str| read(&Options::parse(options).unwrap(), Path::new("/plans"));
    wrong.iter().map(|options| problems(|| read(options))).collect::<Vec<_>>().join("\n")
}
