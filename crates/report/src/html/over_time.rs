//! The plots of one trial over its time.

use measure::LatencyHistogram;

use crate::digest::{Digest, Trial};
use crate::html::charts::{Spectrum, spectrum, unanswered};
use crate::html::frame::Frame;
use crate::html::watch;
use crate::number::percentile_name;
use crate::panels::Panels;
use crate::svg::{Axis, Chart, Dot, Scale, Series, Size, Unit};
use crate::turns;

/// The size of the percentile spectrum.
const WHOLE_ROW: Size = Size { is_wide: true, height: 260.0 };

/// More percentiles than this clutter a plot.
const PERCENTILES_MAX: usize = 4;

/// When each client ran what, throughput, latency, figures of hosts, and the percentile spectrum of each operation.
pub(crate) fn of_trial(digest: &Digest<'_>, trial: &Trial<'_>) -> Vec<Chart> {
    let Some(frame) = Frame::of(trial) else { return Vec::new() };
    let percentiles = &digest.run.header.percentiles;
    let load = [Some(throughput(&frame)), latency(&frame, percentiles)].into_iter().flatten();
    let lanes = turns::lanes(trial, frame.end).into_iter();
    lanes.chain(load).chain(watch::of_trial(&frame)).chain(operations(trial)).collect()
}

/// Plots of the metrics of a trial's servers.
pub(crate) fn of_servers(trial: &Trial<'_>, panels: &Panels) -> Vec<Chart> {
    let Some(frame) = Frame::of(trial) else { return Vec::new() };
    let lanes = turns::lanes(trial, frame.end).filter(|_| !panels.drawn.is_empty());
    let drawn = panels.drawn.iter().map(|panel| watch::panel(&frame, panel));
    lanes.into_iter().chain(drawn).collect()
}

fn throughput(frame: &Frame<'_, '_>) -> Chart {
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
        "transactions per second",
        Scale::Linear,
        Unit::Number,
        dots.iter().chain(&offered).map(|dot| dot.y),
    );
    let mut series = vec![Series::line("throughput", 0, dots)];
    if !offered.is_empty() {
        series.push(Series { dash: 1, ..Series::line("offered", 1, offered) });
    }
    frame.chart("throughput over time", y, series)
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

fn latency(frame: &Frame<'_, '_>, percentiles: &[f64]) -> Option<Chart> {
    let histograms: Vec<(f64, LatencyHistogram)> = frame
        .steps
        .iter()
        .map(|step| (step.middle(), step.latencies()))
        .filter(|(_, histogram)| !histogram.is_empty())
        .collect();
    let shown = &percentiles[..percentiles.len().min(PERCENTILES_MAX)];
    let series: Vec<Series> = shown
        .iter()
        .enumerate()
        .map(|(at, percent)| {
            let dots = histograms
                .iter()
                .map(|(x, histogram)| Dot::at(*x, histogram.percentile_ns(*percent) as f64));
            let name = percentile_name(*percent);
            Series { dash: at, ..Series::line(name, at, dots.collect()) }
        })
        .collect();
    let values = || series.iter().flat_map(|line| &line.dots).map(|dot| dot.y);
    values().next()?;
    let y = Axis::new("latency", Scale::Log10, Unit::Latency, values());
    Some(frame.chart("latency over time", y, series))
}

/// The percentile spectrum of each operation, of the latencies that the tables have.
fn operations(trial: &Trial<'_>) -> Option<Chart> {
    let header = &trial.record.header;
    let operations = header.operations.iter().zip(trial.record.due());
    let mut lines = Vec::new();
    for (at, (operation, tally)) in operations.enumerate() {
        let line = |name: String, latencies: LatencyHistogram| Spectrum {
            name,
            colour: at,
            dash: at,
            latencies,
        };
        lines.push(line(operation.name.clone(), tally.latencies()));
        let service = line(format!("{}: service time", operation.name), tally.service);
        lines.push(Spectrum { dash: at + 1, ..service });
    }
    let title = format!("{}: latency by percentile", trial.name());
    let chart = spectrum(title, header.identity.title(), &lines, WHOLE_ROW)?;
    let remark = unanswered(std::iter::once(&trial.summary)).unwrap_or_default();
    Some(Chart { remark, ..chart })
}
