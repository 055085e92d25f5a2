//! Properties that the parser of metrics has for any bytes.

use std::collections::HashMap;
use std::time::Duration;

use measure::{Series, Server};

use super::exposition::{Line, lines};
use super::server::ServerWatch;

fuzzing::targets! {
    metrics_lines: page, from pages;
    metrics_over_time: two_answers, from pages;
}

/// Pages in the style of node_exporter, TiDB and HAProxy, and unusual ones. A line of `--` separates two answers of
/// one server.
fn pages() -> Vec<Vec<u8>> {
    let texts = [
        "# HELP up Whether it is.\n# TYPE up gauge\nup 1\n# TYPE node_cpu_seconds_total counter\n\
         node_cpu_seconds_total{cpu=\"0\",mode=\"idle\"} 1.5e+06 1395066363000\n--\n\
         # TYPE up gauge\nup 1\nnode_cpu_seconds_total{cpu=\"0\",mode=\"idle\"} 1.5000001e+06\n",
        "# TYPE q histogram\nq_bucket{type=\"a\",le=\"0.5\"} 1\nq_bucket{type=\"a\",le=\"1\"} 1\n\
         q_bucket{type=\"a\",le=\"+Inf\"} 1\nq_sum{type=\"a\"} 0.25\nq_count{type=\"a\"} 1\n--\n\
         # TYPE q histogram\nq_bucket{type=\"a\",le=\"0.5\"} 1\nq_bucket{type=\"a\",le=\"1\"} 3\n\
         q_bucket{type=\"a\",le=\"+Inf\"} 3\nq_sum{type=\"a\"} 1.75\nq_count{type=\"a\"} 3\n",
        "a{path=\"C:\\\\x \\\"}\\\" \\n\",b=\"\"}\t-0\na NaN\na +Inf\n--\na{path=\"C:\\\\x \\\"}\\\" \\n\",b=\"\"} 0\r\n",
    ];
    texts.map(|text| text.as_bytes().to_vec()).to_vec()
}

/// A line is read unchanged or not at all, and a cut in the page changes no line before the cut.
fn page(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let whole: Vec<Line<'_>> = lines(&text).collect();
    for line in &whole {
        if let Line::Sample { key, name, value } = line {
            assert!(text.contains(key) && key.starts_with(name) && value.is_finite());
            let series = Series::parse(key);
            assert_eq!(series.name, *name, "two readers of {key:?}");
        }
    }
    let cut = text.match_indices('\n').map(|(at, _)| at + 1).nth(text.len() % 7);
    let before: Vec<Line<'_>> = lines(&text[..cut.unwrap_or_default()]).collect();
    assert!(whole.starts_with(&before), "the cut changed what stands before it");
}

/// The parts of two answers that are kept hold the last value of every series. A series that is not kept had the same
/// value in both answers, or the value zero.
fn two_answers(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (first, second) = text.split_once("--\n").unwrap_or((&text, ""));
    let mut watch = ServerWatch::new("http://127.0.0.1/metrics", Duration::from_secs(1));
    let mut kept = Server::default();
    let mut keys: Vec<String> = Vec::new();
    let answers = [(first, 1), (second, 2)];
    for (text, at_ns) in answers {
        if let Ok(answer) = watch.take_in(text, at_ns) {
            kept.add(&answer);
            keys.extend(answer.new.iter().map(|new| new.key.clone()));
        }
    }
    let told = answers.map(|(text, _)| last_values(text));
    for (key, value) in &told[1] {
        let number = keys.iter().position(|known| known == key);
        let expected = match number {
            Some(number) => kept.series[number].at(2),
            // The first answer did not have it, and it has not changed since.
            None if told[0].is_empty() => Some(*value),
            None => Some(told[0].get(key).copied().unwrap_or(0.0)),
        };
        assert_eq!(expected, Some(*value), "{key:?}");
    }
}

fn last_values(text: &str) -> HashMap<&str, f64> {
    let sample = |line| match line {
        Line::Sample { key, value, .. } => Some((key, value)),
        Line::Type { .. } => None,
    };
    lines(text).filter_map(sample).collect()
}
