//! The trial's log of watched data, written by several threads.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::Result;
use record::{RecordError, WatchWriter};

/// The trial's record of watched data, shared by the watch threads.
#[derive(Clone, Debug)]
pub(super) struct WatchLog(Arc<Mutex<LogState>>);

#[derive(Debug)]
struct LogState {
    /// `None` once the trial has ended: later data is dropped.
    writer: Option<WatchWriter>,
    failure: Option<RecordError>,
    failure_texts: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Continue {
    /// The last data were kept.
    Yes,
    /// The trial has ended, or its record cannot be written any more.
    No,
}

impl WatchLog {
    pub(super) fn new(writer: WatchWriter) -> Self {
        let state = LogState { writer: Some(writer), failure: None, failure_texts: Vec::new() };
        Self(Arc::new(Mutex::new(state)))
    }

    fn state(&self) -> MutexGuard<'_, LogState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes data; on an error, nothing is written after it.
    pub(super) fn write<T: Default>(
        &self,
        write: impl FnOnce(&mut WatchWriter) -> Result<T, RecordError>,
    ) -> (T, Continue) {
        let mut state = self.state();
        match state.writer.as_mut().map(write) {
            Some(Ok(value)) => (value, Continue::Yes),
            Some(Err(failure)) => {
                state.writer = None;
                state.failure = Some(failure);
                (T::default(), Continue::No)
            }
            None => (T::default(), Continue::No),
        }
    }

    /// Records that a source could not be watched.
    pub(super) fn report_failure(&self, failure_text: String) {
        self.state().failure_texts.push(failure_text);
    }

    /// Ends all writing. Returns the sources that could not be watched.
    pub(super) fn close(&self) -> Result<Vec<String>> {
        let (writer, failure, failure_texts) = {
            let mut state = self.state();
            (state.writer.take(), state.failure.take(), std::mem::take(&mut state.failure_texts))
        };
        if let Some(failure) = failure {
            return Err(failure.into());
        }
        writer.map_or(Ok(()), WatchWriter::finish)?;
        Ok(failure_texts)
    }
}
