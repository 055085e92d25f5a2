//! What a run leaves on disk, and the environment it ran in.
//!
//! A run is a folder that grows while the run goes on: [`RunWriter`] and [`TrialWriter`] write it,
//! [`Run::open`] reads it back, whole or cut short. The files are described in `docs/record.md`;
//! the structs that meet serde live in `wire` and nowhere else, so that the format and the types
//! that the rest of dyno works with change apart from each other.

mod cross_check;
mod environment;
mod error;
mod files;
mod hlog;
mod interval;
mod reader;
mod run;
mod trial;
mod watch;
mod wire;
mod without_secrets;
mod writer;
mod zipped;

pub use cross_check::{Counted, CrossCheck};
pub use environment::{Cpu, Disk, Environment, System};
pub use error::RecordError;
pub use interval::{IntervalRecord, Latencies};
pub use measure::Identity;
pub use reader::{RunSummary, Runs, list};
pub use run::{Dyno, Run, RunHeader, RunStatus};
pub use trial::{
    ClientRecord, ClientUsage, LoadRecord, OpenRecord, PhaseRecord, TrialEnd, TrialHeader,
    TrialRecord, TrialStatus, VariantRecord, WorkloadRecord,
};
pub use watch::WatchWriter;
pub use writer::{RunWriter, TrialWriter};

/// The version of the format that this dyno writes, and the newest that it reads.
pub const FORMAT_VERSION: u32 = 1;
