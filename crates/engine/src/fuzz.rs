//! Properties of what generators report that hold for any bytes.

use std::io;
use std::sync::LazyLock;
use std::sync::mpsc;
use std::time::Duration;

use measure::{
    FailureExamples, Interval, Nanos, Operation, OperationKind, Outage, Phase, QueryCounts, Tally,
};
use plan::Limit;

use crate::report::Report;
use crate::{
    Clients, FromGenerator, GeneratorLink, Generators, Load, OfferedLoad, Outcome, Part, PhaseEnds,
    Stop, TrialError, TrialObserver, Workers, coordinate,
};

fuzzing::targets! {
    generator_reports: reports;
}

/// Two generators, the first with two workers, and clients of both.
const LOOPS: [usize; 2] = [2, 1];
const CLIENTS: usize = 4;
const S: Nanos = 1_000_000_000;

/// Whatever generators report, the observer gets intervals that are one after the other, all counts of the reports that
/// were accepted and no others, and an outcome of every client. In virtual time and in the kernel's. The first byte says
/// what the load is; each report has the number of its generator before it.
fn reports(bytes: &[u8]) {
    let Some((kind, bytes)) = bytes.split_first() else { return };
    for (number, report) in read(bytes) {
        let written = postcard::to_stdvec(&(number, &report)).expect("a report has a form");
        let again = read(&written).next().expect("what was written is read");
        assert_eq!(postcard::to_stdvec(&again), Ok(written), "it is not written as it was read");
    }
    for workers in [Workers::Simulated(3), Workers::EventLoops(3)] {
        follow(*kind, workers, read(bytes));
    }
}

/// The reports until the bytes are none, each with the number of its generator.
fn read(mut bytes: &[u8]) -> impl Iterator<Item = (u8, Report)> {
    std::iter::from_fn(move || {
        let (report, rest) = postcard::take_from_bytes(bytes).ok()?;
        bytes = rest;
        Some(report)
    })
}

/// Coordinates generators that send these reports and then are lost.
fn follow(kind: u8, workers: Workers, all: impl Iterator<Item = (u8, Report)>) {
    let offer = offer(kind, workers);
    let (sender, reports) = mpsc::channel();
    for (number, report) in all {
        let generator = usize::from(number) % LOOPS.len();
        let _ = sender.send((generator, FromGenerator::Report(report)));
    }
    for generator in 0..LOOPS.len() {
        let _ = sender.send((generator, FromGenerator::Lost(ENDED.to_owned())));
    }
    let link = |part: Part| GeneratorLink {
        name: part.generator.to_string(),
        part,
        commands: mpsc::channel().0,
        uncertainty_ns: 0,
    };
    let links = Part::divide(&LOOPS).into_iter().map(link).collect();
    let generators = Generators { links, reports: &reports, go_on_without_lost: kind & 1 == 0 };
    let enough_after = usize::from(kind >> 4);
    let mut kept = Kept { enough_after, ..Kept::default() };
    let result = coordinate(&offer, &Silent, generators, &Stop::new(), &mut kept);
    if let Ok(outcome) = result.inspect_err(check_error) {
        kept.check_end(&outcome);
    }
}

const ENDED: &str = "the input ends";

/// A load with a warm-up that may end early, or without one.
fn offer(kind: u8, workers: Workers) -> OfferedLoad {
    let has_warm_up = kind & 2 == 0;
    OfferedLoad {
        clients: CLIENTS,
        workers,
        warm_up: if has_warm_up { Duration::from_millis(2_500) } else { Duration::ZERO },
        limit: if kind & 4 == 0 { Limit::time(Duration::from_secs(3)) } else { Limit::events(99) },
        ends: PhaseEnds {
            warm_up_from: has_warm_up.then_some(Duration::from_secs(1)),
            measured: true,
        },
        // The reports are there already: only a fault lets it wait so long.
        connect_timeout: Duration::from_secs(600),
        ..OfferedLoad::example()
    }
}

/// A load whose clients are elsewhere.
struct Silent;

impl Load for Silent {
    fn operations(&self) -> &[Operation] {
        static OPERATIONS: LazyLock<[Operation; 2]> = LazyLock::new(|| {
            let of = |(name, kind)| Operation::new(name, kind);
            [("event", OperationKind::Transaction), ("select", OperationKind::Read)].map(of)
        });
        &*OPERATIONS
    }

    fn clients(&self, _clients: Clients<'_>) {}
}

fn check_error(error: &TrialError) {
    match error {
        TrialError::Start { client, .. } => assert!(*client < CLIENTS, "no such client"),
        TrialError::Generator { .. } => {}
        other => panic!("another error: {other}"),
    }
}

/// What is counted apart from latencies.
#[derive(Debug, Default, PartialEq)]
struct Counts {
    transactions: u64,
    failed: u64,
    errors: u64,
    queries: QueryCounts,
}

impl Counts {
    fn add(&mut self, tally: &Tally) {
        self.transactions = self.transactions.saturating_add(tally.transactions);
        self.failed = self.failed.saturating_add(tally.failed_transactions);
        let errors = tally.errors.values().map(|counts| counts.total());
        self.errors = self.errors.saturating_add(measure::sum(errors));
        self.queries.add(tally.queries);
    }
}

#[derive(Default)]
struct Kept {
    is_ready: bool,
    phases: Vec<Phase>,
    /// Phase, begin and end of each interval.
    intervals: Vec<(Phase, Nanos, Nanos)>,
    /// What was passed on, and what the generators have reported.
    passed_on: Counts,
    reported: Counts,
    lost: Vec<usize>,
    has_ended: bool,
    /// It has seen enough after this many intervals.
    enough_after: usize,
}

impl Kept {
    fn next(&mut self, interval: &Interval) {
        let Interval { phase, start_ns, end_ns, .. } = *interval;
        assert!(end_ns > start_ns && end_ns - start_ns <= S, "{interval:?}");
        assert!(self.phases.contains(&phase), "{phase:?} has not begun");
        match self.intervals.last() {
            None => assert_eq!(start_ns, 0, "the first interval is missing"),
            Some((last, at, end)) => {
                assert!(phase >= *last && start_ns >= *end, "{interval:?} after {last:?} to {end}");
                assert!(start_ns <= at + S, "an interval between {end} and {start_ns} is missing");
            }
        }
        self.intervals.push((phase, start_ns, end_ns));
        self.count(interval);
    }

    fn count(&mut self, interval: &Interval) {
        assert_eq!(interval.tally.operations.len(), Silent.operations().len());
        self.passed_on.add(&interval.tally);
    }

    fn check_end(&self, outcome: &Outcome) {
        assert_eq!(self.passed_on, self.reported, "counts were lost or come twice");
        assert_eq!(outcome.clients.len(), CLIENTS);
        assert_eq!(outcome.edges.before.len(), Silent.operations().len());
        assert!(outcome.failures.iter().count() <= FailureExamples::KINDS_MAX);
        for (generator, clients) in [0..2, 2..CLIENTS].into_iter().enumerate() {
            let all_failed = clients.clone().all(|at| outcome.clients[at].failure.is_some());
            assert!(all_failed || !self.lost.contains(&generator), "a lost generator has clients");
        }
        assert!(self.phases.is_empty() || self.has_ended, "the observer is not told of the end");
    }
}

impl TrialObserver for Kept {
    fn ready(&mut self) -> io::Result<()> {
        assert!(self.phases.is_empty() && !std::mem::replace(&mut self.is_ready, true));
        Ok(())
    }

    fn begins(&mut self, phase: Phase, _late_ns: Nanos) -> io::Result<()> {
        assert!(self.phases.last().is_none_or(|last| *last < phase), "{phase:?} again");
        assert!(!self.has_ended, "the load is over");
        self.phases.push(phase);
        Ok(())
    }

    fn interval(&mut self, interval: &Interval) -> io::Result<()> {
        self.next(interval);
        Ok(())
    }

    fn part(&mut self, part: &Interval, missing: &[usize]) -> io::Result<()> {
        assert!(missing.is_sorted() && missing.iter().all(|worker| *worker < 3), "{missing:?}");
        if missing.is_empty() {
            // What comes late belongs to an interval that was passed on.
            let of = |it: &&(Phase, Nanos, Nanos)| (it.0, it.1) == (part.phase, part.start_ns);
            assert!(self.intervals.iter().any(|it| of(&it)), "a part of no interval: {part:?}");
            self.count(part);
        } else {
            self.next(part);
        }
        Ok(())
    }

    fn has_enough(&mut self) -> bool {
        self.enough_after > 0 && self.intervals.len() >= self.enough_after
    }

    fn outages(&mut self, outages: &[Outage]) -> io::Result<()> {
        let has_length = |it: &Outage| it.end_ns.is_none_or(|end| it.start_ns < end);
        assert!(outages.iter().all(has_length), "an outage ends before it begins");
        Ok(())
    }

    fn generator_lost(&mut self, generator: usize, _at: Nanos, _reason: &str) {
        assert!(!self.lost.contains(&generator), "it is lost twice");
        self.lost.push(generator);
    }

    fn generator_interval(&mut self, _generator: usize, part: &Interval) {
        self.reported.add(&part.tally);
    }

    fn ends(&mut self, _late_ns: Nanos) -> io::Result<()> {
        assert!(!std::mem::replace(&mut self.has_ended, true), "it ends twice");
        Ok(())
    }
}
