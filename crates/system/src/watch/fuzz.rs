//! Properties that the parser of metrics has for any bytes.

use std::collections::HashMap;
use std::time::Duration;

use measure::{Series, Server};

use super::exposition::{Line, lines};
use super::server::ServerWatch;
use super::stores::STORES;

fuzzing::targets! {
    metrics_lines: page;
    metrics_over_time: two_answers;
    pd_stores: stores;
}

/// Every store is a line whose address is one of the list.
fn stores(bytes: &[u8]) -> Option<()> {
    let list = String::from_utf8_lossy(bytes);
    let text = super::stores::exposition(&list).ok()?;
    let list: serde_json::Value = serde_json::from_str(&list).unwrap_or_default();
    let addresses: Vec<&str> = list["stores"].as_array().map_or(Vec::new(), |stores| {
        stores.iter().map(|it| it["store"]["address"].as_str().unwrap_or_default()).collect()
    });
    let keys = lines(&text).filter_map(|line| match line {
        Line::Sample { key, .. } => Some(Series::parse(key)),
        Line::Type { .. } => None,
    });
    let keys: Vec<Series> = keys.collect();
    assert_eq!(keys.len(), text.matches(&format!("\n{STORES}{{")).count(), "a store is no line");
    for series in keys {
        let labels: Vec<&str> = series.labels.iter().map(|(name, _)| &**name).collect();
        assert_eq!(labels, ["store", "address", "status_address", "state"]);
        assert!(addresses.contains(&&*series.labels[1].1), "{series:?}");
    }
    Some(())
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
