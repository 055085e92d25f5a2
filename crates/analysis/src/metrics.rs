//! Figures over time from a server's metrics: rates of counters, levels of gauges, means and quantiles of
//! histograms.

use std::collections::BTreeMap;

use measure::{INSTANCE, MetricFunction, MetricQuery, Nanos, Series, Server, ServerKind};

use crate::node::is_node;
use crate::{SampleWindow, ValueOrigin};

/// The kind of a server; `None` for an exporter of a host's metrics, and when no kind matches.
pub fn kind_of<'k>(kinds: &'k [ServerKind], server: &Server) -> Option<&'k ServerKind> {
    let tells = |mark: &String| server.families.iter().any(|it| it.starts_with(mark.as_str()));
    let marked = kinds.iter().find(|kind| kind.marks.iter().any(tells));
    let any_other = || kinds.iter().find(|kind| kind.marks.is_empty());
    marked.or_else(|| (!is_node(server)).then(any_other)?)
}

pub fn of_kind<'s>(kinds: &[ServerKind], name: &str, servers: &'s [Server]) -> Vec<&'s Server> {
    let is_of_kind = |it: &&Server| kind_of(kinds, it).is_some_and(|kind| kind.name == name);
    servers.iter().filter(is_of_kind).collect()
}

pub fn is_reported(query: &MetricQuery, server: &Server) -> bool {
    server.families.contains(&query.family)
        || server.series.iter().any(|series| series.name == query.family)
}

/// Evaluates a query on a server's metrics, for each value of the label that it groups by. There is one sample
/// window for each two successive answers. It is missing when a counter was reset, when a gauge is not known
/// yet, and when a histogram has no new values for a mean or a quantile.
pub fn evaluate(query: &MetricQuery, server: &Server) -> BTreeMap<String, Vec<SampleWindow>> {
    match query.function {
        MetricFunction::Rate => rates(query, server, ""),
        MetricFunction::CountRate => rates(query, server, "_count"),
        MetricFunction::SumRate => rates(query, server, "_sum"),
        MetricFunction::Gauge => gauges(query, server),
        MetricFunction::Mean => means(query, server),
        MetricFunction::Quantile(quantile) => quantiles(query, server, quantile),
    }
}

/// Series by the value of the label, in alphabetical order.
fn groups<'s>(
    query: &MetricQuery,
    server: &'s Server,
    suffix: &str,
) -> BTreeMap<String, Vec<&'s Series>> {
    let mut groups: BTreeMap<String, Vec<&Series>> = BTreeMap::new();
    for series in &server.series {
        let is_of_family = series.name.strip_suffix(suffix) == Some(query.family.as_str());
        let has = |(name, value): &(String, String)| series.label(name) == Some(value.as_str());
        if is_of_family && query.with.iter().all(has) && !query.without.iter().any(has) {
            let label = query.by.as_deref();
            let value = label.map_or("", |label| series.label(label).unwrap_or_default());
            groups.entry(value.to_owned()).or_default().push(series);
        }
    }
    groups
}

/// Growth of counters between answers, 1/s.
fn rates(
    query: &MetricQuery,
    server: &Server,
    suffix: &str,
) -> BTreeMap<String, Vec<SampleWindow>> {
    map(groups(query, server, suffix), |series| {
        sample_windows(server, |from_ns, to_ns| {
            let seconds = (to_ns - from_ns) as f64 / 1e9;
            increase(series, from_ns, to_ns).map(|increase| increase / seconds)
        })
    })
}

/// The sum of gauges at the end of each sample window.
fn gauges(query: &MetricQuery, server: &Server) -> BTreeMap<String, Vec<SampleWindow>> {
    map(groups(query, server, ""), |series| {
        sample_windows(server, |_, to_ns| {
            series.iter().filter_map(|it| it.at(to_ns)).reduce(|sum, it| sum + it)
        })
    })
}

/// Mean of a histogram's new values between answers.
fn means(query: &MetricQuery, server: &Server) -> BTreeMap<String, Vec<SampleWindow>> {
    let counts = groups(query, server, "_count");
    map(groups(query, server, "_sum"), |sums| {
        let label = query.by.as_deref().unwrap_or_default();
        let value = sums[0].label(label).unwrap_or_default();
        let counts = counts.get(value).map_or(&[][..], Vec::as_slice);
        sample_windows(server, |from_ns, to_ns| {
            let count = increase(counts, from_ns, to_ns).filter(|count| *count > 0.0)?;
            Some(increase(sums, from_ns, to_ns)? / count)
        })
    })
}

/// A quantile, 0 to 1, of a histogram's new values between answers. Values are assumed to be spread evenly
/// within a bucket, so the result is as coarse as the buckets. Source: Prometheus, histogram_quantile().
fn quantiles(
    query: &MetricQuery,
    server: &Server,
    quantile: f64,
) -> BTreeMap<String, Vec<SampleWindow>> {
    map(groups(query, server, "_bucket"), |series| {
        let buckets = buckets(series);
        sample_windows(server, |from_ns, to_ns| quantile_of(&buckets, quantile, from_ns, to_ns))
    })
}

/// Combines several servers into one, with the name of each figure's server in the label [`INSTANCE`]. Its
/// answer times are those of the first server with the most answers. Counters of the other servers are
/// interpolated linearly between two answers of their own, so that no growth falls into the wrong sample
/// window. Gauges of the other servers keep the times of their own answers.
pub fn merged(servers: &[&Server]) -> Server {
    let mut all = Server::default();
    for server in servers {
        if server.answers_ns.len() > all.answers_ns.len() {
            all.answers_ns.clone_from(&server.answers_ns);
            all.joints_ns.clone_from(&server.joints_ns);
        }
    }
    for server in servers {
        all.families.extend_from_slice(&server.families);
        let is_in_time = server.answers_ns == all.answers_ns;
        for series in &server.series {
            let mut series = series.clone();
            series.labels.retain(|(label, _)| label != INSTANCE);
            series.labels.push((INSTANCE.to_owned(), server.name.clone()));
            if !is_in_time && is_counter(&series.name) {
                series.points = all
                    .answers_ns
                    .iter()
                    .filter_map(|at_ns| Some((*at_ns, grown_by(&series, server, *at_ns)?)))
                    .collect();
            }
            all.series.push(series);
        }
    }
    all
}

/// Whether a metric with this name is a counter. Source: Prometheus, Metric and label naming.
fn is_counter(name: &str) -> bool {
    ["_total", "_bucket", "_sum", "_count"].iter().any(|suffix| name.ends_with(suffix))
}

/// A counter's interpolated value at a time between two answers of its server. If the counter was reset between
/// them, for example by a restart, it keeps the value from before. `None` before the first answer and after the
/// last.
fn grown_by(counter: &Series, server: &Server, at_ns: Nanos) -> Option<f64> {
    let after = server.answers_ns.partition_point(|answer_ns| *answer_ns < at_ns);
    let to_ns = *server.answers_ns.get(after)?;
    if to_ns == at_ns {
        return counter.at(at_ns);
    }
    let from_ns = server.answers_ns[after.checked_sub(1)?];
    let (from, to) = (counter.at(from_ns)?, counter.at(to_ns)?);
    let share = (at_ns - from_ns) as f64 / (to_ns - from_ns) as f64;
    Some(from + (to - from).max(0.0) * share)
}

fn map(
    groups: BTreeMap<String, Vec<&Series>>,
    of: impl Fn(&[&Series]) -> Vec<SampleWindow>,
) -> BTreeMap<String, Vec<SampleWindow>> {
    groups.into_iter().map(|(value, series)| (value, of(&series))).collect()
}

/// One sample window for each two successive answers with a value.
fn sample_windows(
    server: &Server,
    value: impl Fn(Nanos, Nanos) -> Option<f64>,
) -> Vec<SampleWindow> {
    let is_joint = |at_ns: &Nanos| server.joints_ns.binary_search(at_ns).is_ok();
    let pairs = server.answers_ns.windows(2);
    let pairs = pairs.filter(|pair| pair[1] > pair[0] && !is_joint(&pair[1]));
    pairs
        .filter_map(|pair| {
            let mean = value(pair[0], pair[1])?;
            Some(SampleWindow {
                from_ns: pair[0],
                to_ns: pair[1],
                mean,
                peak: mean,
                origin: ValueOrigin::Readings,
            })
        })
        .collect()
}

/// The total growth of counters; `None` when one was reset, for example by a restart, and when no value is
/// known yet.
fn increase(series: &[&Series], from_ns: Nanos, to_ns: Nanos) -> Option<f64> {
    let mut sum = None;
    for counter in series {
        let (Some(before), Some(after)) = (counter.at(from_ns), counter.at(to_ns)) else {
            continue;
        };
        if after < before {
            return None;
        }
        sum = Some(sum.unwrap_or(0.0) + after - before);
    }
    sum
}

/// Buckets by their upper ends, ascending; buckets of several histograms with the same end are combined. A
/// bucket without stored series has not grown.
fn buckets<'s>(series: &[&'s Series]) -> Vec<(f64, Vec<&'s Series>)> {
    let mut buckets: Vec<(f64, Vec<&Series>)> = Vec::new();
    for one in series {
        let Some(end) = one.label("le").and_then(|end| end.parse::<f64>().ok()) else { continue };
        match buckets.iter_mut().find(|(known, _)| known.to_bits() == end.to_bits()) {
            Some((_, of_end)) => of_end.push(one),
            None => buckets.push((end, vec![one])),
        }
    }
    buckets.sort_by(|one, other| one.0.total_cmp(&other.0));
    buckets
}

fn quantile_of(
    buckets: &[(f64, Vec<&Series>)],
    quantile: f64,
    from_ns: Nanos,
    to_ns: Nanos,
) -> Option<f64> {
    let mut counts = Vec::with_capacity(buckets.len());
    for (end, series) in buckets {
        counts.push((*end, increase(series, from_ns, to_ns)?));
    }
    let all = counts.last().map(|(_, count)| *count).filter(|count| *count > 0.0)?;
    let rank = quantile * all;
    let at = counts.iter().position(|(_, count)| *count >= rank)?;
    let (start, below) = at.checked_sub(1).map_or((0.0, 0.0), |before| counts[before]);
    let (end, count) = counts[at];
    if end.is_infinite() {
        // The quantile is above the highest finite end, which is its best known lower bound.
        return Some(start);
    }
    let share = if count > below { (rank - below) / (count - below) } else { 1.0 };
    Some(start + (end - start) * share)
}

#[cfg(test)]
mod tests;
