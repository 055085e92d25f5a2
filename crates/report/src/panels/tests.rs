//! The panels of a real TiDB, and of made-up clusters.

use analysis::{Finding, Subject};
use measure::{Gap, Nanos, Phase, Series};
use record::TrialRecord;

use super::*;
use crate::digest::Digest;
use crate::sample;

const SECOND: Nanos = 1_000_000_000;

/// Metrics of a TiDB 8.5 on unistore under sysbench's oltp_read_write, and 10 s later: only the families that
/// panels use, and the series that changed or are gauges.
const BEFORE: &str = include_str!("tidb-8.5/before.txt");
const AFTER: &str = include_str!("tidb-8.5/after.txt");
const KINDS: &str = include_str!("tidb-8.5/server-kinds.json");

/// A server with two pages of metrics 10 s apart.
fn server_with_pages(before: &str, after: &str) -> Server {
    let mut server = Server {
        name: "tidb 127.0.0.1:4000".to_owned(),
        url: "http://127.0.0.1:10080/metrics".to_owned(),
        answers_ns: vec![SECOND, 11 * SECOND],
        ..Server::default()
    };
    let types = after.lines().filter_map(|line| line.strip_prefix("# TYPE "));
    server.families.extend(types.filter_map(|it| it.split(' ').next()).map(str::to_owned));
    for line in after.lines().filter(|line| !line.starts_with('#')) {
        let (key, value) = line.rsplit_once(' ').unwrap();
        let first = before.lines().find_map(|it| it.strip_prefix(key)?.strip_prefix(' '));
        let mut series = Series::parse(key);
        let first = first.map_or(0.0, |first| first.parse().unwrap());
        series.points = vec![(SECOND, first), (11 * SECOND, value.parse().unwrap())];
        server.series.push(series);
    }
    server
}

/// A store or another server whose counters grew by these amounts in 10 s.
fn server(name: &str, url: &str, figures: &[(&str, f64)]) -> Server {
    let line = |(key, value): &(&str, f64)| format!("{key} {value}\n");
    let text: String = figures.iter().map(line).collect();
    let families = figures.iter().map(|(key, _)| Series::parse(key).name);
    let families =
        families.map(|name| name.trim_end_matches("_count").trim_end_matches("_total").to_owned());
    Server {
        name: name.to_owned(),
        url: url.to_owned(),
        families: families.collect(),
        ..server_with_pages("", &text)
    }
}

/// A sample trial with these servers, measured for as long as they answered.
fn record(servers: Vec<Server>) -> TrialRecord {
    let mut record = sample::run().trials.swap_remove(7);
    record.watched.servers = servers;
    record.watched.kinds = serde_json::from_str(KINDS).unwrap();
    for (at, interval) in record.intervals.iter_mut().enumerate() {
        interval.phase = Phase::Measure;
        interval.start_ns = at as Nanos * 3 * SECOND;
        interval.end_ns = interval.start_ns + 3 * SECOND;
    }
    record
}

fn with<T>(servers: Vec<Server>, look: impl FnOnce(&Trial<'_>) -> T) -> T {
    let mut run = sample::run();
    run.trials = vec![record(servers)];
    look(&Digest::new(&run).trials[0])
}

fn text(panels: &Panels) -> String {
    let mut text = String::new();
    for panel in &panels.drawn {
        text.push_str(&format!("{}\n", panel.title()));
        for (name, sample_windows) in &panel.lines {
            let values = sample_windows.iter().map(|sample_window| {
                crate::watch::figure::show(panel.quantity, sample_window.mean)
            });
            text.push_str(&format!("    {name}: {}\n", values.collect::<Vec<_>>().join(", ")));
        }
        if panel.left_out > 0 {
            text.push_str(&format!("    and {} more\n", panel.left_out));
        }
    }
    text.push_str(&panels.absent.join("\n"));
    text
}

#[test]
fn a_real_tidb_on_unistore() {
    insta::assert_snapshot!(with(vec![server_with_pages(BEFORE, AFTER)], |trial| text(&of_trial(
        trial
    ))));
}

const MESSAGES: &str = "tikv_grpc_msg_duration_seconds_count{type=\"kv_get\"}";

fn cluster() -> Vec<Server> {
    let store = |number: u64, messages| {
        let url = format!("http://10.0.0.{number}:20180/metrics");
        server(&format!("tikv {number}"), &url, &[(MESSAGES, messages)])
    };
    let leaders = |address: &str| {
        format!("pd_scheduler_store_status{{address=\"{address}\",type=\"leader_count\"}}")
    };
    let (known, unknown) = (leaders("10.0.0.1:20160"), leaders("10.0.0.20:20160"));
    let pd = [("pd_cluster_status", 1.0), (known.as_str(), 2.0), (unknown.as_str(), 40.0)];
    vec![
        store(1, 9_000.0),
        store(2, 600.0),
        store(3, 400.0),
        server("pd", "http://10.0.0.1:2379/metrics", &pd),
    ]
}

#[test]
fn hot_and_unknown_stores_are_named() {
    let seen = figures_of(cluster());
    assert_eq!(
        seen,
        [
            "tikv 1 takes 90 % of the requests, 33 % would be even",
            "10.0.0.20:20160 leads 40.0 regions",
        ]
    );
}

#[test]
fn evenly_loaded_stores_are_not_named() {
    let mut servers = cluster();
    for (at, server) in servers.iter_mut().take(3).enumerate() {
        server.series[0].points[1].1 = 900.0 + at as f64;
    }
    servers[3].series.pop();
    assert_eq!(figures_of(servers), [""; 0]);
}

#[test]
fn a_dead_store_is_named_and_not_the_one_that_took_its_load() {
    let mut servers = cluster();
    servers[3].series.pop();
    let gap = Gap { at_ns: 12 * SECOND, reason: "connection refused".to_owned() };
    servers[2].gaps.push(gap);
    let seen = figures_of(servers.clone());
    let away =
        "tikv 3 did not answer at the end; tikv 1 took 90 % of the requests, 33 % would be even";
    assert_eq!(seen[0], away);
    assert!(!seen.iter().any(|text| text.contains("takes")), "{seen:?}");
    // It came back.
    servers[2].gaps[0].at_ns = 5 * SECOND;
    let seen = figures_of(servers);
    assert_eq!(seen[0], "tikv 1 takes 90 % of the requests, 33 % would be even");
}

#[test]
fn a_store_that_the_cluster_has_lost_is_named() {
    let requests = "tidb_tikvclient_request_seconds_count{store=\"5\",type=\"Get\"}";
    let tidb =
        server("tidb", "http://h/metrics", &[("tidb_server_connections", 1.0), (requests, 900.0)]);
    let mut pd = pd_of_one_machine([0.0; 3]);
    let states = pd.series.iter_mut().filter(|series| series.label("store") == Some("6"));
    for (name, value) in states.flat_map(|series| &mut series.labels) {
        if name == "state" {
            *value = "Disconnected".to_owned();
        }
    }
    let away = "store 6 (127.0.0.1:20162) did not answer at the end; store 5 (127.0.0.1:20161) took 100 % of the \
                requests to stores, 50 % would be even";
    assert_eq!(figures_of(vec![tidb, pd]), [away]);
}

#[test]
fn idle_stores_count_in_shares() {
    let mut servers = cluster();
    servers.truncate(2);
    // Series that never changed are not kept.
    servers[1].series.clear();
    let seen = figures_of(servers);
    assert_eq!(seen[0], "tikv 1 takes 100 % of the requests, 50 % would be even");
}

/// A PD that lists three stores on one machine, as dyno keeps the list; each leads some regions.
fn pd_of_one_machine(leaders: [f64; 3]) -> Server {
    let mut figures = vec![("pd_cluster_status".to_owned(), 1.0)];
    for (at, leaders) in leaders.into_iter().enumerate() {
        let (address, status) = (format!("127.0.0.1:2016{at}"), format!("127.0.0.1:2018{at}"));
        let store = format!("store=\"{}\",address=\"{address}\"", at + 4);
        let server_with_pages =
            format!("dyno_pd_store{{{store},status_address=\"{status}\",state=\"Up\"}}");
        figures.push((server_with_pages, 1.0));
        let leads = format!("pd_scheduler_store_status{{{store},type=\"leader_count\"}}");
        figures.push((leads, leaders));
    }
    let figures: Vec<(&str, f64)> = figures.iter().map(|(key, it)| (key.as_str(), *it)).collect();
    server("pd", "http://127.0.0.1:2379/metrics", &figures)
}

fn figures_of(servers: Vec<Server>) -> Vec<String> {
    let is_watched = |it: &&Finding| matches!(it.subject, Subject::Host(_) | Subject::Server(_));
    with(servers, |trial| trial.findings.iter().filter(is_watched).map(finding::figures).collect())
}

#[test]
fn stores_without_requests_count_in_shares() {
    let requests = |store: u64| {
        format!("tidb_tikvclient_request_seconds_count{{store=\"{store}\",type=\"Get\"}}")
    };
    let tidb = |figures: &[(&str, f64)]| {
        let up = ("tidb_server_connections", 1.0);
        let url = "http://127.0.0.1:10080/metrics";
        server("tidb", url, &[&[up], figures].concat())
    };
    let servers = vec![tidb(&[(&requests(5), 900.0)]), pd_of_one_machine([0.0; 3])];
    assert_eq!(
        figures_of(servers),
        ["store 5 (127.0.0.1:20161) takes 100 % of the requests to stores, 33 % would be even"]
    );
    let mut flow = pd_of_one_machine([0.0; 3]);
    for (store, bytes) in [("4", 8_000_000.0), ("5", 71_000_000.0), ("6", 21_000_000.0)] {
        let labels = format!("store=\"{store}\",address=\"127.0.0.1:2016{store}\"");
        let key = format!("pd_scheduler_store_status{{{labels},type=\"store_write_rate_bytes\"}}");
        flow.series.extend(server("pd", "", &[(&key, bytes)]).series);
    }
    assert_eq!(
        figures_of(vec![flow]),
        [
            "store 5 (127.0.0.1:20161) takes 71 % of the bytes written, by PD's count, 33 % would be even"
        ]
    );
    let shared: Vec<String> = [4, 5, 6].map(requests).to_vec();
    let shared: Vec<(&str, f64)> = shared.iter().map(|key| (key.as_str(), 900.0)).collect();
    assert_eq!(figures_of(vec![tidb(&shared), pd_of_one_machine([0.0; 3])]), [""; 0]);
}

#[test]
fn stores_on_one_host_are_distinguished_by_port() {
    let store = |place: &str| server(place, &format!("http://{place}/metrics"), &[(MESSAGES, 9.0)]);
    let pd = || pd_of_one_machine([2.0, 3.0, 7.0]);
    let (first, second, third) = ("127.0.0.1:20180", "127.0.0.1:20181", "127.0.0.1:20182");
    let unknown = figures_of(vec![store(first), store(second), pd()]);
    assert_eq!(unknown, ["127.0.0.1:20162 leads 7.00 regions"]);
    assert_eq!(figures_of(vec![store(first), store(second), store(third), pd()]), [""; 0]);
    assert_eq!(figures_of(vec![store("127.0.0.1"), pd()]), [""; 0], "no port stands for all");
    assert_eq!(figures_of(vec![pd()]), [""; 0], "the plan wants to know of no store");
    // Some stores do not report the address of their metrics.
    let mut silent = pd();
    let addresses = silent.series.iter_mut().flat_map(|it| &mut it.labels);
    addresses.filter(|(name, _)| name == "status_address").for_each(|(_, at)| at.clear());
    assert_eq!(figures_of(vec![store(first), silent]), [""; 0]);
}

#[test]
fn store_panels_are_grouped_by_instance() {
    let panels = with(cluster(), of_trial);
    let by_instance = panels.drawn.iter().find(|it| it.what.ends_with("requests by instance"));
    let names: Vec<&str> = by_instance.unwrap().lines.iter().map(|line| line.0.as_str()).collect();
    assert_eq!(names, ["tikv 1", "tikv 2", "tikv 3"]);
}

#[test]
fn missed_metrics_answers_are_reported_with_the_reason() {
    let mut server = server("app", "http://h/metrics", &[("go_goroutines", 7.0)]);
    server.gaps.push(Gap { at_ns: 1, reason: "it did not answer in time".to_owned() });
    let panels = with(vec![server.clone()], of_trial);
    assert_eq!(panels.drawn.len(), 1);
    let said = "app did not answer 1 of 3 times: it did not answer in time.";
    assert!(panels.absent.iter().any(|it| it == said), "{:?}", panels.absent);
    let seen = figures_of(vec![server]);
    assert_eq!(seen[0], "app did not answer 1 of 3 times: it did not answer in time");
}

#[test]
fn a_server_that_never_answered_is_reported_without_panels() {
    let gaps = vec![Gap { at_ns: 1, reason: "it answered 404".to_owned() }];
    let server = Server { name: "app".to_owned(), gaps, ..Server::default() };
    let panels = with(vec![server], of_trial);
    assert!(panels.drawn.is_empty());
    assert_eq!(panels.absent, ["app did not answer 1 of 1 times: it answered 404."]);
    let silent = Server { name: "app".to_owned(), ..Server::default() };
    let panels = with(vec![silent], of_trial);
    assert_eq!(panels.absent, ["app had not answered when the trial ended."]);
}
