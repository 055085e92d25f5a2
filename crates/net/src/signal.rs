//! How futures of one event loop wake each other: a signal for one waiting future, a gate for many.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::rc::Rc;
use std::task::Poll;

use crate::Handle;
use crate::task::TaskId;

/// Wakes one waiting future of the same event loop. A wake before the wait is kept, so that none is lost; several
/// wakes before one wait count as one. Nothing is allocated after `new`.
#[derive(Clone)]
pub struct Signal(Rc<SignalState>);

struct SignalState {
    handle: Handle,
    is_set: Cell<bool>,
    waiting: Cell<Option<TaskId>>,
}

impl Signal {
    /// A signal between futures of the loop of `handle`.
    pub fn new(handle: &Handle) -> Self {
        let handle = handle.clone();
        Self(Rc::new(SignalState { handle, is_set: Cell::new(false), waiting: Cell::new(None) }))
    }

    /// Sets the signal. A future that waits for it is polled before the loop next waits for the kernel.
    #[inline]
    pub fn wake(&self) {
        self.0.is_set.set(true);
        if let Some(task) = self.0.waiting.take() {
            self.0.handle.wake(task);
        }
    }

    /// Waits until the signal is set, and clears it. One future waits at a time: where several do, only
    /// the last one is woken.
    pub async fn wait(&self) {
        poll_fn(|_| self.poll_wait()).await;
    }

    /// As [`Signal::wait`], for a future that waits for several things at once, such as a socket and
    /// requests to send.
    #[inline]
    pub fn poll_wait(&self) -> Poll<()> {
        if self.0.is_set.take() {
            self.0.waiting.set(None);
            return Poll::Ready(());
        }
        self.0.waiting.set(Some(self.0.handle.current()));
        Poll::Pending
    }
}

/// Holds futures of one loop until it is opened.
#[derive(Clone, Default)]
pub struct Gate(Rc<GateState>);

#[derive(Default)]
struct GateState {
    is_open: Cell<bool>,
    waiting: RefCell<Vec<TaskId>>,
}

impl Gate {
    /// Waits until the gate is open.
    pub async fn wait(&self, handle: &Handle) {
        poll_fn(|_| {
            if self.0.is_open.get() {
                return Poll::Ready(());
            }
            self.0.waiting.borrow_mut().push(handle.current());
            Poll::Pending
        })
        .await;
    }

    /// Opens the gate permanently and wakes the futures that wait at it.
    pub fn open(&self, handle: &Handle) {
        self.0.is_open.set(true);
        self.0.waiting.take().into_iter().for_each(|task| handle.wake(task));
    }

    #[inline]
    pub fn is_open(&self) -> bool {
        self.0.is_open.get()
    }
}

#[cfg(test)]
mod tests;
