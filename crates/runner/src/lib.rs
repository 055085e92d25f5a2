//! Runs one experiment end to end: starts systems, prepares data, offers load, writes the record.
//!
//! [`Experiment::check`] reads all of a plan before anything starts. [`Experiment::run`] runs its trials in order on
//! a [`test_bed`], which prepares the systems and data that each trial needs. It writes the record as it goes, and
//! reports progress to a [`RunListener`].

mod building;
mod cross_check;
mod experiment;
mod idle;
mod listener;
mod pacing;
mod phase_limit;
mod reach;
mod run;
mod test_bed;
mod trial;
mod trial_watch;
mod usage;

pub use building::progress_listener;
pub use experiment::Experiment;
pub use listener::{Event, RunListener};
pub use run::{RunOptions, RunOutcome};
