//! Watches the load generator itself: whether its threads ran when they had work to do.
//!
//! One thread sleeps for a few milliseconds at a time and measures how much later it wakes, after Gil Tene's jHiccup.
//! When dyno is stopped, or the machine is, this thread is too, and its oversleep shows for how long. The thread also
//! reads how long each worker ran and waited for a CPU.

mod workers;

use std::io;
use std::ops::Range;
use std::panic;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use measure::{Generator, GeneratorStall, LatencyHistogram, Nanos, nanos};
use net::Clock;

use workers::Workers;

/// How long the thread sleeps at a time. A shorter sleep sees shorter stops and costs more: with 5 ms it is 200 times a
/// second, 0.4 % of a core where waking a thread takes 20 us (measured in a virtual machine).
const SLEEP_NS: Nanos = 5_000_000;
/// From this oversleep on it is a stall. Scheduling reached 31 ms on a machine with four busy threads for each core.
const STALL_NS: Nanos = 50_000_000;
/// How many stalls are kept, to bound the record on a machine that is short of CPU all the time.
pub const STALLS_MAX: usize = 1_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WindowEdge {
    /// It begins, unless a planned length of the warm-up says when.
    Begin,
    /// It is over; the load may still drain.
    End,
}

/// A thread that watches the load generator during one trial's load. It ends when this is dropped.
pub struct GeneratorWatch {
    messages: Sender<WindowEdge>,
    thread: JoinHandle<Generator>,
}

impl GeneratorWatch {
    /// Starts to watch. The trial's clock begins now, and its measured window after the warm-up, or without a planned
    /// length with [`GeneratorWatch::begin_window`].
    ///
    /// # Errors
    /// When the machine refuses a thread.
    pub fn begin(warm_up: Option<Duration>) -> io::Result<Self> {
        Self::begin_at(net::kernel_ns(), warm_up)
    }

    /// The same for a trial whose clock begins at this time of the kernel's monotonic clock, which may be in the
    /// future.
    ///
    /// # Errors
    /// When the machine refuses a thread.
    pub fn begin_at(kernel_ns: Nanos, warm_up: Option<Duration>) -> io::Result<Self> {
        let (messages, inbox) = mpsc::channel();
        let thread = thread::Builder::new().name("generator watch".to_owned());
        let start_ns = warm_up.map(nanos);
        let thread =
            thread.spawn(move || watch(&Clock::since_kernel(kernel_ns), start_ns, &inbox))?;
        Ok(Self { messages, thread })
    }

    /// The measured window begins.
    pub fn begin_window(&self) {
        // The thread lives as long as this.
        let _ = self.messages.send(WindowEdge::Begin);
    }

    /// The measured window is over. Stalls are still noted until [`GeneratorWatch::end`].
    pub fn end_window(&self) {
        // The thread lives as long as this.
        let _ = self.messages.send(WindowEdge::End);
    }

    /// What was seen, when the load is over.
    pub fn end(self) -> Generator {
        drop(self.messages);
        self.thread.join().unwrap_or_else(|cause| panic::resume_unwind(cause))
    }
}

/// Watches until the other end of `inbox` is dropped; the measured window begins at `start_ns`, or with a message.
fn watch(clock: &Clock, start_ns: Option<Nanos>, inbox: &Receiver<WindowEdge>) -> Generator {
    let mut sleeps = Sleeps::new(start_ns.unwrap_or(Nanos::MAX));
    let mut workers = Workers::of_this_process(start_ns.unwrap_or(Nanos::MAX));
    let mut woke_at = clock.now();
    workers.sample(woke_at);
    loop {
        let due = woke_at + SLEEP_NS;
        let pause = Duration::from_nanos(due.saturating_sub(clock.now()));
        let message = inbox.recv_timeout(pause);
        woke_at = clock.now();
        sleeps.woke(due, woke_at);
        match message {
            Err(RecvTimeoutError::Timeout) => workers.sample(woke_at),
            Ok(WindowEdge::Begin) => {
                sleeps.window.start = sleeps.window.start.min(woke_at);
                workers.begin_window(woke_at);
            }
            Ok(WindowEdge::End) => {
                sleeps.window.end = woke_at;
                workers.end_window(woke_at);
            }
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    // Without a message the load ended with its window.
    workers.end_window(woke_at);
    let Sleeps { oversleep, stalls, .. } = sleeps;
    Generator { oversleep, stalls, workers: workers.result() }
}

/// What the thread's sleeps have shown.
#[derive(Debug)]
struct Sleeps {
    /// The measured time, as far as it is known.
    window: Range<Nanos>,
    oversleep: LatencyHistogram,
    stalls: Vec<GeneratorStall>,
}

impl Sleeps {
    fn new(start_ns: Nanos) -> Self {
        let window = start_ns..Nanos::MAX;
        Self { window, oversleep: LatencyHistogram::new(), stalls: Vec::new() }
    }

    /// Takes in a sleep that was to end at `due` and ended at `woke_at`, which is earlier when a message ended it.
    fn woke(&mut self, due: Nanos, woke_at: Nanos) {
        let Some(oversleep_ns) = woke_at.checked_sub(due) else { return };
        if due < self.window.end && woke_at >= self.window.start {
            self.oversleep.record(oversleep_ns);
        }
        if oversleep_ns >= STALL_NS {
            self.stalls.push(GeneratorStall { start_ns: due, end_ns: woke_at });
        }
        if self.stalls.len() > STALLS_MAX {
            let lengths = self.stalls.iter().map(GeneratorStall::length_ns).enumerate();
            if let Some((shortest, _)) = lengths.min_by_key(|(_, length)| *length) {
                self.stalls.remove(shortest);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Nanos = 1_000_000;

    /// Sleeps that each end this much later than they should, one after the other from 0 on.
    fn sleeps(window: Range<Nanos>, oversleeps_ms: &[u64]) -> Sleeps {
        let mut sleeps = Sleeps { window, ..Sleeps::new(0) };
        let mut at = 0;
        for oversleep_ms in oversleeps_ms {
            let due = at + SLEEP_NS;
            at = due + oversleep_ms * MS;
            sleeps.woke(due, at);
        }
        sleeps
    }

    #[test]
    fn scheduling_noise_is_not_a_stall() {
        let sleeps = sleeps(0..Nanos::MAX, &[0, 3, 15, 1, 49]);
        assert_eq!(sleeps.stalls, []);
        assert_eq!((sleeps.oversleep.count(), sleeps.oversleep.max_ns() / MS), (5, 49));
    }

    #[test]
    fn a_stop_is_a_stall_from_when_the_thread_was_due() {
        let sleeps = sleeps(0..Nanos::MAX, &[0, 1_500, 0, 60]);
        let first = GeneratorStall { start_ns: 10 * MS, end_ns: 1_510 * MS };
        let second = GeneratorStall { start_ns: 1_520 * MS, end_ns: 1_580 * MS };
        assert_eq!(sleeps.stalls, [first, second]);
        assert_eq!(first.length_ns(), 1_500 * MS);
    }

    #[test]
    fn only_sleeps_in_the_measured_time_are_counted_and_all_stalls_are_kept() {
        // They end at 65, 130, 195 and 260 ms.
        let sleeps = sleeps(100 * MS..190 * MS, &[60; 4]);
        assert_eq!(sleeps.stalls.len(), 4);
        assert_eq!(sleeps.oversleep.count(), 2, "those from 70 to 130 ms and from 135 to 195 ms");
    }

    #[test]
    fn of_too_many_stalls_the_longest_are_kept_in_order() {
        let lengths: Vec<u64> = (0..1_500).map(|at| 50 + at % 3).collect();
        let sleeps = sleeps(0..Nanos::MAX, &lengths);
        assert_eq!(sleeps.stalls.len(), STALLS_MAX);
        let shortest = sleeps.stalls.iter().map(GeneratorStall::length_ns).min();
        assert_eq!(shortest, Some(51 * MS));
        assert!(sleeps.stalls.is_sorted_by_key(|stall| stall.start_ns));
        assert_eq!(sleeps.oversleep.count(), 1_500);
    }

    #[test]
    fn a_sleep_that_a_message_cuts_short_is_not_late() {
        let mut sleeps = Sleeps::new(0);
        sleeps.woke(5 * MS, 3 * MS);
        assert_eq!((sleeps.oversleep.count(), sleeps.stalls.len()), (0, 0));
    }
}
