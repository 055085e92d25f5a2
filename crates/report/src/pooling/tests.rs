//! Windows that are put together: counts, times, ends, and what was watched.

use measure::{
    Connections, ConnectionsReading, Edges, Host, HostReading, Interval, Nanos, Operation,
    OperationId, OperationKind, Outage, Phase, Series, Server, Tally, TcpCounters, Watched,
};
use record::{ClientRecord, ClientUsage, TrialEnd, TrialStatus};

use super::*;
use crate::sample;

const MS: Nanos = 1_000_000;
const S: Nanos = 1_000 * MS;

/// Transactions of so many milliseconds each in an interval.
fn interval(
    phase: Phase,
    (start_ns, end_ns): (Nanos, Nanos),
    transactions: u64,
    ms: u64,
) -> Interval {
    let mut tally = Tally::new(1);
    for _ in 0..transactions {
        tally.success(OperationId(0), OperationKind::Transaction, ms * MS);
    }
    Interval { phase, start_ns, end_ns, tally }
}

/// A window with a warm-up of so many milliseconds, and intervals of a second with transactions of so many ms.
fn window(
    (system, number): (&str, u32),
    warm_up_ms: u64,
    transactions: &[u64],
    ms: u64,
) -> TrialRecord {
    let mut record = TrialRecord::new(TrialHeader {
        system: system.to_owned(),
        operations: vec![Operation::new("event", OperationKind::Transaction)],
        clients: 1,
        window: Some(number),
        beside: vec!["other".to_owned()],
        ..sample::run().trials.swap_remove(0).header
    });
    let from_ns = warm_up_ms * MS;
    record.add(&interval(Phase::WarmUp, (0, from_ns), 5, 1));
    for (start_ns, count) in (0..).map(|at| from_ns + at * S).zip(transactions) {
        record.add(&interval(Phase::Measure, (start_ns, start_ns + S), *count, ms));
    }
    record.end = Some(TrialEnd {
        status: TrialStatus::Complete,
        clients: vec![ClientRecord { events: transactions.iter().sum(), failure: None }],
        edges: Edges { busy_after_ns: 7, ..Edges::new(1) },
        usage: Some(ClientUsage { user_ns: 3, peak_rss_bytes: 9, ..ClientUsage::default() }),
        measure_started: Some("2026-07-30T12:00:01Z".parse().unwrap()),
        ..TrialEnd::failed("")
    });
    record
}

fn numbered(mut trials: Vec<TrialRecord>) -> Vec<TrialRecord> {
    trials.iter_mut().enumerate().for_each(|(at, trial)| trial.header.index = at);
    trials
}

/// The windows of a and b, in the order a b b a.
fn run() -> Vec<TrialRecord> {
    numbered(vec![
        window(("a", 0), 1_000, &[10, 20], 1),
        window(("b", 0), 1_000, &[5], 1),
        window(("b", 1), 200, &[5], 1),
        window(("a", 1), 200, &[30], 2),
    ])
}

#[test]
fn windows_are_one_trial_with_all_counts_on_one_clock() {
    let trials = pooled(run(), 2, &RunStatus::Complete);
    let told: Vec<_> = trials
        .iter()
        .map(|it| (it.header.system.as_str(), it.header.index, it.windows.len(), it.seconds()))
        .collect();
    assert_eq!(told, [("a", 0, 2, 3.0), ("b", 1, 2, 2.0)]);
    let a = &trials[0];
    assert_eq!((a.header.window, a.header.beside.as_slice()), (None, &["other".to_owned()][..]));
    assert!(a.header.load.description.starts_with("2 windows of"), "{:?}", a.header.load);
    let times: Vec<_> = a.intervals.iter().map(|it| (it.start_ns / S, it.end_ns / S)).collect();
    assert_eq!(times, [(0, 1), (1, 2), (2, 3)], "without the warm-ups");
    let latencies = &a.total.operations[0].succeeded;
    assert_eq!((a.total.transactions, latencies.count()), (60, 60));
    assert_eq!(latencies.count_above_ns(1.5e6), 30);
    let end = a.end.as_ref().unwrap();
    assert_eq!((&end.status, end.clients[0].events), (&TrialStatus::Complete, 60));
    assert_eq!(end.edges.busy_after_ns, 14);
    let usage = end.usage.unwrap();
    assert_eq!((usage.user_ns, usage.peak_rss_bytes), (6, 9));
    assert_eq!(a.windows[1].header.window, Some(1), "each window is kept");
}

#[test]
fn the_use_of_a_window_that_is_not_known_is_that_of_the_others_on_average() {
    let user_ns = |unknown: &[usize]| {
        let mut trials = numbered((0..3).map(|at| window(("a", at), 0, &[1], 1)).collect());
        for at in unknown {
            trials[*at].end.as_mut().unwrap().usage = None;
        }
        let a = pooled(trials, 3, &RunStatus::Complete).swap_remove(0);
        a.end.unwrap().usage.map(|usage| usage.user_ns)
    };
    assert_eq!([user_ns(&[]), user_ns(&[1]), user_ns(&[0, 2])], [Some(9), Some(9), None]);
}

#[test]
fn other_trials_stay_as_they_are_and_loads_and_rounds_stay_apart() {
    let mut trials = run();
    trials.iter_mut().for_each(|trial| trial.header.window = None);
    assert_eq!(pooled(trials.clone(), 2, &RunStatus::Complete), trials);
    let mut trials = run();
    trials[2].header.clients = 8;
    trials[3].header.repetition = 1;
    let pooled = pooled(trials, 1, &RunStatus::Complete);
    assert_eq!(pooled.iter().map(|it| it.windows.len()).collect::<Vec<_>>(), [1; 4]);
}

#[test]
fn a_trial_ends_as_the_worst_of_its_windows() {
    let status = |change: &dyn Fn(&mut Vec<TrialRecord>), run_status: &RunStatus| {
        let mut trials = run();
        change(&mut trials);
        let first = pooled(trials, 2, run_status).swap_remove(0);
        first.end.map(|end| end.status)
    };
    let set = |at: usize, status: TrialStatus| {
        move |trials: &mut Vec<TrialRecord>| {
            trials[at].end.as_mut().unwrap().status = status.clone();
        }
    };
    let failed = TrialStatus::Failed("no".to_owned());
    let crashed = TrialStatus::Crashed("gone".to_owned());
    assert_eq!(status(&set(3, failed.clone()), &RunStatus::Complete), Some(failed.clone()));
    let both = |trials: &mut Vec<TrialRecord>| {
        set(0, failed.clone())(trials);
        set(3, crashed.clone())(trials);
    };
    assert_eq!(status(&both, &RunStatus::Complete), Some(crashed.clone()));
    // A window that never ran.
    let missing = |trials: &mut Vec<TrialRecord>| trials.truncate(3);
    let interrupted = Some(TrialStatus::Interrupted);
    assert_eq!(status(&missing, &RunStatus::Interrupted), interrupted);
    assert_eq!(status(&missing, &RunStatus::Cut), None);
    let cut = |trials: &mut Vec<TrialRecord>| trials[3].end = None;
    assert_eq!(status(&cut, &RunStatus::Cut), None);
}

#[test]
fn a_window_whose_load_did_not_begin_adds_nothing() {
    let mut trials = run();
    let header = TrialHeader { operations: Vec::new(), ..trials[0].header.clone() };
    trials[0] = TrialRecord { end: Some(TrialEnd::failed("no")), ..TrialRecord::new(header) };
    let a = pooled(trials, 2, &RunStatus::Complete).swap_remove(0);
    assert_eq!((a.total.transactions, a.seconds()), (30, 1.0));
    assert_eq!((a.header.operations.len(), a.intervals[0].start_ns), (1, 0));
    assert_eq!(a.end.unwrap().usage.unwrap().user_ns, 3);
}

#[test]
fn an_outage_counts_with_its_part_in_a_measured_window() {
    let mut trials = run();
    let outage = |start_ns, end_ns| Outage { start_ns, end_ns, failures: 1, reconnects: 1 };
    trials[0].outages = vec![outage(0, Some(S)), outage(S / 2, Some(3 * S / 2))];
    trials[3].outages = vec![outage(S, None)];
    let a = pooled(trials, 2, &RunStatus::Complete).swap_remove(0);
    let times: Vec<_> = a.outages.iter().map(|it| (it.start_ns, it.end_ns.unwrap())).collect();
    // The first was over before the window; the last began 0.8 s into the second window, which is the third second.
    assert_eq!(times, [(0, S / 2), (2 * S + 800 * MS, 3 * S)]);
}

/// Readings at these times in ms, of counters that were so high.
fn watched(readings: &[(u64, u64)]) -> Watched {
    let host = |(at_ms, count): &(u64, u64)| HostReading {
        at_ns: at_ms * MS,
        context_switches: Some(*count),
        ..HostReading::default()
    };
    let connection = |(at_ms, count): &(u64, u64)| ConnectionsReading {
        at_ns: at_ms * MS,
        counters: TcpCounters { segments_sent: *count, ..TcpCounters::default() },
        ..ConnectionsReading::default()
    };
    let points = readings.iter().map(|(at_ms, count)| (at_ms * MS, *count as f64));
    let series = Series { points: points.collect(), ..Series::parse("q_total") };
    Watched {
        hosts: vec![Host { readings: readings.iter().map(host).collect(), ..Host::default() }],
        servers: vec![Server {
            answers_ns: readings.iter().map(|(at_ms, _)| at_ms * MS).collect(),
            series: vec![series],
            ..Server::default()
        }],
        connections: Connections {
            readings: readings.iter().map(connection).collect(),
            ..Connections::default()
        },
        ..Watched::default()
    }
}

#[test]
fn readings_are_on_one_clock_and_begin_anew_with_each_window() {
    let mut trials = run();
    trials[0].watched = watched(&[(0, 0), (1_000, 100), (2_000, 110), (3_002, 130)]);
    // 1,000 more while the load was elsewhere.
    trials[3].watched = watched(&[(0, 1_130), (201, 1_150), (1_200, 1_160)]);
    let all = pooled(trials, 2, &RunStatus::Complete).swap_remove(0).watched;
    // The last reading of each window comes before the next one begins.
    let times_ns = [0, 998 * MS - 1, 2 * S - 1, 2 * S + MS - 1, 3 * S - 1];
    let host = &all.hosts[0];
    assert_eq!(host.readings.iter().map(|it| it.at_ns).collect::<Vec<_>>(), times_ns);
    let counts: Vec<_> = host.readings.iter().map(|it| it.context_switches.unwrap()).collect();
    assert_eq!(counts, [100, 110, 130, 1_150, 1_160]);
    let joints_ns = [0, 2 * S + MS - 1];
    assert_eq!(host.joints_ns, joints_ns);
    assert_eq!(
        (all.servers[0].answers_ns.as_slice(), &all.servers[0].joints_ns[..]),
        (&times_ns[..], &joints_ns[..])
    );
    let values: Vec<f64> =
        times_ns.iter().map(|at_ns| all.servers[0].series[0].at(*at_ns).unwrap()).collect();
    assert_eq!(values, [100.0, 110.0, 130.0, 1_150.0, 1_160.0]);
    let connections: Vec<_> = all.connections.readings.iter().map(|it| it.at_ns).collect();
    assert_eq!(
        (connections.as_slice(), &all.connections.joints_ns[..]),
        (&times_ns[..], &joints_ns[..])
    );
}

#[test]
fn what_no_run_can_have_written_is_read_too() {
    let mut trials = run();
    let far = |from_ns| Outage { start_ns: from_ns, end_ns: None, failures: 0, reconnects: 0 };
    trials[0].outages = vec![far(Nanos::MAX), far(0)];
    trials[0].end.as_mut().unwrap().edges = Edges::default();
    trials[0].watched = watched(&[(0, 9), (1_500, 3), (Nanos::MAX / MS, 0), (0, 1)]);
    trials[3].intervals[1].end_ns = Nanos::MAX;
    trials[3].header.window = Some(u32::MAX);
    trials[1].header.operations.clear();
    let trials = pooled(trials, u32::MAX, &RunStatus::Failed(String::new()));
    assert_eq!(trials.iter().map(|it| it.total.transactions).collect::<Vec<_>>(), [60, 5]);
    assert!(trials.iter().all(|it| it.end.is_none()), "windows are missing");
}

#[test]
fn the_trial_that_a_run_is_measuring_is_not_cut() {
    let mut run = sample::run();
    (run.status, run.ended) = (RunStatus::Running, None);
    run.trials.truncate(3);
    run.trials[2].end = None;
    let run = in_views(run);
    let text = crate::terminal(&crate::Reading::new(&run));
    assert!(text.contains("running, 2 of 8 trials"), "{text}");
    assert!(!text.contains("cut") && !text.contains("missing"), "{text}");
}
