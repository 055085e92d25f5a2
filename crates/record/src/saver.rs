//! Waits for the disk on a thread of its own, so that the thread that records a load never does.

use std::io;
use std::panic::resume_unwind;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::RecordError;
use crate::disk;
use crate::files::{Appender, replace};

#[derive(Debug)]
pub(crate) struct Saved {
    /// Files that grow, each before those that refer to it.
    pub(crate) growing: Vec<Arc<Appender>>,
    pub(crate) replaced: PathBuf,
    /// The least time from one save to the next, so that the disk is not busy with the record.
    pub(crate) pause: Duration,
}

/// A thread that saves what it is asked to, all that is due at once.
#[derive(Debug)]
pub(crate) struct Saver {
    due: Arc<(Mutex<Due>, Condvar)>,
    /// `None` when it has ended.
    thread: Option<JoinHandle<Result<(), RecordError>>>,
}

#[derive(Debug, Default)]
struct Due {
    has_grown: bool,
    replacement: Option<Vec<u8>>,
    /// Nothing comes after this.
    is_last: bool,
}

impl Saver {
    pub(crate) fn start(saved: Saved) -> io::Result<Self> {
        let due = Arc::default();
        let thread = {
            let due = Arc::clone(&due);
            disk::spawn("saver", move || save(&saved, &due))?
        };
        Ok(Self { due, thread: Some(thread) })
    }

    /// Files have grown.
    ///
    /// # Errors
    /// Why an earlier save has failed.
    pub(crate) fn grown(&mut self) -> Result<(), RecordError> {
        self.ask(|due| due.has_grown = true)
    }

    /// Replaces the file that is replaced as a whole. Bytes that wait for the disk are superseded.
    ///
    /// # Errors
    /// Why an earlier save has failed.
    pub(crate) fn replace(&mut self, bytes: Vec<u8>) -> Result<(), RecordError> {
        self.ask(|due| due.replacement = Some(bytes))
    }

    /// Waits until everything is on the disk.
    ///
    /// # Errors
    /// Why it is not.
    pub(crate) fn end(&mut self) -> Result<(), RecordError> {
        let Some(thread) = self.thread.take() else { return Ok(()) };
        self.change(|due| due.is_last = true);
        thread.join().unwrap_or_else(|panic| resume_unwind(panic))
    }

    fn ask(&mut self, change: impl FnOnce(&mut Due)) -> Result<(), RecordError> {
        // It ends by itself only when it has failed.
        if self.thread.as_ref().is_some_and(JoinHandle::is_finished) {
            self.end()?;
        }
        self.change(change);
        Ok(())
    }

    fn change(&self, change: impl FnOnce(&mut Due)) {
        change(&mut locked(&self.due.0));
        self.due.1.notify_one();
    }
}

impl Drop for Saver {
    fn drop(&mut self) {
        let _ = self.end();
    }
}

fn locked(due: &Mutex<Due>) -> MutexGuard<'_, Due> {
    due.lock().unwrap_or_else(PoisonError::into_inner)
}

fn save(saved: &Saved, (due, changed): &(Mutex<Due>, Condvar)) -> Result<(), RecordError> {
    loop {
        let is_idle = |due: &mut Due| !(due.has_grown || due.replacement.is_some() || due.is_last);
        let waited = changed.wait_while(locked(due), is_idle);
        let now = std::mem::take(&mut *waited.unwrap_or_else(PoisonError::into_inner));
        if now.has_grown {
            saved.growing.iter().try_for_each(|file| file.sync())?;
        }
        if let Some(bytes) = now.replacement {
            replace(&saved.replaced, &bytes)?;
        }
        if now.is_last {
            return Ok(());
        }
        let _ = changed.wait_timeout_while(locked(due), saved.pause, |due| !due.is_last);
    }
}
