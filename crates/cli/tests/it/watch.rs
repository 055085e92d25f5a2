//! Hosts and servers are watched while load runs: on a real MariaDB, a real TiDB, and servers that do not
//! behave.

use std::fs;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::thread;

use record::Run;

use crate::support::{Desk, both};

/// The only run on a desk.
fn only_run(desk: &Desk) -> Run {
    Run::open(&desk.runs()[0]).unwrap()
}

fn page(desk: &Desk) -> String {
    fs::read_to_string(desk.runs()[0].join("report.html")).unwrap()
}

#[test]
fn the_cpu_of_a_managed_server_and_of_its_host_are_watched() {
    let desk = Desk::new();
    let output = desk.succeed([
        "bench",
        "sysbench/oltp_point_select",
        "--system=mariadb",
        "--table-size=1000",
        "--clients=8",
        "--time=4s",
        "--warm-up=1s",
    ]);
    let run = only_run(&desk);
    let watched = &run.trials[0].watched;
    let [host] = &watched.hosts[..] else { panic!("one host: {watched:?}") };
    let names: Vec<&str> = host.processes.iter().map(|process| process.name.as_str()).collect();
    assert_eq!(names, ["dyno", "mariadb"]);
    let (first, last) = (&host.readings[0], host.readings.last().unwrap());
    assert!(host.readings.len() >= 5, "one each second: {}", host.readings.len());
    let used = |reading: &measure::HostReading| {
        reading.processes.iter().map(|process| process.unwrap().cpu_ns()).collect::<Vec<_>>()
    };
    let (before, after) = (used(first), used(last));
    assert!(after[0] > before[0] && after[1] > before[1], "{before:?} {after:?}");
    // Whatever the CPUs did, they did it for as long as they were there. Each counts in ticks of 10 ms.
    let seconds = (last.at_ns - first.at_ns) as f64 / 1e9;
    let cpu = last.cpu.since(&first.cpu);
    let threads = cpu.total_ns() as f64 / 1e9 / seconds;
    let expected = host.cpu_threads as f64;
    assert!((threads / expected - 1.0).abs() < 0.1, "{threads} of {expected}: {cpu:?}");
    let of_both: u64 = after.iter().zip(&before).map(|(after, before)| after - before).sum();
    assert!(of_both <= cpu.total_ns(), "{of_both} of {cpu:?}");
    assert!(last.context_switches > first.context_switches);
    assert!(last.loopback.unwrap().sent_packets > first.loopback.unwrap().sent_packets);
    let looks = host.readings.iter().map(|reading| reading.processes[1].unwrap().runnable);
    assert!(looks.clone().map(|it| it.looks).sum::<u64>() > 10);
    assert!(looks.map(|it| it.max).max().unwrap() > 0, "it was busy at some look");
    let text = both(&output);
    assert!(text.contains("mariadb: the server kept up to"), "{text}");
    assert!(text.contains("of its threads ran or waited for one at once"), "{text}");
    let page = page(&desk);
    for plot in ["CPU by process of", "runnable threads of", "What the servers took"] {
        assert!(page.contains(plot), "{plot}");
    }
}

#[test]
fn segments_of_dynos_own_connections_are_told_and_those_without_data_apart() {
    let desk = Desk::new();
    desk.succeed([
        "bench",
        "sysbench/oltp_point_select",
        "--system=mariadb",
        "--table-size=1000",
        "--clients=8",
        "--time=3s",
        "--warm-up=1s",
    ]);
    let run = only_run(&desk);
    let connections = &run.trials[0].watched.connections;
    assert_eq!(connections.absent, None);
    let (first, last) = (connections.readings[0], *connections.readings.last().unwrap());
    assert_eq!((first.open, first.ended), (8, 0), "{connections:?}");
    assert_eq!((last.open, last.ended, last.ended_unheard), (0, 8, 0), "{connections:?}");
    assert!(connections.readings.iter().any(|reading| reading.round_trip_ns.is_some()));
    // Each statement is one segment there and one back. Clients may begin before the first reading,
    // and each says farewell without an answer.
    let counted = last.counters.since(&first.counters);
    let queries: u64 = run.trials[0].intervals.iter().map(|it| it.tally.queries.total()).sum();
    assert!(queries > 1_000, "{queries}");
    let (sent, received) = (counted.data_segments_sent, counted.data_segments_received);
    let few = queries / 20;
    assert!(sent.abs_diff(queries) <= few, "{counted:?} of {queries}");
    assert!(received.abs_diff(queries) <= few, "{counted:?} of {queries}");
    assert!(counted.segments_sent >= sent && counted.segments_received >= received);
    let text = fs::read_to_string(desk.runs()[0].join("report.json")).unwrap();
    let report: serde_json::Value = serde_json::from_str(&text).unwrap();
    let sent = &report["trials"][0]["messages"]["sent"];
    let (segment, request) = (&sent["data_segment_bytes"], &sent["bytes_per_query"]);
    let ratio = segment.as_f64().unwrap() / request.as_f64().unwrap();
    assert!((ratio - 1.0).abs() < 0.1, "{sent}");
    assert!(page(&desk).contains("Messages between dyno and the systems"));
}

#[test]
fn systems_without_tcp_are_said_to_have_no_segments() {
    let desk = Desk::new();
    let plan = desk.path().join("plan.toml");
    let text = "[systems.socket]\nkind = \"mariadb\"\nconnect = \"socket\"\n[systems.inside]\n\
                kind = \"sqlite\"\n[workloads.w]\nkind = \"sysbench/oltp_point_select\"\ntable_size = 100\n\
                [load]\ntime = \"1s\"\nwarm_up = \"0s\"\n";
    fs::write(&plan, text).unwrap();
    desk.succeed(["run", plan.to_str().unwrap()]);
    let run = only_run(&desk);
    let absent =
        run.trials.iter().map(|trial| trial.watched.connections.absent.as_deref().unwrap());
    assert_eq!(
        absent.collect::<Vec<_>>(),
        ["dyno reaches the system over a unix socket", "the system runs inside dyno's process"]
    );
    let text = fs::read_to_string(desk.runs()[0].join("report.md")).unwrap();
    assert!(text.contains("socket has no figures of TCP segments"), "{text}");
    assert!(page(&desk).contains("There are no figures of TCP segments"));
}

#[test]
fn a_record_of_what_was_watched_is_readable_wherever_it_is_cut() {
    let desk = Desk::new();
    desk.succeed([
        "bench",
        "sysbench/oltp_point_select",
        "--table-size=100",
        "--time=1s",
        "--warm-up=0s",
        "--interval=250ms",
    ]);
    let whole = only_run(&desk).trials[0].watched.clone();
    let path = desk.runs()[0].join("trials/0000/watch.jsonl");
    let text = fs::read(&path).unwrap();
    for length in (0..text.len()).step_by(97) {
        fs::write(&path, &text[..length]).unwrap();
        let hosts = only_run(&desk).trials[0].watched.hosts.clone();
        let readings = hosts.first().map_or(0, |host| host.readings.len());
        assert!(readings <= whole.hosts[0].readings.len());
        if let Some(host) = hosts.first() {
            assert_eq!(host.readings, whole.hosts[0].readings[..readings]);
        }
    }
    fs::remove_file(&path).unwrap();
    desk.succeed(["report", "results"]);
    assert_eq!(only_run(&desk).trials[0].watched, measure::Watched::default());
}

/// Answers every request in this way; returns where.
fn serve(reply: impl Fn(&mut dyn Write) + Send + 'static) -> String {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let url = format!("http://{}/metrics", listener.local_addr().unwrap());
    thread::spawn(move || {
        let mut kept = Vec::new();
        for mut stream in listener.incoming().flatten() {
            let mut request = [0; 2048];
            let _ = stream.read(&mut request);
            reply(&mut stream);
            kept.push(stream.try_clone());
            // What was said is said; only a stalling server keeps its connections open.
            if kept.len() > 1_000 {
                return;
            }
        }
    });
    url
}

fn plan(desk: &Desk, endpoints: &str) -> PathBuf {
    let text = format!(
        "system = \"sqlite\"\n[workloads.w]\nkind = \"sysbench/oltp_point_select\"\ntable_size = 100\n\
         [load]\ntime = \"2s\"\nwarm_up = \"0s\"\n[watch]\nendpoints = [{endpoints}]\n"
    );
    desk.file("plan.toml", &text)
}

#[test]
fn servers_that_answer_garbage_stall_or_flood_cost_the_trial_nothing() {
    let desk = Desk::new();
    let garbage = serve(|stream| {
        let _ = stream.write_all(b"HTTP/1.0 200 OK\r\nContent-Length: 8\r\n\r\n\xff\xfe{{{ 1\n");
    });
    let stalling = serve(|stream| {
        let _ = stream.write_all(b"HTTP/1.0 200 OK\r\n");
    });
    let flooding = serve(|stream| {
        let _ = stream.write_all(b"HTTP/1.0 200 OK\r\n\r\n");
        let lines = "a_figure{of=\"nothing\"} 1\n".repeat(40_000);
        while stream.write_all(lines.as_bytes()).is_ok() {}
    });
    let gone = "http://127.0.0.1:1/metrics";
    plan(
        &desk,
        &format!(
            "{{name = \"garbage\", url = \"{garbage}\"}}, {{name = \"stalling\", url = \
             \"{stalling}\"}}, {{name = \"flooding\", url = \"{flooding}\"}}, {{name = \"gone\", url = \
             \"{gone}\"}}"
        ),
    );
    let output = desk.succeed(["run", "plan.toml"]);
    let run = only_run(&desk);
    let trial = &run.trials[0];
    assert_eq!(trial.end.as_ref().unwrap().status, record::TrialStatus::Complete);
    assert!(trial.total.transactions > 0);
    assert!(trial.watched.hosts[0].readings.len() >= 3, "hosts are watched on");
    let [garbage, stalling, _, gone] = &trial.watched.servers[..] else { panic!("four servers") };
    assert_eq!(garbage.gaps[0].reason, "there are no figures in its answer");
    assert!(stalling.answers_ns.is_empty());
    assert!(gone.gaps[0].reason.contains("refused"), "{:?}", gone.gaps);
    let text = both(&output);
    assert!(text.contains("A server did not always tell its metrics"), "{text}");
    assert!(page(&desk).contains("stalling had not answered when the trial ended"));
}

#[test]
fn metrics_of_any_server_are_kept_and_shown() {
    let desk = Desk::new();
    let count = std::sync::atomic::AtomicU64::new(0);
    let url = serve(move |stream| {
        let count = count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let body = format!(
            "# TYPE process_cpu_seconds_total counter\nprocess_cpu_seconds_total {}\n\
             # TYPE process_resident_memory_bytes gauge\nprocess_resident_memory_bytes 1048576\n\
             # TYPE orders_total counter\norders_total{{kind=\"a\"}} {count}\n",
            count as f64 / 10.0
        );
        let length = body.len();
        let head =
            format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
        let _ = stream.write_all(format!("{head}{body}").as_bytes());
    });
    plan(&desk, &format!("{{name = \"shop\", url = \"{url}\"}}"));
    desk.succeed(["run", "plan.toml"]);
    let run = only_run(&desk);
    let [server] = &run.trials[0].watched.servers[..] else { panic!("one server") };
    assert!(server.answers_ns.len() >= 3 && server.gaps.is_empty(), "{:?}", server.gaps);
    let orders = server.series.iter().find(|series| series.name == "orders_total").unwrap();
    assert_eq!(orders.label("kind"), Some("a"));
    assert!(orders.points.len() >= 3);
    let page = page(&desk);
    assert!(page.contains("server: CPU by instance, shop"));
    assert!(page.contains("server: memory by instance, shop"));
}

#[test]
fn nothing_is_watched_when_nobody_wants_it() {
    let desk = Desk::new();
    let path = plan(&desk, "");
    let text = fs::read_to_string(&path).unwrap();
    let text = text.split("[watch]").next().unwrap();
    desk.file("plan.toml", &format!("watch = \"off\"\n{text}"));
    desk.succeed(["run", "plan.toml"]);
    assert!(!desk.runs()[0].join("trials/0000/watch.jsonl").exists());
}

/// The server that `cargo xtask test` has built.
fn tidb() -> String {
    std::env::var("DYNO_TEST_TIDB")
        .expect("DYNO_TEST_TIDB is not set: run `cargo xtask test`, which builds a TiDB")
}

#[test]
fn a_real_tidb_is_asked_for_its_metrics_by_itself() {
    let desk = Desk::new();
    let system = format!("--system=tidb:{}", Path::new(&tidb()).display());
    let mut command = desk.dyno(["bench", "sysbench/oltp_read_write", "--time=5s", "--clients=4"]);
    let output = command.args(["--table-size=500", &system]).output().unwrap();
    assert!(output.status.success(), "{}", both(&output));
    let run = only_run(&desk);
    let [server] = &run.trials[0].watched.servers[..] else { panic!("one server") };
    assert!(server.answers_ns.len() >= 4 && server.gaps.is_empty(), "{:?}", server.gaps);
    let page = page(&desk);
    for panel in [
        "TiDB: statements by type",
        "TiDB: queries by instance",
        "TiDB: query duration",
        "TiDB: CPU by instance",
        "TiDB: commands to the storage",
        "TiDB: plan cache",
        "TiDB: memory by instance",
        "CPU by process of",
    ] {
        assert!(page.contains(panel), "{panel}");
    }
    assert!(page.contains("No store tells metrics of its own here"));
}
