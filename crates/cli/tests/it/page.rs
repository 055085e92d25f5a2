//! The HTML report in a real browser, headless Chromium: no error, every plot drawn, the values at the pointer those
//! of the record, the first screen as short as it is meant to be, and few pages on paper.

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
    let output = chromium(
        sandbox,
        &page,
        &["--window-size=1280,900", "--virtual-time-budget=20000", "--dump-dom"],
    );
    assert_eq!(console(&output), Vec::<String>::new());
    let page = String::from_utf8(output.stdout).unwrap();
    let told = page.split_once("<pre id=\"told\">").unwrap().1.split_once("</pre>").unwrap().0;
    let told = told.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    let plots: Vec<Value> = serde_json::from_str(&told).unwrap_or_else(|_| panic!("{told}"));
    assert!(plots.len() > report.matches("<figure").count(), "the plots of trials too");
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

/// What a person meets first on the page of a sweep, in a window of this width.
fn first_screen(sandbox: &Sandbox, width: usize) -> Value {
    let report = fs::read_to_string(sandbox.runs()[0].join("report.html")).unwrap();
    let inner = report.replace('&', "&amp;").replace('"', "&quot;");
    let page = format!(
        "<html><body><iframe width=\"{width}\" height=\"900\" srcdoc=\"{inner}\"></iframe><pre id=\"told\"></pre>\
         <script>{MEASURES}</script></body></html>"
    );
    let page = sandbox.file("measured.html", &page);
    let output = chromium(sandbox, &page, &["--virtual-time-budget=20000", "--dump-dom"]);
    assert_eq!(console(&output), Vec::<String>::new());
    let page = String::from_utf8(output.stdout).unwrap();
    let told = page.rsplit_once("<pre id=\"told\">").unwrap().1.split_once("</pre>").unwrap().0;
    serde_json::from_str(&told.replace("&gt;", ">")).unwrap_or_else(|_| panic!("{told}"))
}

const MEASURES: &str = r#"
addEventListener("load", () => {
  const page = document.querySelector("iframe").contentDocument;
  const view = page.defaultView;
  const plots = [...page.querySelectorAll("svg[data-area]")];
  const narrow = [...page.querySelectorAll("td")].filter((cell) => {
    return cell.textContent.length > 20 && cell.offsetWidth > 0 && cell.offsetWidth < 56;
  });
  document.getElementById("told").textContent = JSON.stringify({
    first_plot: plots[0].getBoundingClientRect().top,
    words: page.body.innerText.split(/\s+/).length,
    nodes: page.querySelectorAll("*").length,
    is_wider: page.documentElement.scrollWidth > view.innerWidth,
    narrow: narrow.length,
    dead: [...page.querySelectorAll("nav a")].filter((link) => !page.getElementById(link.hash.slice(1))).length,
  });
});"#;

#[test]
fn the_first_screen_answers_in_few_words_and_nodes() {
    let sandbox = Sandbox::new();
    let args = ["bench", "sysbench/oltp_read_only", "--table-size=500", "--clients=1,2,4"];
    let mut command = sandbox.dyno(args);
    command.args(["--time=400ms", "--warm-up=50ms", "--repetitions=40", "--system=sqlite"]);
    command.args(["--set=load.interval=100ms", "--format=csv"]);
    assert!(command.output().unwrap().status.code().is_some());
    let page = sandbox.runs()[0].join("report.html");
    let bytes = fs::metadata(&page).unwrap().len();
    assert!(bytes < 2 << 20, "120 trials in {bytes} bytes");
    for (width, first_plot_most) in [(1200, 700.0), (390, 900.0)] {
        let told = first_screen(&sandbox, width);
        assert!(told["first_plot"].as_f64().unwrap() < first_plot_most, "{width}: {told}");
        assert!(told["words"].as_u64().unwrap() <= 1_000, "{width}: {told}");
        assert!(told["nodes"].as_u64().unwrap() <= 15_000, "{width}: {told}");
        let none = [&told["narrow"], &told["dead"]].map(Value::as_u64);
        assert_eq!(
            (none, &told["is_wider"]),
            ([Some(0); 2], &Value::Bool(false)),
            "{width}: {told}"
        );
    }
    let printed = sandbox.path().join("report.pdf");
    chromium(&sandbox, &page, &[&format!("--print-to-pdf={}", printed.display())]);
    let text = text_of(&printed);
    let pages = text.matches('\u{c}').count();
    assert!((1..=8).contains(&pages), "{pages} pages");
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in
        ["oltp_read_only", "All loads", "latency against throughput", "Machine", "Reproduce"]
    {
        assert!(text.contains(part), "{part} is not in print: {text}");
    }
    assert!(!text.contains("throughput over time"), "trials are not printed: {text}");
}

fn text_of(printed: &Path) -> String {
    let output = Command::new("pdftotext").arg(printed).arg("-").output();
    let output = output.expect("pdftotext, which `cargo xtask test` installs");
    String::from_utf8(output.stdout).unwrap()
}
