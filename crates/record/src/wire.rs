//! The JSON of a record, as `docs/record.md` describes it: structs of files whose format differs from the types
//! in the rest of dyno. Types that match their file have serde attributes at their definition. Every number of
//! nanoseconds, bytes or events is an integer; every wall-clock time is RFC 3339 in UTC.

mod cross_check;
mod edges;
mod generator;
mod head;
mod interval;
mod run;
mod trial;
mod watch;

pub(crate) use head::{parse, pretty};
pub(crate) use interval::{IntervalLine, interval_line};
pub(crate) use run::{PlanFilesFile, RunFile};
pub(crate) use trial::TrialFile;
pub(crate) use watch::WatchLine;
