//! The files that a run writes, and the environment in which it ran.
//!
//! A run is a folder that grows during the run: [`RunWriter`] and [`TrialWriter`] write it, [`Run::open`] reads
//! it back, whole or cut short. `docs/record.md` describes the files. Types that match a file field by field
//! have serde attributes, in `measure` and here; `wire` has the structs of files with a different format.

mod client_usage;
mod cores;
mod cross_check;
mod disk;
mod environment;
mod error;
mod file_names;
mod files;
#[cfg(test)]
mod fuzz;
mod generator;
mod hlog;
mod input;
mod interval;
mod plan_file;
mod reader;
mod run;
mod run_names;
mod saver;
mod size;
mod trial;
mod values;
mod watch;
mod wire;
mod without_secrets;
mod writer;
mod zipped;

pub use client_usage::ClientUsage;
pub use cores::on_all_cores;
pub use cross_check::{Counted, CrossCheck};
pub use disk::sync_folder;
pub use environment::{Cpu, Disk, Environment, System, usable_threads};
pub use error::{Damage, RecordError};
pub use files::{replace_durably, replace_whole};
pub use generator::GeneratorRecord;
pub use input::read_view;
pub use interval::{IntervalRecord, OperationInterval, add_counts};
pub use measure::{Identity, TrialStatus};
pub use plan_file::PlanFile;
pub use reader::{Runs, list};
pub use run::{Dyno, Run, RunHeader, RunStatus, RunSummary, SeekRecord};
pub use run_names::{LATEST, name_place, name_run};
pub use size::RecordSize;
pub use trial::{
    CallsRecord, ClientRecord, LoadRecord, OpenRecord, PhaseRecord, ProbeRecord, TrialEnd,
    TrialHeader, TrialRecord, VariantRecord, WorkloadRecord,
};
pub use watch::WatchWriter;
pub use writer::{RunWriter, TrialWriter};

/// The version of the format that this dyno writes, and the newest that it reads.
pub const FORMAT_VERSION: u32 = 1;
