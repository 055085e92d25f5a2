//! The plots of one trial over its time.

use measure::{LatencyHistogram, Phase, Tally};
use record::{IntervalRecord, Latencies};

use crate::digest::{Digest, Trial};
use crate::html::charts::{Spectrum, spectrum};
use crate::html::watch;
use crate::number::{count, percentile_name};
use crate::panels::Panels;
use crate::svg::{Axis, Chart, Dot, Mark, Scale, Series, Shade, ShadeKind, Size, Unit};

/// Sizes of the plots of one trial.
const HALF_ROW: Size = Size { is_wide: false, height: 240.0 };
const WHOLE_ROW: Size = Size { is_wide: true, height: 260.0 };

/// More points than this are merged: a plot of this width cannot show more.
const POINTS_MAX: usize = 240;

/// More percentiles than this clutter a plot.
const PERCENTILES_MAX: usize = 4;

/// Throughput, latency, figures of hosts, and the percentile spectrum of each operation.
pub(crate) fn of_trial(digest: &Digest<'_>, trial: &Trial<'_>) -> Vec<Chart> {
    let steps = steps(&trial.record.intervals);
    let Some(end) = steps.last().map(|step| step.to) else {
        return Vec::new();
    };
    let frame = Frame { trial, steps, end };
    let percentiles = &digest.run.header.percentiles;
    let load = [Some(frame.throughput()), frame.latency(percentiles)].into_iter().flatten();
    load.chain(watch::of_trial(&frame)).chain(frame.spectrum()).collect()
}

/// Plots of the metrics of a trial's servers.
pub(crate) fn of_servers(trial: &Trial<'_>, panels: &Panels) -> Vec<Chart> {
    let steps = steps(&trial.record.intervals);
    let Some(end) = steps.last().map(|step| step.to) else {
        return Vec::new();
    };
    let frame = Frame { trial, steps, end };
    panels.drawn.iter().map(|panel| watch::panel(&frame, panel)).collect()
}

/// One interval, or several neighbouring intervals of the same phase added up exactly.
struct MergedIntervals<'a> {
    phase: Phase,
    /// Start and end on the trial's clock, s.
    from: f64,
    to: f64,
    tally: Tally,
    latencies: Vec<&'a Latencies>,
}

/// The intervals; neighbours are merged when there are more than the plot can show.
fn steps(intervals: &[IntervalRecord]) -> Vec<MergedIntervals<'_>> {
    let each = intervals.len().div_ceil(POINTS_MAX).max(1);
    let same_phase = intervals.chunk_by(|one, next| one.phase == next.phase);
    same_phase.flat_map(|phase| phase.chunks(each)).filter_map(step).collect()
}

fn step(intervals: &[IntervalRecord]) -> Option<MergedIntervals<'_>> {
    let (first, last) = (intervals.first()?, intervals.last()?);
    let mut tally = Tally::new(0);
    intervals.iter().for_each(|interval| tally.merge(&interval.tally));
    Some(MergedIntervals {
        phase: first.phase,
        from: first.start_ns as f64 / 1e9,
        to: last.end_ns as f64 / 1e9,
        tally,
        latencies: intervals.iter().map(|interval| &interval.latencies).collect(),
    })
}

impl MergedIntervals<'_> {
    fn middle(&self) -> f64 {
        f64::midpoint(self.from, self.to)
    }

    fn latencies(&self) -> LatencyHistogram {
        Latencies::merged(self.latencies.iter().copied())
    }

    /// Failures in words. Retries alone are not failures: some workloads rely on them.
    fn mark(&self) -> Option<Mark> {
        let tally = &self.tally;
        let is_wrong = tally.failed_transactions > 0
            || tally.errors.values().any(|counts| counts.ignored + counts.fatal > 0);
        if !is_wrong {
            return None;
        }
        let errors = tally.errors.iter().map(|(key, counts)| format!("{key} x {}", counts.total()));
        let errors: Vec<String> = errors.collect();
        let failed = count(tally.failed_transactions);
        let note = format!("{failed} transactions failed: {}", errors.join(", "));
        Some(Mark { x: self.middle(), note })
    }
}

/// Shared data of one trial's plots over time.
pub(crate) struct Frame<'d, 'a> {
    pub(crate) trial: &'d Trial<'a>,
    steps: Vec<MergedIntervals<'a>>,
    /// End of the last step, s.
    end: f64,
}

impl Frame<'_, '_> {
    fn throughput(&self) -> Chart {
        let dots: Vec<Dot> = self
            .steps
            .iter()
            .filter(|step| step.to > step.from)
            .map(|step| {
                let rate = step.tally.transactions as f64 / (step.to - step.from);
                Dot::at(step.middle(), rate)
            })
            .collect();
        let offered = self.offered();
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
        self.chart("throughput over time", y, series)
    }

    /// The offered rate over time: the first rate in the warm-up, then its steps.
    fn offered(&self) -> Vec<Dot> {
        let Some(open) = &self.trial.record.header.load.open else { return Vec::new() };
        let mut dots = vec![Dot::at(0.0, open.rate.first_per_s())];
        let mut at = self.warm_up().map_or(0.0, |warm_up| warm_up.to);
        for step in open.rate.steps().iter().filter(|step| !step.length.is_zero()) {
            let length = step.length.as_secs_f64();
            // The end of the measured time may cut the last step short.
            let part = ((self.end - at) / length).clamp(0.0, 1.0);
            dots.push(Dot::at(at, step.from_per_s));
            let to = step.from_per_s + (step.to_per_s - step.from_per_s) * part;
            dots.push(Dot::at(at + length * part, to));
            at += length * part;
        }
        if at < self.end {
            dots.push(Dot::at(at, open.rate.last_per_s()));
            dots.push(Dot::at(self.end, open.rate.last_per_s()));
        }
        dots
    }

    fn latency(&self, percentiles: &[f64]) -> Option<Chart> {
        let histograms: Vec<(f64, LatencyHistogram)> = self
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
        Some(self.chart("latency over time", y, series))
    }

    /// A plot over the trial's time, with its warm-up, outages and failures.
    pub(crate) fn chart(&self, what: &str, y: Axis, series: Vec<Series>) -> Chart {
        Chart {
            title: format!("{}: {what}", self.trial.name()),
            subtitle: self.trial.record.header.identity.title(),
            description: format!(
                "Over {:.1} s, warm-up and outages shaded, failures marked.",
                self.end
            ),
            x: Axis::seconds(self.end),
            y,
            series,
            shades: self.warm_up().into_iter().chain(self.outages()).collect(),
            marks: self.steps.iter().filter_map(MergedIntervals::mark).collect(),
            size: HALF_ROW,
        }
    }

    fn warm_up(&self) -> Option<Shade> {
        let last = self.steps.iter().rfind(|step| step.phase == Phase::WarmUp)?;
        let note = "warm-up".to_owned();
        Some(Shade { from: 0.0, to: last.to, kind: ShadeKind::WarmUp, note })
    }

    /// The outages within the plot.
    fn outages(&self) -> impl Iterator<Item = Shade> {
        self.trial.outages().iter().filter_map(|outage| {
            let from = outage.start_ns as f64 / 1e9;
            let to = outage.end_ns.map_or(self.end, |end| end as f64 / 1e9).min(self.end);
            let note = format!(
                "outage: {} connections lost, {} made again",
                count(outage.failures),
                count(outage.reconnects)
            );
            (from < self.end).then_some(Shade { from, to, kind: ShadeKind::Outage, note })
        })
    }

    /// The percentile spectrum of each operation.
    fn spectrum(&self) -> Option<Chart> {
        let header = &self.trial.record.header;
        let operations = header.operations.iter().zip(&self.trial.record.total.operations);
        let mut lines = Vec::new();
        for (at, (operation, tally)) in operations.enumerate() {
            let line = |name: String, latencies: &LatencyHistogram| Spectrum {
                name,
                colour: at,
                dash: at,
                latencies: latencies.clone(),
            };
            lines.push(line(operation.name.clone(), &tally.succeeded));
            let service = line(format!("{}: service time", operation.name), &tally.service);
            lines.push(Spectrum { dash: at + 1, ..service });
        }
        let title = format!("{}: latency by percentile", self.trial.name());
        spectrum(title, header.identity.title(), &lines, WHOLE_ROW)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn merged_intervals_lose_nothing_and_keep_phases_separate() {
        let run = sample::run();
        let seconds = run.trials[0].intervals.iter().cycle().take(1_000).enumerate();
        let intervals: Vec<IntervalRecord> = seconds
            .map(|(at, second)| {
                let phase = if at < 7 { Phase::WarmUp } else { Phase::Measure };
                IntervalRecord { phase, ..second.clone() }
            })
            .collect();
        let few = steps(&intervals);
        assert!(few.len() <= POINTS_MAX + 1, "{}", few.len());
        for phase in [Phase::WarmUp, Phase::Measure] {
            let of = intervals.iter().filter(|interval| interval.phase == phase);
            let all: u64 = of.map(|interval| interval.latencies.count()).sum();
            let of = few.iter().filter(|step| step.phase == phase);
            let merged: u64 = of.clone().map(|step| step.tally.transactions).sum();
            assert_eq!(merged, all);
            assert_eq!(of.map(|step| step.latencies().count()).sum::<u64>(), all);
        }
    }
}
