//! The schedule of disturbances, which a seed determines.

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

/// An endless series of quiet times, each with the disturbance after it; the same for the same seed. Each round has
/// every kind once, in a new order; after a round there is a longer rest, so that some trials are not disturbed.
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
    type Item = (Duration, Disturbance);

    fn next(&mut self) -> Option<Self::Item> {
        let mut quiet = self.duration(QUIET_MS);
        if self.round.is_empty() {
            self.round = self.random.of(&KINDS);
            quiet += self.rest.mul_f64(1.0 + self.random.below(1_000) as f64 / 1_000.0);
        }
        let disturbance = self.round.pop()?(self);
        Some((quiet, disturbance))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    const TRIAL: Duration = Duration::from_secs(28);

    fn steps(seed: u64) -> Vec<(Duration, Disturbance)> {
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
            let kinds: HashSet<_> =
                round.iter().map(|(_, it)| std::mem::discriminant(it)).collect();
            assert_eq!(kinds.len(), 5, "{round:?}");
            assert!(round[0].0 >= TRIAL + Duration::from_secs(3), "{round:?}");
            assert!(round[1..].iter().all(|(quiet, _)| *quiet <= Duration::from_secs(9)));
        }
    }

    #[test]
    fn pauses_are_clearly_below_or_above_the_time_out() {
        let mut seen = [false; 2];
        for (_, disturbance) in steps(1) {
            if let Disturbance::Stop(length) | Disturbance::Stall(length) = disturbance {
                let ms = length.as_millis();
                let is_long = (1_200..=3_000).contains(&ms);
                assert!(is_long || (200..=600).contains(&ms), "{length:?}");
                seen[usize::from(is_long)] = true;
            }
        }
        assert_eq!(seen, [true; 2]);
    }
}
