//! CPU of programs that are neither dyno nor the server's, with servers that only their own metrics tell of.

use measure::{CpuTimes, HostReading, Process, ProcessReading, Series};

use super::*;

const SECOND: u64 = 1_000_000_000;
const WINDOW: Window = (0, 4 * SECOND);

/// Four seconds in which two CPU threads were busy for 1.5 s a second: dyno for 0.25, its server for 0.3.
fn host() -> Host {
    let process = |user_ns| Some(ProcessReading { user_ns, ..ProcessReading::default() });
    let reading = |second: u64| HostReading {
        at_ns: second * SECOND,
        cpu: CpuTimes { user_ns: second * 1_500_000_000, ..CpuTimes::default() },
        processes: vec![process(second * 250_000_000), process(7 * SECOND + second * 300_000_000)],
        ..HostReading::default()
    };
    let sides = [("dyno", Side::Client), ("server", Side::Server)];
    let process = |(name, side): (&str, Side)| Process { name: name.to_owned(), pid: 1, side };
    Host {
        name: "here".to_owned(),
        cpu_threads: 2,
        processes: sides.map(process).into(),
        readings: (0..=4).map(reading).collect(),
        ..Host::default()
    }
}

/// A server whose page shows a CPU time that was `at_first_s` when the load began and grows by `each_s` a second.
fn page(name: &str, address: &str, at_first_s: f64, each_s: f64) -> Server {
    let mut cpu = Series::parse("process_cpu_seconds_total");
    let times = [0, 1, 2, 3, 4];
    cpu.points = times.map(|at| (at * SECOND, at_first_s + at as f64 * each_s)).into();
    Server {
        name: name.to_owned(),
        url: format!("http://{address}/metrics"),
        families: vec![cpu.name.clone()],
        answers_ns: times.map(|at| at * SECOND).into(),
        series: vec![cpu],
        ..Server::default()
    }
}

fn found(servers: Vec<Server>) -> Option<Finding> {
    found_on(host(), servers, false)
}

fn found_on(host: Host, servers: Vec<Server>, is_embedded: bool) -> Option<Finding> {
    let watched = measure::Watched { servers, ..measure::Watched::default() };
    let watched = measure::Watched { hosts: vec![host], ..watched };
    others(&watched.hosts[0], &known_servers(&watched), is_embedded, WINDOW)
}

fn used(finding: &Finding) -> f64 {
    match finding.value("used_threads") {
        Some(Value::Number(used)) => *used,
        other => panic!("{other:?}"),
    }
}

#[test]
fn watched_servers_on_this_machine_are_not_other_programs() {
    let alone = found(Vec::new()).unwrap();
    assert!((used(&alone) - 0.95).abs() < 1e-9, "{alone:?}");
    assert_eq!(alone.value("not_counted"), None);
    assert_eq!(found(vec![page("placement", "127.0.0.1:2379", 3.0, 0.9)]), None);
    assert_eq!(found(vec![page("placement", "here:2379", 3.0, 0.9)]), None);
}

#[test]
fn pages_at_loopback_are_not_of_a_host_that_was_reached_and_those_at_its_name_are() {
    let there = Host { place: Some("ssh://root@db1:2222".to_owned()), ..host() };
    let used_with = |address: &str| {
        let servers = vec![page("placement", address, 3.0, 0.9)];
        found_on(there.clone(), servers, false).map(|finding| used(&finding))
    };
    assert!((used_with("127.0.0.1:2379").unwrap() - 0.95).abs() < 1e-9);
    assert_eq!(used_with("db1:2379"), None);
}

#[test]
fn an_embedded_system_is_not_on_a_host_that_was_reached() {
    let processes = host().processes[..1].to_vec();
    let readings = host().readings.into_iter().map(|mut reading| {
        reading.processes.truncate(1);
        reading
    });
    let here = Host { processes, readings: readings.collect(), ..host() };
    let there = Host { place: Some("ssh://db1".to_owned()), ..here.clone() };
    assert!(found_on(here, Vec::new(), true).is_some());
    assert_eq!(found_on(there, Vec::new(), true), None);
}

#[test]
fn a_page_of_a_known_process_counts_once() {
    let own = found(vec![page("server 127.0.0.1:4000", "127.0.0.1:10080", 7.0, 0.3)]).unwrap();
    assert!((used(&own) - 0.95).abs() < 1e-9, "{own:?}");
    let both = [("server", "[::1]:10080", 7.0, 0.3), ("store", "localhost:20180", 3.0, 0.5)];
    let both = found(both.map(|(name, at, first, each)| page(name, at, first, each)).into());
    assert!((used(&both.unwrap()) - 0.45).abs() < 1e-9);
}

#[test]
fn servers_that_may_be_among_the_other_programs_are_named() {
    let elsewhere = page("store 1", "10.0.0.7:20180", 3.0, 0.9);
    let silent = Server { name: "store 2".to_owned(), ..Server::default() };
    let seen = found(vec![elsewhere, silent]).unwrap();
    assert!((used(&seen) - 0.95).abs() < 1e-9, "{seen:?}");
    assert_eq!(seen.value("not_counted"), Some(&Value::Text("store 2, store 1".to_owned())));
}

#[test]
fn a_database_that_is_asked_by_sql_is_known_by_its_processes() {
    let url = "sql://me@10.0.0.7:5432/test".to_owned();
    let database = Server { name: "db".to_owned(), url, ..Server::default() };
    let seen = found(vec![database.clone()]).unwrap();
    assert_eq!(seen.value("not_counted"), None, "{seen:?}");
    let watched = measure::Watched { servers: vec![database], ..measure::Watched::default() };
    // Without any process its CPU is not known.
    let known = known_servers(&watched);
    assert_eq!(known.maybe_on(&host()).len(), 1);
}

/// A server whose process began at these times, s, by its answer of each second.
fn restarting(began_s: &[f64]) -> Server {
    let mut began = Series::parse("process_start_time_seconds");
    began.points = (0..).map(|at| at * SECOND).zip(began_s.iter().copied()).collect();
    let server = page("store", "10.0.0.7:20180", 3.0, 0.9);
    Server { series: vec![began], ..server }
}

#[test]
fn a_server_whose_process_is_another_one_was_restarted() {
    let began = 1.7e9;
    let after = restarting(&[began, began, began + 60.0, began + 60.0]);
    let seen = restarted(&after, WINDOW).unwrap();
    let at = vec![("at_ns", Value::At(2 * SECOND))];
    let expected =
        Finding { values: at, ..Finding::about(seen.subject.clone(), Code::ServerRestarted) };
    assert_eq!(seen, expected);
    assert_eq!(
        restarted(&restarting(&[began, began + 1.0, began]), WINDOW),
        None,
        "a clock was set"
    );
    assert_eq!(restarted(&after, (0, 2 * SECOND)), None, "after the window");
    assert_eq!(restarted(&page("store", "10.0.0.7:20180", 3.0, 0.9), WINDOW), None, "not reported");
}
