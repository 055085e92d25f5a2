//! The plots of one trial over its time.

use measure::Nanos;
use record::GeneratorRecord;

use crate::digest::{Digest, Trial};
use crate::number::percentile_name;
use crate::panels::Panels;
use crate::plots::frame::{self, Frame, MergedIntervals};
use crate::plots::over_run::{CARD, LINES_MAX};
use crate::plots::spectrum::{Spectrum, spectrum, unanswered};
use crate::plots::watch;
use crate::svg::{Axis, Chart, Dot, Scale, Series, Size, Unit, Width};
use crate::turns;

const WHOLE_ROW: Size = Size { width: Width::Row, height: 260.0 };

/// More percentiles than this clutter a plot.
const PERCENTILES_MAX: usize = 4;

#[derive(Debug, Default)]
pub(crate) struct TrialCharts {
    /// When each client ran what, throughput, latency, the percentile spectrum of each operation, and the CPU of each
    /// host.
    pub(crate) first: Vec<Chart>,
    /// The other figures of hosts and of the connections of dyno.
    pub(crate) more: Vec<Chart>,
}

/// The plots of one trial; none without intervals.
pub(crate) fn of_trial(digest: &Digest<'_>, trial: &Trial<'_>) -> TrialCharts {
    let Some(frame) = Frame::of(trial) else { return TrialCharts::default() };
    let percentiles = &digest.run.header.percentiles;
    let load = [
        turns::lanes(trial, frame.end),
        Some(throughput(digest, &frame)),
        latency(&frame, percentiles),
        of_generators(digest, &frame),
        operations(trial),
    ];
    let load = load.into_iter().flatten();
    let hosts = watch::of_trial(&frame);
    TrialCharts { first: load.chain(hosts.first).collect(), more: hosts.more }
}

/// Throughput over time in the size of a card; `None` without intervals.
pub(crate) fn card(digest: &Digest<'_>, trial: &Trial<'_>) -> Option<Chart> {
    Some(Chart { size: CARD, ..throughput(digest, &Frame::of(trial)?) })
}

/// The plots by which a single load is told: throughput over time, and latency by percentile.
pub(crate) fn main(digest: &Digest<'_>, trial: &Trial<'_>) -> Vec<Chart> {
    let Some(frame) = Frame::of(trial) else { return Vec::new() };
    let throughput = throughput(digest, &frame);
    let by_percentile = operations(trial).map(|chart| Chart { size: throughput.size, ..chart });
    std::iter::once(throughput.clone()).chain(by_percentile).collect()
}

/// Plots of the metrics of a trial's servers.
pub(crate) fn of_servers(trial: &Trial<'_>, panels: &Panels) -> Vec<Chart> {
    let Some(frame) = Frame::of(trial) else { return Vec::new() };
    let lanes = turns::lanes(trial, frame.end).filter(|_| !panels.drawn.is_empty());
    let drawn = panels.drawn.iter().map(|panel| watch::panel(&frame, panel));
    lanes.into_iter().chain(drawn).collect()
}

fn per_second(digest: &Digest<'_>, trial: &Trial<'_>) -> &'static str {
    digest.event_of(&trial.record.header.workload.name).per_second()
}

fn throughput(digest: &Digest<'_>, frame: &Frame<'_, '_>) -> Chart {
    let dots: Vec<Dot> = frame
        .steps
        .iter()
        .filter(|step| step.to > step.from)
        .map(|step| {
            let rate = step.tally.transactions as f64 / (step.to - step.from);
            Dot::at(step.middle(), rate)
        })
        .collect();
    let offered = offered(frame);
    let y = Axis::new(
        per_second(digest, frame.trial),
        Scale::Linear,
        Unit::Number,
        dots.iter().chain(&offered).map(|dot| dot.y),
    );
    let places = dots.iter().map(|dot| dot.x).collect::<Vec<_>>();
    let mut series = vec![Series::line("throughput", 0, dots)];
    if !offered.is_empty() {
        let offered = with_places(&offered, &places);
        series.push(Series { dash: 1, ..Series::line("offered", 1, offered) });
    }
    with_merged(frame, frame.chart("throughput over time", y, series))
}

/// The throughput of each of several generators; `None` when intervals do not tell them apart.
fn of_generators(digest: &Digest<'_>, frame: &Frame<'_, '_>) -> Option<Chart> {
    let parts = frame.trial.generator_parts();
    let rate = |step: &MergedIntervals<'_>, at: usize| {
        let count = *step.generators.get(at)?;
        (step.to > step.from).then(|| Dot::at(step.middle(), count as f64 / (step.to - step.from)))
    };
    let line = |(at, part): (usize, &GeneratorRecord)| {
        let dots = frame.steps.iter().filter_map(|step| rate(step, at)).collect();
        Series { dash: at, ..Series::line(&part.name, at, dots) }
    };
    let series: Vec<Series> = parts.iter().take(LINES_MAX).enumerate().map(line).collect();
    let values = || series.iter().flat_map(|line| &line.dots).map(|dot| dot.y);
    values().next()?;
    let y = Axis::new(per_second(digest, frame.trial), Scale::Linear, Unit::Number, values());
    let mut chart = with_merged(frame, frame.chart("throughput of each generator", y, series));
    if parts.len() > LINES_MAX {
        chart.say(format!("Not drawn: {} more generators.", parts.len() - LINES_MAX));
    }
    Some(chart)
}

/// Adds to a plot of the load how many intervals are one point.
fn with_merged(frame: &Frame<'_, '_>, mut chart: Chart) -> Chart {
    if frame.merged > 1 {
        chart.say(format!("Each point is {} intervals together.", frame.merged));
    }
    chart
}

/// The offered rate over time: the first rate in the warm-up, then its steps.
fn offered(frame: &Frame<'_, '_>) -> Vec<Dot> {
    let Some(open) = &frame.trial.record.header.load.open else { return Vec::new() };
    let mut dots = vec![Dot::at(0.0, open.rate.first_per_s())];
    let mut at = frame.warm_up().map_or(0.0, |warm_up| warm_up.to);
    for step in open.rate.steps().iter().filter(|step| !step.length.is_zero()) {
        let length = step.length.as_secs_f64();
        // The end of the measured time may cut the last step short.
        let part = ((frame.end - at) / length).clamp(0.0, 1.0);
        dots.push(Dot::at(at, step.from_per_s));
        let to = step.from_per_s + (step.to_per_s - step.from_per_s) * part;
        dots.push(Dot::at(at + length * part, to));
        at += length * part;
    }
    if at < frame.end {
        dots.push(Dot::at(at, open.rate.last_per_s()));
        dots.push(Dot::at(frame.end, open.rate.last_per_s()));
    }
    dots
}

/// A line of corners with points at more places, so that its values can be read there.
fn with_places(corners: &[Dot], places: &[f64]) -> Vec<Dot> {
    let mut dots = Vec::new();
    for ends in corners.windows(2) {
        let (from, to) = (&ends[0], &ends[1]);
        dots.push(from.clone());
        let inside = places.iter().filter(|place| (from.x..to.x).contains(*place));
        let slope = (to.y - from.y) / (to.x - from.x);
        dots.extend(inside.map(|place| Dot::at(*place, from.y + slope * (place - from.x))));
    }
    dots.extend(corners.last().cloned());
    dots
}

fn latency(frame: &Frame<'_, '_>, percentiles: &[f64]) -> Option<Chart> {
    let shown = &percentiles[..percentiles.len().min(PERCENTILES_MAX)];
    let points: Vec<(f64, Vec<Nanos>)> = frame
        .steps
        .iter()
        .map(|step| (step.middle(), step.latencies()))
        .filter(|(_, latencies)| !latencies.is_empty())
        .map(|(x, latencies)| (x, latencies.percentiles_ns(shown.iter().copied())))
        .collect();
    let series: Vec<Series> = shown
        .iter()
        .enumerate()
        .map(|(at, percent)| {
            let dots = points.iter().map(|(x, values_ns)| Dot::at(*x, values_ns[at] as f64));
            let name = percentile_name(*percent);
            Series { dash: at, ..Series::line(name, at, dots.collect()) }
        })
        .collect();
    let values = || series.iter().flat_map(|line| &line.dots).map(|dot| dot.y);
    values().next()?;
    let y = Axis::new("latency", Scale::Log10, Unit::Latency, values());
    let mut chart = with_merged(frame, frame.chart("latency over time", y, series));
    if shown.len() < percentiles.len() {
        let more = percentiles[shown.len()..].iter().map(|it| percentile_name(*it));
        let more = more.collect::<Vec<_>>().join(", ");
        chart.say(format!("Not drawn: {more}; the table of operations has them."));
    }
    Some(chart)
}

/// The percentile spectrum of each operation, of the latencies that the tables have.
fn operations(trial: &Trial<'_>) -> Option<Chart> {
    let header = &trial.record.header;
    let operations = header.operations.iter().zip(&trial.due);
    let named = operations.flat_map(|(operation, tally)| {
        let service = format!("{}: service time", operation.name);
        [(operation.name.clone(), tally.latencies()), (service, tally.service.clone())]
    });
    let lines: Vec<Spectrum> = named
        .filter(|(_, latencies)| !latencies.is_empty())
        .enumerate()
        .map(|(at, (name, latencies))| Spectrum { name, colour: at, dash: at, latencies })
        .collect();
    let title = format!("{}: latency by percentile", trial.name());
    let chart = spectrum(title, frame::subtitle(trial), &lines, WHOLE_ROW)?;
    let remark = unanswered(std::iter::once(&trial.summary)).unwrap_or_default();
    Some(Chart { remark, ..chart })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_offered_rate_has_a_value_wherever_throughput_has_one() {
        // 10 a second, rising from 10 to 30 between 2 s and 4 s, then 50.
        let corners =
            [(0.0, 10.0), (2.0, 10.0), (2.0, 10.0), (4.0, 30.0), (4.0, 50.0), (5.0, 50.0)];
        let corners = corners.map(|(x, y)| Dot::at(x, y));
        let dots = with_places(&corners, &[0.5, 2.5, 3.5, 4.5]);
        let at = |place: f64| dots.iter().find(|dot| dot.x == place).unwrap().y;
        assert_eq!([at(0.5), at(2.5), at(3.5), at(4.5)], [10.0, 15.0, 25.0, 50.0]);
        assert_eq!(dots.len(), corners.len() + 4);
    }
}
