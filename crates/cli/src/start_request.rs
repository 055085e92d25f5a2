//! Requests to the process that keeps a system up: to start a server of the system again. A request is a file beside
//! the entry of the system, in a folder of the user, and so is its answer.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use engine::Stop;
use system::{ProcessReference, private_file};

use crate::detached::DetachedSystem;

/// Interval between two checks for the answer.
const POLL_PERIOD: Duration = Duration::from_millis(50);
/// Extension of a request's file, which has the name of the server.
const REQUEST: &str = "start";
/// Extension of an answer's file: [`STARTED`], or why not.
const ANSWER: &str = "started";
const STARTED: &str = "";

/// Asks the process that keeps a system up to start a server, and waits until it answers.
///
/// # Errors
/// Why the server was not started, or that a stop was requested.
pub(crate) fn ask(
    (entry, detached): (&Path, &DetachedSystem),
    server: &str,
    stop: &Stop,
) -> Result<()> {
    // That of a command that was interrupted.
    let _ = fs::remove_file(entry.with_extension(ANSWER));
    write(entry, REQUEST, server)?;
    let keeper = detached.keeper();
    while keeper.as_ref().is_some_and(ProcessReference::is_alive) {
        if let Some(answer) = take(entry, ANSWER) {
            return if answer == STARTED { Ok(()) } else { Err(anyhow!(answer)) };
        }
        if stop.is_asked() {
            bail!("interrupted while {server} was being started");
        }
        thread::sleep(POLL_PERIOD);
    }
    bail!("the process that keeps it up has ended")
}

/// The server that somebody has asked this process to start.
pub(crate) fn next(entry: &Path) -> Option<String> {
    take(entry, REQUEST)
}

/// Answers the last request. Without a command that waits for the answer, nothing is lost.
pub(crate) fn answer(entry: &Path, done: &Result<()>) {
    let text = match done {
        Ok(()) => STARTED.to_owned(),
        Err(cause) => format!("{cause:#}"),
    };
    let _ = write(entry, ANSWER, &text);
}

/// Removes what a request has left beside an entry.
pub(crate) fn remove(entry: &Path) {
    for ending in [REQUEST, ANSWER] {
        let _ = fs::remove_file(entry.with_extension(ending));
    }
}

/// Writes a file beside an entry atomically.
fn write(entry: &Path, ending: &str, text: &str) -> Result<()> {
    let path = entry.with_extension(ending);
    let part = entry.with_extension(format!("{ending}-part"));
    private_file::create(&part)
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .and_then(|()| fs::rename(&part, &path))
        .with_context(|| format!("cannot write {}", path.display()))
}

/// Reads a file beside an entry, and removes it.
fn take(entry: &Path, ending: &str) -> Option<String> {
    let path = entry.with_extension(ending);
    let text = fs::read_to_string(&path).ok()?;
    fs::remove_file(&path).ok()?;
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(answers: impl Fn(&Path) + Sync) -> Result<()> {
        let folder = tempfile::tempdir().unwrap();
        let entry = folder.path().join("cluster-1.up");
        let detached = DetachedSystem::of_this_process("cluster", None, "").unwrap();
        answer(&entry, &Err(anyhow!("an answer that nobody has read")));
        let done = thread::scope(|scope| {
            let asked = scope.spawn(|| ask((&entry, &detached), "tikv-2", &Stop::new()));
            while !asked.is_finished() {
                if let Some(server) = next(&entry) {
                    assert_eq!(server, "tikv-2");
                    answers(&entry);
                }
                thread::sleep(Duration::from_millis(1));
            }
            asked.join().unwrap()
        });
        remove(&entry);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        done
    }

    #[test]
    fn a_request_gets_its_own_answer() {
        asked(|entry| answer(entry, &Ok(()))).unwrap();
        let refused = asked(|entry| answer(entry, &Err(anyhow!("it runs")))).unwrap_err();
        assert_eq!(refused.to_string(), "it runs");
    }

    #[test]
    fn a_keeper_that_has_ended_does_not_answer() {
        let folder = tempfile::tempdir().unwrap();
        let entry = folder.path().join("cluster-1.up");
        fs::write(&entry, format!("cluster\n{}\n0\n\n", std::process::id())).unwrap();
        let gone = crate::detached::read(&entry).unwrap();
        let refused = ask((&entry, &gone), "tikv-2", &Stop::new()).unwrap_err();
        assert_eq!(refused.to_string(), "the process that keeps it up has ended");
    }
}
