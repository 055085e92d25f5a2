//! Handles Ctrl-C and similar signals, so that child processes are stopped before the task exits.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::Context;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

/// A signal requested the end; its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Interrupted(u8);

impl Interrupted {
    /// The exit code that a shell expects of a program that a signal has ended.
    pub(crate) fn exit_code(self) -> u8 {
        128_u8.saturating_add(self.0)
    }
}

impl fmt::Display for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "stopped by signal {}", self.0)
    }
}

impl std::error::Error for Interrupted {}

/// The signal that has arrived, if any.
#[derive(Clone, Debug)]
pub(crate) struct Interrupt(Arc<AtomicUsize>);

impl Interrupt {
    /// From now on, signals that request the end are stored instead of ending the process.
    pub(crate) fn watch() -> anyhow::Result<Self> {
        let came = Arc::new(AtomicUsize::new(0));
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            let number = usize::try_from(signal).context("a signal has a positive number")?;
            signal_hook::flag::register_usize(signal, Arc::clone(&came), number)
                .context("cannot watch for signals")?;
        }
        Ok(Self(came))
    }

    /// The signal's number, once one has arrived.
    pub(crate) fn signal(&self) -> Option<u8> {
        u8::try_from(self.0.load(Ordering::Relaxed)).ok().filter(|number| *number > 0)
    }

    /// Ends the task once a signal has arrived.
    ///
    /// # Errors
    /// [`Interrupted`], when one has arrived.
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        self.signal().map_or(Ok(()), |number| Err(Interrupted(number).into()))
    }
}
