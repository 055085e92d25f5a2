//! Metrics while a run goes on: a real Prometheus scrapes them, a collector receives them, and neither can disturb the
//! run.

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::own_server::{Background, wait_until};
use crate::readers::python;
use crate::sandbox::{Sandbox, both, json};
use crate::server;

/// Rows of which many are there already, so that there are errors too.
const SALES: &str = "\
\\prepare
CREATE TABLE sales (id INTEGER NOT NULL PRIMARY KEY);
\\cleanup
DROP TABLE IF EXISTS sales;
\\transaction sell
\\set id random(1, 2000)
BEGIN;
INSERT INTO sales VALUES (:id);
COMMIT;
\\transaction look
SELECT COUNT(*) FROM sales WHERE id < 10;
";

/// A folder with the workload and a plan of it, in an open loop.
fn sandbox(url: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.file("sales.sql", SALES);
    let plan = format!(
        "[systems.shop]\nkind = \"mysql\"\nurl = \"{url}\"\n[workloads.sales]\nkind = \"sales.sql\"\n\
         [load]\nclients = 4\nrate = 300\ntime = \"5s\"\nwarm_up = \"1s\"\n"
    );
    sandbox.file("plan.toml", &plan);
    sandbox
}

/// Where a run says that its page is.
fn address(run: &Background<'_>) -> String {
    let line = || {
        let text = run.stderr_text();
        let of = |line: &str| {
            Some(line.strip_prefix("metrics: http://")?.strip_suffix("/metrics")?.to_owned())
        };
        text.lines().find_map(of)
    };
    wait_until("the run says where its metrics are", || line().is_some());
    line().unwrap()
}

fn ask(address: &str, request: &[u8]) -> String {
    let mut socket = TcpStream::connect(address).unwrap();
    socket.write_all(request).unwrap();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).unwrap();
    answer
}

fn get(address: &str, path: &str) -> (String, String) {
    let answer = ask(address, format!("GET {path} HTTP/1.1\r\nHost: {address}\r\n\r\n").as_bytes());
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.to_owned(), body.to_owned())
}

/// An address of loopback at which nothing listens.
fn free_address() -> String {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string()
}

struct Prometheus {
    child: Child,
    address: String,
}

impl Prometheus {
    fn scraping(sandbox: &Sandbox, target: &str) -> Self {
        let address = free_address();
        let config = sandbox.file(
            "prometheus.yml",
            &format!(
                "global: {{ scrape_interval: 300ms, scrape_timeout: 300ms }}\n\
                 scrape_configs:\n- job_name: dyno\n  static_configs: [{{ targets: ['{target}'] }}]\n"
            ),
        );
        let log = fs::File::create(sandbox.path().join("prometheus.log")).unwrap();
        let child = Command::new("prometheus")
            .arg(format!("--config.file={}", config.display()))
            .arg(format!("--storage.tsdb.path={}", sandbox.path().join("tsdb").display()))
            .arg(format!("--web.listen-address={address}"))
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .expect("prometheus, which `cargo xtask test` installs");
        let prometheus = Self { child, address };
        wait_until("Prometheus is ready", || {
            let Ok(mut socket) = TcpStream::connect(&prometheus.address) else { return false };
            let mut answer = String::new();
            let asked = socket.write_all(b"GET /-/ready HTTP/1.0\r\n\r\n");
            asked.and_then(|()| socket.read_to_string(&mut answer)).is_ok()
                && answer.contains(" 200 OK")
        });
        prometheus
    }

    /// The series of an expression over the last minutes, each with its values.
    fn range(&self, expression: &str) -> Vec<Vec<f64>> {
        let coded: String = expression.bytes().map(|byte| format!("%{byte:02x}")).collect();
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
        let end = now.as_millis() as f64 / 1e3;
        let start = end - 120.0;
        let path = format!("/api/v1/query_range?query={coded}&start={start}&end={end}&step=0.2");
        let request = format!("GET {path} HTTP/1.0\r\n\r\n");
        let answer = ask(&self.address, request.as_bytes());
        let answer: Value = serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap();
        assert_eq!(answer["status"], "success", "{expression}: {answer}");
        let of = |series: &Value| {
            let values = series["values"].as_array().unwrap().iter();
            values.map(|value| value[1].as_str().unwrap().parse().unwrap()).collect()
        };
        answer["data"]["result"].as_array().unwrap().iter().map(of).collect()
    }

    /// The only series of an expression, and its highest value.
    fn highest(&self, expression: &str) -> f64 {
        let series = self.range(expression);
        assert_eq!(series.len(), 1, "{expression}: {series:?}");
        series[0].iter().copied().fold(f64::NEG_INFINITY, f64::max)
    }
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// The expressions of a dashboard, as Grafana sends them with all systems and workloads chosen.
fn expressions(dashboard: &Value) -> Vec<String> {
    let panels = dashboard["panels"].as_array().unwrap().iter();
    let targets = panels.flat_map(|panel| panel["targets"].as_array().unwrap());
    let chosen = |target: &Value| {
        let text = target["expr"].as_str().unwrap();
        text.replace("$__rate_interval", "1200ms")
            .replace("$system", ".*")
            .replace("$workload", ".*")
    };
    targets.map(chosen).collect()
}

#[test]
fn a_prometheus_that_scrapes_a_run_answers_every_panel_and_has_all_transactions() {
    let url = server::database("metrics_scraped");
    let sandbox = sandbox(&url);
    let address = free_address();
    let prometheus = Prometheus::scraping(&sandbox, &address);
    let mut command = sandbox.dyno(["run", "plan.toml", "--format=json", "--metrics", &address]);
    let mut run = Background::start(&sandbox, &mut command);
    run.wait_for("0000", "measure", 2);
    let (head, page) = get(&address, "/metrics");
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
    let lint = sandbox.file("page.txt", &page);
    let lint = Command::new("promtool")
        .args(["check", "metrics"])
        .stdin(fs::File::open(lint).unwrap())
        .output()
        .unwrap();
    assert!(lint.status.success() && lint.stdout.is_empty(), "{}\n{page}", both(&lint));
    assert!(get(&address, "/").0.starts_with("HTTP/1.1 404 "));
    let report = run.report();
    let dashboard = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/grafana.json");
    let dashboard: Value = serde_json::from_slice(&fs::read(dashboard).unwrap()).unwrap();
    let expressions = expressions(&dashboard);
    assert!(expressions.len() > 20, "{expressions:?}");
    for expression in &expressions {
        let series = prometheus.range(expression);
        assert!(series.iter().any(|values| values.iter().any(|it| it.is_finite())), "{expression}");
    }
    let trial = &report["trials"][0];
    let counted = prometheus.highest("sum(dyno_transactions_total{phase=\"measure\"})");
    assert_eq!(Some(counted), trial["transactions"].as_f64(), "the last interval is scraped too");
    let failed = prometheus.highest("sum(dyno_failed_transactions_total{phase=\"measure\"})");
    assert_eq!(Some(failed), trial["failed_transactions"].as_f64());
    assert!(failed > 0.0);
    assert_eq!(prometheus.highest("sum(dyno_load_seconds_total{phase=\"measure\"})"), 5.0);
    assert_eq!(prometheus.highest("dyno_target_transactions_per_second{system=\"shop\"}"), 300.0);
    server::sql("DROP DATABASE metrics_scraped");
}

/// A collector that keeps every send in a file, and answers it with a status.
struct Collector {
    address: String,
    sends: Receiver<(String, PathBuf)>,
}

impl Collector {
    fn answering(sandbox: &Sandbox, status: &'static str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let folder = sandbox.path().to_path_buf();
        let (sender, sends) = channel();
        thread::spawn(move || {
            for connection in listener.incoming() {
                take(connection.unwrap(), status, |number, head, body| {
                    let file = folder.join(format!("send-{number}"));
                    fs::write(&file, body).unwrap();
                    let _ = sender.send((head, file));
                });
            }
        });
        Self { address, sends }
    }

    /// The heads of all sends, and their files.
    fn all(&self) -> Vec<(String, PathBuf)> {
        self.sends.try_iter().collect()
    }
}

/// Takes the requests of a connection until it ends.
fn take(mut connection: TcpStream, status: &str, mut keep: impl FnMut(u16, String, &[u8])) {
    let port = connection.peer_addr().unwrap().port();
    let (mut got, mut piece, mut number) = (Vec::new(), [0; 65536], 0);
    loop {
        let head_end = got.windows(4).position(|it| it == b"\r\n\r\n");
        let head = head_end.map(|end| String::from_utf8_lossy(&got[..end]).to_lowercase());
        let length = head.as_ref().map(|head| {
            let of = |line: &str| line.strip_prefix("content-length: ")?.trim().parse().ok();
            head.lines().find_map(of).unwrap_or(0_usize)
        });
        if let (Some(end), Some(length), Some(head)) = (head_end, length, head)
            && got.len() >= end + 4 + length
        {
            keep(port.wrapping_add(number), head, &got[end + 4..end + 4 + length]);
            got.drain(..end + 4 + length);
            number += 1;
            let answer = format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\n\r\n");
            connection.write_all(answer.as_bytes()).unwrap();
            continue;
        }
        match connection.read(&mut piece) {
            Ok(0) | Err(_) => return,
            Ok(read) => got.extend_from_slice(&piece[..read]),
        }
    }
}

/// The sum of a metric's points in a phase.
fn sum(send: &Value, metric: &str, of: &str) -> f64 {
    let points = send[metric].as_object().unwrap_or_else(|| panic!("no {metric}: {send}"));
    points
        .iter()
        .filter(|(labels, _)| labels.contains(of))
        .map(|(_, it)| it.as_f64().unwrap())
        .sum()
}

#[test]
fn a_collector_gets_every_interval_of_a_load_that_generators_share() {
    let url = server::database("metrics_sent");
    let sandbox = sandbox(&url);
    let collector = Collector::answering(&sandbox, "200 OK");
    let to = format!("http://{}", collector.address);
    let mut command = sandbox.dyno(["run", "plan.toml", "--format=json", "--otlp", &to]);
    command.args(["--set=load.generators=[\"local\", \"local\"]", "--set=load.time=2s"]);
    sandbox.with_programs(&mut command);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", both(&output));
    assert!(!String::from_utf8_lossy(&output.stderr).contains("lost"), "{}", both(&output));
    let (heads, files): (Vec<String>, Vec<PathBuf>) = collector.all().into_iter().unzip();
    assert!(heads.len() >= 4, "each interval and the end: {heads:?}");
    for head in &heads {
        assert!(head.starts_with("post /v1/metrics http/1.1"), "{head}");
        assert!(head.contains("content-type: application/x-protobuf"), "{head}");
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/otlp.py");
    let files: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
    let read = python(&script, &files);
    assert!(read.status.success(), "{}", both(&read));
    let sends: Value = serde_json::from_slice(&read.stdout).unwrap();
    let sends = sends.as_array().unwrap();
    let report = json(&output);
    let (trial, last) = (&report["trials"][0], sends.last().unwrap());
    let measured = |metric| Some(sum(last, metric, "phase=measure"));
    assert_eq!(measured("dyno_transactions_total"), trial["transactions"].as_f64());
    assert_eq!(measured("dyno_failed_transactions_total"), trial["failed_transactions"].as_f64());
    assert_eq!(measured("dyno_load_seconds_total"), Some(2.0));
    let latencies =
        sum(last, "dyno_latency_seconds", "phase=measure,operation=look,kind=transaction");
    let looks = trial["operations"].as_array().unwrap().iter().find(|it| it["name"] == "look");
    assert_eq!(Some(latencies), looks.unwrap()["succeeded"].as_f64());
    assert_eq!(sum(last, "dyno_trials_total", "status=complete"), 1.0);
    let over_time = sends.iter().map(|send| sum(send, "dyno_transactions_total", "phase=measure"));
    let over_time: Vec<f64> = over_time.collect();
    assert!(
        over_time.is_sorted() && over_time[0] < over_time[over_time.len() - 1],
        "{over_time:?}"
    );
    server::sql("DROP DATABASE metrics_sent");
}

/// A run of a second.
const SECOND: [&str; 6] = [
    "bench",
    "oltp_point_select",
    "--table-size=100",
    "--time=1",
    "--repetitions=1",
    "--interval=200ms",
];

#[test]
fn a_collector_that_is_away_refuses_or_is_silent_costs_one_warning_and_shows_no_password() {
    let sandbox = Sandbox::new();
    let refusing = Collector::answering(&sandbox, "503 Service Unavailable");
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    for (address, why) in [
        (free_address(), "it cannot be reached"),
        (refusing.address.clone(), "it answered 503"),
        (silent.local_addr().unwrap().to_string(), "it did not answer in time"),
    ] {
        let url = format!("http://me:hidden-word@{address}");
        let mut command = sandbox.dyno(SECOND);
        let output = command.args(["--otlp", &url]).output().unwrap();
        assert!(output.status.success(), "{why}: {}", both(&output));
        let all = both(&output);
        let warnings: Vec<&str> =
            all.lines().filter(|line| line.starts_with("metrics: ")).collect();
        let [warning] = warnings[..] else { panic!("{why}: {all}") };
        assert!(warning.contains(&format!("/v1/metrics were lost ({why}")), "{warning}");
        assert!(warning.contains("the collector lacks the end of the run"), "{warning}");
        let [lost, all_sends] = [1, 3].map(|at| warning.split(' ').nth(at).unwrap());
        assert!(lost == all_sends && lost.parse::<u32>().unwrap() >= 2, "{warning}");
        assert!(!all.contains("hidden-word"), "{all}");
    }
    let heads = refusing.all();
    assert!(heads[0].0.contains("authorization: basic "), "{}", heads[0].0);
    for run in sandbox.runs() {
        assert!(!fs::read_to_string(run.join("run.json")).unwrap().contains("hidden-word"));
    }
}

#[test]
fn what_cannot_be_served_or_sent_is_told_before_anything_starts() {
    let sandbox = Sandbox::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = listener.local_addr().unwrap().to_string();
    for (option, value, says) in [
        ("--metrics", taken.as_str(), "choose another port"),
        ("--metrics", "0.0.0.0:9464", "the page has no login"),
        ("--metrics", "9464", "write it as 127.0.0.1:9464"),
        ("--otlp", "https://collector:4318", "dyno sends without TLS"),
        ("--otlp", "127.0.0.1:4318", "such as http://127.0.0.1:4318"),
        ("--otlp", "http://", "such as http://127.0.0.1:4318"),
    ] {
        let message = sandbox.fail(2, ["bench", "oltp_point_select", option, value]);
        assert!(message.contains(says) && message.contains(option), "{option} {value}: {message}");
    }
    assert!(!sandbox.path().join("results").exists());
}

#[test]
fn garbage_and_slow_clients_of_the_page_do_not_disturb_a_run() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.dyno(SECOND);
    command.args(["--metrics=127.0.0.1:0", "--format=json", "--warm-up=3s"]);
    let run = Background::start(&sandbox, &mut command);
    let address = address(&run);
    for (request, status) in [
        (&b"\r\n\r\n"[..], "400"),
        (b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n", "400"),
        (b"POST /metrics HTTP/1.1\r\n\r\n", "405"),
        (b"GET /metrics.json HTTP/1.1\r\n\r\n", "404"),
        (b"GET /metrics?name=x HTTP/1.0\r\nA: b\r\n\r\n", "200"),
    ] {
        let answer = ask(&address, request);
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{answer}");
    }
    // More than it serves at a time: some send nothing, some a byte, some do not read.
    let idle: Vec<TcpStream> = (0..40)
        .map(|number| {
            let mut socket = TcpStream::connect(&address).unwrap();
            let some = [&b""[..], b"G", b"GET /metrics HTTP/1.1\r\n\r\n"][number % 3];
            let _ = socket.write_all(some);
            socket
        })
        .collect();
    let report = run.report();
    assert_eq!(report["trials"][0]["status"], "complete");
    assert_eq!(idle.len(), 40);
    assert!(TcpStream::connect_timeout(&address.parse().unwrap(), Duration::from_secs(1)).is_err());
}
