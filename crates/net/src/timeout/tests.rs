//! Time-outs come neither too early nor too late, in virtual time.

use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

use super::*;
use crate::coarse_timers::SWEEP_NS;
use crate::{Clock, Nanos, Runtime};

const MS: Nanos = 1_000_000;

/// Starts a wait of `bound_ms` at `begin_ms` and returns when it timed out, ms.
fn over_at_ms(begin_ms: u64, bound_ms: u64) -> Option<u64> {
    let mut runtime = Runtime::new(Clock::simulated()).unwrap();
    let handle = runtime.handle();
    let over = Rc::new(RefCell::new(None));
    let seen = Rc::clone(&over);
    runtime.spawn(async move {
        let timeout = Timeout::new(&handle, Duration::from_millis(bound_ms));
        handle.sleep(Duration::from_millis(begin_ms)).await;
        timeout.begin();
        poll_fn(|_| if timeout.is_over() { Poll::Ready(()) } else { Poll::Pending }).await;
        *seen.borrow_mut() = Some(handle.now() / MS);
    });
    runtime.run(|| Some(Nanos::MAX)).unwrap();
    over.take()
}

#[test]
fn a_wait_expires_at_its_bound_or_shortly_after() {
    for begin in [0, 1, 19, 20, 21, 55] {
        for bound in [1, 20, 45, 500] {
            let lasted = over_at_ms(begin, bound).unwrap() - begin;
            let room = 2 * SWEEP_NS / MS;
            assert!((bound..=bound + room).contains(&lasted), "{begin} {bound}: {lasted}");
        }
    }
}

#[test]
fn idle_timeouts_do_not_expire_and_dropped_ones_are_removed() {
    let mut runtime = Runtime::new(Clock::simulated()).unwrap();
    let handle = runtime.handle();
    let polls = Rc::new(RefCell::new(0));
    let counted = Rc::clone(&polls);
    runtime.spawn(async move {
        let timeout = Timeout::new(&handle, Duration::from_millis(30));
        timeout.begin();
        timeout.end();
        let mut pause = Box::pin(handle.sleep(Duration::from_secs(1)));
        poll_fn(|context| {
            *counted.borrow_mut() += 1;
            pause.as_mut().poll(context)
        })
        .await;
        assert!(!timeout.is_over());
        drop(timeout);
        handle.sleep(Duration::from_millis(100)).await;
        assert_eq!(handle.coarse_timers().due(), Nanos::MAX, "nothing is left to sweep");
    });
    runtime.run(|| Some(Nanos::MAX)).unwrap();
    assert_eq!(*polls.borrow(), 2, "once to begin, once at the end");
}

#[test]
fn a_reused_timeout_slot_starts_fresh() {
    let mut runtime = Runtime::new(Clock::simulated()).unwrap();
    let handle = runtime.handle();
    runtime.spawn(async move {
        let bound = Duration::from_millis(30);
        let (first, other) = (Timeout::new(&handle, bound), Timeout::new(&handle, bound));
        first.begin();
        poll_fn(|_| if first.is_over() { Poll::Ready(()) } else { Poll::Pending }).await;
        assert!(!other.is_over());
        drop(first);
        let next = Timeout::new(&handle, Duration::from_millis(500));
        assert!(!next.is_over());
        next.begin();
        handle.sleep(Duration::from_millis(200)).await;
        assert!(!next.is_over() && !other.is_over());
        assert_eq!(handle.coarse_timers().places(), 2, "no more than wait at once");
    });
    runtime.run(|| Some(Nanos::MAX)).unwrap();
}
