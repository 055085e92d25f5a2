//! Which parts of the HTTP/2 machine are to be polled: the event loop does nothing for wakers of the standard library,
//! so these only write down who was woken.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Wake, Waker};

/// The places of calls that were woken, each once.
#[derive(Debug, Default)]
pub(super) struct ReadyList(Mutex<Vec<usize>>);

impl ReadyList {
    /// Moves the woken places to `places`, whose own content is dropped.
    pub(super) fn take(&self, places: &mut Vec<usize>) {
        places.clear();
        std::mem::swap(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner), places);
    }
}

#[derive(Debug)]
pub(super) struct PlaceWaker {
    place: usize,
    is_listed: AtomicBool,
    list: Arc<ReadyList>,
}

impl PlaceWaker {
    pub(super) fn new(place: usize, list: &Arc<ReadyList>) -> Arc<Self> {
        Arc::new(Self { place, is_listed: AtomicBool::new(false), list: Arc::clone(list) })
    }

    /// Says that the place was taken from the list.
    pub(super) fn on_taken(&self) {
        self.is_listed.store(false, Ordering::Relaxed);
    }
}

impl Wake for PlaceWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.is_listed.swap(true, Ordering::Relaxed) {
            self.list.0.lock().unwrap_or_else(PoisonError::into_inner).push(self.place);
        }
    }
}

/// Whether the connection itself was woken.
#[derive(Debug, Default)]
pub(super) struct Flag(AtomicBool);

impl Flag {
    pub(super) fn with_waker() -> (Arc<Self>, Waker) {
        let flag = Arc::new(Self::default());
        (Arc::clone(&flag), Waker::from(flag))
    }

    /// Whether the flag was set since the last call.
    pub(super) fn take(&self) -> bool {
        self.0.swap(false, Ordering::Relaxed)
    }
}

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}
