//! How other processes offer the loads of a run in place of this one.

use anyhow::Result;
use engine::{Load, OfferedLoad, Outcome, Stop, TrialError, TrialObserver};
use measure::HostFacts;

use crate::{KnownGenerators, SharedTrial};

/// The processes that share the loads of a run. They stay from one trial to the next.
pub trait LoadProcesses {
    /// Starts all of them.
    ///
    /// # Errors
    /// When one does not start.
    fn start(&mut self, stop: &Stop) -> Result<()>;

    /// The host of each, in their order.
    fn hosts(&self) -> Vec<HostFacts>;

    /// Offers a trial's load, as [`engine::offer`] does in this process. The numbers are the event loops of each process.
    /// `known` gets what is known of them, from the begin of the load on.
    ///
    /// # Errors
    /// As [`engine::coordinate`].
    fn offer(
        &mut self,
        trial: (&SharedTrial<'_>, &[usize]),
        load: (&OfferedLoad, &dyn Load),
        known: &KnownGenerators,
        stop: &Stop,
        observer: &mut dyn TrialObserver,
    ) -> Result<Outcome, TrialError>;
}
