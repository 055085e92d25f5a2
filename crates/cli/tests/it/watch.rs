//! Hosts and servers are watched while load runs: a real MariaDB, a real TiDB, and misbehaving servers.

use std::fs;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::thread;

use measure::{HostReading, Server, Watched};
use net::Clock;
use record::Run;

use crate::own_server::Background;
use crate::sandbox::{Sandbox, both};

fn only_run(sandbox: &Sandbox) -> Run {
    Run::open(&sandbox.runs()[0]).unwrap()
}

/// Runs a load until enough watched data is on disk; the time depends on the machine.
fn run_until(
    sandbox: &Sandbox,
    command: &mut Command,
    is_enough: impl Fn(&Watched) -> bool,
) -> Output {
    let mut run = Background::start(sandbox, command);
    run.wait_for("0000", "measure", 1);
    run.wait_for_record("enough was watched", |trial| is_enough(&trial.watched));
    run.interrupt();
    let output = run.finish();
    assert_eq!(output.status.code(), Some(130), "{}", both(&output));
    output
}

fn page(sandbox: &Sandbox) -> String {
    crate::sandbox::whole_page(&sandbox.runs()[0])
}

/// The kernel's CPU counters over a period, and the length of the period by the clock.
struct CpuReading {
    clock: Clock,
    ticks: [u64; 8],
}

/// Ticks per second in the kernel's reports; the same on every architecture. Source: proc_stat(5).
const TICKS_PER_S: f64 = 100.0;
/// The index of idle time in the kernel's list.
const IDLE: usize = 3;

impl CpuReading {
    fn begin() -> Self {
        Self { clock: Clock::monotonic(), ticks: Self::ticks() }
    }

    fn end(self) -> Counted {
        let ticks = Self::ticks();
        let counted_s =
            |place: usize| ticks[place].saturating_sub(self.ticks[place]) as f64 / TICKS_PER_S;
        Counted {
            all_s: (0..ticks.len()).map(counted_s).sum(),
            idle_s: counted_s(IDLE),
            passed_s: self.clock.now() as f64 / 1e9,
        }
    }

    /// All kinds except guest time, which user time already includes. Some counters occasionally decrease.
    fn ticks() -> [u64; 8] {
        let stat = fs::read_to_string("/proc/stat").unwrap();
        let all = stat.lines().next().unwrap().split_whitespace().skip(1);
        let ticks: Vec<u64> = all.map(|ticks| ticks.parse().unwrap()).collect();
        ticks[..8].try_into().unwrap()
    }
}

struct Counted {
    all_s: f64,
    idle_s: f64,
    passed_s: f64,
}

impl Counted {
    /// Time that was not counted at all, over all CPUs.
    fn lost_s(&self, cpus: u64) -> f64 {
        (self.passed_s * cpus as f64 - self.all_s).max(0.0)
    }

    fn not_idle_s(&self, cpus: u64) -> f64 {
        self.passed_s * cpus as f64 - self.idle_s
    }
}

#[test]
fn the_cpu_of_a_managed_server_and_of_its_host_are_watched() {
    let sandbox = Sandbox::new();
    let mut command =
        sandbox.dyno(["bench", "sysbench/oltp_point_select", "--system=mariadb", "--full"]);
    command.args([
        "--table-size=1000",
        "--clients=8",
        "--time=10m",
        "--repetitions=1",
        "--warm-up=1s",
    ]);
    let around = CpuReading::begin();
    // One reading per second, and at the edges of phases.
    let output = run_until(&sandbox, &mut command, |watched| watched.hosts[0].readings.len() > 5);
    let around = around.end();
    let run = only_run(&sandbox);
    let watched = &run.trials[0].watched;
    let [host] = &watched.hosts[..] else { panic!("one host: {watched:?}") };
    let names: Vec<&str> = host.processes.iter().map(|process| process.name.as_str()).collect();
    assert_eq!(names, ["dyno", "mariadb"]);
    let (first, last) = (&host.readings[0], host.readings.last().unwrap());
    assert!(host.readings.len() >= 5, "one each second: {}", host.readings.len());
    let used = |reading: &HostReading| {
        reading.processes.iter().map(|process| process.unwrap().cpu_ns()).collect::<Vec<_>>()
    };
    let (before, after) = (used(first), used(last));
    assert!(after[0] > before[0] && after[1] > before[1], "{before:?} {after:?}");
    // The counted time of all kinds equals the elapsed time of the CPUs. The kernel loses ticks when the machine is
    // paused, but here no more than over the whole run.
    let cpu = last.cpu.since(&first.cpu);
    let counted_s = cpu.total_ns() as f64 / 1e9;
    let passed_s = host.cpu_threads as f64 * (last.at_ns - first.at_ns) as f64 / 1e9;
    let seconds = 0.9 * passed_s - around.lost_s(host.cpu_threads)..1.1 * passed_s;
    assert!(seconds.contains(&counted_s), "{counted_s} of {passed_s}: {cpu:?}");
    // The processes did not use more than the time in which the CPUs were not idle; each CPU counts in ticks of 10
    // ms.
    let of_both: u64 = after.iter().zip(&before).map(|(after, before)| after - before).sum();
    let at_most_s = around.not_idle_s(host.cpu_threads) + 0.02 * host.cpu_threads as f64;
    assert!(of_both as f64 / 1e9 <= at_most_s, "{of_both} ns of {at_most_s} s");
    assert!(last.context_switches > first.context_switches);
    assert!(last.loopback.unwrap().sent_packets > first.loopback.unwrap().sent_packets);
    let looks = host.readings.iter().map(|reading| reading.processes[1].unwrap().runnable);
    assert!(looks.clone().map(|it| it.looks).sum::<u64>() > 10);
    assert!(looks.map(|it| it.max).max().unwrap() > 0, "it was busy at some look");
    let text = both(&output);
    assert!(text.contains("mariadb: the server kept up to"), "{text}");
    assert!(text.contains("of its threads ran or waited for one at once"), "{text}");
    let page = page(&sandbox);
    for plot in ["CPU by process of", "runnable threads of", "Server load"] {
        assert!(page.contains(plot), "{plot}");
    }
}

#[test]
fn cost_per_query_of_a_real_server_matches_its_counters() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.dyno(["bench", "sysbench/oltp_update_index", "--system=mariadb"]);
    command.args([
        "--table-size=1000",
        "--clients=4",
        "--time=10m",
        "--repetitions=1",
        "--warm-up=1s",
    ]);
    run_until(&sandbox, &mut command, |watched| watched.hosts[0].readings.len() > 6);
    let run = only_run(&sandbox);
    let trial = &run.trials[0];
    let measured: Vec<_> = trial.measured().collect();
    let window = measured[0].start_ns..=measured.last().unwrap().end_ns;
    let queries: u64 = measured.iter().map(|interval| interval.tally.queries.total()).sum();
    let queries_per_s = queries as f64 * 1e9 / (window.end() - window.start()) as f64;
    // The readings that enclose mostly measured time.
    let readings = &trial.watched.hosts[0].readings;
    let is_measured =
        |pair: &&[HostReading]| window.contains(&pair[0].at_ns.midpoint(pair[1].at_ns));
    let pairs: Vec<&[HostReading]> = readings.windows(2).filter(is_measured).collect();
    let seconds: f64 = pairs.iter().map(|pair| (pair[1].at_ns - pair[0].at_ns) as f64 / 1e9).sum();
    let per_query = |of: fn(&measure::ProcessReading) -> u64| {
        let of = |reading: &HostReading| of(&reading.processes[1].unwrap());
        let growth: u64 = pairs.iter().map(|pair| of(&pair[1]) - of(&pair[0])).sum();
        growth as f64 / seconds / queries_per_s
    };
    let text = fs::read_to_string(sandbox.runs()[0].join("report.json")).unwrap();
    let report: serde_json::Value = serde_json::from_str(&text).unwrap();
    for (key, known) in [
        ("server_cpu_us_per_query", per_query(|it| it.cpu_ns()) / 1e3),
        ("server_context_switches_per_query", per_query(|it| it.context_switches.unwrap())),
        ("server_read_kb_per_query", per_query(|it| it.disk.unwrap().read_bytes) / 1e3),
        ("server_written_kb_per_query", per_query(|it| it.disk.unwrap().written_bytes) / 1e3),
    ] {
        let told = report["trials"][0][key].as_f64().unwrap();
        assert!((told - known).abs() <= 1e-6 * known, "{key}: {told}, not {known}");
        assert!(known > 0.0 || key.contains("_kb_"), "{key}: nothing for {queries} queries");
    }
    assert!(page(&sandbox).contains("Server cost per query"));
}

#[test]
fn tcp_segments_of_dyno_are_counted_with_and_without_data() {
    let sandbox = Sandbox::new();
    let bench = ["bench", "sysbench/oltp_point_select", "--system=mariadb", "--table-size=1000"];
    let mut command = sandbox.dyno(bench);
    command.args(["--clients=8", "--events=5000", "--warm-up=1s"]);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", both(&output));
    let run = only_run(&sandbox);
    let connections = &run.trials[0].watched.connections;
    assert_eq!(connections.absent, None);
    let (first, last) = (connections.readings[0], *connections.readings.last().unwrap());
    assert_eq!((first.open, first.ended), (8, 0), "{connections:?}");
    // The last reading is taken at the end of the window, when clients begin to disconnect.
    assert_eq!((last.open + last.ended, last.ended_unreported), (8, 0), "{connections:?}");
    assert!(connections.readings.iter().any(|reading| reading.round_trip_ns.is_some()));
    // Each statement is one segment in each direction. In addition, each client logs in, prepares its statement and
    // disconnects, and its statements after the end are not counted: fewer than ten segments each.
    let counted = last.counters;
    let queries: u64 = run.trials[0].intervals.iter().map(|it| it.tally.queries.total()).sum();
    assert!(queries >= 5_000, "{queries}");
    let segments = queries..queries + 8 * 10;
    assert!(segments.contains(&counted.data_segments_sent), "{counted:?} of {queries}");
    assert!(segments.contains(&counted.data_segments_received), "{counted:?} of {queries}");
    assert!(counted.segments_sent >= counted.data_segments_sent, "{counted:?}");
    assert!(counted.segments_received >= counted.data_segments_received, "{counted:?}");
    let text = fs::read_to_string(sandbox.runs()[0].join("report.json")).unwrap();
    let report: serde_json::Value = serde_json::from_str(&text).unwrap();
    let sent = &report["trials"][0]["messages"]["sent"];
    let (segment, request) = (&sent["data_segment_bytes"], &sent["bytes_per_query"]);
    let ratio = segment.as_f64().unwrap() / request.as_f64().unwrap();
    assert!((ratio - 1.0).abs() < 0.1, "{sent}");
    assert!(page(&sandbox).contains("Messages between dyno and the systems"));
}

#[test]
fn systems_without_tcp_report_no_segments() {
    let sandbox = Sandbox::new();
    let plan = sandbox.path().join("plan.toml");
    let text = "[systems.socket]\nkind = \"mariadb\"\nconnect = \"socket\"\n[systems.inside]\n\
                kind = \"sqlite\"\n[workloads.w]\nkind = \"sysbench/oltp_point_select\"\ntable_size = 100\n\
                [load]\ntime = \"1s\"\nwarm_up = \"0s\"\n";
    fs::write(&plan, text).unwrap();
    sandbox.succeed(["run", plan.to_str().unwrap()]);
    let run = only_run(&sandbox);
    let absent =
        run.trials.iter().map(|trial| trial.watched.connections.absent.as_deref().unwrap());
    assert_eq!(
        absent.collect::<Vec<_>>(),
        ["dyno reaches the system over a unix socket", "the system runs inside dyno's process"]
    );
    let text = fs::read_to_string(sandbox.runs()[0].join("report.md")).unwrap();
    assert!(text.contains("socket has no figures of TCP segments"), "{text}");
    assert!(page(&sandbox).contains("There are no figures of TCP segments"));
}

#[test]
fn a_record_of_what_was_watched_is_readable_wherever_it_is_cut() {
    let sandbox = Sandbox::new();
    sandbox.succeed([
        "bench",
        "sysbench/oltp_point_select",
        "--table-size=100",
        "--time=1s",
        "--warm-up=0s",
        "--interval=250ms",
    ]);
    let whole = only_run(&sandbox).trials[0].watched.clone();
    let path = sandbox.runs()[0].join("trials/0000/watch.jsonl");
    let text = fs::read(&path).unwrap();
    for length in (0..text.len()).step_by(97) {
        fs::write(&path, &text[..length]).unwrap();
        let hosts = only_run(&sandbox).trials[0].watched.hosts.clone();
        let readings = hosts.first().map_or(0, |host| host.readings.len());
        assert!(readings <= whole.hosts[0].readings.len());
        if let Some(host) = hosts.first() {
            assert_eq!(host.readings, whole.hosts[0].readings[..readings]);
        }
    }
    fs::remove_file(&path).unwrap();
    sandbox.succeed(["report", "results"]);
    assert_eq!(only_run(&sandbox).trials[0].watched, measure::Watched::default());
}

/// Answers every request in this way; returns the URL.
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
            // The answer is complete; only a stalling server keeps its connections open.
            if kept.len() > 1_000 {
                return;
            }
        }
    });
    url
}

fn plan(sandbox: &Sandbox, endpoints: &str) -> PathBuf {
    let text = format!(
        "system = \"sqlite\"\n[workloads.w]\nkind = \"sysbench/oltp_point_select\"\ntable_size = 100\n\
         [load]\ntime = \"10m\"\nwarm_up = \"0s\"\n[watch]\nendpoints = [{endpoints}]\n"
    );
    sandbox.file("plan.toml", &text)
}

#[test]
fn faulty_metrics_servers_do_not_affect_the_trial() {
    let sandbox = Sandbox::new();
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
        &sandbox,
        &format!(
            "{{name = \"garbage\", url = \"{garbage}\"}}, {{name = \"stalling\", url = \
             \"{stalling}\"}}, {{name = \"flooding\", url = \"{flooding}\"}}, {{name = \"gone\", url = \
             \"{gone}\"}}"
        ),
    );
    let has_gap =
        |server: &Server, reason: &str| server.gaps.iter().any(|gap| gap.reason.contains(reason));
    let output =
        run_until(&sandbox, &mut sandbox.dyno(["run", "plan.toml", "--full"]), |watched| {
            let [garbage, _, _, gone] = &watched.servers[..] else { return false };
            has_gap(garbage, "there are no figures in its answer")
                && has_gap(gone, "refused")
                && watched.hosts[0].readings.len() >= 3
        });
    let run = only_run(&sandbox);
    let trial = &run.trials[0];
    assert!(trial.total.transactions > 0);
    assert!(trial.watched.servers.iter().all(|server| server.answers_ns.is_empty()));
    let text = both(&output);
    assert!(text.contains("A server did not always report its metrics"), "{text}");
    assert!(page(&sandbox).contains("stalling had not answered when the trial ended"));
}

#[test]
fn metrics_of_any_server_are_kept_and_shown() {
    let sandbox = Sandbox::new();
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
    plan(&sandbox, &format!("{{name = \"shop\", url = \"{url}\"}}"));
    run_until(&sandbox, &mut sandbox.dyno(["run", "plan.toml", "--full"]), |watched| {
        watched.servers.first().is_some_and(|server| server.answers_ns.len() >= 3)
    });
    let run = only_run(&sandbox);
    assert_eq!(run.trials[0].watched.kinds, system::server_kinds());
    let [server] = &run.trials[0].watched.servers[..] else { panic!("one server") };
    assert!(server.gaps.is_empty(), "{:?}", server.gaps);
    let orders = server.series.iter().find(|series| series.name == "orders_total").unwrap();
    assert_eq!(orders.label("kind"), Some("a"));
    assert!(orders.points.len() >= 3);
    let page = page(&sandbox);
    assert!(page.contains("server: CPU by instance, shop"));
    assert!(page.contains("server: memory by instance, shop"));
}

#[test]
fn watching_can_be_switched_off() {
    let sandbox = Sandbox::new();
    let path = plan(&sandbox, "");
    let text = fs::read_to_string(&path).unwrap();
    let text = text.split("[watch]").next().unwrap().replace("10m", "1s");
    sandbox.file("plan.toml", &format!("watch = \"off\"\n{text}"));
    sandbox.succeed(["run", "plan.toml"]);
    assert!(!sandbox.runs()[0].join("trials/0000/watch.jsonl").exists());
}

/// The server that `cargo xtask test` has built.
fn tidb() -> String {
    std::env::var("DYNO_TEST_TIDB")
        .expect("DYNO_TEST_TIDB is not set: run `cargo xtask test`, which builds a TiDB")
}

#[test]
fn metrics_of_a_managed_tidb_are_found_automatically() {
    let sandbox = Sandbox::new();
    let system = format!("--system=tidb:{}", Path::new(&tidb()).display());
    let mut command = sandbox.dyno([
        "bench",
        "sysbench/oltp_read_write",
        "--time=10m",
        "--repetitions=1",
        "--clients=4",
    ]);
    run_until(&sandbox, command.args(["--table-size=500", &system]), |watched| {
        watched.servers.first().is_some_and(|server| server.answers_ns.len() >= 5)
    });
    let run = only_run(&sandbox);
    let [server] = &run.trials[0].watched.servers[..] else { panic!("one server") };
    assert!(server.gaps.is_empty(), "{:?}", server.gaps);
    let page = page(&sandbox);
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
    assert!(page.contains("No store reports metrics of its own here"));
}
