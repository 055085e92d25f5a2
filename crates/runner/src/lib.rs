//! One experiment end to end: systems up, data ready, load offered, everything kept.
//!
//! [`Experiment::check`] reads all of a plan before anything starts; [`Experiment::run`] does its
//! trials in order on a [`bed`] that brings systems and data into the state each trial needs, keeps
//! the record while it goes, and tells a [`Watcher`] how far it has come.

mod bed;
mod building;
mod cross_check;
mod experiment;
mod idle;
mod pacing;
mod phase_limit;
mod reach;
mod run;
mod trial;
mod usage;
mod watch;
mod watching;

pub use building::onlooker;
pub use experiment::Experiment;
pub use run::{RunOptions, RunOutcome};
pub use watch::{Event, Watcher};
