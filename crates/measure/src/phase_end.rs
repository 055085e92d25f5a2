//! How phases ended that last until enough was seen: a warm-up until the load is steady, and measuring until a figure
//! is precise.

use serde::{Deserialize, Serialize};

use crate::Nanos;

/// How the phases of a trial ended that may end by what is measured; `None` where a planned length ends the phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DecidedEnds {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warm_up: Option<SteadyWarmUp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub precision: Option<Precision>,
}

/// A warm-up that was to last until the load was steady.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SteadyWarmUp {
    pub at_least_ns: Nanos,
    /// The longest that it could be.
    pub at_most_ns: Nanos,
    /// What ended it; `None` when the load was not seen to be steady.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steady: Option<SteadyState>,
}

/// A load that was seen to be steady, on the trial's clock.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SteadyState {
    pub from_ns: Nanos,
    /// The end of what was seen when that was decided.
    pub seen_ns: Nanos,
    /// A larger drift of throughput or of mean latency than this would have been seen, with 95 %: a part of the
    /// figure, per minute.
    pub hidden_drift_per_minute: f64,
}

/// Measuring that was to last until a figure was precise.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Precision {
    pub figure: PreciseFigure,
    /// Half the width of its interval of confidence that is precise enough, as a part of its value.
    pub within: f64,
    /// How often it may have been looked at; the confidence of each look allows for that.
    pub looks: usize,
    /// Half the width at the last look, as a part of the value; `None` where there was no interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub half_width: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PreciseFigure {
    /// Transactions that succeed, per second.
    Throughput,
    Mean,
    /// A percentile of latencies, 0 to 100.
    Percentile(f64),
}

impl PreciseFigure {
    pub fn name(self) -> String {
        match self {
            Self::Throughput => "throughput".to_owned(),
            Self::Mean => "mean".to_owned(),
            Self::Percentile(percent) => format!("p{percent}"),
        }
    }
}

impl Precision {
    /// Whether the figure became precise enough.
    pub fn is_reached(&self) -> bool {
        self.half_width.is_some_and(|half_width| half_width <= self.within)
    }
}
