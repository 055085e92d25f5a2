//! What is known of the generators of one load, for the record.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use engine::{GeneratorEnd, Part};
use measure::{
    ClockComparison, ConnectionsReading, Edges, Generator, GeneratorClock, GeneratorLoss,
    GeneratorStall, HostFacts, Interval, Nanos, Operation, Phase, ProcessIdentity, Tally,
};
use record::{ClientUsage, GeneratorRecord};

/// What a generator tells of its connections: a reading, and whether it is the last, or why there is none.
pub type ToldConnections = Result<(ConnectionsReading, bool), String>;

/// The generators of one load. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct KnownGenerators(Arc<Mutex<Vec<Known>>>);

#[derive(Debug)]
struct Known {
    record: GeneratorRecord,
    process: Option<ProcessIdentity>,
    /// What it has told last of its connections to the system.
    connections: Option<ToldConnections>,
    /// The sum of its measured intervals.
    total: Tally,
    edges: Edges,
}

impl KnownGenerators {
    fn all(&self) -> MutexGuard<'_, Vec<Known>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds the next generator, before the load.
    pub fn add(
        &self,
        name: &str,
        (host, process, clock): (&HostFacts, Option<&ProcessIdentity>, ClockComparison),
        (part, clients): (&Part, std::ops::Range<usize>),
        operations: usize,
    ) {
        let record = GeneratorRecord {
            name: name.to_owned(),
            host: Some(host.clone()),
            clock: Some(GeneratorClock { start: clock, end: None }),
            clients,
            workers: part.workers,
            ..GeneratorRecord::default()
        };
        let (total, edges) = (Tally::new(operations), Edges::new(operations));
        let process = process.cloned();
        self.all().push(Known { record, process, connections: None, total, edges });
    }

    /// The processes of the generators, as far as they are known.
    pub fn processes(&self) -> Vec<ProcessIdentity> {
        self.all().iter().filter_map(|one| one.process.clone()).collect()
    }

    fn with(&self, generator: usize, change: impl FnOnce(&mut Known)) {
        if let Some(one) = self.all().get_mut(generator) {
            change(one);
        }
    }

    /// A generator has counted a part of an interval.
    pub fn interval(&self, generator: usize, part: &Interval) {
        if part.phase == Phase::Measure {
            self.with(generator, |one| one.total.merge(&part.tally));
        }
    }

    /// A generator is done.
    pub fn end(&self, generator: usize, end: &GeneratorEnd<'_>) {
        self.with(generator, |one| {
            one.edges = end.edges.clone();
            one.record.lateness = end.lateness.clone();
            one.record.start_delays = end.start_delays.clone();
        });
    }

    /// A generator is lost; returns its name.
    pub fn lost(&self, generator: usize, at_ns: Nanos, reason: &str) -> String {
        let loss = GeneratorLoss { at_ns, reason: reason.to_owned() };
        let mut name = String::new();
        self.with(generator, |one| {
            one.record.lost = Some(loss);
            name.clone_from(&one.record.name);
        });
        name
    }

    /// What a generator has seen of itself.
    pub fn watched(
        &self,
        generator: usize,
        watched: Option<Generator>,
        usage: Option<ClientUsage>,
    ) {
        self.with(generator, |one| {
            one.record.generator = watched;
            one.record.usage = usage;
        });
    }

    /// A generator has told of its connections to the system.
    pub fn told_connections(&self, generator: usize, told: ToldConnections) {
        self.with(generator, |one| one.connections = Some(told));
    }

    /// The connections of all generators together, by the last reading of each, or why they are not known; `None`
    /// until each has told its own. A lost generator counts as far as it has told.
    pub fn connections(&self) -> Option<Result<ConnectionsReading, String>> {
        let mut readings = Vec::new();
        for one in self.all().iter() {
            match &one.connections {
                Some(Ok((reading, _))) => readings.push(*reading),
                Some(Err(why)) => return Some(Err(format!("{}: {why}", one.record.name))),
                None if one.record.lost.is_some() => {}
                None => return None,
            }
        }
        ConnectionsReading::sum(&readings).map(Ok)
    }

    /// Whether no more readings of connections will come.
    pub fn have_told_last_connections(&self) -> bool {
        let is_last = |one: &Known| {
            matches!(one.connections, Some(Ok((_, true)) | Err(_))) || one.record.lost.is_some()
        };
        self.all().iter().all(is_last)
    }

    /// The comparison with a generator's clock after the load.
    pub fn clock_after(&self, generator: usize, after: ClockComparison) {
        self.with(generator, |one| {
            one.record.clock.iter_mut().for_each(|clock| clock.end = Some(after));
        });
    }

    /// The generators that are lost.
    pub fn lost_ones(&self) -> Vec<usize> {
        let all = self.all();
        let lost = all.iter().enumerate().filter(|(_, one)| one.record.lost.is_some());
        lost.map(|(generator, _)| generator).collect()
    }

    /// Times in which none of the generators ran: when one did, it saw what the system did.
    pub fn own_stalls(&self) -> Vec<GeneratorStall> {
        let all = self.all();
        let of = |one: &Known| one.record.generator.as_ref().map(|it| it.stalls.clone());
        // Of a lost generator nothing is known.
        let stalls = all.iter().filter_map(of);
        stalls.reduce(|both, one| overlaps(&both, &one)).unwrap_or_default()
    }

    /// The use of all generators together, with the most memory of one; `None` when it is not known of one. A lost generator
    /// counts as far as it has told.
    pub fn usage(&self) -> Option<ClientUsage> {
        let all = self.all();
        let told = all.iter().filter(|one| one.record.lost.is_none() || one.record.usage.is_some());
        let each = told.map(|one| one.record.usage).collect::<Option<Vec<_>>>()?;
        ClientUsage::sum(&each)
    }

    /// The generators for the record.
    pub fn records(&self, operations: &[Operation]) -> Vec<GeneratorRecord> {
        let record = |one: &Known| {
            let mut record = one.record.clone();
            record.count(operations, &one.total, &one.edges);
            record
        };
        self.all().iter().map(record).collect()
    }
}

/// The times that are in both lists, which are in order.
fn overlaps(one: &[GeneratorStall], other: &[GeneratorStall]) -> Vec<GeneratorStall> {
    let both = |a: &GeneratorStall, b: &GeneratorStall| GeneratorStall {
        start_ns: a.start_ns.max(b.start_ns),
        end_ns: a.end_ns.min(b.end_ns),
    };
    let pairs = one.iter().flat_map(|a| other.iter().map(move |b| both(a, b)));
    pairs.filter(|stall| stall.start_ns < stall.end_ns).collect()
}

#[cfg(test)]
mod tests {
    use measure::{LatencyHistogram, OperationId, OperationKind};

    use super::*;

    fn known(generators: usize) -> KnownGenerators {
        let known = KnownGenerators::default();
        for (at, part) in Part::divide(&vec![1; generators]).iter().enumerate() {
            let clock = ClockComparison::default();
            let clients = 2 * at..2 * at + 2;
            let of = (&HostFacts::default(), None, clock);
            known.add(&format!("g{at}"), of, (part, clients), 1);
        }
        known
    }

    fn interval(phase: Phase, latencies_ns: &[Nanos]) -> Interval {
        let mut tally = Tally::new(1);
        for latency_ns in latencies_ns {
            tally.success(OperationId(0), OperationKind::Transaction, *latency_ns);
        }
        Interval { phase, start_ns: 0, end_ns: 1, tally }
    }

    #[test]
    fn a_generator_has_its_own_figures_of_the_measured_load() {
        let operations = [Operation::new("event", OperationKind::Transaction)];
        let known = known(2);
        known.interval(1, &interval(Phase::WarmUp, &[5]));
        known.interval(1, &interval(Phase::Measure, &[10, 20]));
        known.interval(1, &interval(Phase::Measure, &[30]));
        let delays = LatencyHistogram::from_iter([7]);
        let edges = Edges::new(1);
        let end = GeneratorEnd { edges: &edges, lateness: &delays, start_delays: &delays };
        known.end(1, &end);
        known.lost(0, 77, "gone");
        let records = known.records(&operations);
        assert_eq!((records[0].transactions, records[1].transactions), (0, 3));
        assert_eq!(records[1].latencies, LatencyHistogram::from_iter([10, 20, 30]));
        assert_eq!((records[1].clients.clone(), records[1].lateness.count()), (2..4, 1));
        assert_eq!(records[0].lost.as_ref().map(|lost| lost.at_ns), Some(77));
        assert_eq!(known.lost_ones(), [0]);
    }

    #[test]
    fn connections_are_known_when_every_generator_has_told_its_own() {
        let told = |at_ns, open, is_last| {
            Ok((ConnectionsReading { at_ns, open, ..ConnectionsReading::default() }, is_last))
        };
        let open = |known: &KnownGenerators| {
            known.connections().map(|it| it.map(|reading| (reading.at_ns, reading.open)))
        };
        let known = known(3);
        known.told_connections(0, told(10, 2, false));
        known.told_connections(1, told(20, 3, true));
        assert_eq!(open(&known), None);
        known.lost(2, 77, "gone");
        assert_eq!(open(&known), Some(Ok((15, 5))));
        assert!(!known.have_told_last_connections());
        known.told_connections(0, told(30, 4, true));
        assert_eq!(open(&known), Some(Ok((25, 7))));
        assert!(known.have_told_last_connections());
        known.told_connections(1, Err("no rights".to_owned()));
        assert_eq!(open(&known), Some(Err("g1: no rights".to_owned())));
    }

    #[test]
    fn the_load_stood_still_where_all_generators_did() {
        let stalls = |times: &[(Nanos, Nanos)]| {
            let stall = |(start_ns, end_ns): &(Nanos, Nanos)| GeneratorStall {
                start_ns: *start_ns,
                end_ns: *end_ns,
            };
            let stalls = times.iter().map(stall).collect();
            Some(Generator { stalls, ..Generator::default() })
        };
        let known = known(3);
        known.watched(0, stalls(&[(10, 20), (50, 90)]), None);
        assert_eq!(known.own_stalls().len(), 2, "of the others nothing is known");
        known.watched(1, stalls(&[(15, 60), (80, 99)]), None);
        let times: Vec<(Nanos, Nanos)> =
            known.own_stalls().iter().map(|stall| (stall.start_ns, stall.end_ns)).collect();
        assert_eq!(times, [(15, 20), (50, 60), (80, 90)]);
        known.watched(2, stalls(&[]), None);
        assert_eq!(known.own_stalls(), []);
    }
}
