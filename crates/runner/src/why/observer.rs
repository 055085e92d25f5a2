//! Counts the windows of an experiment, switches what is outside of the load, and ends it when it is decided.

use std::io;
use std::sync::Arc;

use analysis::{why_cycle, why_effects, why_is_decided};
use engine::{Levers, Slowed, TrialObserver};
use measure::{Interval, MEMBERS_MAX, Nanos, Phase, Why, WhyWindow, nanos};
use net::Clock;
use nix::time::ClockId;
use system::ProgressEvent;
use system::evidence::Counters;
use system::slowdown::{cpu_time_of_all_ns, machine_cpu_ns};

use super::Window;
use super::levers::Hands;
use crate::{Event, RunListener};

pub(super) struct Observer<'a> {
    why: Why,
    settings: Vec<u32>,
    /// Windows of a cycle.
    cycle: usize,
    part_ns: Nanos,
    parts: u32,
    /// After which numbers of cycles it is looked whether it is decided.
    looks: &'a [usize],
    levers: Arc<Levers>,
    hands: Hands,
    clock: Clock,
    /// When the first window began.
    began_ns: Nanos,
    /// What the kernel had counted then.
    counters: Counters,
    /// Parts that have ended.
    ended: u32,
    window: WhyWindow,
    mark: Mark,
    is_decided: bool,
    listener: &'a mut dyn RunListener,
}

/// Readings at the begin of the counted part of a window.
#[derive(Clone, Copy, Debug, Default)]
struct Mark {
    at_ns: Nanos,
    client_cpu_ns: Nanos,
    server_cpu_ns: Option<Nanos>,
    member_cpu_ns: [Nanos; MEMBERS_MAX],
    host_cpu_ns: Option<Nanos>,
    slowed: Slowed,
    flushes: Option<(Nanos, u64)>,
}

impl<'a> Observer<'a> {
    pub(super) fn new(
        (why, settings): (Why, Vec<u32>),
        (window, looks): (&Window, &'a [usize]),
        (levers, hands): (Arc<Levers>, Hands),
        listener: &'a mut dyn RunListener,
    ) -> Self {
        Self {
            cycle: why_cycle(why.used.len()),
            why,
            settings,
            part_ns: nanos(window.part),
            parts: window.parts,
            looks,
            levers,
            hands,
            clock: Clock::monotonic(),
            began_ns: 0,
            counters: Counters::default(),
            ended: 0,
            window: WhyWindow::default(),
            mark: Mark::default(),
            is_decided: false,
            listener,
        }
    }

    /// The record of the windows; all levers are off again.
    pub(super) fn finish(mut self) -> Why {
        let span_ns = self.clock.now().saturating_sub(self.began_ns);
        if !self.hands.processes.is_empty() {
            let counters = Counters::read(&self.hands.processes);
            self.why.evidence = Some(counters.since(&self.counters, span_ns));
        }
        self.why.timer_late_ns = self.levers.timer_late_ns();
        self.why.members = std::mem::take(&mut self.hands.servers).end(span_ns);
        self.why.flushing = self.hands.end();
        self.why
    }

    fn read(&self) -> Mark {
        Mark {
            at_ns: self.clock.now(),
            client_cpu_ns: own_cpu_ns(),
            server_cpu_ns: cpu_time_of_all_ns(&self.hands.processes),
            member_cpu_ns: self.hands.servers.cpu_ns(),
            host_cpu_ns: machine_cpu_ns(),
            slowed: self.levers.slowed(),
            flushes: self.hands.flushes(),
        }
    }

    /// How much later than the end of the last part it is, ns.
    fn late_ns(&self) -> Nanos {
        let due_ns = self.began_ns.saturating_add(u64::from(self.ended) * self.part_ns);
        self.clock.now().saturating_sub(due_ns)
    }

    /// Begins the window of the part that follows, if there is one.
    fn begin_window(&mut self) {
        let at = (self.ended / self.parts) as usize;
        let setting = self.settings.get(at).copied().unwrap_or(0);
        self.hands.switch(setting);
        let cycle = (at / self.cycle) as u32;
        self.window = WhyWindow { cycle, setting, ..WhyWindow::default() };
        // Half of the part that is left out is left for what was switched to become true.
        self.window.is_late = self.late_ns() > self.part_ns / 2;
    }

    /// Tells how far it is; the pilot, which has no looks, tells nothing.
    fn tell(&mut self) {
        if self.looks.is_empty() {
            return;
        }
        let (done, all) = (self.why.windows.len() as u64, self.settings.len() as u64);
        let seconds = all * self.part_ns * u64::from(self.parts) / 1_000_000_000;
        let name = format!("looking for what holds it back, at most {seconds} s");
        let stage = ProgressEvent::Stage { name: &name, done, total: all };
        self.listener.on_event(Event::Progress(stage));
    }

    fn end_window(&mut self) {
        let (begin, end) = (self.mark, self.read());
        let since =
            |later: Option<Nanos>, earlier: Option<Nanos>| Some(later?.saturating_sub(earlier?));
        let slowed = |of: fn(&Slowed) -> Nanos| of(&end.slowed).saturating_sub(of(&begin.slowed));
        let mut member_cpu_ns = end.member_cpu_ns;
        for (now, then) in member_cpu_ns.iter_mut().zip(begin.member_cpu_ns) {
            *now = now.saturating_sub(then);
        }
        self.why.windows.push(WhyWindow {
            member_cpu_ns,
            cpu_clock_ns: end.at_ns.saturating_sub(begin.at_ns),
            client_cpu_ns: end.client_cpu_ns.saturating_sub(begin.client_cpu_ns),
            server_cpu_ns: since(end.server_cpu_ns, begin.server_cpu_ns),
            host_cpu_ns: since(end.host_cpu_ns, begin.host_cpu_ns),
            before_ns: slowed(|it| it.before_ns),
            inside_ns: slowed(|it| it.inside_ns),
            work_ns: slowed(|it| it.work_ns),
            asleep_ns: slowed(|it| it.asleep_ns),
            flush_ns: since(end.flushes.map(|it| it.0), begin.flushes.map(|it| it.0)).unwrap_or(0),
            flushes: since(end.flushes.map(|it| it.1), begin.flushes.map(|it| it.1)),
            ..self.window
        });
        let cycles = self.why.windows.len() / self.cycle;
        self.tell();
        let is_look =
            self.why.windows.len().is_multiple_of(self.cycle) && self.looks.contains(&cycles);
        if is_look {
            let effects = why_effects(&self.why, self.looks.len());
            self.is_decided = effects.as_ref().is_some_and(why_is_decided);
        }
    }
}

impl TrialObserver for Observer<'_> {
    fn begins(&mut self, phase: Phase, late_ns: Nanos) -> io::Result<()> {
        if phase == Phase::WarmUp {
            // All processes are read for that, which would make the first window late.
            self.hands.find_children();
        }
        if phase == Phase::Measure {
            self.began_ns = self.clock.now().saturating_sub(late_ns);
            self.counters = Counters::read(&self.hands.processes);
            self.hands.servers.begin();
            self.begin_window();
        }
        Ok(())
    }

    fn interval(&mut self, interval: &Interval) -> io::Result<()> {
        if interval.phase != Phase::Measure {
            return Ok(());
        }
        let part = self.ended % self.parts;
        self.ended += 1;
        if part == 0 {
            self.window.is_late |= !self.hands.are_settled();
            self.mark = self.read();
            return Ok(());
        }
        if part <= (self.parts - 1) / 2 {
            self.window.first_half_ns += interval.end_ns.saturating_sub(interval.start_ns);
            self.window.first_half += interval.tally.transactions;
        }
        self.window.counted_ns += interval.end_ns.saturating_sub(interval.start_ns);
        self.window.transactions += interval.tally.transactions;
        self.window.failed += interval.tally.failed_transactions;
        self.window.busy_ns += interval.tally.busy_ns;
        if part + 1 == self.parts {
            self.end_window();
            self.begin_window();
        }
        Ok(())
    }

    /// A worker stood still: what it counts later belongs to the window as well, but the window says nothing.
    fn part(&mut self, part: &Interval, missing: &[usize]) -> io::Result<()> {
        self.window.is_late = true;
        if missing.is_empty() { Ok(()) } else { self.interval(part) }
    }

    fn has_enough(&mut self) -> bool {
        self.is_decided
    }

    fn ends(&mut self, _late_ns: Nanos) -> io::Result<()> {
        self.hands.switch(0);
        Ok(())
    }
}

/// CPU time of dyno so far, ns.
fn own_cpu_ns() -> Nanos {
    let time = ClockId::CLOCK_PROCESS_CPUTIME_ID.now();
    time.map_or(0, |time| {
        let part = |count: i64| u64::try_from(count).unwrap_or(0);
        part(time.tv_sec()) * 1_000_000_000 + part(time.tv_nsec())
    })
}
