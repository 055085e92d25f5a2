//! Made-up runs with exact figures, for tests.

mod experiment;
mod generators;
mod rounds;

use std::time::Duration;

use analysis::{Seek, Step};
use jiff::Timestamp;
use measure::{
    BoundedFigure, Connections, ConnectionsReading, CpuSpan, CpuTimes, DecidedEnds, DiskCounters,
    Disposition, Edges, ErrorClass, ErrorKey, Failure, FailureExamples, Generator, GeneratorStall,
    Host, HostReading, Interval, LatencyHistogram, Operation, OperationId, OperationKind, Phase,
    Process, ProcessDisk, ProcessReading, Rules, Runnable, SeekBound, SeekOver, SeekRange, Side,
    Tally, TcpCounters, TimedTurn, Watched, WorkerCpu,
};
use record::{
    ClientRecord, ClientUsage, Cpu, Disk, Dyno, Environment, GeneratorRecord, Identity, LoadRecord,
    OpenRecord, PhaseRecord, ProbeRecord, Run, RunHeader, RunStatus, SeekRecord, System, TrialEnd,
    TrialHeader, TrialRecord, TrialStatus, VariantRecord, WorkloadRecord,
};

pub(crate) use experiment::{experiment, experiment_on_a_cluster};
pub(crate) use generators::{generators, lost_generator};
pub(crate) use rounds::rounds;

/// The size of a made-up run.
struct Shape {
    systems: usize,
    workloads: &'static [&'static str],
    clients: &'static [usize],
    repetitions: u32,
    /// Seconds of warm-up and of measurement.
    seconds: (u64, u64),
}

/// Two systems, two workloads, 1 and 4 clients.
pub(crate) fn run() -> Run {
    make(&Shape {
        systems: 2,
        workloads: &["oltp_point_select", "oltp_read_write"],
        clients: &[1, 4],
        repetitions: 1,
        seconds: (1, 4),
    })
}

/// A system under two loads, each for twenty seconds.
pub(crate) fn long() -> Run {
    make(&Shape {
        systems: 1,
        workloads: &["oltp_point_select"],
        clients: &[1, 4],
        repetitions: 1,
        seconds: (1, 20),
    })
}

/// Four trials of the same load, ten seconds each.
pub(crate) fn repeated() -> Run {
    make(&Shape {
        systems: 1,
        workloads: &["oltp_point_select"],
        clients: &[1],
        repetitions: 4,
        seconds: (1, 10),
    })
}

/// A run of one trial that could not reach its system, so that its load never began.
pub(crate) fn failed() -> Run {
    let mut run = run();
    run.trials.truncate(1);
    let mut header = run.trials[0].header.clone();
    header.identity = Identity::default();
    run.trials[0] = TrialRecord {
        phases: Vec::new(),
        intervals: Vec::new(),
        total: Tally::new(header.operations.len()),
        watched: Watched::default(),
        outages: Vec::new(),
        member_exits: Vec::new(),
        conditions: Vec::new(),
        ceiling: None,
        why: None,
        plans: Vec::new(),
        end: Some(TrialEnd::failed("nothing listens there")),
        damage: None,
        windows: Vec::new(),
        header,
    };
    run.status = RunStatus::Failed(String::new());
    run
}

/// A run of one trial in which dyno itself was stopped for 1.5 of 4 measured seconds.
pub(crate) fn stalled() -> Run {
    let mut run = run();
    run.trials.truncate(1);
    let (start_ns, end_ns) = (2_200_000_000, 3_700_000_000);
    generator_of(&mut run.trials[0]).stalls = vec![GeneratorStall { start_ns, end_ns }];
    run
}

/// What the process of the run observed of itself in a trial of which it offered the load.
pub(crate) fn generator_of(trial: &mut TrialRecord) -> &mut Generator {
    trial.end.as_mut().unwrap().generators[0].generator.as_mut().unwrap()
}

/// A run of one system that watched this machine and dyno's connections.
pub(crate) fn watched() -> Run {
    let mut run = run();
    run.trials.retain(|trial| trial.header.system == "mariadb");
    for trial in &mut run.trials {
        trial.watched = beside(trial.header.clients as u64);
    }
    run
}

/// A watched run of one trial that has kept the times of its transactions: each client runs Q1 in the first second
/// and Q2 in the next, and that of the last client fails.
pub(crate) fn kept_turns(clients: usize) -> Run {
    let mut run = watched();
    run.trials.truncate(1);
    let trial = &mut run.trials[0];
    trial.header.clients = clients;
    trial.header.operations = ["Q1", "Q2"]
        .map(|name| Operation::new(name.to_owned(), OperationKind::Transaction))
        .to_vec();
    let end = trial.end.as_mut().unwrap();
    end.turns = (0..2 * clients)
        .map(|at| {
            let second = at / clients;
            TimedTurn {
                client: at % clients,
                operation: OperationId(second as u16),
                start_ns: second as u64 * 1_000_000_000,
                end_ns: (second + 1) as u64 * 1_000_000_000,
                is_failed: at + 1 == 2 * clients,
            }
        })
        .collect();
    run
}

/// A reading each second: each client sends 1,000 requests of 90 bytes a second in a segment each, and
/// acknowledges every other response in a separate segment.
fn beside(clients: u64) -> Watched {
    let process = |name: &str, side| Process { name: name.to_owned(), pid: 7, side };
    let host = Host {
        name: "pioneer".to_owned(),
        place: None,
        cpu_threads: 2,
        memory_bytes: Some(1 << 30),
        processes: vec![process("dyno", Side::Client), process("mariadb", Side::Server)],
        readings: (0..=5).map(|second| host_reading(second, clients)).collect(),
        joints_ns: Vec::new(),
    };
    let connections = (0..=5).map(|second| ConnectionsReading {
        at_ns: second * 1_000_000_000,
        open: clients,
        counters: TcpCounters {
            segments_sent: 1_500 * second * clients,
            data_segments_sent: 1_000 * second * clients,
            segments_received: 1_000 * second * clients,
            data_segments_received: 1_000 * second * clients,
            segments_retransmitted: second / 5,
            bytes_acknowledged: 90_000 * second * clients,
            bytes_received: 265_000 * second * clients,
            ..TcpCounters::default()
        },
        round_trip_ns: Some(31_000),
        ..ConnectionsReading::default()
    });
    let connections = Connections { readings: connections.collect(), ..Connections::default() };
    Watched { hosts: vec![host], servers: Vec::new(), connections, ..Watched::default() }
}

fn host_reading(second: u64, clients: u64) -> HostReading {
    let runnable = Runnable { looks: 10, sum: 5 * clients, max: clients };
    let process = |user_ns| ProcessReading {
        user_ns,
        rss_bytes: 64 << 20,
        threads: 9,
        runnable,
        ..ProcessReading::default()
    };
    let server = ProcessReading {
        context_switches: Some(second * 3_000),
        disk: Some(ProcessDisk { read_bytes: 0, written_bytes: second << 20 }),
        ..process(second * 500_000_000)
    };
    HostReading {
        at_ns: second * 1_000_000_000,
        cpu: CpuTimes {
            user_ns: second * 750_000_000,
            idle_ns: second * 1_250_000_000,
            ..CpuTimes::default()
        },
        runnable: Some(clients),
        context_switches: Some(second * 4_000),
        memory_available_bytes: Some(1 << 29),
        disk: Some(DiskCounters { written_bytes: second << 20, ..DiskCounters::default() }),
        disk_busy_ns: Some([("sda".to_owned(), 0)].into()),
        processes: vec![Some(process(second * 250_000_000)), Some(server)],
        ..HostReading::default()
    }
}

/// Three workloads, four levels, two repetitions.
pub(crate) fn large() -> Run {
    make(&Shape {
        systems: 2,
        workloads: &["oltp_point_select", "oltp_read_write", "oltp_update_index"],
        clients: &[1, 4, 16, 64],
        repetitions: 2,
        seconds: (1, 5),
    })
}

/// A run like that of the quick start: one system, several workloads.
pub(crate) fn quick() -> Run {
    make(&Shape {
        systems: 1,
        workloads: &["oltp_point_select", "oltp_read_write", "oltp_update_index"],
        clients: &[1, 2, 4, 8],
        repetitions: 1,
        seconds: (1, 5),
    })
}

/// Two systems, compared at one number of clients, several times.
pub(crate) fn compared() -> Run {
    make(&Shape {
        systems: 2,
        workloads: &["oltp_read_write"],
        clients: &[16],
        repetitions: 4,
        seconds: (0, 3),
    })
}

/// Two variants of one system in three rounds. One of the trials crashed its server.
pub(crate) fn variants() -> Run {
    let mut run = make(&Shape {
        systems: 2,
        workloads: &["oltp_point_select"],
        clients: &[4, 16],
        repetitions: 3,
        seconds: (0, 2),
    });
    as_variants(&mut run);
    let killed = run.trials.iter_mut().rfind(|trial| trial.header.system == "tidb.v3");
    let end = killed.and_then(|trial| trial.end.as_mut()).unwrap();
    end.status = TrialStatus::Crashed("tidb-server was killed by SIGKILL".to_owned());
    run
}

/// Two variants in three rounds of nine windows, on a machine that is faster and slower from round to round and, for
/// both alike, from window to window. The second variant is 3 % faster.
pub(crate) fn in_windows() -> Run {
    const WINDOWS: [f64; 9] = [0.1, -0.1, 0.2, -0.2, 0.05, -0.05, 0.1, -0.1, 0.0];
    const ROUNDS: [[f64; 2]; 3] = [[0.08, -0.08], [-0.1, 0.07], [0.06, -0.09]];
    let mut run = variants();
    run.trials.retain(|trial| trial.header.clients == 4);
    run.header.trials_planned = run.trials.len();
    run.header.windows = Some(WINDOWS.len() as u32);
    for trial in &mut run.trials {
        let place = trial.header.variant.as_ref().unwrap().place;
        let round = ROUNDS[trial.header.repetition as usize][place];
        let window = |(window, speed): (usize, &f64)| {
            let mut it = trial.clone();
            it.header.window = Some(window as u32);
            let per_s = 1e9 * (round + speed).exp() * [1.0, 1.03][place];
            it.total.transactions = per_s.round() as u64;
            it
        };
        trial.windows = WINDOWS.iter().enumerate().map(window).collect();
        trial.total.transactions = trial.windows.iter().map(|it| it.total.transactions).sum();
    }
    run
}

/// Makes the two systems of a run variants of one.
fn as_variants(run: &mut Run) {
    for trial in &mut run.trials {
        let place = usize::from(trial.header.system == "mariadb");
        let name = ["v1", "v3"][place].to_owned();
        trial.header.system = format!("tidb.{name}");
        trial.header.variant =
            Some(VariantRecord { of: "tidb".to_owned(), name, place, is_baseline_again: false });
    }
}

/// Four rates offered to 64 clients, the last one above the system's capacity, and one rate in steps.
pub(crate) fn open() -> Run {
    let mut run = make(&Shape {
        systems: 1,
        workloads: &["oltp_point_select"],
        clients: &[1, 2, 4, 8, 3],
        repetitions: 1,
        seconds: (1, 5),
    });
    let step = |from_per_s, to_per_s| plan::RateStep {
        length: Duration::from_secs(2),
        from_per_s,
        to_per_s,
    };
    let steps = plan::Rate::of(vec![step(500.0, 1_000.0), step(1_700.0, 1_700.0)]);
    let constant = [800.0, 1_150.0, 1_450.0, 3_000.0].map(plan::Rate::constant);
    let rates = constant.into_iter().chain(steps);
    for (trial, rate) in run.trials.iter_mut().zip(rates) {
        let rate_per_s = rate.mean_per_s(Duration::from_secs(5));
        let (arrivals, backlog_max) = (plan::Arrivals::Poisson, 100_000);
        trial.header.clients = 64;
        trial.header.load.description = "open loop".to_owned();
        trial.header.load.open = Some(OpenRecord { rate, rate_per_s, arrivals, backlog_max });
        trial.total.operations[0].service = trial.total.operations[1].succeeded.clone();
        let end = trial.end.as_mut().unwrap();
        (0..100).for_each(|lateness| end.lateness.record(lateness * 1_000));
        (0..200).for_each(|delay| end.start_delays.record(delay * 2_000));
    }
    run
}

/// Makes a run another one than those in other folders.
pub(crate) fn keep_in(run: &mut Run, folder: &str) {
    run.folder = std::path::Path::new("results").join(folder);
    let later = folder.bytes().fold(0, |sum, byte| 31 * sum % 1_000_003 + i64::from(byte));
    run.header.started += jiff::SignedDuration::from_nanos(later);
}

/// A seek over the clients of one system, for p99 at most `most_ns` and no more than one error in a thousand.
pub(crate) fn sought(most_ns: f64, from: f64, to: f64) -> Run {
    let mut run = run();
    run.trials.clear();
    let bound = |figure, most| SeekBound { figure, most };
    let range = SeekRange { over: SeekOver::Clients, from, to, precision: 0.05, probes_max: 50 };
    run.header.seek = Some(SeekRecord {
        bounds: vec![
            bound(BoundedFigure::Percentile(99.0), most_ns),
            bound(BoundedFigure::Errors, 0.001),
        ],
        range,
        probe_time: Duration::from_secs(2),
        confirm_time: Duration::from_secs(6),
    });
    let mut seek = Seek::new(range);
    let mut next = seek.next(None);
    while let Some(asked) = next {
        let number = run.trials.len();
        let is_confirming = asked.step == Step::Confirm;
        let mut header = trial_header(number, 0, "oltp_point_select", asked.load as usize, 0);
        header.probe = Some(ProbeRecord { number, is_confirming });
        let record = trial(header, (0, if is_confirming { 6 } else { 2 }));
        next = seek.next(crate::digest::probe::judged(&run, &record));
        run.trials.push(record);
    }
    run.header.trials_planned = run.trials.len();
    run
}

fn make(shape: &Shape) -> Run {
    let mut trials = Vec::new();
    for system in 0..shape.systems {
        for workload in shape.workloads {
            for repetition in 0..shape.repetitions {
                for clients in shape.clients {
                    let header = trial_header(trials.len(), system, workload, *clients, repetition);
                    trials.push(trial(header, shape.seconds));
                }
            }
        }
    }
    let started = at("2026-07-30T12:00:00Z");
    Run {
        folder: "results/2026-07-30T12-00-00Z-quickstart".into(),
        header: RunHeader {
            plan_name: "quickstart".to_owned(),
            title: Some("Rows & <queries>, in a minute".to_owned()),
            plan_origin: "plans/quickstart.toml".to_owned(),
            plan_text: "name = \"quickstart\"\n\n[load]\nclients = [1, 4]\n".to_owned(),
            files: Vec::new(),
            command: "dyno run plans/quickstart.toml --set load.time=4s".to_owned(),
            started,
            environment: environment(),
            percentiles: vec![50.0, 95.0, 99.0, 99.9],
            fail_if: Vec::new(),
            least_difference: plan::LEAST_DIFFERENCE,
            seek: None,
            windows: None,
            rounds: None,
            seed: 42,
            dyno: Dyno { version: "0.1.0".to_owned(), build: "release".to_owned() },
            trials_planned: trials.len(),
        },
        plan_damage: None,
        trials,
        status: RunStatus::Complete,
        ended: Some(at("2026-07-30T12:01:05Z")),
    }
}

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn environment() -> Environment {
    Environment {
        cpu: Cpu {
            model: "Sophgo SG2042".to_owned(),
            architecture: "riscv64".to_owned(),
            sockets: Some(1),
            cores: Some(64),
            threads: Some(64),
            usable_threads: Some(2),
            frequency_mhz_max: Some(2000.0),
            governor: Some("performance".to_owned()),
            flags: vec!["rv64imafdc".to_owned(), "v".to_owned()],
        },
        memory_bytes: Some(128 << 30),
        disks: vec![Disk {
            purpose: "results".to_owned(),
            path: "results".to_owned(),
            filesystem: Some("ext4".to_owned()),
            options: Some("rw".to_owned()),
            device: Some("/dev/nvme0n1p2".to_owned()),
            model: Some("Fast Disk".to_owned()),
            is_rotational: Some(false),
        }],
        system: System {
            hostname: Some("pioneer".to_owned()),
            os: Some("RevyOS 20240327".to_owned()),
            kernel: Some("Linux 6.6.20".to_owned()),
            virtualization: None,
        },
        load_average: Some([0.5, 0.25, 0.1]),
    }
}

fn identity(system: usize) -> (&'static str, Identity, bool) {
    let of = |product: &str, version: &str, storage: &str, setting: (&str, &str)| Identity {
        product: product.to_owned(),
        version: version.to_owned(),
        build: None,
        storage: storage.to_owned(),
        settings: vec![(setting.0.to_owned(), setting.1.to_owned())],
        remarks: Vec::new(),
        first_executions: None,
    };
    match system {
        0 => ("sqlite", of("SQLite", "3.50.2", "file, WAL", ("synchronous", "NORMAL")), true),
        _ => (
            "mariadb",
            of("MariaDB", "10.11.6", "InnoDB", ("innodb_flush_log_at_trx_commit", "1")),
            false,
        ),
    }
}

fn trial_header(
    index: usize,
    system: usize,
    workload: &str,
    clients: usize,
    repetition: u32,
) -> TrialHeader {
    let (name, identity, is_embedded) = identity(system);
    TrialHeader {
        index,
        system: name.to_owned(),
        variant: None,
        identity,
        is_embedded,
        workload: WorkloadRecord {
            name: workload.to_owned(),
            kind: format!("sysbench/{workload}"),
            description: "4 tables of 10,000 rows".to_owned(),
            rules: Rules::default(),
        },
        operations: vec![
            Operation::new("transaction", OperationKind::Transaction),
            Operation::new("point_select", OperationKind::Read),
        ],
        clients,
        repetition,
        load: LoadRecord {
            description: "closed loop, no think time".to_owned(),
            threads: 2,
            think_time: Duration::ZERO,
            interval: Duration::from_secs(1),
            cpus: Vec::new(),
            open: None,
            calls: None,
        },
        probe: None,
        window: None,
        beside: Vec::new(),
    }
}

/// Pseudo-random numbers that are the same on every machine. Source: Knuth's MMIX generator.
struct Noise(u64);

impl Noise {
    /// Between 0 and 1.
    fn next(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f64 / (1_u64 << 24) as f64
    }
}

fn trial(header: TrialHeader, seconds: (u64, u64)) -> TrialRecord {
    let mut noise = Noise(header.index as u64 + 1);
    let intervals: Vec<Interval> =
        (0..seconds.0 + seconds.1).map(|at| interval(&header, at, seconds, &mut noise)).collect();
    let mut record = TrialRecord::new(header);
    intervals.iter().for_each(|interval| record.add(interval));
    let header = &record.header;
    let events = record.total.transactions;
    let clients = header.clients as u64;
    let started = at("2026-07-30T12:00:01Z");
    TrialRecord {
        phases: [(Phase::WarmUp, seconds.0), (Phase::Measure, seconds.1)]
            .map(|(phase, s)| (phase, Duration::from_secs(s)))
            .map(|(phase, duration)| PhaseRecord {
                phase,
                started,
                duration,
                loaded_again: 0,
                remarks: Vec::new(),
                loaded: None,
            })
            .to_vec(),
        end: Some(TrialEnd {
            status: TrialStatus::Complete,
            measure_started: Some(started),
            measure_ended: Some(at("2026-07-30T12:00:05Z")),
            clients: (0..clients)
                .map(|client| ClientRecord {
                    events: events / clients + u64::from(client < events % clients),
                    failure: None,
                })
                .collect(),
            failures: failures(header),
            turns: Vec::new(),
            edges: Edges::new(header.operations.len()),
            lateness: LatencyHistogram::new(),
            start_delays: LatencyHistogram::new(),
            idle_round_trips: idle_round_trips(header.is_embedded),
            cross_check: None,
            usage: Some(ClientUsage {
                user_ns: events * 20_000,
                system_ns: events * 30_000,
                voluntary_switches: events,
                involuntary_switches: 7,
                peak_rss_bytes: 12 << 20,
            }),
            generators: vec![GeneratorRecord::lone(generator(seconds))],
            decided_ends: DecidedEnds::default(),
            failed_phase: None,
        }),
        ..record
    }
}

/// Two workers: one ran a quarter and waited a hundredth of the time, the other twice as much; in their worst second
/// both ran a quarter and waited a hundredth more.
fn generator((warm_up, measured): (u64, u64)) -> Generator {
    let mut oversleep = LatencyHistogram::new();
    (0..200 * measured).for_each(|at| oversleep.record(60_000 + 400 * at));
    let start_ns = warm_up * 1_000_000_000;
    let span = |seconds: u64, times: u64| CpuSpan {
        start_ns,
        end_ns: start_ns + seconds * 1_000_000_000,
        running_ns: seconds * 250_000_000 * times,
        waiting_ns: seconds * 10_000_000 * times,
    };
    let worker = |times| WorkerCpu {
        whole: span(measured, times),
        busiest: span(1, times + 1),
        most_delayed: span(1, times + 1),
    };
    Generator { oversleep, stalls: Vec::new(), workers: vec![worker(1), worker(2)] }
}

fn idle_round_trips(is_embedded: bool) -> LatencyHistogram {
    let mut round_trips = LatencyHistogram::new();
    let taken = if is_embedded { 0 } else { 50 };
    (0..taken).for_each(|at| round_trips.record(41_000 + 500 * at));
    round_trips
}

/// One second: throughput saturates with clients, latency follows Little's law, and the tail is drawn from a
/// Pareto distribution.
fn interval(
    header: &TrialHeader,
    second: u64,
    (warm_up, _): (u64, u64),
    noise: &mut Noise,
) -> Interval {
    let is_warm_up = second < warm_up;
    let mut tally = Tally::new(2);
    let rate = rate(header) * (0.96 + 0.08 * noise.next()) * if is_warm_up { 0.7 } else { 1.0 };
    let transactions = rate as u64;
    let mean_ns = header.clients as f64 / rate * 1e9;
    for _ in 0..transactions {
        let latency = (mean_ns * 0.6 * (1.0 - noise.next()).powf(-0.4)) as u64;
        tally.success(OperationId(1), OperationKind::Read, latency * 9 / 10);
        tally.success(OperationId(0), OperationKind::Transaction, latency);
    }
    tally.busy_ns = header.clients as u64 * 1_000_000_000;
    tally.traffic.sent_bytes = transactions * 90;
    tally.traffic.received_bytes = transactions * 265;
    let deadlock = ErrorKey::new(ErrorClass::Deadlock, "1213");
    if has_deadlocks(header) {
        let has_failure = header.clients > 1 && second % 9 == 3;
        if has_failure {
            tally.failure(OperationId(0), OperationKind::Transaction, mean_ns as u64 * 3);
            tally.error(&deadlock, Disposition::Ignored);
        }
        tally.error(&deadlock, Disposition::Retried);
    }
    Interval {
        phase: if is_warm_up { Phase::WarmUp } else { Phase::Measure },
        start_ns: second * 1_000_000_000,
        end_ns: (second + 1) * 1_000_000_000,
        tally,
    }
}

fn has_deadlocks(header: &TrialHeader) -> bool {
    header.system == "mariadb" && header.workload.name == "oltp_read_write"
}

fn failures(header: &TrialHeader) -> FailureExamples {
    let deadlock = Failure::new(ErrorClass::Deadlock, "1213", "Deadlock found & rolled back");
    has_deadlocks(header).then_some(&deadlock).into_iter().collect()
}

fn rate(header: &TrialHeader) -> f64 {
    let most = match header.workload.name.as_str() {
        "oltp_point_select" => 2_000.0,
        "oltp_read_write" => 90.0,
        _ => 500.0,
    };
    let of_system = if header.is_embedded { 1.0 } else { 0.6 };
    let clients = header.clients as f64;
    most * of_system * clients / (clients + if header.is_embedded { 1.5 } else { 8.0 })
}
