//! Times in which no transaction succeeded.

use net::Nanos;
use serde::{Deserialize, Serialize};

/// Shorter times without a success are not kept.
pub(crate) const QUIET_MIN_NS: Nanos = 500_000_000;
/// This many are kept for a worker, to bound memory.
pub(crate) const QUIET_MAX: usize = 1_000;

/// A time in which no transaction of a worker succeeded, on the trial's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct QuietTime {
    pub(crate) start: Nanos,
    /// The next success; `None` when there was none.
    pub(crate) end: Option<Nanos>,
    /// Since when a transaction had waited for its answer; `None` when none did.
    pub(crate) waits_since: Option<Nanos>,
}

/// The times in which no transaction of a worker, or of all workers, succeeded, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Quiet(pub(crate) Vec<QuietTime>);

impl QuietTime {
    fn end_or_max(self) -> Nanos {
        self.end.unwrap_or(Nanos::MAX)
    }

    /// When the first transaction without an answer began to wait.
    pub(crate) fn stalled_since(self) -> Option<Nanos> {
        self.waits_since.map(|since| since.max(self.start))
    }
}

impl Quiet {
    pub(crate) fn push(&mut self, time: QuietTime) {
        if self.0.len() < QUIET_MAX {
            self.0.push(time);
        }
    }

    /// Whether each ends before the next begins.
    pub(crate) fn are_in_order(&self) -> bool {
        let have_lengths = self.0.iter().all(|time| time.start <= time.end_or_max());
        have_lengths && self.0.is_sorted_by(|one, next| one.end_or_max() <= next.start)
    }

    /// The times in which both were quiet.
    pub(crate) fn and(&self, other: &Self) -> Self {
        let (mut one, mut two) = (self.0.iter().peekable(), other.0.iter().peekable());
        let mut both = Vec::new();
        while let (Some(a), Some(b)) = (one.peek(), two.peek()) {
            let start = a.start.max(b.start);
            let end = a.end_or_max().min(b.end_or_max());
            if end.saturating_sub(start) >= QUIET_MIN_NS {
                let waits_since = a.waits_since.into_iter().chain(b.waits_since).min();
                both.push(QuietTime { start, end: (end < Nanos::MAX).then_some(end), waits_since });
            }
            if a.end_or_max() <= b.end_or_max() {
                one.next()
            } else {
                two.next()
            };
        }
        Self(both)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: Nanos = 1_000_000_000;

    fn time(start: Nanos, end: Option<Nanos>, waits_since: Option<Nanos>) -> QuietTime {
        QuietTime { start, end, waits_since }
    }

    #[test]
    fn all_workers_are_quiet_where_each_one_is() {
        let one = Quiet(vec![time(0, Some(4 * S), Some(S)), time(6 * S, None, Some(7 * S))]);
        let two = Quiet(vec![time(2 * S, Some(8 * S), Some(3 * S)), time(9 * S, None, None)]);
        let both = one.and(&two);
        let expected = [
            time(2 * S, Some(4 * S), Some(S)),
            time(6 * S, Some(8 * S), Some(3 * S)),
            time(9 * S, None, Some(7 * S)),
        ];
        assert_eq!(both.0, expected);
        assert_eq!(both, two.and(&one));
        assert_eq!(both.0[0].stalled_since(), Some(2 * S));
    }

    #[test]
    fn a_worker_that_never_pauses_leaves_no_quiet_time() {
        let one = Quiet(vec![time(0, None, Some(0))]);
        assert_eq!(one.and(&Quiet::default()), Quiet::default());
        let short = Quiet(vec![time(S, Some(S + QUIET_MIN_NS - 1), None)]);
        assert_eq!(one.and(&short), Quiet::default());
    }
}
