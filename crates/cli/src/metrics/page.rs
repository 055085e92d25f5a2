//! The page of all metrics in Prometheus' text format, version 0.0.4.
//!
//! Source: Prometheus, "Exposition formats", text-based format.

use std::fmt::Write;

use super::counts::{BOUNDS_NS, Counts, Labels};
use super::families::{FAMILIES, Value};

pub(super) const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

pub(super) fn page(counts: &Counts) -> String {
    let mut page = String::new();
    for family in &FAMILIES {
        let samples = (family.samples)(counts);
        if samples.is_empty() {
            continue;
        }
        let name = family.name;
        let _ = writeln!(page, "# HELP {name} {}", family.help);
        let _ = writeln!(page, "# TYPE {name} {}", family.kind.name());
        for sample in samples {
            let labels = labels(&sample.labels);
            let buckets = match sample.value {
                Value::Number(value) => {
                    line(&mut page, name, &labels, value);
                    continue;
                }
                Value::Histogram(buckets) => buckets,
            };
            let bounds = BOUNDS_NS.map(|bound| (bound as f64 / 1e9).to_string());
            let bounded = bounds.into_iter().zip(buckets.up_to);
            for (bound, count) in bounded.chain([("+Inf".to_owned(), buckets.count)]) {
                let labels = format!("{labels},le=\"{bound}\"");
                line(&mut page, &format!("{name}_bucket"), &labels, count as f64);
            }
            line(&mut page, &format!("{name}_sum"), &labels, buckets.sum_s);
            line(&mut page, &format!("{name}_count"), &labels, buckets.count as f64);
        }
    }
    page
}

fn line(page: &mut String, name: &str, labels: &str, value: f64) {
    let labels = if labels.is_empty() { String::new() } else { format!("{{{labels}}}") };
    let _ = writeln!(page, "{name}{labels} {value}");
}

fn labels(labels: &Labels) -> String {
    let written = labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escaped(value)));
    written.collect::<Vec<_>>().join(",")
}

fn escaped(value: &str) -> String {
    value.replace('\\', r"\\").replace('"', "\\\"").replace('\n', r"\n")
}
