//! The messages of OTLP that metrics take. Alternatives of a `oneof` are fields of their own, which is the same on the
//! wire.
//!
//! Source: opentelemetry-proto 1.x, metrics/v1/metrics.proto and collector/metrics/v1/metrics_service.proto.

use jiff::Timestamp;
use prost::Message;

use crate::metrics::counts::{BOUNDS_NS, Buckets, Counts, Labels};
use crate::metrics::families::{FAMILIES, Family, Kind, Sample, Value};

/// `AGGREGATION_TEMPORALITY_CUMULATIVE`: sums since the start.
const CUMULATIVE: i32 = 2;

#[derive(Clone, PartialEq, Message)]
pub(super) struct Request {
    #[prost(message, repeated, tag = "1")]
    resource_metrics: Vec<ResourceMetrics>,
}

#[derive(Clone, PartialEq, Message)]
struct ResourceMetrics {
    #[prost(message, optional, tag = "1")]
    resource: Option<Resource>,
    #[prost(message, repeated, tag = "2")]
    scope_metrics: Vec<ScopeMetrics>,
}

#[derive(Clone, PartialEq, Message)]
struct Resource {
    #[prost(message, repeated, tag = "1")]
    attributes: Vec<Attribute>,
}

#[derive(Clone, PartialEq, Message)]
struct ScopeMetrics {
    #[prost(message, optional, tag = "1")]
    scope: Option<Scope>,
    #[prost(message, repeated, tag = "2")]
    metrics: Vec<Metric>,
}

#[derive(Clone, PartialEq, Message)]
struct Scope {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(string, tag = "2")]
    version: String,
}

#[derive(Clone, PartialEq, Message)]
struct Metric {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(string, tag = "2")]
    description: String,
    #[prost(string, tag = "3")]
    unit: String,
    #[prost(message, optional, tag = "5")]
    gauge: Option<Gauge>,
    #[prost(message, optional, tag = "7")]
    sum: Option<Sum>,
    #[prost(message, optional, tag = "9")]
    histogram: Option<Histogram>,
}

#[derive(Clone, PartialEq, Message)]
struct Gauge {
    #[prost(message, repeated, tag = "1")]
    points: Vec<NumberPoint>,
}

#[derive(Clone, PartialEq, Message)]
struct Sum {
    #[prost(message, repeated, tag = "1")]
    points: Vec<NumberPoint>,
    #[prost(int32, tag = "2")]
    temporality: i32,
    #[prost(bool, tag = "3")]
    is_monotonic: bool,
}

#[derive(Clone, PartialEq, Message)]
struct Histogram {
    #[prost(message, repeated, tag = "1")]
    points: Vec<HistogramPoint>,
    #[prost(int32, tag = "2")]
    temporality: i32,
}

#[derive(Clone, PartialEq, Message)]
struct NumberPoint {
    #[prost(fixed64, tag = "2")]
    start_unix_ns: u64,
    #[prost(fixed64, tag = "3")]
    at_unix_ns: u64,
    #[prost(double, optional, tag = "4")]
    value: Option<f64>,
    #[prost(message, repeated, tag = "7")]
    attributes: Vec<Attribute>,
}

#[derive(Clone, PartialEq, Message)]
struct HistogramPoint {
    #[prost(fixed64, tag = "2")]
    start_unix_ns: u64,
    #[prost(fixed64, tag = "3")]
    at_unix_ns: u64,
    #[prost(fixed64, tag = "4")]
    count: u64,
    #[prost(double, optional, tag = "5")]
    sum: Option<f64>,
    #[prost(fixed64, repeated, tag = "6")]
    bucket_counts: Vec<u64>,
    #[prost(double, repeated, tag = "7")]
    bounds: Vec<f64>,
    #[prost(message, repeated, tag = "9")]
    attributes: Vec<Attribute>,
}

#[derive(Clone, PartialEq, Message)]
struct Attribute {
    #[prost(string, tag = "1")]
    key: String,
    #[prost(message, optional, tag = "2")]
    value: Option<AnyValue>,
}

#[derive(Clone, PartialEq, Message)]
struct AnyValue {
    #[prost(string, optional, tag = "1")]
    text: Option<String>,
}

/// What a collector answers.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Answer {
    #[prost(message, optional, tag = "1")]
    partial_success: Option<PartialSuccess>,
}

#[derive(Clone, PartialEq, Message)]
struct PartialSuccess {
    #[prost(int64, tag = "1")]
    rejected_data_points: i64,
}

impl Answer {
    /// How many points the collector did not take.
    pub(super) fn rejected(&self) -> i64 {
        self.partial_success.as_ref().map_or(0, |partial| partial.rejected_data_points)
    }
}

/// All metrics at a time.
pub(super) fn request(counts: &Counts, start: Timestamp, at: Timestamp) -> Request {
    let times = (unix_ns(start), unix_ns(at));
    let metrics = FAMILIES.iter().filter_map(|family| metric(family, counts, times)).collect();
    let version = env!("CARGO_PKG_VERSION").to_owned();
    let of_run = vec![
        ("service.name", "dyno".to_owned()),
        ("service.version", version.clone()),
        ("service.instance.id", counts.run.clone()),
    ];
    let scope = Scope { name: "dyno".to_owned(), version };
    Request {
        resource_metrics: vec![ResourceMetrics {
            resource: Some(Resource { attributes: attributes(&of_run) }),
            scope_metrics: vec![ScopeMetrics { scope: Some(scope), metrics }],
        }],
    }
}

fn unix_ns(at: Timestamp) -> u64 {
    u64::try_from(at.as_nanosecond()).unwrap_or_default()
}

/// A family with all of its points; `None` when it has none.
fn metric(family: &Family, counts: &Counts, times: (u64, u64)) -> Option<Metric> {
    let samples = (family.samples)(counts);
    if samples.is_empty() {
        return None;
    }
    let mut metric = Metric {
        name: family.name.to_owned(),
        description: family.help.to_owned(),
        unit: family.unit.to_owned(),
        ..Metric::default()
    };
    match family.kind {
        Kind::Gauge => metric.gauge = Some(Gauge { points: numbers(&samples, times) }),
        Kind::Counter => {
            let points = numbers(&samples, times);
            metric.sum = Some(Sum { points, temporality: CUMULATIVE, is_monotonic: true });
        }
        Kind::Histogram => {
            let points = histograms(&samples, times);
            metric.histogram = Some(Histogram { points, temporality: CUMULATIVE });
        }
    }
    Some(metric)
}

fn numbers(samples: &[Sample], (start_unix_ns, at_unix_ns): (u64, u64)) -> Vec<NumberPoint> {
    let points = samples.iter().filter_map(|sample| match sample.value {
        Value::Number(value) => {
            let attributes = attributes(&sample.labels);
            Some(NumberPoint { start_unix_ns, at_unix_ns, value: Some(value), attributes })
        }
        Value::Histogram(_) => None,
    });
    points.collect()
}

fn histograms(samples: &[Sample], times: (u64, u64)) -> Vec<HistogramPoint> {
    let points = samples.iter().filter_map(|sample| match &sample.value {
        Value::Histogram(buckets) => Some(histogram(&sample.labels, buckets, times)),
        Value::Number(_) => None,
    });
    points.collect()
}

/// The counts of a histogram's buckets here are of each bucket alone, the last one without a bound.
fn histogram(
    labels: &Labels,
    buckets: &Buckets,
    (start_unix_ns, at_unix_ns): (u64, u64),
) -> HistogramPoint {
    let up_to = buckets.up_to.iter().copied().chain([buckets.count]);
    let below = std::iter::once(0).chain(buckets.up_to);
    HistogramPoint {
        start_unix_ns,
        at_unix_ns,
        count: buckets.count,
        sum: Some(buckets.sum_s),
        bucket_counts: up_to.zip(below).map(|(up_to, below)| up_to.saturating_sub(below)).collect(),
        bounds: BOUNDS_NS.map(|bound| bound as f64 / 1e9).to_vec(),
        attributes: attributes(labels),
    }
}

fn attributes(labels: &Labels) -> Vec<Attribute> {
    let of = |(name, value): &(&'static str, String)| Attribute {
        key: (*name).to_owned(),
        value: Some(AnyValue { text: Some(value.clone()) }),
    };
    labels.iter().map(of).collect()
}
