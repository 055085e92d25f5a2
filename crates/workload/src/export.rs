//! A workload's data as files, for the bulk loader of a system.

use std::path::PathBuf;

use driver::Dialect;
use engine::Stop;

use crate::LoadProgress;

pub struct Export<'a> {
    /// The folder for the files; it exists.
    pub folder: PathBuf,
    /// The first part of each file's name, which bulk loaders use as the database name.
    pub database: String,
    /// The SQL dialect of the system that will load the files.
    pub dialect: &'static Dialect,
    /// The seed of all data, as in a plan.
    pub seed: u64,
    /// The time that rows contain, such as `2026-11-22 01:02:03`.
    pub now: String,
    /// Threads that write in parallel.
    pub writers: usize,
    pub progress: &'a LoadProgress,
    /// Checked between files.
    pub stop: &'a Stop,
}
