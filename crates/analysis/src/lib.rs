//! Pure maths on measurements: summaries, confidence intervals, checks of validity.
//!
//! Values in, values out: nothing here reads a file or writes text for people, so that a number is the same in
//! every view. The only texts are the names of figures, each declared once (`figure.rs`). [`summarize`] turns a
//! trial into a [`Summary`], [`check`] lists findings about it, and [`over_repetitions`] and [`paired_ratio`]
//! compute the uncertainty of a figure.

mod ceiling;
mod chance;
mod check;
mod compare;
mod connections;
mod contrast;
mod cost;
mod estimate;
mod figure;
mod finding;
mod fisher;
mod generator;
mod host;
mod hot;
mod latency;
mod measured;
mod members;
mod metrics;
mod moments;
mod node;
mod open_loop;
mod ratio;
mod rules;
mod seek;
mod servers;
mod several;
mod student;
mod summary;
mod trend;

pub use ceiling::{CeilingSummary, ceiling};
pub use check::{RunFacts, check, check_run};
pub use compare::{
    Comparison, LEVEL, ROUNDS_MIN, RoundFigure, Significance, compare, compare_independent,
    geometric_mean, over_points,
};
pub use connections::ConnectionFigure;
pub use contrast::{Contrast, Tests};
pub use cost::{CostFigure, ServedLoad, Work};
pub use estimate::{Estimate, Interval95, Method, over_repetitions};
pub use figure::{Between, Metric, OverTime};
pub use finding::{Code, Finding, Severity, Subject, Value};
pub use fisher::{Cases, fisher_exact};
pub use generator::{GeneratorSummary, WorkersSummary};
pub use host::{HostFigure, MeanPeak, ProcessFigure, SampleWindow, ValueOrigin, mean_peak, thin};
pub(crate) use hot::{HotSpot, hottest};
pub use latency::{Bounds, Latency};
pub use measured::{CountedStatements, DamagedFile, Measured, Offered, Slice, Usage, Window};
pub use metrics::{evaluate, is_reported, kind_of, merged, of_kind};
pub use node::host_of_node;
pub use open_loop::OpenSummary;
pub use ratio::{Ratio, independent_ratio, paired_ratio};
pub use rules::{ScoreSummary, ShareSummary, composite};
pub use seek::{
    BoundShare, Capacity, JudgedProbe, NextProbe, Seek, SeekOutcome, Step, assess,
    transactions_needed,
};
pub use servers::{KnownServers, cpu_of_server, known_servers};
pub use several::corrected;
pub use summary::{Cost, EdgeSummary, Fairness, LittlesLaw, OperationSummary, Summary, summarize};
pub use trend::{Trend, trend};
