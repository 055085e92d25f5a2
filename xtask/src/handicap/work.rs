//! How much work makes a handicap of a given size: from a pilot run, whose handicap is large.

use serde::{Deserialize, Serialize};

use super::case::System;

/// The slowdown of a pilot is large against the noise of two rounds, and still so small that the system's bottleneck
/// stays where it was.
const SLOWDOWN_MIN: f64 = 0.25;
const SLOWDOWN_MAX: f64 = 1.5;
/// The slowdown that the next pilot aims at.
const SLOWDOWN_AIM: f64 = 0.6;
/// By how much the work may change from one pilot to the next.
const CHANGE_MAX: f64 = 20.0;

/// The result of the pilots of one system.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Pilot {
    pub system: System,
    /// The time that one unit of work adds to a transaction, as a part of its time without work.
    pub slowdown_per_unit: f64,
}

/// What a pilot shows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum PilotOutcome {
    /// The slowdown by one unit of work.
    Known(f64),
    /// The slowdown is too small or too large: the next pilot takes so many units.
    Again(u64),
}

impl PilotOutcome {
    /// The outcome of a pilot with `work` units, whose throughput was `ratio` times that without work.
    pub(super) fn of(work: u64, ratio: f64) -> Self {
        let slowdown = 1.0 / ratio - 1.0;
        if (SLOWDOWN_MIN..=SLOWDOWN_MAX).contains(&slowdown) {
            return Self::Known(slowdown / work as f64);
        }
        // A slowdown that is not positive is noise around a very small one.
        let change =
            (SLOWDOWN_AIM / slowdown.max(f64::MIN_POSITIVE)).clamp(1.0 / CHANGE_MAX, CHANGE_MAX);
        Self::Again(units(work as f64 * change))
    }
}

impl Pilot {
    /// Units of work that lower the throughput of a busy system by so many per cent.
    pub(super) fn work(&self, handicap_percent: u32) -> u64 {
        let part = f64::from(handicap_percent) / 100.0;
        units(part / (1.0 - part) / self.slowdown_per_unit)
    }
}

/// Units of work of a system's first pilot.
pub(super) fn first_work(system: System) -> u64 {
    match system {
        System::Mariadb => 600,
        System::Tidb | System::TidbGoamd64 => 1_000,
        System::Echo => 5_000,
    }
}

/// At least one unit.
fn units(number: f64) -> u64 {
    number.round().max(1.0) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pilot_tells_the_slowdown_by_one_unit() {
        // Half the throughput is twice the time.
        assert_eq!(PilotOutcome::of(200, 0.5), PilotOutcome::Known(0.005));
        let pilot = Pilot { system: System::Mariadb, slowdown_per_unit: 0.005 };
        // 10 % less throughput is 1 / 9 more time: 22.2 units; 3 % are 6.19.
        assert_eq!([3, 5, 10].map(|percent| pilot.work(percent)), [6, 11, 22]);
        let coarse = Pilot { system: System::Mariadb, slowdown_per_unit: 1.0 };
        assert_eq!(coarse.work(3), 1, "there is a handicap, however coarse its unit");
    }

    #[test]
    fn a_pilot_outside_of_the_range_is_repeated_with_other_work() {
        // A ratio of 1 / 1.06 is a slowdown of 6 %: ten times the work aims at 60 %.
        assert_eq!(PilotOutcome::of(100, 1.0 / 1.06), PilotOutcome::Again(1_000));
        assert_eq!(PilotOutcome::of(100, 0.25), PilotOutcome::Again(20));
        assert_eq!(PilotOutcome::of(100, 1.01), PilotOutcome::Again(2_000));
        assert_eq!(PilotOutcome::of(1, 0.01), PilotOutcome::Again(1));
    }
}
