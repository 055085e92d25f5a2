//! Timers, futures that are spawned while the loop runs, and the end of a loop.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::task::Poll;
use std::thread;
use std::time::Duration;

use super::*;
use crate::read_budget::READS_PER_POLL;
use crate::within;

/// A loop in virtual time.
fn simulated() -> (Runtime, Handle) {
    let runtime = Runtime::new(Clock::simulated()).unwrap();
    let handle = runtime.handle();
    (runtime, handle)
}

#[test]
fn timers_fire_in_order_at_exactly_their_time() {
    let (mut runtime, handle) = simulated();
    let fired = Rc::new(RefCell::new(Vec::new()));
    for milliseconds in [30, 10, 20, 10] {
        let (handle, fired) = (handle.clone(), Rc::clone(&fired));
        runtime.spawn(async move {
            handle.sleep(Duration::from_millis(milliseconds)).await;
            fired.borrow_mut().push(handle.now() / 1_000_000);
        });
    }
    runtime.run(|| Some(Nanos::MAX)).unwrap();
    assert_eq!(*fired.borrow(), [10, 10, 20, 30]);
}

#[test]
fn a_time_that_has_passed_is_not_waited_for() {
    let (mut runtime, handle) = simulated();
    let now = runtime.block_on(async move {
        handle.sleep(Duration::from_secs(1)).await;
        handle.sleep_until(5).await;
        handle.now()
    });
    assert_eq!(now.unwrap(), 1_000_000_000);
}

#[test]
fn the_loop_wakes_at_its_tick_and_stops_on_request() {
    let (mut runtime, handle) = simulated();
    let sleeper = handle.clone();
    runtime.spawn(async move { sleeper.sleep(Duration::from_secs(3600)).await });
    let mut ticks = Vec::new();
    let ended = runtime.run(|| {
        ticks.push(handle.now());
        (ticks.len() < 4).then_some(handle.now() + 100)
    });
    ended.unwrap();
    assert_eq!(ticks, [0, 100, 200, 300]);
}

#[test]
fn an_idle_virtual_loop_reports_a_deadlock() {
    let (mut runtime, _) = simulated();
    let stuck: io::Result<()> = runtime.block_on(std::future::pending());
    assert!(stuck.unwrap_err().to_string().contains("nothing left to wait for"));
}

#[test]
fn a_spawned_future_may_spawn_others_and_the_loop_waits_for_its_own_alone() {
    let (mut runtime, handle) = simulated();
    let ended = Rc::new(RefCell::new(Vec::new()));
    let (own, kept) = (handle.clone(), Rc::clone(&ended));
    runtime.spawn(async move {
        for length in [4, 20] {
            let (handle, ended) = (own.clone(), Rc::clone(&kept));
            own.spawn(async move {
                handle.sleep(Duration::from_nanos(length)).await;
                ended.borrow_mut().push(handle.now());
            });
        }
        own.sleep(Duration::from_nanos(9)).await;
        kept.borrow_mut().push(own.now());
    });
    runtime.run(|| Some(Nanos::MAX)).unwrap();
    assert_eq!(*ended.borrow(), [4, 9]);
    drop(runtime);
    assert_eq!(
        Rc::strong_count(&ended),
        1,
        "the loop has dropped the future that it did not wait for"
    );
}

fn run_five_turns(runtime: &mut Runtime) {
    let mut turns = 0;
    let ended = runtime.run(|| {
        turns += 1;
        (turns <= 5).then_some(Nanos::MAX)
    });
    ended.unwrap();
}

#[test]
fn a_future_that_yields_is_polled_once_in_each_turn() {
    let (mut runtime, handle) = simulated();
    let polls = Rc::new(Cell::new(0));
    let seen = Rc::clone(&polls);
    runtime.spawn(std::future::poll_fn(move |_| {
        seen.set(seen.get() + 1);
        handle.yield_turn();
        handle.yield_turn();
        Poll::Pending
    }));
    run_five_turns(&mut runtime);
    assert_eq!(polls.get(), 6, "once before the first turn, and once in each of five");
}

#[test]
fn a_future_with_endless_bytes_to_read_gives_way_after_a_bounded_number_of_reads() {
    let (mut runtime, handle) = simulated();
    let (reads, beside) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(0)));
    let (reading, seen) = (handle.clone(), Rc::clone(&reads));
    runtime.spawn(std::future::poll_fn(move |_| {
        while reading.may_read() {
            seen.set(seen.get() + 1);
            assert!(seen.get() < 1_000, "a poll goes on");
        }
        Poll::Pending
    }));
    let turned = Rc::clone(&beside);
    runtime.spawn(std::future::poll_fn(move |_| {
        turned.set(turned.get() + 1);
        handle.yield_turn();
        Poll::Pending
    }));
    run_five_turns(&mut runtime);
    assert_eq!((reads.get(), beside.get()), (6 * READS_PER_POLL, 6));
}

#[test]
fn a_spawned_future_reuses_the_slot_of_a_finished_one() {
    let (mut runtime, handle) = simulated();
    let own = handle.clone();
    runtime.spawn(async move {
        for _ in 0..1_000 {
            own.spawn(std::future::ready(()));
            own.sleep(Duration::from_nanos(1)).await;
        }
    });
    runtime.run(|| Some(Nanos::MAX)).unwrap();
    assert_eq!(runtime.tasks.len(), 2);
}

#[test]
fn a_loop_that_never_ran_frees_its_futures() {
    let (mut runtime, handle) = simulated();
    let kept = Rc::new(());
    let held = (handle, Rc::clone(&kept));
    runtime.spawn(async move { drop(held) });
    drop(runtime);
    assert_eq!(Rc::strong_count(&kept), 1);
}

#[test]
fn another_thread_wakes_a_loop_that_waits() {
    let mut runtime = Runtime::new(Clock::monotonic()).unwrap();
    let (handle, remote) = (runtime.handle(), runtime.remote());
    runtime.spawn(async move { handle.sleep(Duration::from_secs(3600)).await });
    let waking = thread::spawn(move || remote.wake());
    // After the first tick the loop waits for an hour; only the wake leads to the second.
    let mut ticks = 0;
    let ended = runtime.run(|| {
        ticks += 1;
        (ticks < 2).then_some(Nanos::MAX)
    });
    ended.unwrap();
    assert_eq!(ticks, 2);
    waking.join().unwrap();
}

#[test]
fn sleeps_are_not_rounded_up_to_a_millisecond() {
    let mut runtime = Runtime::new(Clock::monotonic()).unwrap();
    let handle = runtime.handle();
    // A wait that is rounded up takes a millisecond, so each would be 700 us late or more. One wait with a shorter
    // delay is enough; on a busy machine it can take many attempts.
    let least_late = runtime.block_on(async move {
        let mut least = Nanos::MAX;
        while least >= 700_000 && handle.now() < 20_000_000_000 {
            let intended = handle.now() + 300_000;
            handle.sleep_until(intended).await;
            least = least.min(handle.now() - intended);
        }
        least
    });
    let least_late = least_late.unwrap();
    assert!(least_late < 700_000, "the best of many is {least_late} ns late");
}

#[test]
fn a_sweep_shortly_before_a_timer_does_not_make_the_timer_late() {
    let mut runtime = Runtime::new(Clock::monotonic()).unwrap();
    let timer = 3_600_000_000_000;
    let cases = [
        // The end of the loop's wait, and what the alarm is set for.
        (timer, timer),
        (timer - 1, timer),
        // Rounded up, the wait would end 1 ns after the timer.
        (timer - WAIT_UNIT_NS + 1, timer),
        (timer - WAIT_UNIT_NS, 0),
        (timer - 20_000_000, 0),
        // A future is ready: the loop does not wait.
        (0, 0),
    ];
    for (until, expected) in cases {
        runtime.alarm = Alarm::default();
        runtime.set_alarm(timer, until, runtime.shared.clock.now());
        assert_eq!(runtime.alarm.set_for(), expected, "a wait until {until}");
    }
}

#[test]
fn real_timers_fire_in_order_of_their_deadlines() {
    let mut runtime = Runtime::new(Clock::monotonic()).unwrap();
    let handle = runtime.handle();
    let rung = Rc::new(RefCell::new(Vec::new()));
    // All times count from one start: setting the timers can take long on a busy machine.
    let began = handle.now();
    for length_us in [5_300, 700, 2_600, 700] {
        let (handle, rung) = (handle.clone(), Rc::clone(&rung));
        runtime.spawn(async move {
            handle.sleep_until(began + length_us * 1_000).await;
            rung.borrow_mut().push(length_us);
        });
    }
    runtime.run(|| Some(Nanos::MAX)).unwrap();
    assert_eq!(*rung.borrow(), [700, 700, 2_600, 5_300]);
}

#[test]
fn a_met_time_out_does_not_wake_later() {
    let (mut runtime, handle) = simulated();
    let sleeper = handle.clone();
    runtime.spawn(async move {
        let done = within(&sleeper, Duration::from_nanos(50), async {
            sleeper.sleep(Duration::from_nanos(10)).await;
        });
        assert_eq!(done.await, Some(()));
        sleeper.sleep(Duration::from_nanos(90)).await;
    });
    let mut ticks = Vec::new();
    let ended = runtime.run(|| {
        ticks.push(handle.now());
        Some(Nanos::MAX)
    });
    ended.unwrap();
    assert_eq!(ticks, [0, 10]);
    assert_eq!(handle.now(), 100);
}
