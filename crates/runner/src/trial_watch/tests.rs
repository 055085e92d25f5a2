//! Watches this machine and writes into a record.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;

use measure::{Process, Side};
use record::{Dyno, Environment, Identity, LoadRecord, Run, RunHeader, RunWriter};
use record::{TrialHeader, WorkloadRecord};

use super::*;

fn run(out: &Path) -> (RunWriter, TrialHeader) {
    let header = RunHeader {
        least_difference: ::plan::LEAST_DIFFERENCE,
        plan_name: "watched".to_owned(),
        title: None,
        plan_origin: String::new(),
        plan_text: String::new(),
        files: Vec::new(),
        command: String::new(),
        started: jiff::Timestamp::UNIX_EPOCH,
        environment: Environment::gather(&[]),
        percentiles: vec![50.0],
        fail_if: Vec::new(),
        seek: None,
        windows: None,
        rounds: None,
        seed: 1,
        dyno: Dyno { version: String::new(), build: String::new() },
        trials_planned: 1,
    };
    let trial = TrialHeader {
        index: 0,
        system: String::new(),
        identity: Identity::default(),
        is_embedded: false,
        variant: None,
        workload: WorkloadRecord::default(),
        operations: Vec::new(),
        clients: 1,
        repetition: 0,
        load: LoadRecord::default(),
        probe: None,
        window: None,
        beside: Vec::new(),
    };
    (RunWriter::create(out, &header).unwrap(), trial)
}

fn myself() -> HostWatch {
    let pid = std::process::id();
    HostWatch::new(vec![Process { name: "test".to_owned(), pid, side: Side::Server }])
}

/// This process and these servers, with a period so long that it never ends.
fn watch_targets(urls: &[String]) -> WatchTargets {
    let endpoint =
        |url: &String| Endpoint { name: "server".to_owned(), url: url.clone(), database: None };
    let hour = Duration::from_secs(3_600);
    WatchTargets {
        host: myself(),
        others: Vec::new(),
        endpoints: urls.iter().map(endpoint).collect(),
        peers: Peers::None("nothing is connected".to_owned()),
        periods: Periods { host: hour, server: hour, answer: Duration::from_secs(30) },
    }
}

#[test]
fn a_host_is_read_at_the_beginning_at_each_phase_and_at_the_end() {
    let out = tempfile::tempdir().unwrap();
    let (writer, header) = run(out.path());
    let trial = writer.begin_trial(&header).unwrap();
    let trial_watch = TrialWatch::begin(trial.watch().unwrap(), watch_targets(&[])).unwrap();
    trial_watch.phase();
    assert_eq!(trial_watch.end(&Stop::new()).unwrap(), Vec::<String>::new());
    let run = Run::open(writer.folder()).unwrap();
    let [host] = &run.trials[0].watched.hosts[..] else { panic!("one host") };
    // The first reading may be the one of the command, when the thread starts late.
    assert!((2..=3).contains(&host.readings.len()), "{}", host.readings.len());
    assert!(host.readings.is_sorted_by_key(|reading| reading.at_ns));
    assert!(host.readings.iter().all(|reading| reading.processes[0].is_some()));
}

#[test]
fn nothing_is_written_after_the_end_of_a_trial() {
    let out = tempfile::tempdir().unwrap();
    let (writer, header) = run(out.path());
    let trial = writer.begin_trial(&header).unwrap();
    let trial_watch = TrialWatch::begin(trial.watch().unwrap(), watch_targets(&[])).unwrap();
    let log = trial_watch.log.clone();
    trial_watch.end(&Stop::new()).unwrap();
    let host = myself().describe().unwrap();
    let (_, continued) = log.write(|writer| writer.host(&host));
    assert_eq!(continued, log::Continue::No);
    assert_eq!(Run::open(writer.folder()).unwrap().trials[0].watched.hosts.len(), 1);
}

#[test]
fn write_errors_are_reported_at_the_end() {
    let out = tempfile::tempdir().unwrap();
    let (writer, header) = run(out.path());
    let trial = writer.begin_trial(&header).unwrap();
    let file = trial.watch().unwrap();
    std::fs::remove_dir_all(writer.folder()).unwrap();
    let trial_watch = TrialWatch::begin(file, watch_targets(&[])).unwrap();
    let error = trial_watch.end(&Stop::new()).unwrap_err();
    assert!(error.to_string().contains("was removed"), "{error}");
}

/// A server that answers the first request; all others wait until the test is over.
fn stalling_server() -> String {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let url = format!("http://{}/metrics", listener.local_addr().unwrap());
    thread::spawn(move || {
        let mut kept = Vec::new();
        for (at, stream) in listener.incoming().flatten().enumerate() {
            let mut stream = stream;
            let mut request = [0; 1024];
            let _ = stream.read(&mut request);
            if at == 0 {
                let _ = stream.write_all(b"HTTP/1.0 200 OK\r\n\r\n# TYPE a gauge\na 1\n");
            } else {
                kept.push(stream);
            }
        }
    });
    url
}

#[test]
fn a_stalled_metrics_server_does_not_delay_the_end() {
    let out = tempfile::tempdir().unwrap();
    let (writer, header) = run(out.path());
    let trial = writer.begin_trial(&header).unwrap();
    let what = watch_targets(&[stalling_server()]);
    let trial_watch = TrialWatch::begin(trial.watch().unwrap(), what).unwrap();
    let watched = || Run::open(writer.folder()).unwrap().trials[0].watched.clone();
    while watched().servers.first().is_none_or(|server| server.answers_ns.is_empty()) {
        thread::sleep(Duration::from_millis(5));
    }
    trial_watch.phase();
    // The wait for the stalled server is as long as that for the end of a trial, not as long as that for an answer.
    assert_eq!(trial_watch.end(&Stop::new()).unwrap(), Vec::<String>::new());
    let watched = watched();
    assert_eq!(watched.servers[0].series[0].name, "a");
    assert!(watched.hosts[0].readings.len() >= 2);
}

#[test]
fn an_unreachable_metrics_server_is_a_gap_with_a_reason() {
    let out = tempfile::tempdir().unwrap();
    let (writer, header) = run(out.path());
    let trial = writer.begin_trial(&header).unwrap();
    // A free port could be taken by another test; no server listens on this one.
    let what = watch_targets(&["http://127.0.0.1:1/metrics".to_owned()]);
    let trial_watch = TrialWatch::begin(trial.watch().unwrap(), what).unwrap();
    trial_watch.end(&Stop::new()).unwrap();
    let watched = Run::open(writer.folder()).unwrap().trials[0].watched.clone();
    let [server] = &watched.servers[..] else { panic!("one server") };
    assert!(!server.gaps.is_empty() && server.answers_ns.is_empty());
    assert!(server.gaps[0].reason.contains("refused"), "{:?}", server.gaps);
}
