//! The plots of one trial over its time.

use measure::{Interval, Phase, Tally};

use crate::digest::{Digest, Trial};
use crate::html::charts::{Spectrum, spectrum};
use crate::number::{TimeUnit, count, percentile_name};
use crate::svg::{Axis, Chart, Dot, Mark, Scale, Series, Shade, Size, Unit};

/// Sizes of the plots of one trial.
const HALF_ROW: Size = Size { is_wide: false, height: 240.0 };
const WHOLE_ROW: Size = Size { is_wide: true, height: 260.0 };

/// More points than this are merged: a line has no more to show on a page.
const POINTS_MAX: usize = 240;

/// More percentiles than this clutter a plot.
const PERCENTILES_MAX: usize = 4;

/// Throughput, latency and the percentile spectrum of each operation.
pub(crate) fn of_trial(digest: &Digest<'_>, trial: &Trial<'_>) -> Vec<Chart> {
    let intervals = merged(&trial.record.intervals);
    let Some(end) = intervals.last().map(|interval| interval.end_ns as f64 / 1e9) else {
        return Vec::new();
    };
    let frame = Frame { trial, intervals, end };
    let percentiles = &digest.run.header.percentiles;
    [Some(frame.throughput()), frame.latency(percentiles), frame.spectrum()]
        .into_iter()
        .flatten()
        .collect()
}

/// Neighbours of the same phase added up, exactly, until there are few enough.
fn merged(intervals: &[Interval]) -> Vec<Interval> {
    let each = intervals.len().div_ceil(POINTS_MAX).max(1);
    let mut out: Vec<Interval> = Vec::new();
    let mut taken = 0;
    for interval in intervals {
        match out.last_mut() {
            Some(last) if taken < each && last.phase == interval.phase => {
                last.end_ns = interval.end_ns;
                last.tally.merge(&interval.tally);
                taken += 1;
            }
            _ => {
                out.push(interval.clone());
                taken = 1;
            }
        }
    }
    out
}

struct Frame<'d, 'a> {
    trial: &'d Trial<'a>,
    intervals: Vec<Interval>,
    /// Where the last interval ends, s.
    end: f64,
}

fn middle(interval: &Interval) -> f64 {
    f64::midpoint(interval.start_ns as f64, interval.end_ns as f64) / 1e9
}

impl Frame<'_, '_> {
    fn throughput(&self) -> Chart {
        let dots: Vec<Dot> = self
            .intervals
            .iter()
            .filter(|interval| interval.seconds() > 0.0)
            .map(|i| Dot::at(middle(i), i.tally.transactions as f64 / i.seconds()))
            .collect();
        let y = Axis::new(
            "transactions per second",
            Scale::Linear,
            Unit::Number,
            dots.iter().map(|dot| dot.y),
        );
        self.chart("throughput over time", y, vec![Series::line("throughput", 0, dots)])
    }

    fn latency(&self, percentiles: &[f64]) -> Option<Chart> {
        let operations = &self.trial.record.header.operations;
        let histograms: Vec<_> = self
            .intervals
            .iter()
            .map(|i| (middle(i), i.tally.transaction_latencies(operations)))
            .filter(|(_, histogram)| !histogram.is_empty())
            .collect();
        let shown = &percentiles[..percentiles.len().min(PERCENTILES_MAX)];
        let series: Vec<Series> = shown
            .iter()
            .enumerate()
            .map(|(at, percent)| {
                let dots =
                    histograms.iter().map(|(x, h)| Dot::at(*x, h.percentile_ns(*percent) as f64));
                let name = percentile_name(*percent);
                Series { dash: at % 4, ..Series::line(name, at, dots.collect()) }
            })
            .collect();
        let values = || series.iter().flat_map(|line| &line.dots).map(|dot| dot.y);
        values().next()?;
        let unit = TimeUnit::for_middle(values());
        let label = format!("latency, {}", unit.name());
        let y = Axis::new(label, Scale::Log10, Unit::Time(unit), values());
        Some(self.chart("latency over time", y, series))
    }

    fn chart(&self, what: &str, y: Axis, series: Vec<Series>) -> Chart {
        Chart {
            title: format!("{}: {what}", self.trial.name()),
            subtitle: self.trial.record.header.identity.title(),
            description: format!("Over {:.1} s, warm-up shaded, failures marked.", self.end),
            x: Axis::seconds(self.end),
            y,
            series,
            shades: self.warm_up().into_iter().collect(),
            marks: self.intervals.iter().filter_map(mark).collect(),
            size: HALF_ROW,
        }
    }

    fn warm_up(&self) -> Option<Shade> {
        let warm_up = self.intervals.iter().filter(|interval| interval.phase == Phase::WarmUp);
        let end = warm_up.map(|interval| interval.end_ns).max()?;
        Some(Shade { from: 0.0, to: end as f64 / 1e9, label: "warm-up".to_owned() })
    }

    /// The spectrum of each operation.
    fn spectrum(&self) -> Option<Chart> {
        let header = &self.trial.record.header;
        let total: Tally = self.trial.record.total();
        let lines: Vec<_> = header
            .operations
            .iter()
            .zip(&total.operations)
            .enumerate()
            .map(|(at, (operation, tally))| Spectrum {
                name: operation.name.clone(),
                colour: at,
                dash: at,
                latencies: tally.succeeded.clone(),
            })
            .collect();
        let title = format!("{}: latency by percentile", self.trial.name());
        spectrum(title, header.identity.title(), &lines, WHOLE_ROW)
    }
}

/// Failures of an interval, in words; retries alone are counted but not marked, as they are how some
/// workloads work.
fn mark(interval: &Interval) -> Option<Mark> {
    let tally = &interval.tally;
    let is_wrong = tally.failed_transactions > 0
        || tally.errors.values().any(|counts| counts.ignored + counts.fatal > 0);
    if !is_wrong {
        return None;
    }
    let errors = tally.errors.iter().map(|(key, counts)| format!("{key} x {}", counts.total()));
    let errors: Vec<String> = errors.collect();
    let failed = count(tally.failed_transactions);
    let note = format!("{failed} transactions failed: {}", errors.join(", "));
    Some(Mark { x: middle(interval), note })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn merged_neighbours_lose_nothing_and_keep_phases_apart() {
        let mut intervals = Vec::new();
        let run = sample::run();
        for (at, second) in run.trials[0].intervals.iter().cycle().take(1_000).enumerate() {
            let phase = if at < 7 { Phase::WarmUp } else { Phase::Measure };
            intervals.push(Interval { phase, ..second.clone() });
        }
        let few = merged(&intervals);
        assert!(few.len() <= POINTS_MAX + 1, "{}", few.len());
        let sum = |intervals: &[Interval], phase| -> u64 {
            let of = intervals.iter().filter(|interval| interval.phase == phase);
            of.map(|interval| interval.tally.transactions).sum()
        };
        for phase in [Phase::WarmUp, Phase::Measure] {
            assert_eq!(sum(&few, phase), sum(&intervals, phase));
        }
    }
}
