//! A correct run, and a wrong run for each check.

use std::sync::atomic::Ordering;

use jiff::SignedDuration;
use measure::{
    Disposition, ErrorClass, ErrorKey, Interval, Nanos, Operation, OperationId, OperationKind,
    Outage, Phase, QueryCounts, Tally,
};
use record::{
    ClientRecord, Counted, CrossCheck, Identity, LoadRecord, PhaseRecord, TrialEnd, TrialHeader,
    WorkloadRecord,
};

use super::*;
use crate::soak::memory::Sample;
use crate::soak::schedule::Disturbance;

const EVENT: OperationId = OperationId(0);
const SECOND: Nanos = 1_000_000_000;
const SECONDS: u64 = 6;
/// From the start of a trial's load to the start of the next one's.
const PACE_S: i64 = 8;
const TRIALS: usize = 3;

fn began() -> Timestamp {
    Timestamp::from_second(1_700_000_000).unwrap()
}

/// This many milliseconds after the start of the second trial's load.
fn at(millis: i64) -> Timestamp {
    load_of(1) + SignedDuration::from_millis(millis)
}

fn load_of(trial: i64) -> Timestamp {
    began() + SignedDuration::from_secs(2 + PACE_S * trial)
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
        repetition: u32::try_from(index).unwrap(),
        load: LoadRecord::default(),
        probe: None,
        window: None,
        beside: Vec::new(),
    });
    let started = load_of(i64::try_from(index).unwrap());
    let duration = Duration::from_secs(SECONDS);
    trial.phases.push(PhaseRecord {
        phase: Phase::Measure,
        started,
        duration,
        loaded_again: 0,
        loaded: None,
    });
    (0..SECONDS).for_each(|second| trial.add(&interval(second, &working())));
    let counts = QueryCounts { read: 2 * SECONDS, ..QueryCounts::default() };
    trial.end = Some(TrialEnd {
        status: TrialStatus::Complete,
        measure_started: Some(started),
        measure_ended: Some(started + duration + SignedDuration::from_millis(5)),
        clients: vec![ClientRecord { events: SECONDS, failure: None }; 2],
        cross_check: Some(CrossCheck::Counted(Counted {
            by_dyno: counts,
            by_server: counts,
            counters: vec![("Com_select".to_owned(), counts.read)],
        })),
        ..TrialEnd::failed("")
    });
    trial
}

fn working() -> Tally {
    let mut tally = Tally::new(1);
    for _ in 0..2 {
        tally.success(EVENT, OperationKind::Transaction, 1_000_000);
        tally.count(OperationKind::Read);
    }
    tally
}

fn interval(second: u64, tally: &Tally) -> Interval {
    Interval {
        phase: Phase::Measure,
        start_ns: second * SECOND,
        end_ns: (second + 1) * SECOND,
        tally: tally.clone(),
    }
}

/// A connection that is opened at this time and sends this many statements.
fn send(sent: &Meter, opened: Timestamp, statements: u64) {
    sent.connection(opened).fetch_add(statements, Ordering::Relaxed);
}

/// The statements of these trials, over connections that were opened before their loads.
fn sent_by(trials: impl IntoIterator<Item = usize>) -> Meter {
    let sent = Meter::default();
    for trial in trials {
        let load = load_of(i64::try_from(trial).unwrap());
        send(&sent, load - SignedDuration::from_millis(50), 2 * SECONDS);
    }
    sent
}

/// A run of three trials and the evidence about it.
struct Case {
    trials: Vec<TrialRecord>,
    done: Vec<AppliedDisturbance>,
    sent: Meter,
    ending: DynoExit,
    took: Duration,
    memory: Option<Memory>,
}

impl Case {
    fn right() -> Self {
        Self {
            trials: (0..TRIALS).map(trial).collect(),
            done: Vec::new(),
            sent: sent_by(0..TRIALS),
            ending: DynoExit::Exited(Some(0)),
            took: Duration::from_secs(30),
            memory: memory(|_| 10_000_000),
        }
    }

    /// The middle trial, which is the disturbed one in tests of disturbances.
    fn trial(&mut self) -> &mut TrialRecord {
        &mut self.trials[1]
    }

    fn end(&mut self) -> &mut TrialEnd {
        self.trial().end.as_mut().unwrap()
    }

    /// What the middle trial compared with the server.
    fn counted(&mut self) -> &mut Counted {
        let Some(CrossCheck::Counted(counted)) = &mut self.end().cross_check else { panic!() };
        counted
    }

    /// A phase of the middle trial, 800 ms before its load.
    fn verified_its_data(&mut self) {
        let (started, duration) = (at(-800), Duration::from_millis(300));
        let phase =
            PhaseRecord { phase: Phase::Verify, started, duration, loaded_again: 0, loaded: None };
        self.trial().phases.insert(0, phase);
    }

    fn disturbed_by(&mut self, disturbance: Disturbance, from_ms: i64, until_ms: i64) {
        self.done.push(AppliedDisturbance { disturbance, from: at(from_ms), until: at(until_ms) });
    }

    /// The server counted this many more than dyno in the middle trial.
    fn server_counted(&mut self, more: i64) {
        let read = &mut self.counted().by_server.read;
        *read = read.checked_add_signed(more).unwrap();
    }

    /// The middle trial lost connections.
    fn lost(&mut self, start_ms: u64, end_ms: u64, failures: u64) {
        let ns = |millis: u64| millis * 1_000_000;
        self.trial().outages.push(Outage {
            start_ns: ns(start_ms),
            end_ns: Some(ns(end_ms)),
            failures,
            reconnects: failures,
        });
    }

    fn verified(&self) -> Verification {
        let planned = |index: usize| Planned {
            workload: "points".to_owned(),
            clients: 2,
            repetition: u32::try_from(index).unwrap(),
            length: Duration::from_secs(SECONDS),
        };
        verify(&Evidence {
            planned: &(0..TRIALS).map(planned).collect::<Vec<_>>(),
            trials: &self.trials,
            done: &self.done,
            sent: &self.sent,
            began: began(),
            ended: load_of(i64::try_from(TRIALS).unwrap()),
            ending: &self.ending,
            took: self.took,
            due: Duration::from_secs(60),
            memory: self.memory,
        })
    }

    /// The checks that failed.
    fn wrong(&self) -> Vec<Check> {
        self.verified().violations.iter().map(|violation| violation.check).collect()
    }
}

/// The checks that fail after a change of a correct run.
fn wrong(change: impl FnOnce(&mut Case)) -> Vec<Check> {
    let mut case = Case::right();
    change(&mut case);
    case.wrong()
}

/// The memory of half an hour.
fn memory(bytes: impl Fn(u64) -> u64) -> Option<Memory> {
    let at = |second: u64| began() + Duration::from_secs(second);
    let sample = |second| Sample { at: at(second), allocated_bytes: bytes(second) };
    let samples: Vec<Sample> = (0..1_800).map(sample).collect();
    Memory::of(&samples, began(), at(1_800))
}

#[test]
fn a_correct_run_has_no_violations() {
    let verification = Case::right().verified();
    assert_eq!(verification.violations, []);
    let figures = verification.figures;
    assert_eq!((figures.complete, figures.equal), (3, 3));
    assert_eq!((figures.transactions, figures.statements), (36, 36));
}

#[test]
fn hangs_wrong_exit_codes_and_late_exits_are_found() {
    let hung = DynoExit::Killed("its record has not grown for 90 s".to_owned());
    for ending in [hung, DynoExit::Exited(Some(1)), DynoExit::Exited(None)] {
        assert_eq!(wrong(|it| it.ending = ending), [Check::Process]);
    }
    assert_eq!(wrong(|it| it.took = Duration::from_secs(61)), [Check::Process]);
}

#[test]
fn missing_wrong_and_unfinished_trials_are_found() {
    assert_eq!(wrong(|it| it.trials.truncate(2)), [Check::Trials]);
    assert_eq!(wrong(|it| it.trial().header.clients = 3), [Check::Trials]);
    let unfinished = wrong(|it| {
        it.trials[2].end = None;
        it.ending = DynoExit::Exited(Some(1));
    });
    assert_eq!(unfinished, [Check::Trials]);
}

/// A trial that could not begin.
fn bare(trial: &TrialRecord) -> TrialRecord {
    let mut bare = TrialRecord::new(trial.header.clone());
    bare.end = Some(TrialEnd::failed("client 1 of 2 could not start"));
    bare
}

/// The middle trial could not begin.
fn failed() -> Case {
    let mut case = Case::right();
    case.trials[1] = bare(&case.trials[1]);
    case.sent = sent_by([0, 2]);
    case.ending = DynoExit::Exited(Some(1));
    case
}

#[test]
fn a_trial_may_fail_only_when_it_was_disturbed() {
    let mut case = failed();
    assert_eq!(case.wrong(), [Check::Trials]);
    case.disturbed_by(Disturbance::Kill(Duration::ZERO), -1_500, -500);
    assert_eq!(case.wrong(), []);
    assert_eq!(case.verified().figures.failed, 1);
    case.ending = DynoExit::Exited(Some(0));
    assert_eq!(case.wrong(), [Check::Process], "dyno says by its exit code that a trial failed");
}

#[test]
fn a_disturbance_excuses_exactly_one_failed_trial() {
    let mut case = failed();
    case.trials[2] = bare(&case.trials[2]);
    case.sent = sent_by([0]);
    case.disturbed_by(Disturbance::Kill(Duration::ZERO), -1_500, 9_000);
    assert_eq!(case.wrong(), [Check::Trials], "dyno should have waited for the server");
    case.disturbed_by(Disturbance::Cut(100), 9_500, 9_510);
    assert_eq!(case.wrong(), []);
}

#[test]
fn mismatched_transaction_counts_are_found() {
    let more = wrong(|it| it.trial().total.transactions += 1);
    assert!(more.iter().all(|check| *check == Check::Counts) && !more.is_empty());
    assert_eq!(wrong(|it| it.end().clients[0].events -= 1), [Check::Counts]);
    assert!(wrong(|it| it.trial().total.failed_transactions += 1).contains(&Check::Counts));
    let alone = wrong(|it| it.trial().total.queries.read += 1);
    assert_eq!(alone, [Check::Counts], "a statement without a transaction");
}

#[test]
fn gaps_between_intervals_and_a_window_that_is_too_short_are_found() {
    assert_eq!(wrong(|it| it.trial().intervals[2].start_ns += 1), [Check::Counts]);
    assert_eq!(wrong(|it| it.trial().intervals[5].end_ns -= 1), [Check::Counts]);
}

#[test]
fn a_client_that_left_is_found() {
    let failure = measure::Failure::new(ErrorClass::Server, "1317", "interrupted");
    assert_eq!(wrong(|it| it.end().clients[1].failure = Some(failure)), [Check::Counts]);
}

#[test]
fn a_difference_of_one_server_statement_is_found() {
    for more in [1, -1] {
        assert_eq!(wrong(|it| it.server_counted(more)), [Check::Server], "{more}");
    }
}

#[test]
fn the_soak_tests_own_statements_are_subtracted() {
    let own = wrong(|it| {
        it.counted().by_server.other += 3;
        it.counted().counters.push(("Com_kill".to_owned(), 2));
        it.counted().counters.push(("Com_show_processlist".to_owned(), 1));
    });
    assert_eq!(own, []);
}

#[test]
fn the_allowed_difference_is_the_number_of_lost_connections() {
    let mut case = Case::right();
    case.disturbed_by(Disturbance::Cut(100), 2_000, 2_010);
    case.lost(2_000, 2_020, 2);
    case.server_counted(-2);
    assert_eq!(case.wrong(), []);
    assert_eq!((case.verified().figures.bounded, case.verified().figures.lost), (1, 2));
    case.server_counted(-1);
    assert_eq!(case.wrong(), [Check::Server]);
    case.server_counted(4);
    assert_eq!(case.wrong(), [Check::Server], "a lost statement is never one more");
}

#[test]
fn writes_that_a_read_only_server_refused_may_be_missing_on_it() {
    let mut case = Case::right();
    let key = ErrorKey::new(ErrorClass::Server, "1290");
    case.trial().intervals[3].tally.error(&key, Disposition::Ignored);
    case.server_counted(-1);
    assert_eq!(case.wrong(), []);
    case.server_counted(-1);
    assert_eq!(case.wrong(), [Check::Server]);
}

#[test]
fn each_client_may_have_one_unanswered_statement_at_the_end() {
    let mut case = Case::right();
    (0..2).for_each(|_| case.end().edges.unanswered.record(SECOND));
    case.server_counted(2);
    assert_eq!(case.wrong(), []);
    case.server_counted(1);
    assert_eq!(case.wrong(), [Check::Server], "there are two clients");
}

/// The middle trial's server was killed. dyno reports that it cannot compare, and counted `more` than it sent.
fn restarted(more: u64) -> Case {
    let mut case = Case::right();
    case.disturbed_by(Disturbance::Kill(Duration::from_secs(1)), 2_000, 3_500);
    case.lost(2_001, 3_600, 2);
    case.end().cross_check = Some(CrossCheck::Missing {
        reason: "the server was restarted".to_owned(),
        by_dyno: QueryCounts { read: 2 * SECONDS + more, ..QueryCounts::default() },
    });
    case
}

#[test]
fn after_a_restart_only_wire_counts_are_checked() {
    let mut case = restarted(0);
    assert_eq!(case.wrong(), []);
    assert_eq!(case.verified().figures.by_wire, 1);
    case.end().cross_check = None;
    assert_eq!(case.wrong(), [Check::Server]);
    case.end().cross_check = trial(1).end.unwrap().cross_check;
    assert_eq!(case.wrong(), [Check::Server], "a restart that dyno did not notice");
}

#[test]
fn a_check_may_be_missing_only_when_the_trial_was_disturbed() {
    let mut case = restarted(0);
    case.done.clear();
    assert_eq!(case.wrong(), [Check::Server]);
}

#[test]
fn statements_that_were_not_sent_or_not_counted_are_found_on_the_wire() {
    let case = restarted(0);
    send(&case.sent, at(1_000), 1);
    assert_eq!(case.wrong(), [Check::Wire], "sent, and not counted");
    assert_eq!(restarted(2).wrong(), [], "one on each lost connection may not have gone out");
    assert_eq!(restarted(3).wrong(), [Check::Wire]);
}

#[test]
fn idle_round_trips_are_excluded_from_wire_counts() {
    let idle = |timed: u64, sent: u64| {
        wrong(|it| {
            (0..timed).for_each(|_| it.end().idle_round_trips.record(1_000));
            send(&it.sent, at(1_000), sent);
        })
    };
    assert_eq!(idle(50, 51), []);
    assert_eq!(idle(50, 52), [Check::Wire], "nothing disturbed them");
    assert_eq!(idle(50, 50), [Check::Wire]);
}

#[test]
fn statements_before_the_load_are_not_counted() {
    let before = wrong(|it| {
        it.verified_its_data();
        send(&it.sent, at(-600), 40);
    });
    assert_eq!(before, []);
}

#[test]
fn statements_of_a_failed_trial_do_not_count_for_the_next() {
    let mut case = failed();
    case.disturbed_by(Disturbance::Cut(100), -400, -390);
    case.verified_its_data();
    send(&case.sent, at(-600), 25);
    assert_eq!(case.wrong(), []);
}

#[test]
fn an_outage_that_is_not_in_the_record_is_found() {
    let mut case = Case::right();
    case.disturbed_by(Disturbance::Stop(Duration::from_millis(1_500)), 2_000, 3_500);
    assert_eq!(case.wrong(), [Check::Outages]);
    case.lost(4_000, 4_100, 1);
    assert_eq!(case.wrong(), [Check::Outages], "another time");
    case.lost(2_950, 3_510, 2);
    assert_eq!(case.wrong(), []);
    assert_eq!(case.verified().figures.outages, 1);
}

#[test]
fn short_disturbances_need_no_recorded_outage() {
    let mut case = Case::right();
    case.disturbed_by(Disturbance::Stall(Duration::from_millis(500)), 1_000, 1_500);
    case.disturbed_by(Disturbance::ReadOnly(Duration::from_secs(2)), 2_000, 4_000);
    // Most of it is after the load.
    case.disturbed_by(Disturbance::Stall(Duration::from_secs(2)), 5_500, 7_500);
    assert_eq!(case.wrong(), []);
    assert_eq!(case.verified().figures.outages, 0);
}

#[test]
fn growing_or_unsampled_memory_is_found() {
    let grown = memory(|second| 10_000_000 + 1_000 * second);
    assert_eq!(wrong(|it| it.memory = grown), [Check::Memory]);
    assert_eq!(wrong(|it| it.memory = None), [Check::Memory]);
}
