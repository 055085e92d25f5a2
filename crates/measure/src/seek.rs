//! The bounds that a seek keeps: the figures of a trial, and how large each may be; and what it needs of a trial.

use serde::{Deserialize, Serialize};

use crate::{Edges, Operation, Tally, TrialStatus};

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SeekBound {
    pub figure: BoundedFigure,
    /// The figure is below this, or equal to it: ns, or a part of 1 for [`BoundedFigure::Errors`].
    pub most: f64,
}

/// A figure that can be bounded, over the transactions that were due in the measured window.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BoundedFigure {
    /// A percentile of their latencies, 0 to 100.
    Percentile(f64),
    Mean,
    Max,
    /// The part of them that did not succeed.
    Errors,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SeekOver {
    Clients,
    /// The rate of an open loop, a second.
    Rate,
}

/// The loads that a seek may offer, and how long it goes on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SeekRange {
    pub over: SeekOver,
    /// The lowest load: clients, or arrivals a second. Above 0.
    pub from: f64,
    /// The highest.
    pub to: f64,
    /// The seek ends when half the width of the interval is this part of the capacity.
    pub precision: f64,
    /// The most probes, without the confirming trials.
    pub probes_max: usize,
}

impl SeekRange {
    /// Whether loads are whole numbers: those of clients.
    pub fn is_whole(&self) -> bool {
        self.over == SeekOver::Clients
    }

    /// A load of the range for this one: a whole number of clients that is not above it, a rate to four digits.
    pub fn load(&self, load: f64) -> f64 {
        let load = if self.is_whole() { (load + 1e-9).floor() } else { to_four_digits(load) };
        self.within(load)
    }

    /// As [`SeekRange::load`], with a whole number that is not below this load.
    pub fn load_above(&self, load: f64) -> f64 {
        let load = if self.is_whole() { (load - 1e-9).ceil() } else { to_four_digits(load) };
        self.within(load)
    }

    /// A range from a damaged record may end before it begins.
    fn within(&self, load: f64) -> f64 {
        load.max(self.from).min(self.to)
    }
}

/// What a seek needs to know of a finished trial.
#[derive(Clone, Copy, Debug)]
pub struct ProbeFacts<'a> {
    /// Its load: clients, or arrivals a second.
    pub load: f64,
    /// Whether it is a longer trial that confirms the capacity.
    pub is_confirming: bool,
    pub operations: &'a [Operation],
    pub total: &'a Tally,
    pub edges: &'a Edges,
    /// Length of the window, s.
    pub seconds: f64,
    pub status: &'a TrialStatus,
}

fn to_four_digits(load: f64) -> f64 {
    let scale = 10_f64.powf(3.0 - load.max(f64::MIN_POSITIVE).log10().floor());
    let rounded = (load * scale).round() / scale;
    if rounded.is_finite() { rounded } else { load }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loads_are_whole_clients_or_rates_of_four_digits_within_the_range() {
        let range =
            |over| SeekRange { over, from: 1.0, to: 5_000.0, precision: 0.05, probes_max: 50 };
        let (clients, rate) = (range(SeekOver::Clients), range(SeekOver::Rate));
        assert_eq!(
            [clients.load(7.9), clients.load_above(7.1), clients.load(0.3)],
            [7.0, 8.0, 1.0]
        );
        assert_eq!([rate.load(113.137), rate.load_above(2.345_67)], [113.1, 2.346]);
        assert_eq!([rate.load(4_321.4), rate.load(9_999.9)], [4_321.0, 5_000.0]);
    }
}
