//! Loads that several generators share, over links on which every message has the form that it has between processes.
//! In virtual time they must be the load of one process with all their event loops, to the digit.

use std::sync::Mutex;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::*;
use crate::report::{UnitCommand, UnitReport};
use crate::{
    Command, FromGenerator, GeneratorLink, Generators, News, Part, Report, TrialError, coordinate,
    serve,
};

const S: Nanos = 1_000 * MS;

/// What the way between the coordinator and a generator does to messages.
struct Way<'a> {
    /// What arrives of a report, of all that are sent.
    report: &'a (dyn Fn(usize, Report) -> Vec<FromGenerator> + Sync),
    command: Duration,
    go_on_without_lost: bool,
}

const FAITHFUL: Way<'static> = Way {
    report: &|_, report| vec![FromGenerator::Report(report)],
    command: Duration::ZERO,
    go_on_without_lost: false,
};

/// A message after its way in the form that it has between processes.
fn crossed<T: Serialize + DeserializeOwned>(message: &T) -> T {
    postcard::from_bytes(&postcard::to_stdvec(message).unwrap()).unwrap()
}

/// Runs a load on generators with so many event loops each.
fn run_on(
    loops: &[usize],
    (offered, load): (&OfferedLoad, &dyn Load),
    way: &Way<'_>,
    mut kept: RecordingObserver,
) -> (Result<Outcome, TrialError>, RecordingObserver) {
    let stop = kept.stops.as_ref().map(|(_, stop)| stop.clone()).unwrap_or_default();
    let (to_coordinator, reports) = mpsc::channel();
    let result = thread::scope(|scope| {
        let link = |part: Part| {
            let (commands, sent) = mpsc::channel::<Command>();
            let (to_generator, received) = mpsc::channel();
            scope.spawn(move || {
                for command in sent {
                    thread::sleep(way.command);
                    let _ = to_generator.send(crossed(&command));
                }
            });
            let (out, own) = (to_coordinator.clone(), part.clone());
            scope.spawn(move || generate(&own, (offered, load), &received, (way, &out)));
            let name = format!("generator {}", part.generator);
            GeneratorLink { name, part, commands, uncertainty_ns: 0 }
        };
        let links = Part::divide(loops).into_iter().map(link).collect();
        let go_on_without_lost = way.go_on_without_lost;
        let generators = Generators { links, reports: &reports, go_on_without_lost };
        coordinate(offered, load, generators, &stop, &mut kept)
    });
    (result, kept)
}

fn generate(
    part: &Part,
    (offered, load): (&OfferedLoad, &dyn Load),
    commands: &Receiver<Command>,
    (way, out): (&Way<'_>, &Sender<(usize, FromGenerator)>),
) {
    let mut send = |report: Report| {
        for arrived in (way.report)(part.generator, crossed(&report)) {
            let _ = out.send((part.generator, arrived));
        }
    };
    let last = serve(part, offered, load, commands, &mut send);
    send(last);
}

/// The same load in one process, and on generators with these event loops.
fn assert_same(loops: &[usize], load: &dyn Load, offered: &OfferedLoad, ends: &[Nanos]) {
    let workers = Workers::Simulated(loops.iter().sum());
    let offered = &OfferedLoad { workers, ..offered.clone() };
    let (expected, one) = run_until(load, offered, ends.to_vec());
    let observer = RecordingObserver { ends: ends.to_vec(), ..RecordingObserver::default() };
    let (outcome, kept) = run_on(loops, (offered, load), &FAITHFUL, observer);
    assert_eq!(kept.intervals, one.intervals);
    assert_eq!((kept.phases, kept.outages), (one.phases, one.outages));
    assert_eq!(outcome.unwrap(), expected);
    assert!(transactions_of(&kept.intervals) > 0);
    assert_eq!(kept.of_generators.values().sum::<u64>(), transactions_of(&one.intervals));
}

fn transactions_of(intervals: &[Interval]) -> u64 {
    intervals.iter().map(|interval| interval.tally.transactions).sum()
}

fn simulated(service_times_ns: &[Nanos], stalls: Vec<Stall>) -> Simulated {
    Simulated::new(system(3, service_times_ns.to_vec(), stalls), SimulatedChance::default())
}

fn poisson(rate_per_s: f64) -> Pacing {
    let schedule = Schedule::new(&Rate::constant(rate_per_s), Duration::ZERO);
    Pacing::Open { schedule, spread: Arrivals::Poisson, seed: 7, backlog_max: 1_000 }
}

#[test]
fn generators_are_one_process_to_the_digit() {
    let stall = Stall { at_ns: 4 * S, length_ns: 1_500 * MS };
    let load = simulated(&[30 * MS, 10 * MS, 25 * MS, 5 * MS], vec![stall]);
    let closed = Pacing::Closed { think_time_ns: MS };
    for pacing in [closed, open_loop(160.0, 1_000), poisson(150.0)] {
        let warm_up = Duration::from_millis(1_700);
        let offered = OfferedLoad { warm_up, ..offered(13, pacing) };
        assert_same(&[1, 1], &load, &offered, &[]);
        assert_same(&[2, 1, 1], &load, &offered, &[]);
    }
}

#[test]
fn phases_that_end_by_themselves_end_at_one_edge_for_all_generators() {
    let load = simulated(&[10 * MS, 20 * MS], Vec::new());
    let offered = OfferedLoad {
        warm_up: Duration::from_secs(10),
        limit: Limit::time(Duration::from_secs(4)),
        ends: PhaseEnds { warm_up_from: Some(Duration::from_secs(2)), measured: true },
        ..offered(12, poisson(100.0))
    };
    // Before the least length of the warm-up, in it, and only at its end.
    for ends in [&[S, 5 * S][..], &[3 * S, 5 * S], &[6 * S], &[]] {
        assert_same(&[1, 1, 1], &load, &offered, ends);
    }
}

#[test]
fn a_stall_after_the_longest_warm_up_is_told_as_of_one_process() {
    let load = simulated(&[10 * MS], vec![Stall { at_ns: 2_500 * MS, length_ns: 60 * S }]);
    let offered = OfferedLoad {
        warm_up: Duration::from_secs(2),
        limit: Limit::time(Duration::from_secs(4)),
        ends: PhaseEnds { warm_up_from: Some(Duration::from_secs(1)), measured: true },
        ..offered(3, Pacing::Closed { think_time_ns: MS })
    };
    assert_same(&[1, 1], &load, &offered, &[]);
}

#[test]
fn sixty_four_generators_have_a_hundred_clients_each() {
    // A client has a server of its own: nine answers before the end at 1 s, and one at it.
    let load = Simulated::new(system(100, vec![100 * MS], Vec::new()), SimulatedChance::default());
    let limit = Limit::time(Duration::from_secs(1));
    let workers = Workers::Simulated(64);
    let closed = Pacing::Closed { think_time_ns: 0 };
    let offered = OfferedLoad { limit, workers, ..offered(6_400, closed) };
    let observer = RecordingObserver::default();
    let (outcome, kept) = run_on(&[1; 64], (&offered, &load), &FAITHFUL, observer);
    let outcome = outcome.unwrap();
    assert_eq!(outcome.ended, LoadEnd::Complete);
    assert!(outcome.clients.iter().all(|client| client.events == 9));
    assert_eq!((outcome.clients.len(), outcome.edges.drain.transactions), (6_400, 6_400));
    assert_eq!(transactions_of(&kept.intervals), 57_600);
    assert_eq!(kept.of_generators, (0..64).map(|generator| (generator, 900)).collect());
}

/// A load that takes no time, and keeps when its transactions were due.
#[derive(Default)]
struct Due(std::sync::Arc<Mutex<Vec<Nanos>>>);

impl Load for Due {
    fn operations(&self) -> &[Operation] {
        static OPERATIONS: std::sync::LazyLock<[Operation; 1]> =
            std::sync::LazyLock::new(|| [Operation::new("request", OperationKind::Transaction)]);
        &*OPERATIONS
    }

    fn clients(&self, clients: Clients<'_>) {
        let due = std::sync::Arc::clone(&self.0);
        clients.start(move |mut handle| {
            let due = std::sync::Arc::clone(&due);
            async move {
                while let Some(turn) = handle.next().await {
                    due.lock().unwrap().push(turn.intended_ns);
                    handle.finish(turn, OperationId(0));
                }
                Ok(())
            }
        });
    }
}

/// When the transactions of all generators were due, in order.
fn due(loops: &[usize], pacing: Pacing, seconds: u64) -> Vec<Nanos> {
    let limit = Limit::time(Duration::from_secs(seconds));
    let workers = Workers::Simulated(loops.iter().sum());
    let offered = OfferedLoad { limit, workers, ..offered(40, pacing) };
    let load = Due::default();
    run_on(loops, (&offered, &load), &FAITHFUL, RecordingObserver::default()).0.unwrap();
    let mut due = load.0.lock().unwrap().clone();
    due.sort_unstable();
    due
}

#[test]
fn constant_arrivals_of_all_generators_are_evenly_spaced() {
    let exact: Vec<Nanos> = (0..2_000).map(|arrival| arrival * MS).collect();
    assert_eq!(due(&[1, 3, 2], open_loop(1_000.0, 1_000), 2), exact);
}

#[test]
fn poisson_arrivals_of_all_generators_are_one_poisson_process() {
    let due = due(&[1, 3, 2], poisson(1_000.0), 20);
    // 20,000 are expected, with a deviation of the root of that.
    assert!(due.len().abs_diff(20_000) < 566, "{}: four deviations", due.len());
    let pairs = due.windows(2).map(|pair| (pair[1] - pair[0]) as f64 / MS as f64);
    let gaps: Vec<f64> = pairs.collect();
    // Kolmogorov-Smirnov against 1 - exp(-x): 1.63 / sqrt(n) is the bound at the 1 % level.
    let mut sorted = gaps.clone();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len() as f64;
    let distance = sorted.iter().enumerate().map(|(at, gap)| {
        let exact = 1.0 - (-gap).exp();
        (exact - at as f64 / n).abs().max((exact - (at + 1) as f64 / n).abs())
    });
    let distance = distance.fold(0.0, f64::max);
    assert!(distance < 1.63 / n.sqrt(), "{distance}");
    // Gaps do not depend on the gap before: a correlation of 4 / sqrt(n) is four deviations.
    let mean = gaps.iter().sum::<f64>() / n;
    let product = |lag: usize| -> f64 {
        gaps.iter().zip(&gaps[lag..]).map(|(one, other)| (one - mean) * (other - mean)).sum()
    };
    let correlation = product(1) / product(0);
    assert!(correlation.abs() < 4.0 / n.sqrt(), "{correlation}");
}

#[test]
fn shares_of_a_number_of_transactions_add_up_and_the_window_ends_with_the_last() {
    // Each client has a server, and 10 ms an answer. Of 5 clients, the generators have 1, 2 and 2.
    let load = Simulated::new(system(5, vec![10 * MS], Vec::new()), SimulatedChance::default());
    let closed = Pacing::Closed { think_time_ns: 0 };
    let workers = Workers::Simulated(3);
    let warm_up = Duration::from_millis(505);
    let limit = Limit::events(1_001);
    let offered = OfferedLoad { limit, warm_up, workers, ..offered(5, closed) };
    let observer = RecordingObserver::default();
    let (outcome, kept) = run_on(&[1; 3], (&offered, &load), &FAITHFUL, observer);
    let outcome = outcome.unwrap();
    assert_eq!(outcome.ended, LoadEnd::Complete);
    assert_eq!(transactions(&kept, Phase::Measure), 1_001);
    let events: Vec<u64> = outcome.clients.iter().map(|client| client.events).collect();
    // 1,001 divided by 5 clients: 200, 400 and 401. The last of two clients has one more or less.
    assert_eq!([events[0], events[1] + events[2], events[3] + events[4]], [200, 400, 401]);
    // The first answer is at 510 ms; the 201st of a client is 2 s later.
    assert_eq!(kept.intervals.last().unwrap().end_ns, 2_510 * MS);
    let mut at = 0;
    for interval in &kept.intervals {
        assert_eq!(interval.start_ns, at, "without a gap");
        at = interval.end_ns;
    }
    // Five were due before the window. One is in flight at the end of the last generator, and answered then.
    assert_eq!(outcome.edges.due(&measured(&kept))[0].succeeded.count(), 1_001 - 5 + 1);
}

#[test]
fn answers_that_never_come_do_not_make_the_window_of_a_share_longer() {
    // The first of two requests is answered after 1 ms, and nothing after it. Two generators with a share of three
    // each.
    let load =
        Simulated::new(system(1, vec![MS, 900_000 * MS], Vec::new()), SimulatedChance::default());
    let workers = Workers::Simulated(2);
    let closed = Pacing::Closed { think_time_ns: 0 };
    let offered = OfferedLoad { limit: Limit::events(6), workers, ..offered(4, closed) };
    let observer = RecordingObserver::default();
    let (outcome, kept) = run_on(&[1, 1], (&offered, &load), &FAITHFUL, observer);
    assert_eq!(transactions(&kept, Phase::Measure), 2);
    assert_eq!(kept.intervals.last().unwrap().end_ns, MS);
    assert_eq!(outcome.unwrap().edges.unanswered.count(), 4);
}

/// A load in real time: four clients with a server each, and 1 ms an answer.
fn real(time: Duration) -> (OfferedLoad, Simulated) {
    let load = Simulated::new(system(4, vec![MS], Vec::new()), SimulatedChance::default());
    let offered = OfferedLoad {
        workers: Workers::EventLoops(2),
        limit: Limit::time(time),
        interval: Duration::from_millis(100),
        connect_timeout: Duration::from_secs(30),
        ..offered(4, Pacing::Closed { think_time_ns: 0 })
    };
    (offered, load)
}

/// Loses generator 1 when it has reported that its interval 2 is closed.
fn dies(generator: usize, report: Report) -> Vec<FromGenerator> {
    if generator == 1 && report.closed() >= Some(2) {
        return vec![FromGenerator::Lost("its pipe is closed".to_owned())];
    }
    vec![FromGenerator::Report(report)]
}

#[test]
fn a_generator_that_dies_ends_the_load_of_all() {
    let (offered, load) = real(Duration::from_secs(60));
    let way = Way { report: &dies, ..FAITHFUL };
    let observer = RecordingObserver::default();
    let (outcome, kept) = run_on(&[1, 1], (&offered, &load), &way, observer);
    let (generator, reason) = ("generator 1".to_owned(), "its pipe is closed".to_owned());
    assert_eq!(kept.lost, [(1, reason.clone())]);
    let outcome = outcome.unwrap();
    assert_eq!(outcome.ended, LoadEnd::GeneratorLost { generator, reason });
    assert!(kept.intervals.last().unwrap().end_ns < 60 * S);
    let lost: Vec<bool> = outcome.clients.iter().map(|client| client.failure.is_some()).collect();
    assert_eq!(lost, [false, false, true, true]);
    // What the lost one had reported before counts: its first two intervals.
    assert!(kept.of_generators[&1] > 0);
    assert_eq!(transactions_of(&kept.intervals), kept.of_generators.values().sum::<u64>());
}

#[test]
fn a_generator_that_dies_is_done_without_where_the_plan_says_so() {
    let (offered, load) = real(Duration::from_secs(2));
    let way = Way { report: &dies, go_on_without_lost: true, ..FAITHFUL };
    let observer = RecordingObserver::default();
    let (outcome, kept) = run_on(&[1, 1], (&offered, &load), &way, observer);
    assert_eq!(outcome.unwrap().ended, LoadEnd::Complete);
    assert_eq!((kept.lost.len(), kept.intervals.len()), (1, 20));
    assert!(kept.intervals.iter().all(|interval| interval.tally.transactions > 0));
    assert!(kept.missing.is_empty(), "a lost generator is not waited for");
}

#[test]
fn a_generator_that_dies_before_the_load_begins_leaves_no_trial() {
    let (offered, load) = real(Duration::from_secs(60));
    let gone = |_, _| vec![FromGenerator::Lost("no such host".to_owned())];
    let way = Way { report: &gone, ..FAITHFUL };
    let observer = RecordingObserver::default();
    let (outcome, _) = run_on(&[1, 1], (&offered, &load), &way, observer);
    let error = outcome.unwrap_err().to_string();
    assert!(error.starts_with("generator generator "), "{error}");
    assert!(error.ends_with(": no such host"), "{error}");
}

#[test]
fn a_generator_that_is_ready_twice_does_not_begin_the_load_without_the_others() {
    let (offered, load) = real(Duration::from_secs(60));
    let report = |generator, report: Report| match (generator, &report.0) {
        (0, UnitReport::Ready) => {
            let again = Report(UnitReport::Ready);
            vec![FromGenerator::Report(report), FromGenerator::Report(again)]
        }
        (_, UnitReport::Ready) => Vec::new(),
        _ => vec![FromGenerator::Report(report)],
    };
    let way = Way { report: &report, ..FAITHFUL };
    let (outcome, _) = run_on(&[1, 1], (&offered, &load), &way, RecordingObserver::default());
    let error = outcome.unwrap_err().to_string();
    let expected = "generator generator 0: it reported twice that its clients are connected";
    assert_eq!(error, expected);
}

#[test]
fn a_generator_that_reports_out_of_order_is_lost() {
    let (offered, load) = real(Duration::from_secs(60));
    // Its interval 1 does not arrive.
    let skips = |generator, report: Report| match report.closed() {
        Some(1) if generator == 0 => Vec::new(),
        _ => vec![FromGenerator::Report(report)],
    };
    let way = Way { report: &skips, ..FAITHFUL };
    let observer = RecordingObserver::default();
    let (outcome, kept) = run_on(&[1, 1], (&offered, &load), &way, observer);
    let reason = "it reported interval 2 where 1 was due".to_owned();
    assert_eq!(kept.lost, [(0, reason.clone())]);
    let generator = "generator 0".to_owned();
    assert_eq!(outcome.unwrap().ended, LoadEnd::GeneratorLost { generator, reason });
}

#[test]
fn a_generator_that_stands_still_is_missing_until_what_it_counted_follows() {
    let (offered, load) = real(Duration::from_millis(3_500));
    // From its interval 5 on, reports of generator 0 arrive with its last one.
    let held = Mutex::new(Vec::new());
    let stands_still = |generator, report: Report| {
        let mut held = held.lock().unwrap();
        if generator == 1 || (report.closed() < Some(5) && held.is_empty()) {
            return vec![FromGenerator::Report(report)];
        }
        let is_last = report.is_last();
        held.push(FromGenerator::Report(report));
        if is_last { std::mem::take(&mut *held) } else { Vec::new() }
    };
    let way = Way { report: &stands_still, ..FAITHFUL };
    let observer = RecordingObserver::default();
    let (outcome, kept) = run_on(&[1, 1], (&offered, &load), &way, observer);
    let outcome = outcome.unwrap();
    assert_eq!(outcome.ended, LoadEnd::Complete);
    assert!(!kept.missing.is_empty() && kept.missing.iter().all(|missing| *missing == [0]));
    // The parts add up to what the clients counted.
    let events: u64 = outcome.clients.iter().map(|client| client.events).sum();
    assert_eq!(transactions_of(&kept.intervals), events);
    assert!(kept.intervals.len() > 35, "{} parts of 35 intervals", kept.intervals.len());
}

/// What is said of a generator whose process lives and reports its intervals, but not its end.
const NOT_ENDED: &str = "the load is over, and it has not reported its end";

#[test]
fn a_generator_that_never_ends_is_lost_after_the_load() {
    let endless = |generator, report: Report| match report.is_last() && generator == 1 {
        true => Vec::new(),
        false => vec![FromGenerator::Report(report)],
    };
    let (generator, reason) = ("generator 1".to_owned(), NOT_ENDED.to_owned());
    let lost = LoadEnd::GeneratorLost { generator, reason };
    for (go_on_without_lost, ended) in [(false, lost), (true, LoadEnd::Complete)] {
        let (offered, load) = real(Duration::from_millis(500));
        let offered = OfferedLoad { drain_timeout: Duration::ZERO, ..offered };
        let way = Way { report: &endless, go_on_without_lost, ..FAITHFUL };
        let observer = RecordingObserver::default();
        let (outcome, kept) = run_on(&[1, 1], (&offered, &load), &way, observer);
        assert_eq!(outcome.unwrap().ended, ended);
        assert_eq!(kept.lost, [(1, NOT_ENDED.to_owned())]);
        assert!(kept.of_generators[&1] > 0, "its intervals are counted");
    }
}

#[test]
fn a_generator_that_never_ends_does_not_hold_up_an_interrupt() {
    let (offered, load) = real(Duration::from_secs(60));
    let stop = Stop::new();
    let again = stop.clone();
    let endless = |generator, report: Report| {
        if report.is_last() && generator == 1 {
            // The user asks for the end at once.
            again.ask();
            return Vec::new();
        }
        vec![FromGenerator::Report(report)]
    };
    let way = Way { report: &endless, ..FAITHFUL };
    let observer = RecordingObserver { stops: Some((3, stop)), ..RecordingObserver::default() };
    let (outcome, kept) = run_on(&[1, 1], (&offered, &load), &way, observer);
    assert_eq!(outcome.unwrap().ended, LoadEnd::Interrupted);
    assert_eq!(kept.lost, [(1, NOT_ENDED.to_owned())]);
}

#[test]
fn a_start_that_comes_too_late_is_told() {
    let (offered, load) = real(Duration::from_secs(60));
    let way = Way { command: Duration::from_millis(700), ..FAITHFUL };
    let observer = RecordingObserver::default();
    let (outcome, _) = run_on(&[1, 1], (&offered, &load), &way, observer);
    let LoadEnd::Uneven { late_ns, .. } = outcome.unwrap().ended else { panic!("not told") };
    assert!((100 * MS..60 * S).contains(&late_ns), "{late_ns}");
}

#[test]
fn an_interrupt_ends_all_generators_at_one_time() {
    let (offered, load) = real(Duration::from_secs(60));
    let stop = Stop::new();
    let observer = RecordingObserver { stops: Some((3, stop)), ..RecordingObserver::default() };
    let (outcome, kept) = run_on(&[1, 1], (&offered, &load), &FAITHFUL, observer);
    let outcome = outcome.unwrap();
    assert_eq!(outcome.ended, LoadEnd::Interrupted);
    assert!(kept.missing.is_empty());
    // Both have closed every interval, the last one at the same time.
    let end = kept.intervals.last().unwrap().end_ns;
    assert!((300 * MS..60 * S).contains(&end), "{end}");
    let events: u64 = outcome.clients.iter().map(|client| client.events).sum();
    assert_eq!(transactions_of(&kept.intervals), events);
}

#[test]
fn a_generator_without_a_coordinator_ends() {
    let (offered, load) = real(Duration::from_secs(3_600));
    for has_begun in [false, true] {
        let (commands, received) = mpsc::channel();
        if has_begun {
            let clock = net::Clock::monotonic();
            let kernel_ns = clock.to_kernel(clock.now());
            commands.send(Command(UnitCommand::Start { kernel_ns })).unwrap();
        }
        let mut commands = Some(commands);
        let mut closed = 0;
        let part = &Part::divide(&[2])[0];
        let last = serve(part, &offered, &load, &received, &mut |report: Report| {
            closed += usize::from(report.closed().is_some());
            if closed == 2 || !has_begun {
                commands = None;
            }
        });
        assert!(last.is_last());
        assert_eq!(closed >= 2, has_begun);
    }
}

/// A load that tells how many clients it has started, and keeps what others tell.
struct Talks {
    simulated: Simulated,
    heard: Mutex<Vec<(usize, Vec<u64>)>>,
}

impl Load for Talks {
    fn operations(&self) -> &[Operation] {
        self.simulated.operations()
    }

    fn clients(&self, clients: Clients<'_>) {
        self.simulated.clients(clients);
    }

    fn news(&self) -> Option<&dyn News> {
        Some(self)
    }
}

impl News for Talks {
    fn tell(&self) -> Vec<u64> {
        vec![42]
    }

    fn hear(&self, generator: usize, news: &[u64]) {
        self.heard.lock().unwrap().push((generator, news.to_vec()));
    }
}

#[test]
fn generators_hear_what_the_others_tell_and_not_what_they_tell_themselves() {
    let (offered, simulated) = real(Duration::from_millis(500));
    let load = Talks { simulated, heard: Mutex::default() };
    let workers = Workers::EventLoops(3);
    let offered = OfferedLoad { workers, ..offered };
    run_on(&[1, 1, 1], (&offered, &load), &FAITHFUL, RecordingObserver::default()).0.unwrap();
    let heard = load.heard.into_inner().unwrap();
    assert!(heard.iter().all(|(generator, news)| *generator < 3 && *news == [42]));
    // The first interval of each, at least, is heard by the two others, and all are by the coordinator.
    for generator in 0..3 {
        let from = heard.iter().filter(|(from, _)| *from == generator).count();
        assert!((7..=15).contains(&from), "{from} from {generator}");
    }
}
