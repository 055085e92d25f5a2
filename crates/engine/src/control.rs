//! The state that the coordinator and the workers of a trial share, and the messages between them.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::mpsc::Sender;

use net::{Nanos, Remote};

use crate::report::UnitReport;
use crate::window::Window;
use crate::{OfferedLoad, Stop, StopLevel};

const NOT_STARTED: Nanos = Nanos::MAX;

/// The state that the coordinator and all workers of a trial share.
pub(crate) struct Control {
    /// Time 0 of the trial on the workers' clock.
    start: AtomicU64,
    /// The number of transactions, if it limits the window.
    budget: Option<Budget>,
    pub(crate) stop: Stop,
    /// Whether this trial ends at once, without waiting for answers.
    is_abandoned: AtomicBool,
    /// The phases and intervals on the trial's clock.
    pub(crate) window: Window,
    /// Whether a worker waits after each interval until the observer has seen it and may have ended the phase: in
    /// virtual time, so that the end does not depend on the threads.
    pub(crate) waits_for_observer: bool,
    /// Whether these are the workers of one of several generators. Then the coordinator of all of them alone ends the
    /// window before its plan does, so that it ends for all at one time; only a share of a number of transactions
    /// ends by itself.
    pub(crate) is_part: bool,
    /// Whether the user ended the load of which this is a part.
    is_interrupted: AtomicBool,
}

/// A number of transactions that may begin in the window, and after whose ends it is over.
struct Budget {
    /// How many may still begin.
    begins: AtomicI64,
    /// How many ends are still counted.
    ends: AtomicI64,
    spent_at: AtomicU64,
    last_end: AtomicU64,
}

impl Budget {
    fn new(events: u64) -> Self {
        let events = i64::try_from(events).unwrap_or(i64::MAX);
        Self {
            begins: AtomicI64::new(events),
            ends: AtomicI64::new(events),
            spent_at: AtomicU64::new(Nanos::MAX),
            last_end: AtomicU64::new(0),
        }
    }
}

/// Whether the end of a transaction is one of a limited number.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Share {
    /// It is, or there is no limit.
    One,
    Last,
    /// It is one too many.
    None,
}

impl Control {
    /// The state before the start.
    pub(crate) fn new(offer: &OfferedLoad, stop: Stop) -> Self {
        Self {
            start: AtomicU64::new(NOT_STARTED),
            budget: offer.limit.events.map(Budget::new),
            stop,
            is_abandoned: AtomicBool::new(false),
            window: Window::of(offer),
            waits_for_observer: offer.is_virtual() && offer.ends.any(),
            is_part: false,
            is_interrupted: AtomicBool::new(false),
        }
    }

    /// The state of one of several generators, before the start.
    pub(crate) fn of_part(offer: &OfferedLoad) -> Self {
        Self { is_part: true, ..Self::new(offer, Stop::new()) }
    }

    pub(crate) fn start_at(&self, at: Nanos) {
        self.start.store(at, Ordering::Release);
    }

    /// Ends this trial at once.
    pub(crate) fn abandon(&self) {
        self.is_abandoned.store(true, Ordering::Release);
    }

    /// Ends the measured window at `at` on the trial's clock, before its planned end. The first call applies.
    pub(crate) fn end_at(&self, at: Nanos) {
        self.window.end_at(at);
    }

    /// Ends the measured window now, `at`, because somebody asks for it. A part of a load ends at the same moment as
    /// the others.
    pub(crate) fn stop_at(&self, at: Nanos) {
        match self.is_part {
            true => self.window.end_at(at),
            false => self.window.stop_at(at),
        }
    }

    /// As [`Control::end_at`], for what one worker alone has seen.
    pub(crate) fn end_all_at(&self, at: Nanos) {
        if !self.is_part {
            self.end_at(at);
        }
    }

    /// Lets a part end without waiting for answers as long as otherwise.
    pub(crate) fn interrupt(&self) {
        self.is_interrupted.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_interrupted(&self) -> bool {
        self.stop.is_asked() || self.is_interrupted.load(Ordering::Relaxed)
    }

    /// The end of the measured window on the trial's clock, as far as it is known. No turn begins from then on.
    #[inline]
    pub(crate) fn end(&self) -> Nanos {
        self.window.end()
    }

    /// Whether one more transaction may begin in the window, at `at`.
    #[inline]
    pub(crate) fn begins(&self, at: Nanos) -> bool {
        let Some(budget) = &self.budget else { return true };
        let left = budget.begins.fetch_sub(1, Ordering::Relaxed);
        if left == 1 {
            budget.spent_at.store(at, Ordering::Relaxed);
        }
        left > 0
    }

    /// Takes the share of a transaction that ends in the window, at `at`.
    #[inline]
    pub(crate) fn ends(&self, at: Nanos) -> Share {
        let Some(budget) = &self.budget else { return Share::One };
        budget.last_end.fetch_max(at, Ordering::Relaxed);
        match budget.ends.fetch_sub(1, Ordering::Relaxed) {
            1 => Share::Last,
            2.. => Share::One,
            _ => Share::None,
        }
    }

    /// When the last of a limited number of transactions began. The interval of this time lasts until the window's end.
    #[inline]
    pub(crate) fn spent_at(&self) -> Nanos {
        self.budget.as_ref().map_or(Nanos::MAX, |budget| budget.spent_at.load(Ordering::Relaxed))
    }

    /// Ends the window with the last end so far, because the others are not answered in time.
    pub(crate) fn give_up(&self) {
        if let Some(budget) = &self.budget {
            self.end_at(budget.last_end.load(Ordering::Relaxed).max(self.spent_at()));
        }
    }

    pub(crate) fn started(&self) -> Option<Nanos> {
        let at = self.start.load(Ordering::Acquire);
        (at != NOT_STARTED).then_some(at)
    }

    pub(crate) fn is_cut_short(&self) -> bool {
        self.stop.level() == StopLevel::AtOnce
            || self.is_abandoned.load(Ordering::Acquire)
            || (self.stop.is_asked() && self.started().is_none())
    }
}

pub(crate) enum Message {
    /// The worker's loop is up and can be woken.
    Up { remote: Remote },
    Report {
        worker: usize,
        report: UnitReport,
        /// Dropped when the observer has seen the interval that is reported.
        seen: Option<Sender<()>>,
    },
}
