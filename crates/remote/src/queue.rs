//! A queue between two threads, bounded by its bytes.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use zeroize::Zeroizing;

/// Bytes that are wiped when they are dropped.
pub(crate) type Bytes = Zeroizing<Vec<u8>>;

/// At most this many bytes wait, or a single item that is larger.
const BYTES_MAX: usize = 4 << 20;
/// At most this many items that jump the queue wait.
const URGENT_MAX: usize = 256;

/// The queue. Both sides may be used by several threads.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    urgent: VecDeque<Bytes>,
    items: VecDeque<Bytes>,
    bytes: usize,
    /// Items that were taken and not declared done.
    in_work: usize,
    end: Option<End>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// No item comes any more; those that are here are still taken.
    Closed,
    /// No item is taken any more.
    Broken,
}

/// What came of an attempt to add an item.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Pushed {
    Yes,
    /// There was no room for it in time; here it is again.
    Full(Bytes),
    Ended,
}

/// What came of an attempt to take an item.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Popped {
    Item(Bytes),
    None,
    Ended,
}

impl Queue {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(
        &self,
        state: MutexGuard<'a, State>,
        bound: Duration,
        mut goes_on: impl FnMut(&State) -> bool,
    ) -> MutexGuard<'a, State> {
        let waited = self.changed.wait_timeout_while(state, bound, |state| goes_on(state));
        waited.unwrap_or_else(PoisonError::into_inner).0
    }

    /// Adds an item as soon as there is room for it, within `bound`.
    pub(crate) fn push(&self, item: Bytes, bound: Duration) -> Pushed {
        let is_full = |state: &State| {
            state.end.is_none() && state.bytes > 0 && state.bytes + item.len() > BYTES_MAX
        };
        let mut state = self.wait(self.state(), bound, is_full);
        if state.end.is_some() {
            return Pushed::Ended;
        }
        if is_full(&state) {
            return Pushed::Full(item);
        }
        state.bytes += item.len();
        state.items.push_back(item);
        drop(state);
        self.changed.notify_all();
        Pushed::Yes
    }

    /// Adds a small item before all others. False when too many of them wait.
    pub(crate) fn push_urgent(&self, item: Bytes) -> bool {
        let mut state = self.state();
        let has_room = state.urgent.len() < URGENT_MAX;
        if has_room {
            state.urgent.push_back(item);
        }
        drop(state);
        self.changed.notify_all();
        has_room
    }

    /// Takes the next item, when one comes within `bound`.
    pub(crate) fn pop(&self, bound: Duration) -> Popped {
        let is_empty = |state: &State| {
            state.end.is_none() && state.urgent.is_empty() && state.items.is_empty()
        };
        let mut state = self.wait(self.state(), bound, is_empty);
        if state.end == Some(End::Broken) {
            return Popped::Ended;
        }
        let popped = match state.urgent.pop_front() {
            Some(item) => Some(item),
            None => {
                let item = state.items.pop_front();
                state.bytes -= item.as_ref().map_or(0, |item| item.len());
                item
            }
        };
        let Some(item) = popped else {
            return if state.end.is_some() { Popped::Ended } else { Popped::None };
        };
        state.in_work += 1;
        drop(state);
        self.changed.notify_all();
        Popped::Item(item)
    }

    /// Declares that an item which was taken has been dealt with.
    pub(crate) fn done(&self) {
        let mut state = self.state();
        state.in_work = state.in_work.saturating_sub(1);
        drop(state);
        self.changed.notify_all();
    }

    /// Whether all items were taken and dealt with within `bound`.
    pub(crate) fn is_drained_within(&self, bound: Duration) -> bool {
        let is_busy = |state: &State| {
            state.end != Some(End::Broken)
                && (state.in_work > 0 || !state.items.is_empty() || !state.urgent.is_empty())
        };
        let state = self.wait(self.state(), bound, is_busy);
        !is_busy(&state) && state.end != Some(End::Broken)
    }

    /// Whether an item was taken and not yet dealt with.
    pub(crate) fn is_in_work(&self) -> bool {
        self.state().in_work > 0
    }

    pub(crate) fn close(&self) {
        let mut state = self.state();
        state.end = state.end.or(Some(End::Closed));
        drop(state);
        self.changed.notify_all();
    }

    /// Drops all items, and adds no more.
    pub(crate) fn break_off(&self) {
        let mut state = self.state();
        *state = State { end: Some(End::Broken), ..State::default() };
        drop(state);
        self.changed.notify_all();
    }

    /// Whether nothing can be added or taken any more.
    pub(crate) fn is_broken(&self) -> bool {
        self.state().end == Some(End::Broken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOON: Duration = Duration::from_millis(1);

    fn item(bytes: &[u8]) -> Bytes {
        Zeroizing::new(bytes.to_vec())
    }

    #[test]
    fn items_come_in_order_and_urgent_ones_first() {
        let queue = Queue::default();
        assert_eq!(queue.pop(SOON), Popped::None);
        for bytes in [b"a", b"b"] {
            assert_eq!(queue.push(item(bytes), SOON), Pushed::Yes);
        }
        assert!(queue.push_urgent(item(b"now")));
        assert!(!queue.is_drained_within(SOON));
        for bytes in [&b"now"[..], b"a", b"b"] {
            assert_eq!(queue.pop(SOON), Popped::Item(item(bytes)));
            queue.done();
        }
        assert!(queue.is_drained_within(SOON));
    }

    #[test]
    fn bytes_and_urgent_items_are_bounded_but_a_large_item_passes_alone() {
        let queue = Queue::default();
        let large = Zeroizing::new(vec![0; BYTES_MAX + 1]);
        assert_eq!(queue.push(large, SOON), Pushed::Yes);
        assert_eq!(queue.push(item(b"a"), SOON), Pushed::Full(item(b"a")));
        assert!(matches!(queue.pop(SOON), Popped::Item(_)));
        assert_eq!(queue.push(item(b"a"), SOON), Pushed::Yes);
        let added = (0..2 * URGENT_MAX).filter(|_| queue.push_urgent(item(b"u"))).count();
        assert_eq!(added, URGENT_MAX);
    }

    #[test]
    fn a_closed_queue_is_emptied_and_a_broken_one_is_not() {
        let queue = Queue::default();
        assert_eq!(queue.push(item(b"a"), SOON), Pushed::Yes);
        queue.close();
        assert_eq!(queue.push(item(b"b"), SOON), Pushed::Ended);
        assert_eq!(queue.pop(SOON), Popped::Item(item(b"a")));
        assert_eq!(queue.pop(SOON), Popped::Ended);
        let queue = Queue::default();
        assert_eq!(queue.push(item(b"a"), SOON), Pushed::Yes);
        queue.break_off();
        assert_eq!(queue.pop(SOON), Popped::Ended);
        assert!(queue.is_broken() && !queue.is_drained_within(SOON));
    }
}
