//! One experiment end to end: systems up, data ready, load offered, everything kept.
//!
//! [`Experiment::check`] reads all of a plan before anything starts; [`Experiment::run`] does its trials in
//! order on a [`test_bed`] that brings systems and data into the state each trial needs, writes the record
//! meanwhile, and reports progress to a [`RunListener`].

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
