//! The user's cache folder, for files that take long to make.

use std::env;
use std::fs::{self, File, TryLockError};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use anyhow::{Context, bail};

use crate::{ProgressEvent, ProgressListener};

/// Names the cache folder, in place of the user's usual one.
pub const CACHE_VARIABLE: &str = "DYNO_CACHE";

/// Time between two checks whether another process has finished its work.
const POLL_PERIOD: Duration = Duration::from_millis(200);

/// The folder: `DYNO_CACHE`, or `dyno` below `XDG_CACHE_HOME` or `~/.cache`.
///
/// # Errors
/// When none of the variables is set.
pub fn cache_folder() -> anyhow::Result<PathBuf> {
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let folder = set(CACHE_VARIABLE)
        .or_else(|| set("XDG_CACHE_HOME").map(|caches| caches.join("dyno")))
        .or_else(|| set("HOME").map(|home| home.join(".cache/dyno")));
    folder.with_context(|| {
        format!("no cache folder: neither {CACHE_VARIABLE} nor XDG_CACHE_HOME nor HOME is set")
    })
}

/// A lock for work that one process at a time may do. Dropping it lets the next process start.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

impl Lock {
    /// Takes the lock of the file `path`; waits while another process holds it.
    ///
    /// # Errors
    /// When the file cannot be created, or a stop was requested.
    pub(crate) fn take(path: &Path, listener: &mut ProgressListener<'_>) -> anyhow::Result<Self> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)
                .with_context(|| format!("cannot make {}", folder.display()))?;
        }
        let file = File::create(path).with_context(|| {
            format!(
                "cannot write {}; set {CACHE_VARIABLE} to a folder that can be written",
                path.display()
            )
        })?;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self { _file: file }),
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) => {
                    return Err(error).with_context(|| format!("cannot lock {}", path.display()));
                }
            }
            let stage = "waiting for another dyno, which does the same";
            if listener(ProgressEvent::stage(stage)) == ControlFlow::Break(()) {
                bail!("interrupted while another process held {}", path.display());
            }
            thread::sleep(POLL_PERIOD);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_process_at_a_time_gets_the_lock() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/lock");
        let mut go_on = |_: ProgressEvent<'_>| ControlFlow::Continue(());
        let first = Lock::take(&path, &mut go_on).unwrap();
        let mut waited = 0;
        let mut twice = |_: ProgressEvent<'_>| {
            waited += 1;
            if waited < 2 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        let error = Lock::take(&path, &mut twice).unwrap_err().to_string();
        assert!(error.starts_with("interrupted while another process held"), "{error}");
        drop(first);
        Lock::take(&path, &mut go_on).unwrap();
    }
}
