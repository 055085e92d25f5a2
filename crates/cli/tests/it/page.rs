//! The HTML report in a real browser, headless Chromium: no error, every plot drawn, the values at the pointer those
//! of the record, and nothing folded missing on paper.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use report::{latency, number};
use serde_json::Value;

use crate::sandbox::{SIMULATED, Sandbox, both, json};

/// Moves the pointer to points of every series of every plot, and writes what is shown into the page.
const POINTER: &str = include_str!("page.js");

/// Chromium on a page, with its own profile, offline.
fn chromium(sandbox: &Sandbox, page: &Path, more: &[&str]) -> Output {
    let profile = sandbox.path().join("profile");
    let mut command = Command::new("chromium");
    command
        .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"])
        .args(["--no-first-run", "--disable-background-networking", "--disable-component-update"])
        .args(["--disable-sync", "--disable-extensions", "--enable-logging=stderr"])
        .arg("--host-resolver-rules=MAP * ~NOTFOUND")
        .arg(format!("--user-data-dir={}", profile.display()))
        .args(more)
        .arg(format!("file://{}", page.display()))
        .env("HOME", sandbox.path());
    let output = command.output().expect("chromium, which `cargo xtask test` installs");
    assert!(output.status.success(), "{}", both(&output));
    output
}

fn console(output: &Output) -> Vec<String> {
    let errors = String::from_utf8_lossy(&output.stderr);
    errors.lines().filter(|line| line.contains("CONSOLE")).map(str::to_owned).collect()
}

/// What was shown at one point: the head of the tooltip, and the value of each series.
struct Shown {
    place: String,
    values: BTreeMap<String, String>,
}

struct Plot {
    title: String,
    /// Lines and markers with an extent on the screen.
    drawn: u64,
    shown: Vec<Shown>,
}

impl Plot {
    fn of(value: &Value) -> Self {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let shown = |shown: &Value| Shown {
            place: text(&shown["place"]),
            values: serde_json::from_value(shown["values"].clone()).unwrap(),
        };
        Self {
            title: text(&value["title"]),
            drawn: value["drawn"].as_u64().unwrap(),
            shown: value["shown"].as_array().unwrap().iter().map(shown).collect(),
        }
    }

    /// The values at a place.
    fn at(&self, place: &str) -> &BTreeMap<String, String> {
        let here = self.shown.iter().find(|shown| shown.place == place);
        let places = || self.shown.iter().map(|shown| shown.place.as_str()).collect::<Vec<_>>();
        &here.unwrap_or_else(|| panic!("{}: {place} is none of {:?}", self.title, places())).values
    }
}

/// Opens the report of the only run, points at its plots, and expects no message on the console.
fn pointed_at(sandbox: &Sandbox) -> Vec<Plot> {
    let report = fs::read_to_string(sandbox.runs()[0].join("report.html")).unwrap();
    let script = format!("<pre id=\"told\"></pre>\n<script>\n{POINTER}</script>\n</body>");
    let page = sandbox.file("pointer.html", &report.replace("</body>", &script));
    let output = chromium(sandbox, &page, &["--window-size=1280,900", "--dump-dom"]);
    assert_eq!(console(&output), Vec::<String>::new());
    let page = String::from_utf8(output.stdout).unwrap();
    let told = page.split_once("<pre id=\"told\">").unwrap().1.split_once("</pre>").unwrap().0;
    let told = told.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    let plots: Vec<Value> = serde_json::from_str(&told).unwrap_or_else(|_| panic!("{told}"));
    assert_eq!(plots.len(), report.matches("<figure").count());
    let plots: Vec<Plot> = plots.iter().map(Plot::of).collect();
    for plot in &plots {
        assert!(plot.drawn > 0, "{}: nothing is drawn", plot.title);
        assert!(!plot.shown.is_empty(), "{}: nothing is shown", plot.title);
        for shown in &plot.shown {
            assert!(!shown.values.is_empty(), "{}: {}", plot.title, shown.place);
        }
    }
    plots
}

/// The plots whose titles end so, in the order of the trials.
fn ending<'p>(plots: &'p [Plot], end: &str) -> Vec<&'p Plot> {
    plots.iter().filter(|plot| plot.title.ends_with(end)).collect()
}

#[test]
fn values_at_the_pointer_match_arithmetic() {
    let sandbox = Sandbox::new();
    sandbox.file("plan.toml", SIMULATED);
    sandbox.succeed(["run", "plan.toml"]);
    let plots = pointed_at(&sandbox);
    let throughput = ending(&plots, "throughput against clients")[0];
    assert_eq!(throughput.at("clients: 1")["simulated"], "100");
    assert_eq!(throughput.at("clients: 6")["simulated"], "200");
    let over_time = ending(&plots, "throughput over time");
    assert_eq!(over_time.len(), 2);
    assert_eq!(over_time[0].at("time, s: 5.5")["throughput"], "100");
    assert_eq!(over_time[1].at("time, s: 5.5")["throughput"], "200");
}

#[test]
fn values_at_the_pointer_are_those_of_the_record() {
    let sandbox = Sandbox::new();
    let args = ["bench", "sysbench/oltp_read_write", "--table-size=500", "--clients=1,2,4"];
    let mut command = sandbox.dyno(args);
    command.args(["--time=3s", "--warm-up=1s", "--system=sqlite", "--format=json"]);
    let output = command.output().unwrap();
    let report = json(&output);
    let plots = pointed_at(&sandbox);
    let run = record::Run::open(&sandbox.runs()[0]).unwrap();
    let trials = report["trials"].as_array().unwrap();
    let [swept] = ending(&plots, "throughput against clients")[..] else { panic!("one plot") };
    let [latencies] = ending(&plots, "latency against throughput")[..] else { panic!("one plot") };
    for trial in trials {
        let rate = number(trial["transactions_per_s"].as_f64().unwrap());
        let clients = trial["clients"].as_u64().unwrap();
        assert_eq!(swept.at(&format!("clients: {clients}"))["sqlite"], rate);
        let load = if clients == 1 { "1 client".to_owned() } else { format!("{clients} clients") };
        let values = latencies.at(&format!("transactions per second: {rate} ({load})"));
        for percentile in ["p50", "p95", "p99", "p99.9"] {
            let known = &trial["latency"]["percentiles"][format!("{percentile}_ns")];
            assert_eq!(values[percentile], latency(known.as_f64().unwrap()), "{percentile}");
        }
    }
    let over_time = ending(&plots, "throughput over time");
    let by_percentile = ending(&plots, "clients: latency by percentile");
    let by_percentile = [ending(&plots, "1 client: latency by percentile"), by_percentile].concat();
    assert_eq!((over_time.len(), by_percentile.len()), (3, 3));
    for (at, trial) in run.trials.iter().enumerate() {
        let first = &trial.intervals[0];
        let middle_s = (first.start_ns + first.end_ns) as f64 / 2e9;
        let rate = first.tally.transactions as f64 / first.seconds();
        let place = format!("time, s: {}", (middle_s * 1e3).round() / 1e3);
        assert_eq!(over_time[at].at(&place)["throughput"], number(rate));
        let highest = by_percentile[at].at("percentile: 100");
        let operations = trials[at]["operations"].as_array().unwrap();
        let seen = operations.iter().filter(|it| it["latency"]["count"] != 0);
        for operation in seen {
            let most = operation["latency"]["max_ns"].as_f64().unwrap();
            assert_eq!(highest[operation["name"].as_str().unwrap()], latency(most), "{operation}");
        }
    }
}

#[test]
fn an_error_of_the_page_would_be_seen() {
    let sandbox = Sandbox::new();
    let page = sandbox.file("page.html", "<html><body><script>none.such();</script></body></html>");
    let messages = console(&chromium(&sandbox, &page, &["--dump-dom"]));
    assert!(messages.len() == 1 && messages[0].contains("none is not defined"), "{messages:?}");
}

#[test]
fn the_printed_page_has_every_plot_of_every_trial() {
    let sandbox = Sandbox::new();
    sandbox.file("plan.toml", &SIMULATED.replace("[1, 6]", "[1, 2, 6]"));
    sandbox.succeed(["run", "plan.toml"]);
    let page = sandbox.runs()[0].join("report.html");
    let report = fs::read_to_string(&page).unwrap();
    assert!(!report.contains("<details class=\"trial\" open"), "three trials are folded");
    let printed = sandbox.path().join("report.pdf");
    chromium(&sandbox, &page, &[&format!("--print-to-pdf={}", printed.display())]);
    let output = Command::new("pdftotext").arg(&printed).arg("-").output();
    let output = output.expect("pdftotext, which `cargo xtask test` installs");
    let text = String::from_utf8(output.stdout).unwrap();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let titles = report.split("<figcaption>").skip(1);
    let titles: Vec<&str> = titles.map(|it| it.split("<small>").next().unwrap()).collect();
    assert!(titles.len() >= 12, "{titles:?}");
    for title in titles {
        assert!(text.contains(title), "{title} is not in print: {text}");
    }
}
