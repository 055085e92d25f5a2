//! Where everything that is watched goes, from several threads.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::Result;
use record::{RecordError, WatchWriter};

/// The trial's record of what is watched, shared by those who watch.
#[derive(Clone, Debug)]
pub(super) struct Notes(Arc<Mutex<Book>>);

#[derive(Debug)]
struct Book {
    /// `None` once the trial has ended: who comes later has nothing to say any more.
    writer: Option<WatchWriter>,
    failure: Option<RecordError>,
    complaints: Vec<String>,
}

/// Whether to go on watching.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GoOn {
    Yes,
    /// The trial has ended, or its record takes nothing any more.
    No,
}

impl Notes {
    pub(super) fn new(writer: WatchWriter) -> Self {
        let book = Book { writer: Some(writer), failure: None, complaints: Vec::new() };
        Self(Arc::new(Mutex::new(book)))
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes something; its result is the last one where it cannot be written.
    pub(super) fn write<T: Default>(
        &self,
        write: impl FnOnce(&mut WatchWriter) -> Result<T, RecordError>,
    ) -> (T, GoOn) {
        let mut book = self.book();
        match book.writer.as_mut().map(write) {
            Some(Ok(value)) => (value, GoOn::Yes),
            Some(Err(failure)) => {
                book.writer = None;
                book.failure = Some(failure);
                (T::default(), GoOn::No)
            }
            None => (T::default(), GoOn::No),
        }
    }

    /// Something could not be watched.
    pub(super) fn complain(&self, complaint: String) {
        self.book().complaints.push(complaint);
    }

    /// Nothing more is written. Returns what could not be watched.
    pub(super) fn close(&self) -> Result<Vec<String>> {
        let (writer, failure, complaints) = {
            let mut book = self.book();
            (book.writer.take(), book.failure.take(), std::mem::take(&mut book.complaints))
        };
        if let Some(failure) = failure {
            return Err(failure.into());
        }
        writer.map_or(Ok(()), WatchWriter::finish)?;
        Ok(complaints)
    }
}
