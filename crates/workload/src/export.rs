//! A workload's data as files, for the bulk loader of a system.

use std::path::PathBuf;

use driver::Dialect;
use engine::Stop;

use crate::LoadProgress;

/// The files to write.
pub struct Export<'a> {
    /// The folder for the files; it exists.
    pub folder: PathBuf,
    /// The first part of each file's name, which bulk loaders take for the database.
    pub database: String,
    /// The SQL of the system that the files are for.
    pub dialect: &'static Dialect,
    /// The seed that all data comes from, as in a plan.
    pub seed: u64,
    /// The time that rows are stamped with, as `2026-11-22 01:02:03`.
    pub now: String,
    /// Threads that write in parallel.
    pub writers: usize,
    /// Receives the progress.
    pub progress: &'a LoadProgress,
    /// Checked between files.
    pub stop: &'a Stop,
}
