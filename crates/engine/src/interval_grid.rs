//! The intervals of a load, as its generators report them: the same ones for all, one directly after the other.

use std::time::Duration;

use measure::{Interval, Phase, nanos};
use net::Nanos;

use crate::window::Window;

/// The intervals that were reported, and those that a load can have.
pub(crate) struct IntervalGrid {
    interval_ns: Nanos,
    /// The least and the longest warm-up.
    warm_up: (Nanos, Nanos),
    /// The latest end of the window.
    end: Nanos,
    /// In their order.
    known: Vec<Known>,
}

/// An interval that a generator has reported.
struct Known {
    phase: Phase,
    start: Nanos,
    /// The latest end that a generator has reported: its own workers may all have ended before.
    end: Nanos,
}

impl IntervalGrid {
    /// The grid of a load with this window, before the load begins.
    pub(crate) fn new(window: &Window, interval: Duration) -> Self {
        Self {
            interval_ns: nanos(interval).max(1),
            warm_up: window.warm_up_bounds(),
            end: window.end(),
            known: Vec::new(),
        }
    }

    /// Adds an interval that a generator has closed after all before it. Returns why it cannot be one of this load.
    pub(crate) fn add(&mut self, index: usize, interval: &Interval) -> Option<String> {
        let fault = match self.known.get(index) {
            Some(_) => self.known_fault(index, interval),
            None => self.new_fault(interval),
        };
        let Interval { phase, start_ns: start, end_ns: end, .. } = *interval;
        match self.known.get_mut(index) {
            _ if fault.is_some() => {}
            Some(known) => known.end = known.end.max(end),
            None => self.known.push(Known { phase, start, end }),
        }
        fault
    }

    /// Why a part of an interval, which came late from a generator that has closed so many, cannot be one of this load.
    pub(crate) fn late_fault(&self, closed: usize, part: &Interval) -> Option<String> {
        let known = &self.known[..closed.min(self.known.len())];
        match known.binary_search_by_key(&part.start_ns, |known| known.start) {
            Ok(index) => self.known_fault(index, part),
            Err(_) => Some("it reported a part of an interval that it has not closed".to_owned()),
        }
    }

    /// The same of an interval that another generator has reported.
    fn known_fault(&self, index: usize, interval: &Interval) -> Option<String> {
        let is_known = self
            .known
            .get(index)
            .is_some_and(|known| (known.phase, known.start) == (interval.phase, interval.start_ns));
        if !is_known {
            let at = interval.start_ns as f64 / 1e9;
            return Some(format!("its interval at {at} s is not that of the other generators"));
        }
        let next = self.known.get(index + 1).map_or(Nanos::MAX, |next| next.start);
        self.length_fault(interval, next)
    }

    /// The same of an interval that no generator has reported.
    fn new_fault(&self, interval: &Interval) -> Option<String> {
        let Interval { phase, start_ns: start, .. } = *interval;
        let (least, longest) = self.warm_up;
        let is_of_phase = match phase {
            Phase::WarmUp => start < longest,
            Phase::Measure => start >= least,
            _ => false,
        };
        let follows = self.known.last().map_or(start == 0, |last| {
            let next = last.start.saturating_add(self.interval_ns);
            match last.phase == phase {
                true => start == next && last.end <= start,
                // The warm-up may end within an interval.
                false => last.phase < phase && (last.end..=next).contains(&start),
            }
        });
        if !is_of_phase || !follows {
            let at = start as f64 / 1e9;
            return Some(format!("no interval of this load begins at {at} s"));
        }
        self.length_fault(interval, Nanos::MAX)
    }

    /// Why an interval cannot have its length. It ends where the next one begins, or before.
    fn length_fault(&self, interval: &Interval, next: Nanos) -> Option<String> {
        let Interval { phase, start_ns: start, end_ns: end, .. } = *interval;
        let of_phase = if phase == Phase::WarmUp { self.warm_up.1 } else { self.end };
        let latest = start.saturating_add(self.interval_ns).min(next).min(of_phase);
        (end <= start || end > latest).then(|| {
            let [at, until] = [start, end].map(|at| at as f64 / 1e9);
            format!("it reported an interval from {at} to {until} s")
        })
    }
}

#[cfg(test)]
mod tests {
    use measure::Tally;
    use plan::Limit;

    use super::*;
    use crate::{OfferedLoad, PhaseEnds};

    const S: Nanos = 1_000_000_000;

    /// A load of 5 s with a warm-up of 1 to 2.5 s, in seconds.
    fn grid() -> IntervalGrid {
        let offer = OfferedLoad {
            warm_up: Duration::from_millis(2_500),
            limit: Limit::time(Duration::from_secs(5)),
            ends: PhaseEnds { warm_up_from: Some(Duration::from_secs(1)), measured: true },
            ..OfferedLoad::example()
        };
        IntervalGrid::new(&Window::of(&offer), offer.interval)
    }

    fn interval(phase: Phase, start_ns: Nanos, end_ns: Nanos) -> Interval {
        Interval { phase, start_ns, end_ns, tally: Tally::new(1) }
    }

    #[test]
    fn intervals_of_generators_are_the_same_ones_and_follow_each_other() {
        use Phase::{Measure, WarmUp};
        let mut grid = grid();
        let mut accepts =
            |index, phase, start, end| grid.add(index, &interval(phase, start, end)).is_none();
        assert!(!accepts(0, WarmUp, S, 2 * S), "the first begins at 0");
        assert!(!accepts(0, Measure, 0, S), "the warm-up is longer");
        assert!(!accepts(0, Phase::Check, 0, S));
        assert!(accepts(0, WarmUp, 0, S));
        assert!(!accepts(0, Measure, 0, S), "of another phase than the first generator's");
        assert!(!accepts(0, WarmUp, 0, 0) && !accepts(0, WarmUp, 0, S + 1));
        assert!(!accepts(1, WarmUp, S - 1, 2 * S), "it overlaps the one before");
        assert!(!accepts(1, WarmUp, S + 1, 2 * S), "a gap");
        assert!(accepts(1, WarmUp, S, 2 * S));
        assert!(!accepts(2, WarmUp, 2 * S, 3 * S), "the warm-up is shorter");
        assert!(accepts(2, WarmUp, 2 * S, 2 * S + S / 2));
        assert!(!accepts(3, WarmUp, 3 * S, 3 * S + 1));
        assert!(accepts(3, Measure, 2 * S + S / 2, 2 * S + S / 2 + 1), "its clients have ended");
        assert!(!accepts(4, WarmUp, 3 * S + S / 2, 4 * S));
        assert!(accepts(4, Measure, 3 * S + S / 2, 4 * S + S / 2));
        assert!(accepts(3, Measure, 2 * S + S / 2, 3 * S + S / 2), "of another generator");
    }

    #[test]
    fn late_parts_are_of_intervals_that_were_closed() {
        let mut grid = grid();
        let first = interval(Phase::WarmUp, 0, S);
        assert!(grid.late_fault(1, &first).is_some(), "nothing is known");
        assert_eq!(grid.add(0, &first), None);
        assert_eq!(grid.late_fault(1, &first), None);
        assert!(grid.late_fault(0, &first).is_some(), "by another generator alone");
        assert!(grid.late_fault(1, &interval(Phase::Measure, 0, S)).is_some());
        assert!(grid.late_fault(1, &interval(Phase::WarmUp, S, 2 * S)).is_some());
    }

    #[test]
    fn an_interval_ends_with_the_window_at_the_latest() {
        let offer = OfferedLoad {
            limit: Limit::time(Duration::from_millis(1_500)),
            ..OfferedLoad::example()
        };
        let mut grid = IntervalGrid::new(&Window::of(&offer), offer.interval);
        assert_eq!(grid.add(0, &interval(Phase::Measure, 0, S)), None);
        let fault = grid.add(1, &interval(Phase::Measure, S, 2 * S)).unwrap();
        assert_eq!(fault, "it reported an interval from 1 to 2 s");
        assert_eq!(grid.add(1, &interval(Phase::Measure, S, S + S / 2)), None);
    }
}
