//! Runs one experiment end to end: starts systems, prepares data, offers load, writes the record.
//!
//! [`Experiment::check`] reads all of a plan before anything starts. [`Experiment::run`] runs its trials in order on
//! a [`test_bed`], which prepares the systems and data that each trial needs; with windows several are up at once. It
//! writes the record as it goes, and reports progress to a [`RunListener`]. [`Experiment::run_data_task`] works on the
//! data alone.

mod before_run;
mod building;
mod ceiling;
mod cross_check;
mod data;
mod data_check;
mod division;
mod enough;
mod event_loops;
mod experiment;
mod generator_watch;
mod idle;
mod known_generators;
mod listener;
mod load_end;
mod load_processes;
mod member_exits;
mod not_started;
mod nothing_measured;
mod offer;
mod pacing;
mod phase_failure;
mod phase_limit;
mod phase_timer;
mod reach;
mod rounds;
mod run;
mod shared_trial;
mod shipped_workload;
mod source;
mod test_bed;
mod test_beds;
#[cfg(feature = "testing")]
pub mod testing;
mod trial;
mod trial_ceiling;
mod trial_header;
mod trial_load;
mod trial_watch;
mod trial_workload;
mod unfit;
mod unfit_calls;
mod usage;
mod why;
mod windows;

pub use building::progress_listener;
pub use ceiling::{CeilingProbe, start_echo};
pub use data::{DataOutcome, DataTask};
pub use enough::Enough;
pub use event_loops::beside_a_service as event_loops_beside_a_service;
pub use experiment::Experiment;
pub use generator_watch::{GeneratorWatch, STALLS_MAX};
pub use known_generators::{KnownGenerators, ToldConnections};
pub use listener::{Event, RunListener};
pub use load_processes::LoadProcesses;
pub use nothing_measured::{Cause, NothingMeasured};
pub use run::{RunOptions, RunOutcome};
pub use shared_trial::SharedTrial;
pub use shipped_workload::ShippedWorkload;
pub use trial_watch::{ConnectionWatch, Continue, WatchCommand, tcp_peers};
pub use trial_workload::TrialWorkload;
pub use usage::UsageMark;
