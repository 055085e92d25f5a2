//! When turns come: pure functions of time and count.

use std::cell::RefCell;

use net::Nanos;
use plan::Arrivals;
use serde::{Deserialize, Serialize};

use crate::schedule::{ArrivalTimes, Schedule};

/// How turns follow one another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Pacing {
    /// Closed loop: a client's next turn comes as soon as its last has ended, after a think time.
    Closed {
        /// Pause between the end of a turn and the next, ns.
        think_time_ns: Nanos,
    },
    /// Open loop: turns come by a schedule, whether or not a client is free to take them.
    Open {
        /// The rate of arrivals over the trial's time, warm-up included.
        schedule: Schedule,
        /// The random or even spacing of arrivals.
        spread: Arrivals,
        seed: u64,
        /// How many may wait for a client before the trial counts as overloaded.
        backlog_max: u64,
    },
}

/// A client's next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextStart {
    Now,
    /// The intended start, on the trial's clock; it can be in the past.
    At(Nanos),
}

/// One turn of a client: permission to run one transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// The intended start, from which its latency counts.
    pub intended_ns: Nanos,
    /// The actual start; in a closed loop it is the intended one.
    pub started_ns: Nanos,
}

/// A worker's part of the pacing.
pub(crate) enum Pacer {
    Closed { think_time_ns: Nanos },
    Open { arrivals: RefCell<ArrivalTimes>, backlog_max: u64 },
}

impl Pacer {
    pub(crate) fn new(pacing: &Pacing, worker: usize, workers: usize) -> Self {
        match pacing {
            Pacing::Closed { think_time_ns } => Self::Closed { think_time_ns: *think_time_ns },
            Pacing::Open { schedule, spread, seed, backlog_max } => Self::Open {
                arrivals: RefCell::new(ArrivalTimes::new(
                    schedule.clone(),
                    *spread,
                    worker,
                    workers,
                    *seed,
                )),
                backlog_max: backlog_max.div_ceil(workers as u64),
            },
        }
    }

    /// The next step of a client that is free at `now` and has had `issued` turns.
    #[inline]
    pub(crate) fn next(&self, now: Nanos, issued: u64) -> NextStart {
        match self {
            Self::Closed { think_time_ns } if *think_time_ns > 0 && issued > 0 => {
                NextStart::At(now.saturating_add(*think_time_ns))
            }
            Self::Closed { .. } => NextStart::Now,
            Self::Open { arrivals, .. } => NextStart::At(arrivals.borrow_mut().take()),
        }
    }

    /// Whether intended starts do not depend on when clients are free.
    pub(crate) fn is_open(&self) -> bool {
        matches!(self, Self::Open { .. })
    }

    /// The number of arrivals that wait for a client at `now`; zero in a closed loop.
    pub(crate) fn backlog(&self, now: Nanos) -> u64 {
        match self {
            Self::Closed { .. } => 0,
            Self::Open { arrivals, .. } => arrivals.borrow().backlog(now),
        }
    }

    /// The backlog at `now`, if it is over its limit.
    pub(crate) fn overload(&self, now: Nanos) -> Option<u64> {
        let Self::Open { backlog_max, .. } = self else { return None };
        Some(self.backlog(now)).filter(|backlog| backlog > backlog_max)
    }

    /// The exact number of arrivals before `end` that wait for a client; zero in a closed loop.
    pub(crate) fn waiting(&self, end: Nanos) -> u64 {
        match self {
            Self::Closed { .. } => 0,
            Self::Open { arrivals, .. } => {
                arrivals.borrow_mut().waiting(end, self.waiting_max()) as u64
            }
        }
    }

    /// Takes the arrivals before `end` for which no client was free.
    pub(crate) fn never_started(&self, end: Nanos) -> Vec<Nanos> {
        let Self::Open { arrivals, .. } = self else { return Vec::new() };
        let mut arrivals = arrivals.borrow_mut();
        std::iter::from_fn(|| arrivals.take_before(end)).take(self.waiting_max()).collect()
    }

    /// Bounds the memory of waiting arrivals. The limit of the backlog is compared with an estimate, hence twice.
    fn waiting_max(&self) -> usize {
        match self {
            Self::Closed { .. } => 0,
            Self::Open { backlog_max, .. } => {
                usize::try_from(backlog_max.saturating_add(1).saturating_mul(2))
                    .unwrap_or(usize::MAX)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use plan::Rate;

    use super::*;

    #[test]
    fn closed_loop() {
        let cases = [
            // think time, now, issued, expected
            (0, 0, 0, NextStart::Now),
            (0, 70, 9, NextStart::Now),
            (5, 0, 0, NextStart::Now),
            (5, 70, 1, NextStart::At(75)),
            (5, Nanos::MAX, 1, NextStart::At(Nanos::MAX)),
        ];
        for (think_time_ns, now, issued, expected) in cases {
            let pacer = Pacer::new(&Pacing::Closed { think_time_ns }, 0, 1);
            assert_eq!(pacer.next(now, issued), expected);
        }
    }

    fn open(rate_per_s: f64, backlog_max: u64) -> Pacer {
        let pacing = Pacing::Open {
            schedule: Schedule::new(&Rate::constant(rate_per_s), Duration::ZERO),
            spread: Arrivals::Constant,
            seed: 1,
            backlog_max,
        };
        Pacer::new(&pacing, 0, 1)
    }

    #[test]
    fn open_loop_starts_do_not_depend_on_late_clients() {
        let pacer = open(1000.0, 10);
        let starts = [0, 1_000_000, 2_000_000].map(|start| (start, NextStart::At(start)));
        for (now, expected) in starts {
            assert_eq!(pacer.next(now + 7_000_000_000, 3), expected);
        }
    }

    #[test]
    fn a_backlog_over_its_bound_is_an_overload() {
        let pacer = open(1000.0, 10);
        assert_eq!(pacer.overload(10_000_000), None);
        assert_eq!(pacer.overload(50_000_000), Some(50));
        assert_eq!(pacer.never_started(5_000_000).len(), 5);
    }

    #[test]
    fn waiting_arrivals_are_counted_and_stay() {
        let pacer = open(1000.0, 10);
        assert_eq!(pacer.next(0, 0), NextStart::At(0));
        assert_eq!(pacer.waiting(5_000_000), 4, "those of 1 to 4 ms");
        assert_eq!(pacer.backlog(4_000_000), 4);
        assert_eq!(pacer.next(0, 1), NextStart::At(1_000_000));
        assert_eq!(pacer.waiting(6_000_000), 4, "those of 2 to 5 ms");
        assert_eq!(pacer.never_started(4_000_000), [2_000_000, 3_000_000]);
        assert_eq!(pacer.waiting(1_000_000_000), 22, "bounded by twice the limit");
    }
}
