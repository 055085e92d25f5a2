//! Runs that are written, cut short and read back.

mod damage;
mod generators;
mod large;
mod power_cut;
mod slow_disk;

use std::fs;
use std::path::Path;
use std::time::Duration;

use measure::{
    BoundedFigure, CpuSpan, DecidedEnds, Disposition, Edges, ErrorClass, ErrorKey, Failure,
    FailureExamples, Generator, GeneratorStall, LatencyHistogram, Operation, OperationId,
    OperationKind, Phase, PreciseFigure, Precision, QueryCounts, RoundsGoal, RoundsRule, Rules,
    SeekBound, SeekOver, SeekRange, ServerCount, SessionStatements, SteadyState, SteadyWarmUp,
    Tally, TimedTurn, WorkerCpu,
};

use super::*;
use crate::{
    ClientRecord, ClientUsage, Counted, CrossCheck, Dyno, Environment, GeneratorRecord, Identity,
    LoadRecord, OpenRecord, ProbeRecord, Run, SeekRecord, TrialStatus, VariantRecord,
    WorkloadRecord, list,
};

const EVENT: OperationId = OperationId(0);
const SELECT: OperationId = OperationId(1);

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn run_header() -> RunHeader {
    RunHeader {
        plan_name: "quick start".to_owned(),
        title: Some("Ärger & <Freude>".to_owned()),
        plan_origin: "plans/quickstart.toml".to_owned(),
        plan_text: "[[system]]\nurl = \"mysql://root:secret@127.0.0.1/test\"\n".to_owned(),
        files: crate::PlanFile::of([("a.sql", &b"SELECT 1"[..])].into_iter()),
        command: "dyno bench --system mysql://root:secret@127.0.0.1/test".to_owned(),
        started: at("2026-07-30T12:00:00Z"),
        environment: Environment::gather(&[("results", Path::new("."))]),
        percentiles: vec![50.0, 99.9],
        fail_if: vec![plan::FailIf::parse("p99.9 > 12.5ms").unwrap()],
        least_difference: 0.02,
        seek: Some(seek()),
        windows: None,
        rounds: Some(rounds()),
        seed: u64::MAX,
        dyno: Dyno { version: "0.1.0".to_owned(), build: "release, abc".to_owned() },
        trials_planned: 2,
    }
}

fn trial_header(index: usize) -> TrialHeader {
    TrialHeader {
        index,
        system: "mariadb".to_owned(),
        variant: Some(VariantRecord {
            of: "mariadb".to_owned(),
            name: "small".to_owned(),
            place: 1,
            is_baseline_again: true,
        }),
        identity: Identity {
            product: "MariaDB".to_owned(),
            version: "10.11.6".to_owned(),
            build: Some("Debian".to_owned()),
            storage: "InnoDB".to_owned(),
            settings: vec![("innodb_flush_log_at_trx_commit".to_owned(), "1".to_owned())],
            remarks: Vec::new(),
            first_executions: None,
        },
        is_embedded: false,
        workload: WorkloadRecord {
            name: "rw".to_owned(),
            kind: "sysbench/oltp_read_write".to_owned(),
            description: "4 tables of 1000 rows".to_owned(),
            rules: Rules::default(),
        },
        operations: vec![
            Operation::new("transaction", OperationKind::Transaction),
            Operation::new("point select", OperationKind::Read),
        ],
        clients: 2,
        repetition: 0,
        load: LoadRecord {
            description: "closed loop".to_owned(),
            threads: 2,
            think_time: Duration::from_millis(5),
            interval: Duration::from_secs(1),
            cpus: vec![0, 2],
            open: Some(open()),
            calls: None,
        },
        probe: Some(ProbeRecord { number: index, is_confirming: index == 1 }),
        window: Some(3),
        beside: vec!["mariadb.large".to_owned()],
    }
}

fn seek() -> SeekRecord {
    let (over, from, to) = (SeekOver::Rate, 100.0, 5_000.5);
    let bound = |figure, most| SeekBound { figure, most };
    SeekRecord {
        bounds: vec![
            bound(BoundedFigure::Percentile(99.9), 1e7),
            bound(BoundedFigure::Errors, 0.001),
        ],
        range: SeekRange { over, from, to, precision: 0.05, probes_max: 50 },
        probe_time: Duration::from_secs(5),
        confirm_time: Duration::from_secs(30),
    }
}

fn rounds() -> RoundsRule {
    let goal = RoundsGoal::Decide(0.03);
    RoundsRule { goal, figure: PreciseFigure::Percentile(99.0), at_least: 5, at_most: 40 }
}

fn open() -> OpenRecord {
    let step = |seconds, from_per_s, to_per_s| plan::RateStep {
        length: Duration::from_secs(seconds),
        from_per_s,
        to_per_s,
    };
    OpenRecord {
        rate: plan::Rate::of(vec![step(1, 10.0, 20.5), step(2, 0.0, 7.0)]).unwrap(),
        rate_per_s: 12.25,
        arrivals: plan::Arrivals::Poisson,
        backlog_max: 100,
    }
}

fn interval(phase: Phase, second: u64) -> Interval {
    let mut tally = Tally::new(2);
    for step in 1..=1_000 {
        tally.success(SELECT, OperationKind::Read, step * 1_234 * (second + 1));
    }
    tally.success(EVENT, OperationKind::Transaction, 3_600_000_000_000);
    tally.failure(EVENT, OperationKind::Transaction, 7);
    tally.timeout(EVENT, OperationKind::Transaction, 2_000_000_000);
    tally.service(SELECT, 1_000);
    tally.error(&ErrorKey::new(ErrorClass::Deadlock, "1213"), Disposition::Retried);
    tally.traffic.sent_bytes = 11;
    Interval {
        phase,
        start_ns: second * 1_000_000_000,
        end_ns: (second + 1) * 1_000_000_000,
        tally,
    }
}

fn latencies() -> LatencyHistogram {
    let mut latencies = LatencyHistogram::new();
    latencies.record(5);
    latencies
}

fn edges() -> Edges {
    let mut edges = Edges::new(2);
    edges.before[0].succeeded = latencies();
    edges.drain.timeout(EVENT, OperationKind::Transaction, 9);
    edges.drain.success(SELECT, OperationKind::Read, 4);
    edges.drain.error(&ErrorKey::new(ErrorClass::Timeout, ""), Disposition::Ignored);
    edges.drain.busy_ns = 0;
    edges.unanswered = latencies();
    edges.unsent = latencies();
    (edges.busy_before_ns, edges.busy_after_ns) = (6, 7);
    edges.stuck.add(8, true, "UPDATE t SET k = 1");
    edges
}

fn outages() -> [Outage; 2] {
    [
        Outage { start_ns: 1, end_ns: Some(2), failures: 3, reconnects: 4 },
        Outage { start_ns: 5, end_ns: None, failures: 6, reconnects: 0 },
    ]
}

fn member_exits() -> Vec<MemberExit> {
    let killed = MemberExit {
        member: "store-2".to_owned(),
        role: "store".to_owned(),
        at_ns: None,
        status: "signal: 9 (SIGKILL)".to_owned(),
        log: String::new(),
    };
    let lost = MemberExit {
        member: "store-1".to_owned(),
        at_ns: Some(7),
        status: "exit status: 1".to_owned(),
        log: "lost mysql://root:secret@127.0.0.1/test".to_owned(),
        ..killed.clone()
    };
    vec![killed, lost]
}

fn failures() -> FailureExamples {
    let deadlock =
        Failure::new(ErrorClass::Deadlock, "1213", "deadlock of mysql://root:secret@127.0.0.1");
    [&deadlock].into_iter().collect()
}

fn trial_end() -> TrialEnd {
    TrialEnd {
        status: TrialStatus::Failed("lost mysql://root:secret@127.0.0.1/test".to_owned()),
        measure_started: Some(at("2026-07-30T12:00:01.5Z")),
        measure_ended: Some(at("2026-07-30T12:00:03.5Z")),
        clients: vec![
            ClientRecord { events: 2, failure: None },
            ClientRecord {
                events: 0,
                failure: Some(Failure::new(ErrorClass::Connection, "2013", "went away")),
            },
        ],
        failures: failures(),
        turns: vec![
            TimedTurn {
                client: 0,
                operation: OperationId(1),
                start_ns: 3,
                end_ns: 8,
                is_failed: false,
            },
            TimedTurn {
                client: 1,
                operation: OperationId(0),
                start_ns: 4,
                end_ns: 6,
                is_failed: true,
            },
        ],
        edges: edges(),
        lateness: latencies(),
        start_delays: latencies(),
        idle_round_trips: latencies(),
        cross_check: Some(CrossCheck::Counted(Counted {
            by_dyno: QueryCounts { read: 1, write: 2, other: 3 },
            by_server: ServerCount::Statements(QueryCounts { read: 4, write: 5, other: 6 }),
            session_statements: Some(SessionStatements::Counted { by_dyno: 6, by_server: 7 }),
            row_lock_ns: Some(7),
            counters: vec![("Com_select".to_owned(), 4)],
        })),
        usage: Some(ClientUsage {
            user_ns: 1,
            system_ns: 2,
            voluntary_switches: 3,
            involuntary_switches: 4,
            peak_rss_bytes: 5,
        }),
        generators: vec![GeneratorRecord::lone(generator())],
        failed_phase: Some(Phase::Verify),
        decided_ends: decided_ends(),
    }
}

fn decided_ends() -> DecidedEnds {
    DecidedEnds {
        warm_up: Some(SteadyWarmUp {
            at_least_ns: 2,
            at_most_ns: 9,
            steady: Some(SteadyState { from_ns: 1, seen_ns: 3, hidden_drift_per_minute: 0.03 }),
        }),
        precision: Some(Precision {
            figure: PreciseFigure::Percentile(99.0),
            within: 0.05,
            looks: 4,
            half_width: Some(0.04),
        }),
    }
}

fn generator() -> Generator {
    let span = |start_ns, running_ns| CpuSpan { start_ns, end_ns: 9, running_ns, waiting_ns: 1 };
    Generator {
        oversleep: latencies(),
        stalls: vec![GeneratorStall { start_ns: 5, end_ns: 7 }],
        workers: vec![WorkerCpu {
            whole: span(0, 4),
            busiest: span(3, 3),
            most_delayed: span(4, 2),
        }],
    }
}

/// Writes a run of one trial with three intervals; the caller ends it.
fn write_trial(run: &RunWriter) -> TrialWriter {
    write_trial_at(run, 0)
}

fn write_trial_at(run: &RunWriter, index: usize) -> TrialWriter {
    let mut trial = run.begin_trial(&trial_header(index)).unwrap();
    let prepare = PhaseRecord {
        phase: Phase::Prepare,
        started: at("2026-07-30T12:00:00.25Z"),
        duration: Duration::from_millis(1),
        loaded_again: 2,
        loaded: None,
        remarks: vec!["without statistics".to_owned()],
    };
    trial.phase(prepare).unwrap();
    trial.load_begins(at("2026-07-30T12:00:01Z")).unwrap();
    trial.interval(&interval(Phase::WarmUp, 0)).unwrap();
    trial.interval(&interval(Phase::Measure, 1)).unwrap();
    trial.outages(&outages()[..1]).unwrap();
    trial.interval(&interval(Phase::Measure, 2)).unwrap();
    trial.outages(&outages()).unwrap();
    trial.member_exits(member_exits()).unwrap();
    trial
}

fn every_text(folder: &Path) -> String {
    let mut text = String::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            text.push_str(&every_text(&path));
        } else {
            text.push_str(&fs::read_to_string(path).unwrap());
        }
    }
    text
}

#[test]
fn a_record_round_trips_exactly() {
    let out = tempfile::tempdir().unwrap();
    // Gathered once: the load average changes with time.
    let header = run_header();
    let run = RunWriter::create(out.path(), &header).unwrap();
    let folder = run.folder().to_path_buf();
    write_trial(&run).finish(&trial_end()).unwrap();
    run.finish(&RunStatus::Complete).unwrap();

    let read = Run::open(&folder).unwrap();
    assert_eq!(read.header, header.without_secrets());
    assert_eq!(read.status, RunStatus::Complete);
    assert!(read.ended.is_some());
    let trial = &read.trials[0];
    assert_eq!(trial.header, trial_header(0));
    assert_eq!(trial.phases[0].phase, Phase::Prepare);
    assert_eq!(trial.phases[0].started, at("2026-07-30T12:00:00.25Z"));
    let intervals =
        [interval(Phase::WarmUp, 0), interval(Phase::Measure, 1), interval(Phase::Measure, 2)];
    let operations = &trial.header.operations;
    let kept: Vec<_> =
        intervals.iter().map(|i| crate::IntervalRecord::new(i, operations)).collect();
    assert_eq!(trial.intervals, kept);
    let mut total = intervals[1].tally.clone();
    total.merge(&intervals[2].tally);
    assert_eq!(trial.total, total);
    assert_eq!(trial.outages, outages());
    let exits: Vec<MemberExit> =
        member_exits().into_iter().map(crate::without_secrets::of_exit).collect();
    assert_eq!((&trial.member_exits, exits[1].log.contains("secret")), (&exits, false));
    assert_eq!(trial.end, Some(trial_end().without_secrets()));
}

#[test]
fn the_parts_of_an_interval_add_up_to_it_and_a_line_names_the_missing_workers() {
    let out = tempfile::tempdir().unwrap();
    let run = RunWriter::create(out.path(), &run_header()).unwrap();
    let mut trial = run.begin_trial(&trial_header(0)).unwrap();
    let late = Interval { tally: interval(Phase::Measure, 5).tally, ..interval(Phase::Measure, 1) };
    trial.interval(&interval(Phase::WarmUp, 0)).unwrap();
    trial.part(&interval(Phase::Measure, 1), &[0, 3]).unwrap();
    trial.part(&interval(Phase::Measure, 2), &[3]).unwrap();
    trial.part(&late, &[]).unwrap();
    trial.interval(&interval(Phase::Measure, 3)).unwrap();
    let mut first = interval(Phase::Measure, 1);
    first.tally.merge(&late.tally);
    let seconds = [2, 3].map(|second| interval(Phase::Measure, second));
    let whole = [interval(Phase::WarmUp, 0), first].into_iter().chain(seconds);
    let operations = &trial_header(0).operations;
    let expected: Vec<_> =
        whole.clone().map(|it| crate::IntervalRecord::new(&it, operations)).collect();
    let read = &Run::open(run.folder()).unwrap().trials[0];
    assert_eq!(read.intervals, expected);
    let mut total = Tally::new(2);
    whole.skip(1).for_each(|it| total.merge(&it.tally));
    assert_eq!(read.total, total);
    let lines = fs::read_to_string(run.folder().join("trials/0000/intervals.jsonl")).unwrap();
    let missing: Vec<bool> =
        lines.lines().map(|line| line.contains(r#""missing_workers":[0,3]"#)).collect();
    assert_eq!(missing, [false, true, false, false, false]);
    assert_eq!(lines.matches("missing_workers").count(), 2);
    trial.finish(&trial_end()).unwrap();
    let ended = &Run::open(run.folder()).unwrap().trials[0];
    assert_eq!((&ended.damage, ended.intervals.len()), (&None, 4), "five lines of four intervals");
}

/// Renaming a field of a type that is stored directly must not rename it in the file.
#[test]
fn the_format_of_trials_and_intervals_is_kept() {
    let out = tempfile::tempdir().unwrap();
    let run = RunWriter::create(out.path(), &run_header()).unwrap();
    write_trial(&run).finish(&trial_end()).unwrap();
    let folder = run.folder().join("trials/0000");
    insta::assert_snapshot!(fs::read_to_string(folder.join("trial.json")).unwrap());
    insta::assert_snapshot!(fs::read_to_string(folder.join("intervals.jsonl")).unwrap());
}

#[test]
fn no_file_of_a_record_holds_a_secret_setting() {
    const SECRET: &str = "hors3-carr1age";
    let out = tempfile::tempdir().unwrap();
    let run = RunWriter::create(out.path(), &run_header()).unwrap();
    let mut header = trial_header(0);
    let proxy = format!("http://u:{SECRET}@h");
    let arguments = format!("--token {SECRET} -x");
    for (name, value) in [("ROOT_PASSWORD", SECRET), ("proxy", &proxy), ("arguments", &arguments)] {
        header.identity.settings.push((name.to_owned(), value.to_owned()));
    }
    let mut trial = run.begin_trial(&header).unwrap();
    let end = TrialEnd::failed(format!("it says: root_password = '{SECRET}'"));
    trial.finish(&end).unwrap();
    let text = fs::read_to_string(trial.folder().join("trial.json")).unwrap();
    assert!(!text.contains(SECRET), "{text}");
    let read = Run::open(run.folder()).unwrap();
    let settings = &read.trials[0].header.identity.settings[1..];
    let values: Vec<&str> = settings.iter().map(|(_, value)| value.as_str()).collect();
    assert_eq!(values, ["***", "http://u:***@h", "--token *** -x"]);
}

#[test]
fn histograms_read_from_a_record_can_grow() {
    let out = tempfile::tempdir().unwrap();
    let run = RunWriter::create(out.path(), &run_header()).unwrap();
    drop(write_trial(&run));
    let read = Run::open(run.folder()).unwrap();
    let mut total = read.trials[0].total.clone();
    total.merge(&read.trials[0].total);
    assert_eq!(total.operations[1].succeeded.count(), 4_000);
    assert!(total.operations[0].succeeded.max_ns() >= 3_600_000_000_000);
}

#[test]
fn an_unfinished_run_reads_as_running_or_cut() {
    let out = tempfile::tempdir().unwrap();
    let run = RunWriter::create(out.path(), &run_header()).unwrap();
    let folder = run.folder().to_path_buf();
    let trial = write_trial(&run);
    assert_eq!(Run::open(&folder).unwrap().status, RunStatus::Running);
    drop((run, trial));
    let read = Run::open(&folder).unwrap();
    assert_eq!(read.status, RunStatus::Cut);
    assert_eq!(read.trials[0].end, None);
    assert_eq!(read.trials[0].intervals.len(), 3);
    assert_eq!(read.trials[0].outages, outages());
}

#[test]
fn a_crash_at_any_byte_loses_at_most_the_current_interval() {
    let out = tempfile::tempdir().unwrap();
    let run = RunWriter::create(out.path(), &run_header()).unwrap();
    drop(write_trial(&run));
    let trial = run.folder().join("trials/0000");
    // The log is written before the lines, so a crash may leave any part of its last lines.
    let log = fs::read(trial.join("latency.hlog")).unwrap();
    let lines = fs::read(trial.join("intervals.jsonl")).unwrap();
    let second_end = {
        let mut ends = lines.iter().enumerate().filter(|(_, b)| **b == b'\n').map(|(i, _)| i);
        ends.nth(1).unwrap() + 1
    };
    for cut in [second_end, second_end + 1, lines.len() - 1] {
        fs::write(trial.join("intervals.jsonl"), &lines[..cut]).unwrap();
        fs::write(trial.join("latency.hlog"), &log[..log.len() - 3]).unwrap();
        assert_eq!(Run::open(run.folder()).unwrap().trials[0].intervals.len(), 2, "cut at {cut}");
    }
}

#[test]
fn no_password_reaches_the_disk() {
    let out = tempfile::tempdir().unwrap();
    let run = RunWriter::create(out.path(), &run_header()).unwrap();
    let folder = run.folder().to_path_buf();
    write_trial(&run).finish(&trial_end()).unwrap();
    run.finish(&RunStatus::Failed("mysql://root:secret@h".to_owned())).unwrap();
    let text = every_text(&folder);
    assert!(!text.contains("secret"));
    assert!(text.contains("mysql://root:***@127.0.0.1/test"));
}

#[test]
fn runs_started_in_the_same_second_get_separate_folders() {
    let out = tempfile::tempdir().unwrap();
    for _ in 0..2 {
        RunWriter::create(out.path(), &run_header()).unwrap().finish(&RunStatus::Complete).unwrap();
    }
    fs::create_dir(out.path().join("no-run")).unwrap();
    let names: Vec<String> = list(out.path())
        .unwrap()
        .readable
        .iter()
        .map(|run| run.folder.file_name().unwrap().to_string_lossy().into_owned())
        .collect();
    assert_eq!(names, ["2026-07-30T12-00-00Z-quick-start", "2026-07-30T12-00-00Z-quick-start-2"]);
    assert_eq!(list(&out.path().join("missing")).unwrap().readable, []);
}

#[test]
fn runs_that_cannot_be_read_are_listed_apart_with_what_is_wrong() {
    let out = tempfile::tempdir().unwrap();
    for _ in 0..3 {
        RunWriter::create(out.path(), &run_header()).unwrap().finish(&RunStatus::Complete).unwrap();
    }
    let folders: Vec<_> =
        list(out.path()).unwrap().readable.into_iter().map(|run| run.folder).collect();
    fs::write(folders[0].join("run.json"), "{").unwrap();
    fs::write(folders[2].join("run.json"), "{\"format\": \"dyno-record\", \"version\": 7}")
        .unwrap();
    let runs = list(out.path()).unwrap();
    assert_eq!(runs.readable.iter().map(|run| &run.folder).collect::<Vec<_>>(), [&folders[1]]);
    let told: Vec<_> = runs.unreadable.iter().map(|(folder, cause)| (folder, cause)).collect();
    assert!(matches!(told[0], (folder, RecordError::Malformed { .. }) if *folder == folders[0]));
    assert!(
        matches!(told[1], (folder, RecordError::Newer { found: 7, .. }) if *folder == folders[2])
    );
}

#[test]
fn a_newer_format_is_called_newer_and_not_damaged() {
    let out = tempfile::tempdir().unwrap();
    let run = RunWriter::create(out.path(), &run_header()).unwrap();
    let path = run.folder().join("run.json");
    fs::write(&path, "{\"format\": \"dyno-record\", \"version\": 7, \"shape\": []}").unwrap();
    let error = Run::open(run.folder()).unwrap_err();
    assert!(matches!(error, RecordError::Newer { found: 7, known: 1, .. }), "{error:?}");
    assert!(error.to_string().contains("record format 7"), "{error}");
}

#[test]
fn a_folder_without_a_run_is_reported() {
    let out = tempfile::tempdir().unwrap();
    let error = Run::open(out.path()).unwrap_err().to_string();
    assert!(error.contains("is not a run folder"), "{error}");
}

#[test]
fn removing_the_folder_during_a_run_stops_the_writer() {
    let out = tempfile::tempdir().unwrap();
    let run = RunWriter::create(out.path(), &run_header()).unwrap();
    let mut trial = write_trial(&run);
    fs::remove_dir_all(run.folder()).unwrap();
    let error = trial.interval(&interval(Phase::Measure, 3)).unwrap_err();
    assert!(matches!(error, RecordError::Removed { .. }), "{error:?}");
    let error = run.finish(&RunStatus::Complete).unwrap_err();
    assert!(matches!(error, RecordError::Removed { .. }), "{error:?}");
}

#[test]
fn the_latency_log_is_readable_by_hdr_tools() {
    let out = tempfile::tempdir().unwrap();
    let run = RunWriter::create(out.path(), &run_header()).unwrap();
    drop(write_trial(&run));
    let log = fs::read_to_string(run.folder().join("trials/0000/latency.hlog")).unwrap();
    let lines: Vec<&str> = log.lines().collect();
    assert_eq!(lines[0], "#[Histogram log format version 1.3]");
    assert!(lines[1].starts_with("#[StartTime: "), "{}", lines[1]);
    // `HIST` is the start of the cookie of a deflated V2 histogram in base64; the maximum is the upper end of
    // its bucket.
    assert!(
        lines[7].starts_with("Tag=warm-up/point_select,0.000,1.000,1.235,HISTFAA"),
        "{}",
        lines[7]
    );
    let failed = "Tag=warm-up/transaction/failed,0.000,1.000,0.000,HIST";
    assert!(lines[6].starts_with(failed), "{}", lines[6]);
}

#[test]
fn the_warm_up_has_tags_of_its_own_in_the_latency_log() {
    let out = tempfile::tempdir().unwrap();
    let run = RunWriter::create(out.path(), &run_header()).unwrap();
    drop(write_trial(&run));
    let log = run.folder().join("trials/0000/latency.hlog");
    let text = fs::read_to_string(&log).unwrap();
    let starts = |tag: &str| -> Vec<&str> {
        let lines = text.lines().filter_map(|line| line.strip_prefix(tag));
        lines.map(|rest| rest.split(',').next().unwrap()).collect()
    };
    assert_eq!(starts("Tag=warm-up/point_select,"), ["0.000"]);
    assert_eq!(starts("Tag=point_select,"), ["1.000", "2.000"], "the measured intervals");
    let damage = |text: &str| {
        fs::write(&log, text).unwrap();
        Run::open(run.folder()).unwrap().trials[0].damage.clone().unwrap().what
    };
    // A mark on an interval that counts is damage, and so is a missing one.
    let marked = text.replace("Tag=point_select,", "Tag=warm-up/point_select,");
    let told = "found tag `warm-up/point_select` instead of `point_select`";
    assert_eq!(damage(&marked), told);
    let unmarked = text.replace("Tag=warm-up/point_select,", "Tag=point_select,");
    let told = "found tag `point_select` instead of `warm-up/point_select`";
    assert_eq!(damage(&unmarked), told);
}

#[test]
fn a_discarded_run_leaves_no_folder_that_it_has_made() {
    let out = tempfile::tempdir().unwrap();
    let deep = out.path().join("a/results");
    RunWriter::create(&deep, &run_header()).unwrap().discard().unwrap();
    assert_eq!(fs::read_dir(out.path()).unwrap().count(), 0);
    let run = RunWriter::create(&deep, &run_header()).unwrap();
    let kept = RunWriter::create(&deep, &run_header()).unwrap();
    run.discard().unwrap();
    assert!(kept.folder().join("run.json").exists(), "another run is in the same folder");
}
