//! Tests of what is made of counts, without a run.

use std::fs;
use std::path::Path;

use measure::{
    Disposition, ErrorClass, ErrorKey, Interval, Operation, OperationId, OperationKind, Phase,
    Tally,
};

use super::counts::{BOUNDS_NS, Counts, CurrentLoad, Labels};
use super::families::{FAMILIES, Value};
use super::{otlp, page, server};

/// Set to 1, it writes the table of docs/metrics.md anew.
const WRITE: &str = "DYNO_WRITE_DOCUMENTS";
const LOAD: [&str; 5] = ["system", "variant", "workload", "clients", "rate"];

/// A run of one load of which every family has something.
fn counts() -> Counts {
    let values = ["tidb", "tuned", "w", "4", "100"];
    let labels: Labels = LOAD.into_iter().zip(values.map(str::to_owned)).collect();
    let mut counts = Counts {
        trials_planned: Some(1),
        trial: Some(1),
        load_planned_s: Some(3.0),
        plan: "a \"quoted\" \\ name\nin two lines".to_owned(),
        run: "r".to_owned(),
        ..Counts::default()
    };
    let current = CurrentLoad { labels: labels.clone(), clients: 4, target_per_s: Some(100.0) };
    counts.current = Some(current);
    let operations = [Operation::new("buy", OperationKind::Transaction)];
    let mut tally = Tally::new(1);
    for latency_ns in [9_000, 1_200_000, 1_300_000] {
        tally.success(OperationId(0), OperationKind::Transaction, latency_ns);
    }
    tally.timeout(OperationId(0), OperationKind::Transaction, 200_000_000_000);
    tally.failure(OperationId(0), OperationKind::Transaction, 5);
    tally.error(&ErrorKey::new(ErrorClass::Deadlock, "1213"), Disposition::Retried);
    let interval = Interval { phase: Phase::Measure, start_ns: 0, end_ns: 1_000_000_000, tally };
    let mut labels = labels;
    labels.push(("phase", "measure".to_owned()));
    for _ in 0..2 {
        counts.of_load(&labels, true).add(&interval, &operations, 1.0);
    }
    counts
}

#[test]
fn bounds_are_in_steps_of_a_decade_from_a_microsecond_to_100_seconds() {
    assert_eq!(BOUNDS_NS[..4], [1_000, 2_500, 5_000, 10_000]);
    assert_eq!(BOUNDS_NS[BOUNDS_NS.len() - 1], 100_000_000_000);
    assert!(BOUNDS_NS.is_sorted());
}

#[test]
fn buckets_are_cumulative_and_have_what_is_above_the_last_bound() {
    let counts = counts();
    let buckets = &counts.loads[0].operations[0].latencies;
    let up_to = |bound_ns| buckets.up_to[BOUNDS_NS.iter().position(|it| *it == bound_ns).unwrap()];
    assert_eq!([10_000, 1_000_000, 2_500_000, 100_000_000_000].map(up_to), [2, 2, 6, 6]);
    assert_eq!(buckets.count, 8, "failures other than time-outs have no latency");
    let sum_s = 2.0 * (0.000_009 + 0.001_2 + 0.001_3 + 200.0);
    assert!((buckets.sum_s / sum_s - 1.0).abs() < 0.001, "{}", buckets.sum_s);
}

#[test]
fn the_page_has_each_family_once_with_escaped_labels() {
    let page = page::page(&counts());
    for family in &FAMILIES {
        let head = format!(
            "# HELP {name} {}\n# TYPE {name} {}\n{name}",
            family.help,
            family.kind.name(),
            name = family.name
        );
        assert_eq!(page.matches(&head).count(), 1, "{head}");
    }
    let load = "system=\"tidb\",variant=\"tuned\",workload=\"w\",clients=\"4\",rate=\"100\"";
    for line in [
        "dyno_run_info{plan=\"a \\\"quoted\\\" \\\\ name\\nin two lines\",run=\"r\"} 1",
        "dyno_trials_planned 1",
        "dyno_phase{phase=\"measure\"} 0",
        &format!("dyno_clients{{{load}}} 4"),
        &format!("dyno_transactions_total{{{load},phase=\"measure\"}} 6"),
        &format!("dyno_failed_transactions_total{{{load},phase=\"measure\"}} 4"),
        &format!(
            "dyno_errors_total{{{load},phase=\"measure\",class=\"deadlock\",handled=\"retried\"}} 2"
        ),
        &format!(
            "dyno_latency_seconds_bucket{{{load},phase=\"measure\",operation=\"buy\",kind=\"transaction\",le=\"0.0025\"}} 6"
        ),
        &format!(
            "dyno_latency_seconds_bucket{{{load},phase=\"measure\",operation=\"buy\",kind=\"transaction\",le=\"+Inf\"}} 8"
        ),
    ] {
        assert!(page.contains(&format!("\n{line}\n")), "{line}\n{page}");
    }
}

#[test]
fn only_a_request_for_the_metrics_gets_them() {
    for (request, status) in [
        (&b"GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n"[..], "200 OK"),
        (b"GET /metrics?a HTTP/1.0\r\n\r\n", "200 OK"),
        (b"GET /metrics/ HTTP/1.1\r\n\r\n", "404 Not Found"),
        (b"HEAD /metrics HTTP/1.1\r\n\r\n", "405 Method Not Allowed"),
        (b"GET /metrics\r\n\r\n", "400 Bad Request"),
        (b"", "400 Bad Request"),
        (b"\xff\xff", "400 Bad Request"),
    ] {
        assert_eq!(server::status(request), status, "{}", String::from_utf8_lossy(request));
    }
}

proptest::proptest! {
    #[test]
    fn any_bytes_have_a_status(
        request in "(GET|POST)? ?(/metrics)?[ -~]{0,9}( HTTP/1.1)?(\\r\\n)?",
        more in proptest::collection::vec(0_u8.., 0..9),
    ) {
        let bytes = [request.as_bytes(), &more].concat();
        if server::status(&bytes) == "200 OK" {
            assert!(bytes.starts_with(b"GET /metrics ") || bytes.starts_with(b"GET /metrics?"));
        }
    }
}

#[test]
fn urls_of_collectors_get_the_place_of_metrics() {
    for (typed, sent) in [
        ("http://127.0.0.1:4318", "http://127.0.0.1:4318/v1/metrics"),
        ("http://[::1]:4318/", "http://[::1]:4318/v1/metrics"),
        ("http://a:b@host/otlp", "http://a:b@host/otlp/v1/metrics"),
        ("http://host/v1/metrics", "http://host/v1/metrics"),
    ] {
        assert_eq!(otlp::url(typed).as_deref(), Ok(sent));
    }
    for wrong in ["", "http://", "http:///x", "http://:80", "ftp://a", "http://a b", "http://a?b"] {
        assert!(otlp::url(wrong).is_err(), "{wrong}");
    }
}

/// The table of all families.
fn table() -> String {
    let mut table = "| metric | type | labels | what it is |\n|---|---|---|---|\n".to_owned();
    let counts = counts();
    for family in &FAMILIES {
        let samples = (family.samples)(&counts);
        let names: Vec<&str> = samples[0].labels.iter().map(|(name, _)| *name).collect();
        let own = names.strip_prefix(&LOAD[..]);
        let of_load = own.is_some().then(|| "*load*".to_owned());
        let rest = own.unwrap_or(&names).iter().map(|name| format!("`{name}`"));
        let labels = of_load.into_iter().chain(rest).collect::<Vec<_>>().join(", ");
        assert!(samples.iter().all(|it| it.labels.iter().map(|it| it.0).eq(names.iter().copied())));
        let is_histogram = matches!(samples[0].value, Value::Histogram(_));
        assert_eq!(is_histogram, family.kind.name() == "histogram");
        let (name, kind, help) = (family.name, family.kind.name(), family.help);
        table.push_str(&format!("| `{name}` | {kind} | {labels} | {help} |\n"));
    }
    table
}

#[test]
fn the_document_has_all_families() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/metrics.md");
    let text = fs::read_to_string(&path).unwrap();
    let (begin, end) = ("<!-- all metrics -->\n", "<!-- end -->");
    let (before, rest) = text.split_once(begin).unwrap();
    let (written, after) = rest.split_once(end).unwrap();
    if std::env::var_os(WRITE).is_some() {
        fs::write(path, format!("{before}{begin}{}{end}{after}", table())).unwrap();
        return;
    }
    assert_eq!(written, table(), "{WRITE}=1 writes the table of docs/metrics.md anew");
}
