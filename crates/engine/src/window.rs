//! Where the phases of a trial begin and end on its clock. A phase that ends by itself ends where an interval does
//! that no worker has passed, so that all workers have the same intervals.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use measure::{Phase, nanos};
use net::Nanos;

use crate::OfferedLoad;

/// The warm-up, the measured window and their intervals, as the coordinator and all workers of a trial see them.
pub(crate) struct Window {
    interval_ns: Nanos,
    warm_up: Reach,
    warm_up_max_ns: Nanos,
    /// Planned length of the measured window; `None` when only a number of events ends it.
    length_ns: Option<Nanos>,
    /// How far workers have begun to measure.
    measured: Reach,
    /// The end of the measured window: the planned one, or an earlier one.
    end: AtomicU64,
    plan: Mutex<PlannedEnd>,
}

struct PlannedEnd {
    at: Nanos,
    is_early: bool,
}

/// How far a phase reaches at least, and whether it ends there. Workers extend it before they enter a new interval;
/// who ends it gets the end of the last interval that a worker has entered.
struct Reach(AtomicU64);

const IS_END: u64 = 1 << 63;

impl Reach {
    fn until(at: Nanos, is_end: bool) -> Self {
        Self(AtomicU64::new(at | if is_end { IS_END } else { 0 }))
    }

    /// Whether `at` is in the phase; `None` when that is still open.
    #[inline]
    fn contains(&self, at: Nanos) -> Option<bool> {
        let state = self.0.load(Ordering::Relaxed);
        let is_within = at < state & !IS_END;
        (is_within || state & IS_END != 0).then_some(is_within)
    }

    /// Lets it reach `until` at least, unless it has ended; there it ends if `is_end`.
    #[cold]
    fn extend(&self, until: Nanos, is_end: bool) {
        let further = until | if is_end { IS_END } else { 0 };
        let is_short = |state: u64| state & IS_END == 0 && state < until;
        let _ = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |state| {
            is_short(state).then_some(further)
        });
    }

    /// Ends it where it reaches, and returns where that is.
    fn end(&self) -> Nanos {
        self.0.fetch_or(IS_END, Ordering::Relaxed) & !IS_END
    }

    /// Ends it at `at`, or where it reaches if that is later, and returns where it ends.
    fn end_at(&self, at: Nanos) -> Nanos {
        let end = |state: u64| (state & IS_END == 0).then_some(state.max(at) | IS_END);
        let _ = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, end);
        self.0.load(Ordering::Relaxed) & !IS_END
    }

    fn ended_at(&self) -> Option<Nanos> {
        let state = self.0.load(Ordering::Relaxed);
        (state & IS_END != 0).then_some(state & !IS_END)
    }
}

impl Window {
    pub(crate) fn of(offer: &OfferedLoad) -> Self {
        let interval_ns = nanos(offer.interval).max(1);
        let longest = nanos(offer.warm_up) & !IS_END;
        let first = offer.ends.warm_up_from.map_or(longest, |from| {
            nanos(from).div_ceil(interval_ns).max(1).saturating_mul(interval_ns).min(longest)
        });
        let length_ns = offer.limit.time.map(nanos);
        let end = length_ns.map_or(Nanos::MAX, |length| longest.saturating_add(length));
        Self {
            interval_ns,
            warm_up: Reach::until(first, first == longest),
            warm_up_max_ns: longest,
            length_ns,
            measured: Reach::until(0, false),
            end: AtomicU64::new(end),
            plan: Mutex::new(PlannedEnd { at: end, is_early: false }),
        }
    }

    /// Whether `at` is in the warm-up. A warm-up that has not ended then lasts for the whole interval.
    #[inline]
    pub(crate) fn is_warm_up(&self, at: Nanos) -> bool {
        self.warm_up.contains(at).unwrap_or_else(|| self.extend_warm_up(at))
    }

    #[cold]
    fn extend_warm_up(&self, at: Nanos) -> bool {
        let until = (at / self.interval_ns + 1).saturating_mul(self.interval_ns);
        let until = until.min(self.warm_up_max_ns);
        self.warm_up.extend(until, until == self.warm_up_max_ns);
        self.warm_up.contains(at) == Some(true)
    }

    /// The least length of the warm-up as far as it is known, and the longest.
    pub(crate) fn warm_up_bounds(&self) -> (Nanos, Nanos) {
        (self.warm_up.0.load(Ordering::Relaxed) & !IS_END, self.warm_up_max_ns)
    }

    /// The begin of the measured window; `None` as long as it is open.
    pub(crate) fn start(&self) -> Option<Nanos> {
        self.warm_up.ended_at()
    }

    /// As [`Window::start`], with a time that no transaction reaches as long as it is open.
    #[inline]
    pub(crate) fn start_or_never(&self) -> Nanos {
        self.start().unwrap_or(Nanos::MAX)
    }

    /// The end of the interval that a worker enters at `start`. The last one of the warm-up may be shorter.
    pub(crate) fn enter_interval(&self, start: Nanos) -> Nanos {
        let end = start.saturating_add(self.interval_ns);
        if self.is_warm_up(start) {
            return end.min(self.start().unwrap_or(self.warm_up_max_ns));
        }
        self.measured.extend(end, false);
        if let Some(ended_at) = self.measured.ended_at() {
            self.end_at(ended_at);
        }
        end
    }

    pub(crate) fn end_warm_up(&self) {
        self.measure_from(self.warm_up.end());
    }

    /// Ends the warm-up where it has lasted as long as it may, when that is not after `at`.
    pub(crate) fn end_longest_warm_up(&self, at: Nanos) {
        if at >= self.warm_up_max_ns && self.start().is_none() {
            self.end_warm_up_at(self.warm_up_max_ns);
        }
    }

    /// Ends the warm-up at `at`, where an interval ends. Returns whether it ends there: if a worker has passed `at`,
    /// it ends where that worker has got to.
    pub(crate) fn end_warm_up_at(&self, at: Nanos) -> bool {
        let start = self.warm_up.end_at(at.min(self.warm_up_max_ns));
        self.measure_from(start);
        start == at
    }

    /// The first end of an interval of a phase at or after `at`, which must be in the phase.
    pub(crate) fn edge_after(&self, phase: Phase, at: Nanos) -> Nanos {
        let on_grid = |length: Nanos| length.div_ceil(self.interval_ns) * self.interval_ns;
        if phase == Phase::WarmUp {
            let (least, longest) = self.warm_up_bounds();
            return on_grid(at).max(least).min(longest);
        }
        let start = self.start().unwrap_or(self.warm_up_max_ns);
        start + on_grid(at.saturating_sub(start))
    }

    fn measure_from(&self, start: Nanos) {
        let Some(length) = self.length_ns else { return };
        let mut plan = self.plan.lock().unwrap_or_else(PoisonError::into_inner);
        if !plan.is_early {
            plan.at = start.saturating_add(length);
            self.end.store(plan.at, Ordering::Relaxed);
        }
    }

    /// Ends the measured window with the last interval that a worker has entered.
    pub(crate) fn end_measuring(&self) {
        self.end_at(self.measured.end());
    }

    /// Ends the measured window at `at`, before its planned end. The first call applies.
    pub(crate) fn end_at(&self, at: Nanos) {
        self.end_early(at, || at);
    }

    /// As [`Window::end_at`], but not before the last interval that a worker has entered, so that what it has counted
    /// there stays. `at` may be of a worker that was held up since.
    pub(crate) fn stop_at(&self, at: Nanos) {
        self.end_early(at, || {
            let entered = self.measured.end().checked_sub(self.interval_ns);
            entered.map_or(at, |start| at.max(start + 1))
        });
    }

    /// Ends the window at `end()` if it would last longer than `at`, and does so once.
    fn end_early(&self, at: Nanos, end: impl FnOnce() -> Nanos) {
        if at >= self.end() {
            return;
        }
        let mut plan = self.plan.lock().unwrap_or_else(PoisonError::into_inner);
        if !plan.is_early && at < plan.at {
            plan.is_early = true;
            // A worker that enters an interval meanwhile waits for the lock, and then sees the end.
            self.end.store(end(), Ordering::Relaxed);
        }
    }

    /// The end of the measured window as far as it is known. No turn begins from then on.
    #[inline]
    pub(crate) fn end(&self) -> Nanos {
        self.end.load(Ordering::Relaxed)
    }

    /// Whether the window ends before its planned end.
    pub(crate) fn ends_early(&self) -> bool {
        self.plan.lock().unwrap_or_else(PoisonError::into_inner).is_early
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use plan::Limit;

    use super::*;
    use crate::PhaseEnds;

    /// A warm-up of 45 ns at most, intervals of 10 ns and 20 ns to measure.
    fn window(warm_up_from_ns: Option<u64>) -> Window {
        let ends =
            PhaseEnds { warm_up_from: warm_up_from_ns.map(Duration::from_nanos), measured: true };
        Window::of(&OfferedLoad {
            warm_up: Duration::from_nanos(45),
            limit: Limit::time(Duration::from_nanos(20)),
            interval: Duration::from_nanos(10),
            ends,
            ..OfferedLoad::example()
        })
    }

    #[test]
    fn intervals_stop_short_at_the_end_of_the_warm_up() {
        let window = window(None);
        assert_eq!([0, 40, 45, 55].map(|start| window.enter_interval(start)), [10, 45, 55, 65]);
        assert_eq!((window.start(), window.end(), window.ends_early()), (Some(45), 65, false));
    }

    #[test]
    fn a_warm_up_that_ends_by_itself_ends_with_an_interval_that_no_worker_has_passed() {
        let window = window(Some(15));
        // The first interval that begins after 15 ns begins at 20 ns.
        assert_eq!((window.is_warm_up(19), window.start(), window.end()), (true, None, 65));
        assert!(window.is_warm_up(21), "a worker has entered the interval from 20 to 30 ns");
        window.end_warm_up();
        assert_eq!((window.start(), window.end()), (Some(30), 50));
        assert_eq!([29, 30].map(|at| window.is_warm_up(at)), [true, false]);
        assert_eq!([20, 30].map(|start| window.enter_interval(start)), [30, 40]);
        window.end_warm_up();
        assert_eq!((window.start(), window.end(), window.ends_early()), (Some(30), 50, false));
    }

    #[test]
    fn a_warm_up_that_does_not_end_by_itself_ends_at_its_limit() {
        let window = window(Some(15));
        assert_eq!([0, 20, 30, 40].map(|start| window.enter_interval(start)), [10, 30, 40, 45]);
        assert_eq!((window.start(), window.is_warm_up(45)), (Some(45), false));
        window.end_warm_up();
        assert_eq!((window.start(), window.end()), (Some(45), 65));
    }

    #[test]
    fn a_warm_up_ends_where_it_is_told_unless_a_worker_has_passed_that() {
        let told = window(Some(15));
        assert!(told.is_warm_up(21), "a worker is in the interval from 20 to 30 ns");
        assert!(told.end_warm_up_at(40));
        assert_eq!((told.start(), told.end()), (Some(40), 60));
        assert_eq!([39, 40].map(|at| told.is_warm_up(at)), [true, false]);
        assert!(!told.end_warm_up_at(30), "it has ended");
        let passed = window(Some(15));
        assert!(passed.is_warm_up(31));
        assert!(!passed.end_warm_up_at(30));
        assert_eq!((passed.start(), passed.end()), (Some(40), 60));
    }

    #[test]
    fn the_next_edge_is_the_end_of_an_interval_of_the_phase() {
        let window = window(Some(15));
        let in_warm_up = [0, 20, 21, 30, 44].map(|at| window.edge_after(Phase::WarmUp, at));
        assert_eq!(in_warm_up, [20, 20, 30, 30, 45], "not before 15 ns, and at 45 ns at most");
        window.end_warm_up_at(30);
        let measured = [30, 31, 40, 41].map(|at| window.edge_after(Phase::Measure, at));
        assert_eq!(measured, [30, 40, 40, 50]);
    }

    #[test]
    fn measuring_ends_with_the_last_interval_that_a_worker_has_entered() {
        let whole = window(None);
        assert_eq!(whole.enter_interval(45), 55);
        whole.end_measuring();
        assert_eq!((whole.end(), whole.ends_early()), (55, true));
        assert_eq!(whole.enter_interval(55), 65, "after the end");
        whole.end_at(50);
        assert_eq!(whole.end(), 55, "the first end applies");
        // Another worker has counted in the interval from 55 ns on.
        let ahead = window(None);
        assert_eq!([45, 55].map(|start| ahead.enter_interval(start)), [55, 65]);
        ahead.stop_at(52);
        assert_eq!(
            (ahead.end(), ahead.ends_early()),
            (56, true),
            "the interval of the other counts"
        );
        let level = window(None);
        assert_eq!(level.enter_interval(45), 55);
        level.stop_at(52);
        assert_eq!(level.end(), 52);
        assert_eq!(level.enter_interval(55), 65, "it has ended");
        assert_eq!(level.end(), 52);
        // An interrupt in the warm-up is earlier than any end.
        let interrupted = window(Some(15));
        interrupted.stop_at(7);
        interrupted.end_warm_up();
        assert_eq!((interrupted.end(), interrupted.start()), (7, Some(20)));
    }

    #[test]
    fn workers_that_run_ahead_agree_on_the_end() {
        for _ in 0..200 {
            let reach = Reach::until(10, false);
            let (reach, workers) = (&reach, 3);
            std::thread::scope(|scope| {
                let entered = (0..workers).map(|_| {
                    scope.spawn(move || {
                        let mut at = 10;
                        while reach.contains(at) != Some(false) {
                            reach.extend(at + 10, false);
                            at += if reach.contains(at) == Some(true) { 10 } else { 0 };
                        }
                        at
                    })
                });
                let entered: Vec<_> = entered.collect();
                let end = reach.end();
                for worker in entered {
                    assert_eq!(worker.join().unwrap(), end);
                }
            });
        }
    }
}
