//! The plots of a report: over a whole run, and over the time of a trial.

pub(crate) mod bars;
pub(crate) mod compared;
pub(crate) mod frame;
pub(crate) mod over_run;
pub(crate) mod over_time;
pub(crate) mod sought;
mod spectrum;
mod watch;
