//! A generator's side of a load: runs its part, and reports what all of its workers count, as one.

use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, TryRecvError};
use std::thread;
use std::time::Duration;

use measure::Interval;
use net::{Clock, Nanos};
use plan::Limit;

use crate::control::Control;
use crate::coordinator::POLL_PERIOD;
use crate::open_intervals::OpenIntervals;
use crate::report::{Command, PartEnd, Report, UnitCommand, UnitReport};
use crate::steering::{AllGone, Steering, Told};
use crate::worker_threads::{WorkerThreads, spawn_part};
use crate::{Load, News, OfferedLoad, Part, TrialError};

/// The same in virtual time, where commands let a generator go on.
const VIRTUAL_POLL_PERIOD: Duration = Duration::from_millis(1);

/// What a generator tells of its part of a load. Times are not told in virtual time.
pub trait GeneratorObserver {
    fn report(&mut self, report: Report);

    /// The load begins at this time of the kernel's monotonic clock.
    fn starts(&mut self, _kernel_ns: Nanos) {}

    /// The measured window has begun, `late_ns` ago: see [`TrialObserver::begins`](crate::TrialObserver::begins).
    fn begins_measuring(&mut self, _late_ns: Nanos) {}

    /// The measured window is over, since `late_ns`.
    fn ends_measuring(&mut self, _late_ns: Nanos) {}
}

impl<F: FnMut(Report)> GeneratorObserver for F {
    fn report(&mut self, report: Report) {
        self(report);
    }
}

/// Runs one part of a load: that of `offer`, of which all parts together are the whole. It starts, and ends early,
/// with `commands`; when these end, the load ends at once. Returns the last report, which the caller sends after all
/// others.
///
/// # Panics
/// When a client panics.
pub fn serve(
    part: &Part,
    offer: &OfferedLoad,
    load: &dyn Load,
    commands: &Receiver<Command>,
    observer: &mut dyn GeneratorObserver,
) -> Report {
    let clients = part.clients(offer, load);
    let limit = Limit { events: part.events(offer, &clients), ..offer.limit };
    let offer = &OfferedLoad { limit, ..offer.clone() };
    let control = Arc::new(Control::of_part(offer));
    if offer.is_virtual() {
        control.start_at(0);
    }
    let origin = net::origin();
    let (out, inbox) = mpsc::channel();
    let result = thread::scope(|scope| {
        let (threads, started) = spawn_part(scope, part, (offer, load), (&control, origin), &out);
        drop(out);
        let mut workers = WorkerThreads::new(&control, part, inbox);
        let result = match started {
            Ok(()) => {
                let operations = load.operations().len();
                let relay = Relay {
                    offer,
                    load,
                    control: &control,
                    clock: Clock::since(origin),
                    intervals: OpenIntervals::new(workers.workers(), workers.hold(offer.interval)),
                    workers: &mut workers,
                    observer,
                    has_begun: false,
                    has_ended: false,
                    ready: 0,
                    end: PartEnd::new(operations, clients.start, clients.len()),
                };
                Ok(relay.run(commands))
            }
            Err(cause) => Err(TrialError::Thread { workers: part.workers, cause }),
        };
        workers.finish(threads, result)
    });
    Report::last(result)
}

/// Passes on what the workers of a generator report, and what the coordinator commands.
struct Relay<'a, 'b> {
    offer: &'a OfferedLoad,
    load: &'a dyn Load,
    control: &'a Control,
    clock: Clock,
    workers: &'a mut WorkerThreads<'b>,
    observer: &'a mut dyn GeneratorObserver,
    /// Whether the measured window has begun, and whether it has ended.
    has_begun: bool,
    has_ended: bool,
    intervals: OpenIntervals,
    /// Workers whose clients are all connected.
    ready: usize,
    /// What workers told at their ends, together.
    end: PartEnd,
}

impl Relay<'_, '_> {
    fn run(mut self, commands: &Receiver<Command>) -> PartEnd {
        let wait = if self.offer.is_virtual() { VIRTUAL_POLL_PERIOD } else { POLL_PERIOD };
        while self.intervals.has_running() {
            match self.workers.next(wait) {
                Ok(Some((worker, Told::Report(report)))) => self.on_report(worker, report),
                Ok(_) => {}
                // Joining the workers returns why they ended without a last report.
                Err(AllGone) => break,
            }
            self.obey(commands);
            self.keep_time();
        }
        self.hand_on();
        self.end_measuring();
        self.end
    }

    /// Tells the observer once that the measured window is over.
    fn end_measuring(&mut self) {
        if self.has_begun && !std::mem::replace(&mut self.has_ended, true) {
            let late_ns = self.now().map_or(0, |now| now.saturating_sub(self.control.end()));
            self.observer.ends_measuring(late_ns);
        }
    }

    fn send(&mut self, report: UnitReport) {
        self.observer.report(Report(report));
    }

    fn on_report(&mut self, worker: usize, report: UnitReport) {
        match report {
            UnitReport::Ready => {
                self.ready += 1;
                if self.ready == self.workers.workers().len() {
                    self.send(UnitReport::Ready);
                }
            }
            UnitReport::Closed { index, interval, .. } => {
                if let Some(late) = self.intervals.close(worker, index, *interval, Vec::new()) {
                    self.send(UnitReport::Late { interval: Box::new(late) });
                }
            }
            UnitReport::Done(end) => {
                self.intervals.done(worker);
                self.end.add(*end);
            }
            other => self.send(other),
        }
        self.hand_on();
    }

    /// Reports all intervals that all workers have closed.
    fn hand_on(&mut self) {
        while let Some((interval, missing)) = self.intervals.take_whole() {
            self.close(interval, missing);
        }
    }

    fn close(&mut self, interval: Interval, missing: Vec<usize>) {
        let (index, news) =
            (self.intervals.passed_on() - 1, self.load.news().map(News::tell).unwrap_or_default());
        let interval = Box::new(interval);
        self.send(UnitReport::Closed { index, interval, missing, news });
    }

    /// Tells the observer of the window's edges, and reports intervals without the parts of workers that stand still.
    fn keep_time(&mut self) {
        let Some(now) = self.now() else { return };
        let start = self.control.window.start_or_never();
        if now >= start && !self.has_begun {
            self.has_begun = true;
            self.observer.begins_measuring(now - start);
        }
        if now >= self.control.end() {
            self.end_measuring();
        }
        while let Some((interval, missing)) = self.intervals.take_overdue(now) {
            self.close(interval, missing);
        }
    }

    /// The time of the trial; `None` before its start, and in virtual time.
    fn now(&self) -> Option<Nanos> {
        let start = self.control.started().filter(|_| !self.offer.is_virtual())?;
        Some(self.clock.now().saturating_sub(start))
    }

    fn obey(&mut self, commands: &Receiver<Command>) {
        loop {
            match commands.try_recv() {
                Ok(Command(command)) => self.on_command(command),
                Err(TryRecvError::Empty) => return,
                // Without a coordinator the load has no purpose.
                Err(TryRecvError::Disconnected) => return self.workers.abandon(),
            }
        }
    }

    fn on_command(&mut self, command: UnitCommand) {
        match command {
            UnitCommand::Start { kernel_ns } => {
                let start = self.clock.of_kernel(kernel_ns);
                let late_ns = self.clock.now().saturating_sub(start);
                self.observer.starts(kernel_ns);
                self.control.start_at(start);
                self.workers.wake();
                if late_ns > 0 {
                    self.send(UnitReport::Passed { late_ns });
                }
            }
            UnitCommand::EndWarmUp { at } => {
                if !self.control.window.end_warm_up_at(at) {
                    let late_ns = self.late_ns(at).max(1);
                    self.send(UnitReport::Passed { late_ns });
                }
            }
            UnitCommand::End { at, is_interrupt } => {
                let late_ns = self.late_ns(at);
                // A share of a number of transactions may have ended before.
                if late_ns > 0 && at < self.control.end() {
                    self.send(UnitReport::Passed { late_ns });
                }
                if is_interrupt {
                    self.control.interrupt();
                }
                self.control.end_at(at);
                self.workers.wake();
            }
            UnitCommand::Abandon => self.workers.abandon(),
            UnitCommand::Seen => self.workers.seen(),
            UnitCommand::News { generator, news } => {
                self.load.news().iter().for_each(|own| own.hear(generator, &news));
            }
        }
    }

    /// How long ago a time of the trial was.
    fn late_ns(&self, at: Nanos) -> Nanos {
        self.now().map_or(0, |now| now.saturating_sub(at))
    }
}
