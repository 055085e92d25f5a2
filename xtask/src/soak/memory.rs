//! Whether memory leaks: compares what dyno holds between trials in the last quarter of a run with the second.
//!
//! Within a trial memory goes up and down with the work: histograms grow with the range of their values, buffers
//! with what waits. All of it is freed at the trial's end, so the lowest value around the end of a trial is what
//! dyno keeps, and a leak raises it from trial to trial. The lower quartile over a quarter's trials counts, because
//! the time between two trials is short, and often no look falls into it. In the first quarter memory may rise:
//! every kind of trial runs for the first time. Only allocated memory counts: the resident pages of dyno's own
//! program file are several times as many, and would hide a change.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use jiff::Timestamp;

use crate::bench::process::allocated_bytes;

/// Memory is at its lowest for some tens of milliseconds at the end of a trial.
const LOOK_PERIOD: Duration = Duration::from_millis(10);
/// The time over which the lowest value makes a sample.
const SAMPLE_PERIOD: Duration = Duration::from_millis(500);
/// The largest growth from the second to the last quarter that may be chance, bytes. A fall is chance too.
const GROWTH_MAX: i64 = 250_000;
/// The parts of a quarter: as many as it has trials, so that nearly each has the end of one.
const PARTS: u32 = 8;
/// In a shorter run a quarter has too few trials, and memory has hardly settled.
const CHECKED_FROM: Duration = Duration::from_secs(9 * 60);

/// The least memory that dyno had allocated within half a second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sample {
    pub at: Timestamp,
    pub allocated_bytes: u64,
}

/// Looks at the memory of a dyno until it is over.
pub(super) fn watch(pid: u32, is_over: &AtomicBool) -> Vec<Sample> {
    let mut samples: Vec<Sample> = Vec::new();
    while !is_over.load(Ordering::Relaxed) {
        // Between its end and the look at it there is no memory to be seen.
        if let Ok(allocated_bytes) = allocated_bytes(pid) {
            let sample = Sample { at: Timestamp::now(), allocated_bytes };
            let is_same = |last: &&mut Sample| {
                sample.at.duration_since(last.at).unsigned_abs() < SAMPLE_PERIOD
            };
            match samples.last_mut().filter(is_same) {
                Some(last) => last.allocated_bytes = last.allocated_bytes.min(allocated_bytes),
                None => samples.push(sample),
            }
        }
        thread::sleep(LOOK_PERIOD);
    }
    samples
}

/// What dyno held between trials in two quarters of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Memory {
    pub held_in_second_bytes: u64,
    pub held_in_last_bytes: u64,
    length: Duration,
}

impl Memory {
    /// The memory in the samples between the run's start and its end; `None` when a part of a quarter has no
    /// samples.
    pub(super) fn of(samples: &[Sample], began: Timestamp, ended: Timestamp) -> Option<Self> {
        let length = ended.duration_since(began).unsigned_abs();
        let least = |part: u32| {
            let [from, until] = [part, part + 1].map(|end| length * end / (4 * PARTS));
            let inside = |sample: &&Sample| {
                let at = sample.at.duration_since(began);
                !at.is_negative() && (from..until).contains(&at.unsigned_abs())
            };
            samples.iter().filter(inside).map(|sample| sample.allocated_bytes).min()
        };
        let quarter = |number: u32| {
            let parts: Option<Vec<u64>> =
                (0..PARTS).map(|part| least(number * PARTS + part)).collect();
            let mut parts = parts?;
            parts.sort_unstable();
            parts.get(parts.len() / 4).copied()
        };
        Some(Self { held_in_second_bytes: quarter(1)?, held_in_last_bytes: quarter(3)?, length })
    }

    /// The growth from the second to the last quarter, bytes.
    pub(super) fn growth(&self) -> i64 {
        self.held_in_last_bytes.cast_signed() - self.held_in_second_bytes.cast_signed()
    }

    /// Whether the run was long enough for this check.
    pub(super) fn is_checked(&self) -> bool {
        self.length >= CHECKED_FROM
    }

    pub(super) fn is_leak(&self) -> bool {
        self.growth() > GROWTH_MAX
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

    /// Ten seconds of a trial, and a second between it and the next.
    fn trials(second: i64) -> u64 {
        if second % 11 == 0 {
            2_000_000
        } else {
            5_000_000 + u64::try_from(second % 7).unwrap() * 1_000_000
        }
    }

    #[test]
    fn what_is_held_between_trials_may_not_grow_and_what_a_trial_needs_may() {
        let rested = memory(30, |second| trials(second) + 3_000_000 * u64::from(second > 200));
        assert_eq!((rested.growth(), rested.is_leak(), rested.is_checked()), (0, false, true));
        let hungry = memory(30, |second| trials(second) * if second % 11 == 0 { 1 } else { 3 });
        assert!(!hungry.is_leak(), "{hungry:?}");
        let leak = memory(30, |second| trials(second) + 300 * u64::try_from(second).unwrap());
        assert!(leak.is_leak(), "{leak:?}");
        assert!((leak.growth() - 270_000).abs() < 3_300, "{leak:?}");
    }

    #[test]
    fn memory_after_the_load_is_ignored() {
        // The report reads everything back after the run, which takes memory.
        let report = memory(30, |second| if second >= 1_800 { 90_000_000 } else { 10_000_000 });
        assert!(!report.is_leak(), "{report:?}");
        assert!(!memory(1, |_| 1).is_checked());
    }
}
