//! Pure maths on measurements: summaries, confidence intervals, checks of validity.
//!
//! Values in, values out: nothing here reads a file or writes text for people, so that a number is the same in
//! every view. The only texts are the names of figures, each declared once (`figure.rs`). [`summarize`] turns a
//! trial into a [`Summary`], [`check`] lists findings about it, and [`over_repetitions`] and [`paired_ratio`]
//! compute the uncertainty of a figure.

mod advice;
mod ceiling;
mod chance;
mod change_points;
mod check;
mod compare;
mod connections;
mod contrast;
mod cost;
mod draws;
mod drift;
mod estimate;
mod figure;
mod finding;
mod fisher;
mod generator;
mod growth;
mod host;
mod hot;
mod latency;
mod least_squares;
mod level_change;
mod levels;
mod looks;
mod measured;
mod members;
mod memory;
mod metrics;
mod moments;
mod node;
mod open_loop;
mod over_time;
mod precise;
mod ratio;
mod round_sums;
mod rounds;
mod rules;
mod scaling;
mod seek;
mod server_actions;
mod servers;
mod several;
mod steady;
mod stopping;
mod student;
mod summary;
mod t_mixture;
mod trend;
mod validity;
mod why;
mod within;

pub use ceiling::{CeilingSummary, ceiling};
pub use change_points::{ChangePoint, ChangeTest, change_points, fewest_values};
pub use check::{
    RoundsOfWindows, RunFacts, check, check_baseline_again, check_first_windows, check_run,
};
pub use compare::{
    Comparison, LEVEL, ROUNDS_MIN, RoundFigure, Significance, compare, compare_independent,
    compare_over_time, geometric_mean, over_points,
};
pub use connections::ConnectionFigure;
pub use contrast::{Contrast, Tests};
pub use cost::{CostFigure, ServedLoad, Work};
pub use estimate::{Estimate, Interval95, Method, over_repetitions};
pub use figure::{Between, Metric, OverTime};
pub use finding::{Code, Finding, Severity, Subject, Value};
pub use fisher::{Cases, fisher_exact};
pub use generator::{GeneratorFigures, GeneratorSummary, WorkersSummary};
pub use growth::{Growth, LoadLevel, growth};
pub use host::{
    HostFigure, KindFigure, MeanPeak, ProcessFigure, SampleWindow, ValueOrigin, mean_peak,
    process_kinds, thin,
};
pub(crate) use hot::{HotSpot, hottest};
pub use latency::{Bounds, Latency};
pub use levels::{Levels, Purchase, RunLevels, RunPurchase, TrialCost, TrialFigure};
pub use looks::looks;
pub use measured::{
    CountedStatements, DamagedFile, GeneratorPart, Measured, Offered, OperationSlice, Slice, Usage,
    Window,
};
pub use metrics::{evaluate, is_reported, kind_of, merged, of_kind};
pub use node::host_of_node;
pub use open_loop::OpenSummary;
pub use over_time::TimedValue;
pub use precise::{PRECISE_INTERVALS_MIN, PRECISE_LOOKS_GROWTH, SoFar, half_width};
pub use ratio::{Ratio, independent_ratio, paired_ratio};
pub use round_sums::{RoundSums, RoundTrial};
pub use rounds::{RoundsLook, compare_by, rounds_are_over};
pub use rules::{ScoreSummary, ShareSummary, composite, is_set_of_operations};
pub use scaling::{FittedLevel, NoScaling, Peak, Quality, Ranged, Scaling, ScalingLevel, scaling};
pub use seek::{
    BoundShare, Capacity, CapacityBasis, JudgedProbe, NextProbe, Seek, SeekOutcome, Step,
    SystemState, assess, transactions_needed,
};
pub use server_actions::{ServerAction, server_actions};
pub use servers::{KnownServers, cpu_of_server, known_servers};
pub use several::corrected;
pub use steady::{STEADY_INTERVALS_MIN, STEADY_LOOKS_GROWTH, Steady, steady};
pub use stopping::Stopping;
pub use summary::{
    Cost, EdgeSummary, Fairness, LittlesLaw, OperationSummary, Summary, summarize, summarize_due,
};
pub use trend::{Trend, trend};
pub use validity::Validity;
pub use why::{
    CYCLE, Design, FlameBox, Lasting, LeverEffect, NotDecided, PlaceEffect, Ranged95, Verdict,
    WHY_CYCLES_MIN, WHY_LEVERS, WHY_LEVERS_OF_LONG_CYCLE, WhyEffects, WhyPlace, flame,
    hottest_functions, why_cycle, why_effects, why_is_decided, why_lasting, why_looks, why_verdict,
};
pub use within::{
    INTERVALS_MIN, NoInterval, OperationWithin, Within, WithinInterval, interval_of_mean,
    interval_of_percentile,
};
