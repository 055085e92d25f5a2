//! A correct run, and changes of it with the checks that each violates.

use jiff::SignedDuration;
use measure::{
    Disposition, ErrorClass, ErrorKey, Failure, Interval, Operation, OperationId, OperationKind,
    Outage, Phase, QueryCounts, ServerCount, Tally,
};
use record::{
    ClientRecord, Counted, CrossCheck, Identity, LoadRecord, PhaseRecord, TrialEnd, TrialHeader,
    WorkloadRecord,
};

use super::Check::{Counts, Memory as Leak, Outages, Process, Server, Trials};
use super::*;

const SECOND: u64 = 1_000_000_000;
const SECONDS: u64 = 6;
/// From the start of a trial's load to the start of the next one's.
const PACE_S: i64 = 8;
const TRIALS: usize = 3;
const KILL: Disturbance = Disturbance::Kill(Duration::ZERO);
const STOP: Disturbance = Disturbance::Stop(Duration::ZERO);
const CUT: Disturbance = Disturbance::Cut(100);

/// This many milliseconds after the start of the second trial's load.
fn at(millis: i64) -> Timestamp {
    Timestamp::from_second(1_700_000_000).unwrap() + SignedDuration::from_millis(millis)
}

/// Two transactions of one statement a second, of two clients.
fn trial(index: usize) -> TrialRecord {
    let mut trial = TrialRecord::new(TrialHeader {
        index,
        system: "server".to_owned(),
        variant: None,
        identity: Identity::default(),
        is_embedded: false,
        workload: WorkloadRecord { name: "points".to_owned(), ..WorkloadRecord::default() },
        operations: vec![Operation::new("points", OperationKind::Transaction)],
        clients: 2,
        repetition: 1,
        load: LoadRecord::default(),
        probe: None,
        window: None,
        beside: Vec::new(),
    });
    let started = at(1_000 * PACE_S * (i64::try_from(index).unwrap() - 1));
    let duration = Duration::from_secs(SECONDS);
    trial.phases.push(PhaseRecord {
        phase: Phase::Measure,
        started,
        duration,
        loaded_again: 0,
        remarks: Vec::new(),
        loaded: None,
    });
    for second in 0..SECONDS {
        let mut tally = Tally::new(1);
        for _ in 0..2 {
            tally.success(OperationId(0), OperationKind::Transaction, 1_000_000);
            tally.count(OperationKind::Read);
        }
        let (start_ns, end_ns) = (second * SECOND, (second + 1) * SECOND);
        trial.add(&Interval { phase: Phase::Measure, start_ns, end_ns, tally });
    }
    let counts = QueryCounts { read: 2 * SECONDS, ..QueryCounts::default() };
    trial.end = Some(TrialEnd {
        status: TrialStatus::Complete,
        measure_started: Some(started),
        measure_ended: Some(started + duration + SignedDuration::from_millis(5)),
        clients: vec![ClientRecord { events: SECONDS, failure: None }; 2],
        cross_check: Some(CrossCheck::Counted(Counted {
            by_dyno: counts,
            by_server: ServerCount::Statements(counts),
            session_statements: None,
            row_lock_ns: None,
            counters: vec![("Com_select".to_owned(), counts.read)],
        })),
        ..TrialEnd::failed("")
    });
    trial
}

/// A run of three trials and the evidence about it; changes are made to the middle one.
struct Case {
    trials: Vec<TrialRecord>,
    done: Vec<AppliedDisturbance>,
    ending: DynoExit,
    took: Duration,
    memory: Option<Memory>,
}

impl Case {
    fn right() -> Self {
        Self {
            trials: (0..TRIALS).map(trial).collect(),
            done: Vec::new(),
            ending: DynoExit::Exited(Some(0)),
            took: Duration::from_secs(30),
            memory: Some(Memory { in_second: 10_000_000, in_last: 10_250_000, is_checked: true }),
        }
    }

    fn trial(&mut self) -> &mut TrialRecord {
        &mut self.trials[1]
    }

    fn end(&mut self) -> &mut TrialEnd {
        self.trial().end.as_mut().unwrap()
    }

    fn counted(&mut self) -> &mut Counted {
        let Some(CrossCheck::Counted(counted)) = &mut self.end().cross_check else { panic!() };
        counted
    }

    fn by_server(&mut self) -> &mut QueryCounts {
        let ServerCount::Statements(counts) = &mut self.counted().by_server else { panic!() };
        counts
    }

    fn disturbed(&mut self, disturbance: Disturbance, from_ms: i64, until_ms: i64) -> &mut Self {
        let (from, until) = (at(from_ms), at(until_ms));
        self.done.push(AppliedDisturbance { disturbance, from, until });
        self
    }

    /// The server counted this many more than dyno.
    fn server_counted(&mut self, more: i64) {
        let read = &mut self.by_server().read;
        *read = read.checked_add_signed(more).unwrap();
    }

    fn lost(&mut self, start_ms: u64, end_ms: u64, failures: u64) -> &mut Self {
        let [start_ns, end_ns] = [start_ms, end_ms].map(|millis| millis * 1_000_000);
        let outage = Outage { start_ns, end_ns: Some(end_ns), failures, reconnects: failures };
        self.trial().outages.push(outage);
        self
    }

    /// A server that is read-only has refused a write.
    fn refused(&mut self) -> &mut Self {
        let key = ErrorKey::new(ErrorClass::Server, "1290");
        self.trial().intervals[3].tally.error(&key, Disposition::Ignored);
        self
    }

    fn unanswered(&mut self) -> &mut Self {
        (0..2).for_each(|_| self.end().edges.unanswered.record(SECOND));
        self
    }

    /// A trial could not begin, and dyno says by its exit code that one failed.
    fn failed(&mut self, index: usize) -> &mut Self {
        self.trials[index] = TrialRecord::new(self.trials[index].header.clone());
        self.trials[index].end = Some(TrialEnd::failed("client 1 of 2 could not start"));
        self.ending = DynoExit::Exited(Some(1));
        self
    }

    /// dyno says that it cannot compare.
    fn not_compared(&mut self) -> &mut Self {
        let reason = "the server was restarted".to_owned();
        let by_dyno = QueryCounts { read: 2 * SECONDS, ..QueryCounts::default() };
        self.end().cross_check = Some(CrossCheck::Missing { reason, by_dyno });
        self
    }

    fn verified(&self) -> Verification {
        let began = at(-1_000 * (PACE_S + 2));
        verify(&Evidence {
            planned: &vec![("points".to_owned(), 2, 1); TRIALS],
            length: Duration::from_secs(SECONDS),
            trials: &self.trials,
            done: &self.done,
            began,
            ended: at(2_000 * PACE_S),
            ending: &self.ending,
            took: self.took,
            due: Duration::from_secs(60),
            memory: self.memory,
        })
    }
}

/// What happens to a correct run, how, and the checks that fail then.
type Change = (&'static str, fn(&mut Case), &'static [Check]);

const CHANGES: &[Change] = &[
    ("hung", |it| it.ending = DynoExit::Killed("still".to_owned()), &[Process]),
    ("a wrong exit code", |it| it.ending = DynoExit::Exited(Some(1)), &[Process]),
    ("ended by a signal", |it| it.ending = DynoExit::Exited(None), &[Process]),
    ("too late", |it| it.took = Duration::from_secs(61), &[Process]),
    ("grown by 250 kB", |it| it.memory.as_mut().unwrap().in_last += 1, &[Leak]),
    ("memory not seen", |it| it.memory = None, &[Leak]),
    ("a trial is missing", |it| it.trials.truncate(2), &[Trials]),
    ("other clients", |it| it.trial().header.clients = 3, &[Trials]),
    ("another place", |it| it.trial().header.index = 2, &[Trials]),
    ("no outcome", |it| it.trial().end = None, &[Trials, Process]),
    ("failed undisturbed", |it| _ = it.failed(1), &[Trials]),
    ("failed when killed", |it| _ = it.failed(1).disturbed(KILL, -1_500, -500), &[]),
    (
        "two failed and one was disturbed: dyno should have waited for the server",
        |it| _ = it.failed(1).failed(2).disturbed(KILL, -1_500, 9_000),
        &[Trials],
    ),
    (
        "two failed and both were disturbed",
        |it| _ = it.failed(1).failed(2).disturbed(KILL, -1_500, 9_000).disturbed(CUT, 9_500, 9_510),
        &[],
    ),
    ("more transactions than those of clients", |it| it.end().clients[0].events -= 1, &[Counts]),
    (
        "a failed transaction without an error or a value",
        |it| it.trial().total.failed_transactions += 1,
        &[Counts, Counts, Counts],
    ),
    (
        "a transaction without values, a client or a statement",
        |it| it.trial().total.transactions += 1,
        &[Counts, Counts, Counts],
    ),
    ("a statement of no transaction", |it| it.trial().total.queries.read += 1, &[Counts]),
    ("a gap", |it| it.trial().intervals[2].start_ns += 1, &[Counts]),
    ("a short window", |it| it.trial().intervals[5].end_ns -= 1, &[Counts]),
    (
        "a client left",
        |it| it.end().clients[1].failure = Some(Failure::new(ErrorClass::Server, "1317", "")),
        &[Counts],
    ),
    ("the server counted more", |it| it.server_counted(1), &[Server]),
    ("the server counted less", |it| it.server_counted(-1), &[Server]),
    (
        "the soak's own statements",
        |it| {
            it.by_server().other += 3;
            it.counted().counters.push(("Com_kill".to_owned(), 2));
            it.counted().counters.push(("Com_show_processlist".to_owned(), 1));
        },
        &[],
    ),
    ("one less for each lost connection", |it| it.lost(1, 2, 2).server_counted(-2), &[]),
    ("one less again", |it| it.lost(1, 2, 2).server_counted(-3), &[Server]),
    ("more for a lost connection", |it| it.lost(1, 2, 2).server_counted(1), &[Server]),
    ("a refused write is missing", |it| it.refused().server_counted(-1), &[]),
    ("two are missing", |it| it.refused().server_counted(-2), &[Server]),
    ("one more for each client at the end", |it| it.unanswered().server_counted(2), &[]),
    ("more than clients", |it| it.unanswered().server_counted(3), &[Server]),
    ("never compared", |it| it.end().cross_check = None, &[Server]),
    ("undisturbed and not compared", |it| _ = it.not_compared(), &[Server]),
    (
        "restarted and not compared",
        |it| _ = it.not_compared().disturbed(KILL, 2_000, 3_500).lost(2_001, 3_600, 2),
        &[],
    ),
    (
        "restarted and compared all the same",
        |it| _ = it.disturbed(KILL, 2_000, 3_500).lost(2_001, 3_600, 2),
        &[Server],
    ),
    ("no outage", |it| _ = it.disturbed(STOP, 2_000, 3_500), &[Outages]),
    (
        "an outage at another time",
        |it| _ = it.disturbed(STOP, 2_000, 3_500).lost(4_000, 4_100, 1),
        &[Outages],
    ),
    ("an outage", |it| _ = it.disturbed(STOP, 2_000, 3_500).lost(2_950, 3_510, 2), &[]),
    ("a short pause", |it| _ = it.disturbed(STOP, 1_000, 1_500), &[]),
    ("a pause after the load", |it| _ = it.disturbed(STOP, 5_500, 7_500), &[]),
    (
        "no outage is due while reads work",
        |it| _ = it.disturbed(Disturbance::ReadOnly(SILENT), 2_000, 4_000),
        &[],
    ),
];

#[test]
fn each_change_of_a_correct_run_violates_its_checks() {
    for (name, change, checks) in CHANGES {
        let mut case = Case::right();
        change(&mut case);
        let violations = case.verified().violations;
        let found: Vec<Check> = violations.iter().map(|(check, _)| *check).collect();
        assert_eq!(found, *checks, "{name}: {violations:?}");
    }
}

#[test]
fn figures_count_what_was_checked() {
    let right = Case::right().verified();
    assert_eq!(right.violations, []);
    let (transactions, statements) = (36, 36);
    let all = Figures { complete: 3, equal: 3, transactions, statements, ..Figures::default() };
    assert_eq!(right.figures, all);
    let mut case = Case::right();
    case.disturbed(STOP, 2_000, 3_500).lost(2_950, 3_510, 2).server_counted(-2);
    let bounded = Figures { equal: 2, bounded: 1, lost: 2, outages: 1, ..all };
    assert_eq!(case.verified().figures, bounded);
    case.failed(2).not_compared().disturbed(CUT, 8_500, 8_510);
    let figures = case.verified().figures;
    assert_eq!((figures.complete, figures.failed), (2, 1));
    assert_eq!((figures.equal, figures.bounded, figures.uncompared), (1, 0, 1));
}
