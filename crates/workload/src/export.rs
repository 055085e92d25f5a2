//! A workload's data as files, for the bulk loader of a system.

use std::path::PathBuf;

use driver::Dialect;
use engine::Stop;

use crate::Progress;

/// What files to write.
pub struct Export<'a> {
    /// The folder they go to; it is there.
    pub folder: PathBuf,
    /// What file names begin with: loaders take it for the database.
    pub database: String,
    /// The SQL of the system that the files are for.
    pub dialect: &'static Dialect,
    /// The seed that all data comes from, as in a plan.
    pub seed: u64,
    /// The time that rows are stamped with, as `2026-11-22 01:02:03`.
    pub now: String,
    /// Threads that write side by side.
    pub writers: usize,
    /// Told how far it has come.
    pub progress: &'a Progress,
    /// Heeded between files.
    pub stop: &'a Stop,
}
