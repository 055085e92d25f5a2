//! When a client's next turn comes: pure functions of time and count.

use net::Nanos;

/// How a client's turns follow one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pacing {
    /// Closed loop: the next turn comes as soon as the last has ended, after a think time.
    Closed {
        /// Pause between the end of a turn and the next, ns.
        think_time_ns: Nanos,
    },
}

/// What a client does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Start at once.
    Now,
    /// Start at this point of the trial's clock.
    At(Nanos),
}

impl Pacing {
    /// The step after `issued` turns of this client, the last of which ended at `now`.
    pub fn next(&self, now: Nanos, issued: u64) -> Step {
        match *self {
            Self::Closed { think_time_ns } if think_time_ns > 0 && issued > 0 => {
                Step::At(now.saturating_add(think_time_ns))
            }
            Self::Closed { .. } => Step::Now,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closed_loop() {
        let cases = [
            // think time, now, issued, expected
            (0, 0, 0, Step::Now),
            (0, 70, 9, Step::Now),
            (5, 0, 0, Step::Now),
            (5, 70, 1, Step::At(75)),
            (5, Nanos::MAX, 1, Step::At(Nanos::MAX)),
        ];
        for (think_time_ns, now, issued, expected) in cases {
            assert_eq!(Pacing::Closed { think_time_ns }.next(now, issued), expected);
        }
    }
}
