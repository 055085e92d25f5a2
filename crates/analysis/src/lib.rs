//! Pure maths on measurements: summaries, confidence intervals, checks of validity.
//!
//! Values in, values out: nothing here reads a file or writes text for people, so that a number is the same in
//! every view. The only texts are the names of figures, each declared once (`figure.rs`). [`summarize`] turns a
//! trial into a [`Summary`], [`check`] lists findings about it, and [`over_repetitions`] and [`paired_ratio`]
//! compute the uncertainty of a figure.

mod check;
mod compare;
mod connections;
mod cost;
mod estimate;
mod figure;
mod finding;
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
mod student;
mod summary;
mod trend;

pub use check::{RunFacts, check, check_run};
pub use compare::{
    Comparison, LEAST_DIFFERENCE, ROUNDS_MIN, RoundFigure, Significance, compare, over_points,
};
pub use connections::ConnectionFigure;
pub use cost::{CostFigure, ServedLoad, Work};
pub use estimate::{Estimate, Interval95, Method, over_repetitions};
pub use figure::{Between, Metric, OverTime};
pub use finding::{Code, Finding, Severity, Subject, Value};
pub use host::{HostFigure, MeanPeak, ProcessFigure, SampleWindow, mean_peak, thin};
pub(crate) use hot::{HotSpot, hottest};
pub use latency::Latency;
pub use measured::{Measured, Offered, Slice, Usage, Window};
pub use metrics::{evaluate, is_told, kind_of, merged, of_kind};
pub use node::host_of_node;
pub use open_loop::OpenSummary;
pub use ratio::{Ratio, paired_ratio};
pub use rules::{ScoreSummary, ShareSummary};
pub use summary::{Cost, Fairness, LittlesLaw, OperationSummary, Summary, summarize};
pub use trend::{Trend, trend};
