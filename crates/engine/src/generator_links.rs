//! The generators of a load that are other processes, as the coordinator of the load has them.
//!
//! What a generator reports is checked here, so that one that is broken is lost and harms nothing else. Phases end
//! for all generators at one time: the coordinator chooses a time that no generator can have reached when the command
//! comes.

use std::ops::Range;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

use measure::{Interval, Phase, nanos};
use net::{Clock, Nanos};

use crate::control::Control;
use crate::coordinator::Coordinator;
use crate::interval_grid::IntervalGrid;
use crate::quiet::QUIET_MAX;
use crate::report::{Command, PartEnd, Report, UnitCommand, UnitReport};
use crate::steering::{AllGone, Ending, Steering, Told};
use crate::worker_threads::HOLD_MIN;
use crate::{Load, OfferedLoad, Outcome, Part, Stop, StopLevel, TrialError, TrialObserver};

/// How long a command takes to a generator at most, besides the uncertainty of the clocks: TCP sends a packet that was
/// lost again after 200 ms and some round trips (RFC 8985, section 7.2). A generator that gets one later says so, and
/// then the trial is marked.
const LEAD_NS: Nanos = 500_000_000;
/// How much longer than a generator waits for its workers the coordinator waits for generators, so that a generator
/// reports an interval without a worker that stands still before the interval is passed on without the generator.
const HOLD_MORE: Duration = Duration::from_secs(1);
/// So many times the coordinator waits for a generator that has not ended though it should have: 5 s. Waits are
/// counted rather than time, so that a coordinator that stood still itself does not take a generator for lost.
const END_WAITS_MAX: u32 = 250;

#[derive(Debug)]
pub struct GeneratorLink {
    pub name: String,
    pub part: Part,
    pub commands: Sender<Command>,
    /// How exactly the offset between its clock and the coordinator's is known, ns.
    pub uncertainty_ns: Nanos,
}

#[derive(Debug)]
pub struct Generators<'a> {
    /// In the order of their numbers.
    pub links: Vec<GeneratorLink>,
    pub reports: &'a Receiver<(usize, FromGenerator)>,
    /// Whether the others go on when a generator is lost; otherwise the load ends.
    pub go_on_without_lost: bool,
}

#[derive(Debug)]
pub enum FromGenerator {
    Report(Report),
    /// Nothing more will come, for this reason.
    Lost(String),
}

/// Runs a load on generators, each of which runs [`crate::serve`] with its part: as [`crate::offer`] runs it in this
/// process. `load` starts no clients here, but it hears the news of all generators.
///
/// # Errors
/// When a client or a generator cannot start, or `observer` cannot store the results.
pub fn coordinate(
    offer: &OfferedLoad,
    load: &dyn Load,
    generators: Generators<'_>,
    stop: &Stop,
    observer: &mut dyn TrialObserver,
) -> Result<Outcome, TrialError> {
    let control = Control::new(offer, stop.clone());
    let operations = load.operations().len();
    let mut steering = GeneratorLinks::new(&control, (offer, load), generators);
    let clock = Clock::since(net::origin());
    let shared = (&control, &mut steering as _);
    let result = Coordinator::new(offer, operations, shared, clock, observer).run();
    if result.is_err() {
        steering.abandon();
    }
    result
}

/// What the coordinator knows of one generator.
struct Link {
    generator: GeneratorLink,
    clients: Range<usize>,
    is_ready: bool,
    closed: usize,
    /// Whether it is done or lost: it has nothing more to say.
    is_over: bool,
    is_lost: bool,
}

struct GeneratorLinks<'a> {
    control: &'a Control,
    load: &'a dyn Load,
    links: Vec<Link>,
    reports: &'a Receiver<(usize, FromGenerator)>,
    go_on_without_lost: bool,
    operations: usize,
    is_virtual: bool,
    interval: Duration,
    /// How long after the window a generator waits for answers.
    drain_timeout: Duration,
    /// The clock, and when the load began on it; `None` before.
    begun: Option<(Clock, Nanos)>,
    /// How often nothing came though all generators should have ended.
    end_waits: u32,
    grid: IntervalGrid,
    /// The last end of the window that was commanded.
    ending: Option<Ending>,
    is_abandoned: bool,
}

impl<'a> GeneratorLinks<'a> {
    fn new(
        control: &'a Control,
        (offer, load): (&OfferedLoad, &'a dyn Load),
        generators: Generators<'a>,
    ) -> Self {
        let link = |generator: GeneratorLink| {
            let clients = generator.part.clients(offer, load);
            Link { generator, clients, is_ready: false, closed: 0, is_over: false, is_lost: false }
        };
        Self {
            control,
            load,
            links: generators.links.into_iter().map(link).collect(),
            reports: generators.reports,
            go_on_without_lost: generators.go_on_without_lost,
            operations: load.operations().len(),
            is_virtual: offer.is_virtual(),
            interval: offer.interval,
            drain_timeout: offer.drain_timeout,
            begun: None,
            end_waits: 0,
            grid: IntervalGrid::new(&control.window, offer.interval),
            ending: None,
            is_abandoned: false,
        }
    }

    fn command_all(&self, command: &UnitCommand) {
        for link in self.links.iter().filter(|link| !link.is_over) {
            // One that is lost needs no commands.
            let _ = link.generator.commands.send(Command(command.clone()));
        }
    }

    /// Tells all generators but one, and the load in this process, what that one has told.
    fn pass_on_news(&self, generator: usize, news: &[u64]) {
        if let Some(own) = self.load.news() {
            own.hear(generator, news);
        }
        for (_, link) in self.links.iter().enumerate().filter(|(other, _)| *other != generator) {
            let news = UnitCommand::News { generator, news: news.to_vec() };
            let _ = link.generator.commands.send(Command(news));
        }
    }

    /// How long before a time a command with it must be sent.
    fn lead_ns(&self) -> Nanos {
        let uncertainty = self.links.iter().map(|link| link.generator.uncertainty_ns).max();
        // A way there takes no longer than twice the uncertainty, which is half of the shortest way there and back.
        if self.is_virtual { 0 } else { LEAD_NS + 4 * uncertainty.unwrap_or(0) }
    }

    /// Why a report cannot be one of this generator now.
    fn fault(&mut self, unit: usize, report: &UnitReport) -> Option<String> {
        let has_begun = self.is_virtual || self.begun.is_some();
        let link = &mut self.links[unit];
        match report {
            UnitReport::Ready if std::mem::replace(&mut link.is_ready, true) => {
                Some("it reported twice that its clients are connected".to_owned())
            }
            UnitReport::Failed { client, .. } if !link.clients.contains(client) => {
                Some(format!("it reported client {client}, which it does not have"))
            }
            UnitReport::Ready
            | UnitReport::Failed { .. }
            | UnitReport::Connection { .. }
            | UnitReport::Disconnected { .. }
            | UnitReport::Broken { .. } => None,
            _ if !has_begun => Some("it reported a load that has not begun".to_owned()),
            UnitReport::Closed { index, interval, missing, .. } => {
                if *index != link.closed {
                    let due = link.closed;
                    return Some(format!("it reported interval {index} where {due} was due"));
                }
                let workers = link.generator.part.workers();
                let are_its_own = missing.iter().all(|worker| workers.contains(worker));
                if !are_its_own || !missing.is_sorted_by(|one, next| one < next) {
                    return Some("it reported workers that it does not have".to_owned());
                }
                link.closed += 1;
                self.interval_fault(interval, |grid| grid.add(*index, interval))
            }
            UnitReport::Late { interval } => {
                let closed = link.closed;
                self.interval_fault(interval, |grid| grid.late_fault(closed, interval))
            }
            UnitReport::Done(end) => {
                let link = &self.links[unit];
                self.end_fault(link, end).or_else(|| quiet_fault(link, end))
            }
            UnitReport::Overloaded { .. }
            | UnitReport::Backlog { .. }
            | UnitReport::Passed { .. } => None,
        }
    }

    fn interval_fault(
        &mut self,
        interval: &Interval,
        of_grid: impl FnOnce(&mut IntervalGrid) -> Option<String>,
    ) -> Option<String> {
        if interval.tally.operations.len() != self.operations {
            return Some("it counts other operations".to_owned());
        }
        // Without a command the warm-up lasts as long as it may.
        let window = &self.control.window;
        let warm_up_end = window.start().unwrap_or(window.warm_up_bounds().1);
        let is_measured = interval.phase == Phase::Measure;
        if is_measured && interval.start_ns < warm_up_end {
            return Some("it measured before the warm-up was over".to_owned());
        }
        let fault = of_grid(&mut self.grid);
        if is_measured && fault.is_none() {
            window.end_longest_warm_up(interval.start_ns);
        }
        fault
    }

    fn end_fault(&self, link: &Link, end: &PartEnd) -> Option<String> {
        let clients = end.first_client..end.first_client.saturating_add(end.clients.len());
        if clients != link.clients {
            return Some(format!("it reported clients {clients:?} and has {:?}", link.clients));
        }
        let edges = &end.edges;
        let counts = [edges.before.len(), edges.drain.operations.len()];
        (counts != [self.operations; 2]).then(|| "it counts other operations".to_owned())
    }

    /// A generator that has not ended long after it should have: its process is there, but does nothing any more.
    fn overdue(&mut self) -> Option<(usize, Told)> {
        let (clock, start) = self.begun.as_ref().filter(|_| !self.is_virtual)?;
        let drained = self.control.end().saturating_add(nanos(self.drain_timeout));
        let is_due = self.is_abandoned || clock.now().saturating_sub(*start) > drained;
        self.end_waits += u32::from(is_due);
        if self.end_waits < END_WAITS_MAX {
            return None;
        }
        let unit = self.links.iter().position(|link| !link.is_over)?;
        let reason = "the load is over, and it has not reported its end".to_owned();
        Some((unit, self.told(unit, FromGenerator::Lost(reason))?))
    }

    /// What a message of a generator tells; `None` for what comes after its end.
    fn told(&mut self, unit: usize, message: FromGenerator) -> Option<Told> {
        if self.links.get(unit)?.is_over {
            return None;
        }
        let told = match message {
            FromGenerator::Lost(reason) => Told::Lost(reason),
            FromGenerator::Report(Report(report)) => match self.fault(unit, &report) {
                Some(fault) => Told::Lost(fault),
                None => Told::Report(report),
            },
        };
        if let Told::Report(UnitReport::Closed { news, .. }) = &told
            && !news.is_empty()
        {
            self.pass_on_news(unit, news);
        }
        if let Told::Lost(_) = &told {
            let _ = self.links[unit].generator.commands.send(Command(UnitCommand::Abandon));
        }
        let is_done = matches!(told, Told::Report(UnitReport::Done(_)));
        let is_lost = matches!(told, Told::Lost(_) | Told::Report(UnitReport::Broken { .. }));
        let link = &mut self.links[unit];
        (link.is_over, link.is_lost) = (is_done || is_lost, is_lost);
        Some(told)
    }
}

/// Why the times without a success cannot be those of a generator.
fn quiet_fault(link: &Link, end: &PartEnd) -> Option<String> {
    let times = end.quiet.as_ref()?;
    let most = QUIET_MAX.saturating_mul(link.generator.part.workers);
    let is_wrong = times.0.len() > most || !times.are_in_order();
    is_wrong.then(|| "it reported times without a success that are not in order".to_owned())
}

impl Steering for GeneratorLinks<'_> {
    fn are_generators(&self) -> bool {
        true
    }

    fn workers(&self) -> Vec<Range<usize>> {
        self.links.iter().map(|link| link.generator.part.workers()).collect()
    }

    fn clients(&self, unit: usize) -> Range<usize> {
        self.links[unit].clients.clone()
    }

    fn name(&self, unit: usize) -> String {
        self.links[unit].generator.name.clone()
    }

    fn goes_on_without(&self, _unit: usize) -> bool {
        self.go_on_without_lost && self.links.iter().any(|link| !link.is_lost)
    }

    fn hold(&self, interval: Duration) -> Duration {
        interval.max(HOLD_MIN) + HOLD_MORE
    }

    fn next(&mut self, wait: Duration) -> Result<Option<(usize, Told)>, AllGone> {
        match self.reports.recv_timeout(wait) {
            Ok((unit, message)) => Ok(self.told(unit, message).map(|told| (unit, told))),
            Err(RecvTimeoutError::Timeout) => Ok(self.overdue()),
            Err(RecvTimeoutError::Disconnected) => Err(AllGone),
        }
    }

    fn start(&mut self, clock: &Clock) -> Nanos {
        let start = clock.now() + self.lead_ns();
        self.command_all(&UnitCommand::Start { kernel_ns: clock.to_kernel(start) });
        self.begun = Some((clock.clone(), start));
        start
    }

    fn end_phase(&mut self, phase: Phase, seen: Nanos, now: Nanos) {
        let window = &self.control.window;
        let is_over = match phase {
            Phase::WarmUp => window.start().is_some(),
            _ => window.ends_early(),
        };
        if is_over {
            return;
        }
        // An interval and the way there: a generator may be in the next interval before the command comes.
        let ahead = match self.is_virtual {
            true => 0,
            false => self.lead_ns().max(nanos(self.interval)),
        };
        let at = window.edge_after(phase, seen.max(now).saturating_add(ahead));
        if phase == Phase::WarmUp {
            window.end_warm_up_at(at);
            self.command_all(&UnitCommand::EndWarmUp { at });
        } else if at < window.end() {
            window.end_at(at);
            self.command_all(&UnitCommand::End { at, is_interrupt: false });
        }
    }

    fn end_soon(&mut self, now: Nanos, by: Ending) {
        if self.control.stop.level() == StopLevel::AtOnce {
            self.abandon();
        }
        // The user may end a load that already ends by itself, so that answers are waited for less long.
        let is_new = self.ending.is_none_or(|last| last != by && by == Ending::Interrupt);
        if !is_new {
            return;
        }
        self.ending = Some(by);
        let at = now.saturating_add(self.lead_ns()).min(self.control.end());
        self.control.end_at(at);
        self.command_all(&UnitCommand::End { at, is_interrupt: by == Ending::Interrupt });
    }

    fn abandon(&mut self) {
        if !std::mem::replace(&mut self.is_abandoned, true) {
            self.command_all(&UnitCommand::Abandon);
        }
    }

    fn seen(&mut self) {
        if self.control.waits_for_observer {
            self.command_all(&UnitCommand::Seen);
        }
    }

    fn wake(&self) {}
}
