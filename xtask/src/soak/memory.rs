//! Whether memory stays constant: compares the last quarter of a run with the second.
//!
//! In the first quarter memory must grow: data is loaded, every kind of trial runs for the first time, and the
//! allocator keeps the most that was ever needed. The second quarter repeats this work, and so does the last; a leak
//! shows in the quarter between them. Medians are compared, because a short peak is not a leak. Only allocated memory
//! counts: the resident pages of dyno's own program file, more than twice as many, would hide a change of it.

use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::process::Sample;

/// The largest allowed difference of the last quarter from the second.
const CHANGE_MAX: f64 = 0.05;
/// In a shorter run a quarter has too few trials, and memory has hardly settled.
const CHECKED_FROM: Duration = Duration::from_secs(9 * 60);

/// Memory of two quarters of a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Memory {
    pub second_bytes: u64,
    pub last_bytes: u64,
    length: Duration,
}

impl Memory {
    /// The memory in the samples between the run's start and its end; `None` when a quarter has no samples.
    pub(super) fn of(samples: &[Sample], began: Timestamp, ended: Timestamp) -> Option<Self> {
        let length = ended.duration_since(began).unsigned_abs();
        let quarter = |number: u32| {
            let (from, until) = (length * number / 4, length * (number + 1) / 4);
            let inside = |sample: &&Sample| {
                let at = sample.at.duration_since(began);
                !at.is_negative() && (from..until).contains(&at.unsigned_abs())
            };
            let mut bytes: Vec<u64> =
                samples.iter().filter(inside).map(|sample| sample.allocated_bytes).collect();
            bytes.sort_unstable();
            bytes.get(bytes.len() / 2).copied()
        };
        Some(Self { second_bytes: quarter(1)?, last_bytes: quarter(3)?, length })
    }

    /// The growth from the second to the last quarter, as a share of the second.
    pub(super) fn change(&self) -> f64 {
        self.last_bytes as f64 / self.second_bytes as f64 - 1.0
    }

    /// Whether the run was long enough for this check.
    pub(super) fn is_checked(&self) -> bool {
        self.length >= CHECKED_FROM
    }

    pub(super) fn is_flat(&self) -> bool {
        self.change().abs() <= CHANGE_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory(minutes: i64, bytes: impl Fn(i64) -> u64) -> Memory {
        let began = Timestamp::from_second(1_000_000).unwrap();
        let at = |second| Timestamp::from_second(1_000_000 + second).unwrap();
        let sample = |second| Sample { at: at(second), allocated_bytes: bytes(second) };
        let samples: Vec<Sample> = (0..60 * minutes + 30).map(sample).collect();
        Memory::of(&samples, began, at(60 * minutes)).unwrap()
    }

    #[test]
    fn slow_memory_growth_is_found_and_a_plateau_is_flat() {
        let rested = memory(30, |second| 10_000_000 + 3_000_000 * u64::from(second > 200));
        assert!(rested.is_flat() && rested.is_checked());
        let leak = memory(30, |second| 10_000_000 + 1_000 * u64::try_from(second).unwrap());
        assert!(!leak.is_flat(), "{leak:?}");
        assert!((leak.change() - 0.085).abs() < 0.01, "{leak:?}");
    }

    #[test]
    fn memory_after_the_load_is_ignored() {
        // The report reads everything back after the run, which takes memory.
        let report = memory(30, |second| if second >= 1_800 { 90_000_000 } else { 10_000_000 });
        assert!(report.is_flat(), "{report:?}");
        assert!(!memory(1, |_| 1).is_checked());
    }
}
