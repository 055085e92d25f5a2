//! The numbers of a run: histograms, counters, outcomes and error classes.
//!
//! Everything here is a value that can be merged exactly: a worker fills a [`Tally`] of its own,
//! closes it with the interval, and the coordinator adds the tallies of all workers. No clock, no
//! lock and no text for people lives here.

mod answer;
mod condition;
mod connections;
mod error;
mod histogram;
mod host;
mod identity;
mod interval;
mod operation;
mod outage;
mod rules;
mod server_kind;
mod status;
mod tally;
mod unfinished;
mod watched;

pub use answer::{Answer, NewSeries};
pub use condition::{Condition, Verdict};
pub use connections::{Connections, ConnectionsReading, TcpCounters};
pub use error::{Disposition, ErrorClass, ErrorKey, Failure, FailureParts};
pub use histogram::{LatencyHistogram, SIGNIFICANT_DIGITS};
pub use host::{
    CpuTimes, DiskCounters, HostReading, NetworkCounters, ProcessReading, Runnable, SegmentCounters,
};
pub use identity::Identity;
pub use interval::{Interval, Phase};
pub use operation::{Operation, OperationId, OperationKind};
pub use outage::Outage;
pub use rules::{Rules, Score, Share};
pub use server_kind::{
    INSTANCE, MemberList, MetricFunction, MetricQuery, NoteWithout, Panel, PanelLine, Quantity,
    ServerKind, SharedLoad,
};
pub use status::TrialStatus;
pub use tally::{ErrorCounts, OperationTally, QueryCounts, Tally, Traffic};
pub use unfinished::Unfinished;
pub use watched::{Gap, Host, Process, Series, Server, Side, Watched};

/// Nanoseconds: a point on a run's own monotonic clock, or a length of time.
pub type Nanos = u64;
