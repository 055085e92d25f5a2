//! Pure maths on what was measured: summaries, intervals of confidence, checks of validity.
//!
//! Values in, values out: nothing here reads a file or writes text for people, so that a number is
//! the same in every view. Only names stand here: of a figure that is declared once (`figure.rs`). [`summarize`] turns a trial into a [`Summary`], [`check`] lists what a
//! reader must know before trusting it, [`over_repetitions`] and [`paired_ratio`] say how sure a
//! figure is.

mod check;
mod compare;
mod connections;
mod cost;
mod estimate;
mod figure;
mod host;
mod hot;
mod metrics;
mod moments;
mod node;
mod open_loop;
mod ratio;
mod rules;
mod student;
mod summary;
mod trend;

pub use check::{Finding, check};
pub use compare::{Comparison, RoundFigure, Verdict, compare, over_points};
pub use connections::ConnectionFigure;
pub use cost::{CostFigure, Window, Work};
pub use estimate::{Estimate, Interval95, Method, over_repetitions};
pub use figure::{Between, Metric, OverTime, Quantity};
pub use host::{HostFigure, MeanPeak, ProcessFigure, Spell, mean_peak, thin};
pub use hot::{Hot, hottest};
pub use metrics::{INSTANCE, Selection, merged};
pub use node::host_of_node;
pub use open_loop::{Offered, OpenSummary};
pub use ratio::{Ratio, paired_ratio};
pub use rules::{ScoreSummary, ShareSummary};
pub use summary::{
    Cost, Ended, Fairness, Latency, LittlesLaw, Measured, OperationSummary, Slice, Summary, Usage,
    summarize,
};
pub use trend::{Trend, trend};
