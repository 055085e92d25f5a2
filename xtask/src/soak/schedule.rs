//! The schedule of disturbances, which a seed determines.

use std::fmt;
use std::time::Duration;

use plan::Shuffle;

/// A disturbance of the server or of its connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Disturbance {
    /// The server is paused (SIGSTOP) for this long.
    Stop(Duration),
    /// It is killed (SIGKILL), and started again after this long.
    Kill(Duration),
    /// The proxy forwards nothing for this long, in either direction.
    Stall(Duration),
    /// The server ends this many of a hundred connections (KILL CONNECTION).
    Cut(usize),
    /// It refuses writes for this long.
    ReadOnly(Duration),
}

/// A quiet time and the disturbance after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ScheduledDisturbance {
    pub quiet: Duration,
    pub disturbance: Disturbance,
}

/// Short pauses are shorter than dyno's time-out for a statement, long ones are longer. Pauses of a length between
/// these might or might not be detected, so there are none.
const SHORT_MS: (usize, usize) = (200, 600);
const LONG_MS: (usize, usize) = (1_200, 3_000);
const AWAY_MS: (usize, usize) = (0, 5_000);
const READ_ONLY_MS: (usize, usize) = (500, 2_500);
const QUIET_MS: (usize, usize) = (3_000, 9_000);

/// Makes a disturbance of one kind.
type Kind = fn(&mut Schedule) -> Disturbance;

/// Every kind of disturbance, again and again.
const KINDS: [Kind; 5] = [
    |it| Disturbance::Stop(it.pause()),
    |it| Disturbance::Kill(it.duration(AWAY_MS)),
    |it| Disturbance::Stall(it.pause()),
    |it| Disturbance::Cut(1 + it.random.below(100)),
    |it| Disturbance::ReadOnly(it.duration(READ_ONLY_MS)),
];

/// An endless series of steps, the same for the same seed. Each round has every kind once, in a new order; after a
/// round there is a longer rest, so that some trials are not disturbed.
#[derive(Debug)]
pub(super) struct Schedule {
    random: Shuffle,
    round: Vec<Kind>,
    /// The shortest rest after a round; the longest is twice that.
    rest: Duration,
}

impl Schedule {
    /// A schedule for trials of this length.
    pub(super) fn new(seed: u64, trial: Duration) -> Self {
        Self { random: Shuffle::new(seed), round: Vec::new(), rest: trial }
    }

    fn duration(&mut self, (low, high): (usize, usize)) -> Duration {
        let millis = low + self.random.below(high - low + 1);
        Duration::from_millis(millis as u64)
    }

    /// A short or a long pause, with equal probability.
    fn pause(&mut self) -> Duration {
        let range = if self.random.below(2) == 0 { SHORT_MS } else { LONG_MS };
        self.duration(range)
    }
}

impl Iterator for Schedule {
    type Item = ScheduledDisturbance;

    fn next(&mut self) -> Option<ScheduledDisturbance> {
        let mut quiet = self.duration(QUIET_MS);
        if self.round.is_empty() {
            self.round = self.random.of(&KINDS);
            quiet += self.rest.mul_f64(1.0 + self.random.below(1_000) as f64 / 1_000.0);
        }
        let disturbance = self.round.pop()?(self);
        Some(ScheduledDisturbance { quiet, disturbance })
    }
}

impl fmt::Display for Disturbance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stop(length) => write!(f, "stopped for {length:?}"),
            Self::Kill(away) => write!(f, "killed, started again after {away:?}"),
            Self::Stall(length) => write!(f, "nothing passed for {length:?}"),
            Self::Cut(percent) => write!(f, "{percent} % of the connections killed"),
            Self::ReadOnly(length) => write!(f, "read-only for {length:?}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRIAL: Duration = Duration::from_secs(28);

    fn steps(seed: u64) -> Vec<ScheduledDisturbance> {
        Schedule::new(seed, TRIAL).take(500).collect()
    }

    #[test]
    fn each_seed_has_its_own_repeatable_schedule() {
        assert_eq!(steps(7), steps(7));
        assert_ne!(steps(7), steps(8));
    }

    #[test]
    fn every_round_has_every_kind_and_begins_with_a_rest() {
        for round in steps(3).chunks(5) {
            let mut kinds: Vec<_> =
                round.iter().map(|step| std::mem::discriminant(&step.disturbance)).collect();
            kinds.dedup();
            assert_eq!(kinds.len(), 5, "{round:?}");
            assert!(round[0].quiet >= TRIAL + Duration::from_secs(3), "{round:?}");
            assert!(round[1..].iter().all(|step| step.quiet <= Duration::from_secs(9)));
        }
    }

    #[test]
    fn pauses_are_clearly_below_or_above_the_time_out() {
        let bounds = |length: Duration| length.as_millis();
        let mut seen = [false; 2];
        for step in steps(1) {
            if let Disturbance::Stop(length) | Disturbance::Stall(length) = step.disturbance {
                let is_long = bounds(length) >= 1_200;
                assert!((200..=600).contains(&bounds(length)) || is_long, "{length:?}");
                assert!(bounds(length) <= 3_000, "{length:?}");
                seen[usize::from(is_long)] = true;
            }
        }
        assert_eq!(seen, [true; 2]);
    }
}
