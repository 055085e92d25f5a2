//! Systems that stay up after the command that started them. A dyno process keeps each of them, and an entry in a
//! folder of the user names it.

use std::env;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use system::{ProcessReference, private_file};

use crate::start_request;

/// Polling interval while waiting for a process to exit.
const POLL_PERIOD: Duration = Duration::from_millis(50);
/// Polls before giving up: two minutes, because servers may take one minute to shut down cleanly.
const POLLS_MAX: usize = 2_400;
/// Extension of an entry's file.
const ENTRY: &str = "up";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DetachedSystem {
    pub(crate) kind: String,
    /// The process that keeps it.
    pid: u32,
    /// Start time of that process, in the kernel's ticks: the pid alone may have been reused.
    began: u64,
    pub(crate) login: Option<PathBuf>,
    /// Its kind and address, for people.
    pub(crate) text: String,
}

impl DetachedSystem {
    /// An entry for a system that this process keeps.
    pub(crate) fn of_this_process(kind: &str, login: Option<PathBuf>, text: &str) -> Result<Self> {
        let pid = std::process::id();
        let this = ProcessReference::open(pid).context("cannot read when this process began")?;
        let began = this.began();
        Ok(Self { kind: kind.to_owned(), pid, began, login, text: text.to_owned() })
    }

    pub(crate) fn write(&self, entry: &Path) -> Result<()> {
        let login = self.login.as_deref().unwrap_or(Path::new("")).display();
        let Self { kind, pid, began, text, .. } = self;
        let part = entry.with_extension("part");
        private_file::create(&part)
            .and_then(|mut file| write!(file, "{kind}\n{pid}\n{began}\n{login}\n{text}"))
            .and_then(|()| fs::rename(&part, entry))
            .with_context(|| format!("cannot write {}", entry.display()))
    }

    fn parse(text: &str) -> Option<Self> {
        let mut parts = text.splitn(5, '\n');
        Some(Self {
            kind: parts.next()?.to_owned(),
            pid: parts.next()?.parse().ok()?,
            began: parts.next()?.parse().ok()?,
            login: Some(parts.next()?).filter(|path| !path.is_empty()).map(PathBuf::from),
            text: parts.next()?.to_owned(),
        })
    }

    pub(crate) fn title(&self) -> &str {
        self.text.lines().next().unwrap_or_default()
    }

    /// The process that keeps it; `None` when it has ended, also when another one has its number now.
    pub(crate) fn keeper(&self) -> Option<ProcessReference> {
        ProcessReference::open(self.pid).filter(|keeper| keeper.began() == self.began)
    }

    /// Asks the process that keeps it to stop it, and waits until both are gone. Returns whether it still ran.
    pub(crate) fn stop(&self) -> Result<bool> {
        let Some(keeper) = self.keeper() else { return Ok(false) };
        end(&keeper, self.pid)?;
        for _ in 0..POLLS_MAX {
            if !keeper.is_alive() {
                return Ok(true);
            }
            thread::sleep(POLL_PERIOD);
        }
        bail!("process {} has not ended two minutes after it was asked to", self.pid)
    }
}

/// Asks a process to end, unless it has ended already.
pub(crate) fn end(process: &ProcessReference, pid: u32) -> Result<()> {
    match process.ask_to_end() {
        Err(_) if !process.is_alive() => Ok(()),
        asked => asked.with_context(|| format!("cannot ask process {pid} to end")),
    }
}

pub(crate) fn new_entry(kind: &str) -> Result<PathBuf> {
    let folder = folder()?;
    private_file::create_folder(&folder)?;
    Ok(folder.join(format!("{kind}-{}.{ENTRY}", std::process::id())))
}

/// The entry, once it exists.
pub(crate) fn read(entry: &Path) -> Option<DetachedSystem> {
    DetachedSystem::parse(&fs::read_to_string(entry).ok()?)
}

pub(crate) fn all() -> Result<Vec<(PathBuf, DetachedSystem)>> {
    let Ok(entries) = fs::read_dir(folder()?) else { return Ok(Vec::new()) };
    let paths = entries.flatten().map(|entry| entry.path());
    let mut all: Vec<(PathBuf, DetachedSystem)> = paths
        .filter(|path| path.extension().is_some_and(|ending| ending == ENTRY))
        .filter_map(|path| read(&path).map(|detached| (path, detached)))
        .collect();
    all.sort_by(|(one, _), (other, _)| one.cmp(other));
    Ok(all)
}

/// The output of the process that kept it.
pub(crate) fn log_of(entry: &Path) -> String {
    fs::read_to_string(entry.with_extension("log")).unwrap_or_default()
}

pub(crate) fn remove(entry: &Path) {
    // It may be gone already: both the process that keeps a system and `dyno down` remove it.
    let _ = fs::remove_file(entry);
    let _ = fs::remove_file(entry.with_extension("log"));
    start_request::remove(entry);
}

/// The folder of the entries: `dyno/up` below `XDG_STATE_HOME` or `~/.local/state`.
fn folder() -> Result<PathBuf> {
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let state = set("XDG_STATE_HOME").or_else(|| set("HOME").map(|home| home.join(".local/state")));
    Ok(state.context("neither XDG_STATE_HOME nor HOME is set")?.join("dyno/up"))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn an_entry_is_read_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let entry = folder.path().join("tidb-1.up");
        let login = Some(PathBuf::from("/tmp/x/url"));
        let detached = DetachedSystem::of_this_process("tidb", login, "TiDB\n  url  x\n").unwrap();
        detached.write(&entry).unwrap();
        let read = read(&entry).unwrap();
        assert_eq!(read, detached);
        assert_eq!(entry.metadata().unwrap().permissions().mode() & 0o7777, 0o600);
        assert!(read.keeper().is_some());
        remove(&entry);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_reused_pid_is_not_taken_for_the_server() {
        let detached = DetachedSystem::of_this_process("tidb", None, "").unwrap();
        let earlier = DetachedSystem { began: detached.began - 1, ..detached };
        assert!(earlier.keeper().is_none());
        assert!(
            !earlier.stop().unwrap(),
            "this process, which has the number now, was not asked to end"
        );
    }

    #[test]
    fn files_that_are_no_entries_are_skipped() {
        for text in ["", "tidb", "tidb\nx\n5\n", "tidb\n1\n", "tidb\n1\n2\nx"] {
            assert_eq!(DetachedSystem::parse(text), None, "{text:?}");
        }
    }
}
