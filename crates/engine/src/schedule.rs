//! Rates over time, and the arrival times that follow from them.

use std::collections::VecDeque;
use std::time::Duration;

use measure::nanos;
use net::Nanos;
use plan::{Arrivals, Rate, RateStep, split_mix};
use serde::{Deserialize, Serialize};

/// Rates over time. The *position* of an arrival is the number of arrivals expected until then, so that even and
/// random spacing use the same curve.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Schedule(Rate);

impl Schedule {
    /// The first rate during the warm-up, and then the steps of `rate`.
    pub fn new(rate: &Rate, warm_up: Duration) -> Self {
        Self(rate.after(warm_up))
    }

    pub fn expected_until(&self, elapsed_ns: Nanos) -> f64 {
        self.0.expected_until(Duration::from_nanos(elapsed_ns))
    }

    /// The time until which that many arrivals are expected: the inverse of [`Schedule::expected_until`].
    /// [`Nanos::MAX`] when the rate falls to zero before.
    pub(crate) fn time_of(&self, position: f64) -> Nanos {
        let mut begin = 0;
        let mut left = position;
        for step in self.0.steps() {
            let area = step.expected_until(step.length);
            if left < area {
                return begin + time_within(step, left);
            }
            left -= area;
            begin += nanos(step.length);
        }
        let last_per_s = self.0.last_per_s();
        if last_per_s <= 0.0 {
            return Nanos::MAX;
        }
        begin.saturating_add(nanoseconds(left / last_per_s))
    }
}

/// The time from the step's beginning until which `position` arrivals are expected: the root of slope/2 t^2 +
/// from t - position, in the form without cancellation when the slope is small.
fn time_within(step: &RateStep, position: f64) -> Nanos {
    let slope = (step.to_per_s - step.from_per_s) / step.length.as_secs_f64();
    let root = (step.from_per_s.powi(2) + 2.0 * slope * position).max(0.0).sqrt();
    nanoseconds(2.0 * position / (step.from_per_s + root)).min(nanos(step.length))
}

fn nanoseconds(length_s: f64) -> Nanos {
    (length_s * 1e9).round() as Nanos
}

/// The arrival times of one worker, in order: its share of all arrivals of a schedule.
///
/// Workers take evenly spaced arrivals in turn, so that all workers together are as even as one. With Poisson
/// arrivals, each worker has an independent Poisson process with its share of the rate, because the sum of
/// independent Poisson processes is one again. The arrivals of a process with a changing rate are those of a process
/// with rate 1, moved to the time at which their number is expected (time rescaling).
#[derive(Clone, Debug)]
pub(crate) struct ArrivalTimes {
    schedule: Schedule,
    spread: Arrivals,
    /// The position of the last arrival in the schedule, in expected arrivals of all workers.
    position: f64,
    workers: f64,
    random: u64,
    /// Arrivals that were drawn to count them, and not taken.
    drawn: VecDeque<Nanos>,
    /// The time of the next arrival that is not drawn.
    next_at: Nanos,
}

impl ArrivalTimes {
    pub(crate) fn new(
        schedule: Schedule,
        spread: Arrivals,
        worker: usize,
        workers: usize,
        seed: u64,
    ) -> Self {
        let random = seed ^ (worker as u64 + 1).wrapping_mul(split_mix::STEP);
        let workers = workers as f64;
        let position = match spread {
            Arrivals::Constant => worker as f64 - workers,
            Arrivals::Poisson => 0.0,
        };
        let drawn = VecDeque::new();
        let mut arrivals = Self { schedule, spread, position, workers, random, drawn, next_at: 0 };
        arrivals.advance();
        arrivals
    }

    /// Takes the next arrival, ns on the trial's clock.
    pub(crate) fn take(&mut self) -> Nanos {
        self.drawn.pop_front().unwrap_or_else(|| self.draw())
    }

    /// Takes the next arrival if it is before `end`.
    pub(crate) fn take_before(&mut self, end: Nanos) -> Option<Nanos> {
        let next = self.drawn.front().copied().unwrap_or(self.next_at);
        (next < end).then(|| self.take())
    }

    /// The number of arrivals before `end` that were not taken, `most` at most.
    pub(crate) fn waiting(&mut self, end: Nanos, most: usize) -> usize {
        while self.next_at < end && self.drawn.len() < most {
            let at = self.draw();
            self.drawn.push_back(at);
        }
        self.drawn.partition_point(|at| *at < end)
    }

    fn draw(&mut self) -> Nanos {
        let drawn = self.next_at;
        self.advance();
        drawn
    }

    fn advance(&mut self) {
        self.position += match self.spread {
            Arrivals::Constant => self.workers,
            Arrivals::Poisson => self.workers * self.exponential(),
        };
        self.next_at = self.schedule.time_of(self.position);
    }

    /// The number of arrivals until `elapsed_ns` that were not taken. It is the expected number, because random
    /// arrivals after the next one are not drawn yet.
    pub(crate) fn backlog(&self, elapsed_ns: Nanos) -> u64 {
        let undrawn = self.schedule.expected_until(elapsed_ns) - self.position;
        let drawn = self.drawn.partition_point(|at| *at <= elapsed_ns) as u64;
        drawn + (undrawn / self.workers).max(0.0).round() as u64
    }

    /// A draw from the exponential distribution with mean 1, by inversion.
    fn exponential(&mut self) -> f64 {
        let uniform = (split_mix::next(&mut self.random) >> 11) as f64 / (1u64 << 53) as f64;
        -(1.0 - uniform).ln()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: Nanos = 1_000_000_000;

    /// Steps with a length in seconds, a first and a last rate.
    fn steps(steps: &[(u64, f64, f64)]) -> Schedule {
        let step = |(seconds, from_per_s, to_per_s): &(u64, f64, f64)| RateStep {
            length: Duration::from_secs(*seconds),
            from_per_s: *from_per_s,
            to_per_s: *to_per_s,
        };
        let rate = Rate::of(steps.iter().map(step).collect()).unwrap();
        Schedule::new(&rate, Duration::ZERO)
    }

    fn constant(rate_per_s: f64) -> Schedule {
        Schedule::new(&Rate::constant(rate_per_s), Duration::ZERO)
    }

    /// 10 s from 0 to 100/s, then 5 s at 200/s, then 50/s.
    fn ramp_and_step() -> Schedule {
        steps(&[(10, 0.0, 100.0), (5, 200.0, 200.0), (0, 50.0, 50.0)])
    }

    #[test]
    fn expected_arrivals_are_the_area_below_the_rates() {
        let cases = [
            // elapsed s, expected arrivals
            (0, 0.0),
            (5, 125.0),
            (10, 500.0),
            (12, 900.0),
            (15, 1500.0),
            (25, 2000.0),
        ];
        for (elapsed_s, expected) in cases {
            let area = ramp_and_step().expected_until(elapsed_s * S);
            assert!((area - expected).abs() < 1e-9, "{area} at {elapsed_s} s");
        }
    }

    #[test]
    fn time_of_is_the_inverse_of_expected_until() {
        let schedule = ramp_and_step();
        for position in [0.0, 1.0, 125.0, 499.9, 500.0, 900.0, 1499.0, 1500.0, 1777.0] {
            let back = schedule.expected_until(schedule.time_of(position));
            assert!((back - position).abs() < 1e-5, "{position} came back as {back}");
        }
    }

    #[test]
    fn a_rate_that_ends_at_zero_has_no_more_arrivals() {
        let schedule = steps(&[(2, 10.0, 0.0)]);
        assert_eq!(schedule.time_of(10.0), Nanos::MAX);
        assert!(schedule.time_of(9.99) < 2 * S);
    }

    #[test]
    fn workers_share_evenly_spread_arrivals_in_turn() {
        let mut all: Vec<Nanos> = (0..3)
            .flat_map(|worker| {
                let schedule = constant(1000.0);
                let mut arrivals = ArrivalTimes::new(schedule, Arrivals::Constant, worker, 3, 7);
                (0..4).map(move |_| arrivals.take()).collect::<Vec<_>>()
            })
            .collect();
        all.sort_unstable();
        let every_millisecond: Vec<Nanos> = (0..12).map(|k| k * 1_000_000).collect();
        assert_eq!(all, every_millisecond);
    }

    #[test]
    fn gaps_of_a_poisson_process_are_exponential() {
        // Kolmogorov-Smirnov against 1 - exp(-x): 1.63 / sqrt(n) is the bound at the 1 % level.
        let mut arrivals = ArrivalTimes::new(constant(1000.0), Arrivals::Poisson, 1, 4, 42);
        let mut last = 0;
        let mut gaps: Vec<f64> = (0..20_000)
            .map(|_| {
                let now = arrivals.take();
                let gap = (now - last) as f64 / 4e6;
                last = now;
                gap
            })
            .collect();
        gaps.sort_by(f64::total_cmp);
        let n = gaps.len() as f64;
        let distance = gaps.iter().enumerate().map(|(i, gap)| {
            let exact = 1.0 - (-gap).exp();
            (exact - i as f64 / n).abs().max((exact - (i + 1) as f64 / n).abs())
        });
        let distance = distance.fold(0.0, f64::max);
        assert!(distance < 1.63 / n.sqrt(), "{distance}");
    }
}
