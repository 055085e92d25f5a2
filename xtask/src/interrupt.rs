//! Ctrl-C and its kin: noted, so that what was started is stopped before we go.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::Context;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

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

    /// Ends the task with what a shell expects after a signal.
    ///
    /// # Errors
    /// When a signal has come.
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        match self.signal() {
            Some(number) => anyhow::bail!("stopped by signal {number}"),
            None => Ok(()),
        }
    }
}
