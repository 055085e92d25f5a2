//! Ctrl-C and its kin: noted, so that what was started is stopped before we go.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::Context;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

/// A signal asked for the end; its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Interrupted(u8);

impl Interrupted {
    /// What a shell expects of who was ended by a signal.
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

/// Which signal came, if any.
#[derive(Clone, Debug)]
pub(crate) struct Interrupt(Arc<AtomicUsize>);

impl Interrupt {
    /// From now on signals that ask for the end are noted instead of obeyed.
    ///
    /// # Errors
    /// When the system refuses the handlers.
    pub(crate) fn watch() -> anyhow::Result<Self> {
        let came = Arc::new(AtomicUsize::new(0));
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            let number = usize::try_from(signal).context("a signal has a positive number")?;
            signal_hook::flag::register_usize(signal, Arc::clone(&came), number)
                .context("cannot watch for signals")?;
        }
        Ok(Self(came))
    }

    /// The signal's number, once one has come.
    pub(crate) fn signal(&self) -> Option<u8> {
        u8::try_from(self.0.load(Ordering::Relaxed)).ok().filter(|number| *number > 0)
    }

    /// Ends the task once a signal has come.
    ///
    /// # Errors
    /// [`Interrupted`], when one has.
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        self.signal().map_or(Ok(()), |number| Err(Interrupted(number).into()))
    }
}
