//! The numbers of a run: histograms, counters, outcomes and error classes.
//!
//! All values here can be merged exactly: each worker fills a [`Tally`] of its own for an interval, and the
//! coordinator adds the tallies of all workers. This crate has no clock, no lock and no text for people.

mod answer;
mod ceiling;
mod condition;
mod connections;
mod edges;
mod error;
mod generator;
mod generator_facts;
mod histogram;
mod host;
mod identity;
mod interval;
mod loaded_rows;
mod member_exit;
mod operation;
mod outage;
mod phase_end;
mod profile;
mod query_plan;
mod rounds;
mod rules;
mod seek;
mod server_count;
mod server_kind;
mod status;
mod stuck;
mod tally;
mod timed_turn;
mod watched;
mod why;

pub use answer::{Answer, NewSeries};
pub use ceiling::{Ceiling, CeilingLoad, CeilingRound, RoundTrips};
pub use condition::{Condition, ConditionResult, ConditionSubject};
pub use connections::{Connections, ConnectionsReading, TcpCounters};
pub use edges::Edges;
pub use error::{Disposition, ErrorClass, ErrorKey, Failure, FailureExamples, FailureParts};
pub use generator::{CpuSpan, Generator, GeneratorStall, WorkerCpu};
pub use generator_facts::{ClockComparison, GeneratorClock, GeneratorLoss, HostFacts};
pub use histogram::{LatencyHistogram, SIGNIFICANT_DIGITS};
pub use host::{
    CpuTimes, DiskCounters, HostReading, KindReading, NetworkCounters, ProcessDisk, ProcessReading,
    Runnable, SegmentCounters,
};
pub use identity::{FirstExecutions, Identity};
pub use interval::{Interval, Phase};
pub use loaded_rows::LoadedRows;
pub use member_exit::MemberExit;
pub use operation::{Operation, OperationId, OperationKind};
pub use outage::Outage;
pub use phase_end::{DecidedEnds, PreciseFigure, Precision, SteadyState, SteadyWarmUp};
pub use profile::{Profile, ProfileOf, ProfileStack};
pub use query_plan::QueryPlan;
pub use rounds::{RoundsGoal, RoundsRule};
pub use rules::{Formula, LatencyLimit, Rules, Score, Share};
pub use seek::{BoundedFigure, ProbeFacts, SeekBound, SeekOver, SeekRange};
pub use server_count::{ServerCount, SessionStatements, TransactionCounts};
pub use server_kind::{
    INSTANCE, MemberList, MetricFunction, MetricQuery, NoteWithout, Panel, PanelLine, Quantity,
    RemarkTest, ServerKind, ServerMoment, ServerRemark, SharedLoad,
};
pub use status::TrialStatus;
pub use stuck::StuckClients;
pub use tally::{
    ErrorCounts, OperationTally, QueryCounts, Tally, Traffic, of_transactions, sum,
    transaction_latencies,
};
pub use timed_turn::TimedTurn;
pub use watched::{Gap, Host, Process, ProcessIdentity, Series, Server, Side, Watched};
pub use why::{
    BusyThread, Lever, MEMBERS_MAX, Pressure, ServerEvidence, UnusedLever, UsedLever, Why,
    WhyMember, WhyWindow,
};

/// Nanoseconds: a point on a run's own monotonic clock, or a length of time.
pub type Nanos = u64;

/// A length of time in nanoseconds; the greatest value where it does not fit.
pub fn nanos(length: std::time::Duration) -> Nanos {
    Nanos::try_from(length.as_nanos()).unwrap_or(Nanos::MAX)
}
