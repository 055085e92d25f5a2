//! What an event loop has to do while a call blocks its thread, such as a statement of an embedded database.
//!
//! The call itself asks [`must_end`] from time to time. So time-outs, ticks and stops act as they do between two
//! events, on the same thread and without a lock.

use std::cell::RefCell;
use std::rc::Rc;

type Check = Rc<dyn Fn() -> bool>;

thread_local! {
    static CHECK: RefCell<Option<Check>> = const { RefCell::new(None) };
}

/// The check of this thread's event loop, for as long as this value lives.
#[must_use = "the check ends when this is dropped"]
pub struct BlockingCheck(Option<Check>);

impl BlockingCheck {
    /// Has `check` called while a call blocks this thread. It returns whether the call must end.
    pub fn set(check: impl Fn() -> bool + 'static) -> Self {
        Self(CHECK.replace(Some(Rc::new(check))))
    }
}

impl Drop for BlockingCheck {
    fn drop(&mut self) {
        CHECK.set(self.0.take());
    }
}

/// Does what this thread's event loop has to do by now; returns whether the call that blocks it must end. False on a
/// thread without a loop.
pub fn must_end() -> bool {
    let check = CHECK.with_borrow(Clone::clone);
    check.is_some_and(|check| check())
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn the_check_of_a_thread_is_called_until_it_is_dropped() {
        assert!(!must_end());
        let calls = Rc::new(Cell::new(0));
        let counted = Rc::clone(&calls);
        let check = BlockingCheck::set(move || {
            counted.set(counted.get() + 1);
            counted.get() == 3
        });
        assert_eq!([must_end(), must_end(), must_end()], [false, false, true]);
        assert!(!std::thread::spawn(must_end).join().unwrap(), "another thread has none");
        drop(check);
        assert!(!must_end());
        assert_eq!((calls.get(), Rc::strong_count(&calls)), (3, 1));
    }
}
