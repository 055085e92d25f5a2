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
pub(super) type Sample = (Timestamp, u64);

/// Looks at the memory of a dyno until it is over.
pub(super) fn watch(pid: u32, is_over: &AtomicBool) -> Vec<Sample> {
    let mut samples: Vec<Sample> = Vec::new();
    while !is_over.load(Ordering::Relaxed) {
        // Between its end and the look at it there is no memory to be seen.
        if let Ok(bytes) = allocated_bytes(pid) {
            let at = Timestamp::now();
            match samples.last_mut() {
                Some((since, least))
                    if at.duration_since(*since).unsigned_abs() < SAMPLE_PERIOD =>
                {
                    *least = bytes.min(*least);
                }
                _ => samples.push((at, bytes)),
            }
        }
        thread::sleep(LOOK_PERIOD);
    }
    samples
}

/// What dyno held between trials in two quarters of a run, bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Memory {
    pub in_second: u64,
    pub in_last: u64,
    /// Whether the run was long enough to judge by.
    pub is_checked: bool,
}

impl Memory {
    /// The memory in the samples between the run's start and its end; `None` when a part of a quarter has no
    /// samples.
    pub(super) fn of(samples: &[Sample], began: Timestamp, ended: Timestamp) -> Option<Self> {
        let length = ended.duration_since(began).unsigned_abs();
        let least = |part: u32| {
            let [from, until] = [part, part + 1].map(|end| began + length * end / (4 * PARTS));
            let inside = samples.iter().filter(|(at, _)| (from..until).contains(at));
            inside.map(|(_, bytes)| *bytes).min()
        };
        let quarter = |number: u32| {
            let parts = (number * PARTS..(number + 1) * PARTS).map(least);
            let mut parts = parts.collect::<Option<Vec<_>>>()?;
            parts.sort_unstable();
            parts.get(parts.len() / 4).copied()
        };
        let is_checked = length >= CHECKED_FROM;
        Some(Self { in_second: quarter(1)?, in_last: quarter(3)?, is_checked })
    }

    /// The growth from the second to the last quarter, bytes.
    fn growth(&self) -> i64 {
        self.in_last.cast_signed() - self.in_second.cast_signed()
    }

    pub(super) fn is_leak(&self) -> bool {
        self.is_checked && self.growth() > GROWTH_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory(minutes: i64, bytes: impl Fn(i64) -> u64) -> Memory {
        let at = |second| Timestamp::from_second(1_000_000 + second).unwrap();
        let samples: Vec<Sample> =
            (0..60 * minutes + 30).map(|second| (at(second), bytes(second))).collect();
        Memory::of(&samples, at(0), at(60 * minutes)).unwrap()
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
        assert_eq!((rested.growth(), rested.is_leak(), rested.is_checked), (0, false, true));
        let hungry = memory(30, |second| trials(second) * if second % 11 == 0 { 1 } else { 3 });
        assert!(!hungry.is_leak(), "{hungry:?}");
        let leaking = |second| trials(second) + 300 * u64::try_from(second).unwrap();
        let leak = memory(30, leaking);
        assert!(leak.is_leak() && (leak.growth() - 270_000).abs() < 3_300, "{leak:?}");
        assert!(!memory(1, leaking).is_checked);
    }

    #[test]
    fn memory_after_the_load_is_ignored() {
        // The report reads everything back after the run, which takes memory.
        let report = memory(30, |second| if second >= 1_800 { 90_000_000 } else { 10_000_000 });
        assert!(!report.is_leak(), "{report:?}");
    }
}
