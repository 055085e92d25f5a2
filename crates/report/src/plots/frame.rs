//! The time axis of one trial's plots: its intervals, merged to as many points as a plot can show, its warm-up, its
//! outages, the stalls of dyno itself, its failures, the servers that exited and the generators that were lost.

use measure::{LatencyHistogram, Phase, Tally};
use record::{IntervalRecord, add_counts};

use crate::digest::Trial;
use crate::number::count;
use crate::svg::{Axis, Chart, Mark, Series, Shade, ShadeKind, Size, Width};
use crate::{generators, member_exits, server_actions, spans, turns};

/// The size of a plot over time.
const HALF_ROW: Size = Size { width: Width::Half, height: 240.0 };

/// More points than this are merged: a plot of this width cannot show more.
const POINTS_MAX: usize = 240;

/// Shared data of one trial's plots over time.
pub(crate) struct Frame<'d, 'a> {
    pub(crate) trial: &'d Trial<'a>,
    pub(crate) steps: Vec<MergedIntervals<'a>>,
    /// End of the last step, s.
    pub(crate) end: f64,
    pub(crate) merged: usize,
}

impl<'d, 'a> Frame<'d, 'a> {
    /// `None` for a trial without intervals.
    pub(crate) fn of(trial: &'d Trial<'a>) -> Option<Self> {
        let steps = steps(&trial.record.intervals);
        let end = steps.last()?.to;
        let merged = merged(trial.record.intervals.len());
        Some(Self { trial, steps, end, merged })
    }

    /// A plot over the trial's time, with its warm-up, outages and failures.
    pub(crate) fn chart(&self, what: &str, y: Axis, series: Vec<Series>) -> Chart {
        let mut moments = member_exits::moments(self.trial, self.end);
        moments.extend(generators::moments(self.trial, self.end));
        let mut told: String = moments.iter().map(|moment| format!(" {}.", moment.note)).collect();
        moments.extend(server_actions::moments(self.trial, self.end));
        told.push_str(&server_actions::counts(self.trial, self.end));
        Chart {
            title: format!("{}: {what}", self.trial.name()),
            subtitle: subtitle(self.trial),
            description: format!(
                "Over {:.1} s; warm-up, outages and stalls of dyno shaded, failures marked.{told}",
                self.end
            ),
            x: Axis::seconds(self.end),
            y,
            series,
            shades: self.warm_up().into_iter().chain(spans::shades(self.trial, self.end)).collect(),
            marks: self.steps.iter().filter_map(MergedIntervals::mark).collect(),
            moments,
            bands: turns::bands(self.trial),
            size: HALF_ROW,
            ..Chart::default()
        }
    }

    pub(crate) fn warm_up(&self) -> Option<Shade> {
        let last = self.steps.iter().rfind(|step| step.phase == Phase::WarmUp)?;
        let note = "warm-up".to_owned();
        Some(Shade { from: 0.0, to: last.to, kind: ShadeKind::WarmUp, note })
    }
}

/// The system under test, and the verdict on a trial that is not valid.
pub(crate) fn subtitle(trial: &Trial<'_>) -> String {
    let title = trial.record.header.identity.title();
    match trial.remark() {
        "" => title,
        remark if title.is_empty() => remark.to_owned(),
        remark => format!("{title} \u{b7} {remark}"),
    }
}

/// One interval, or several neighbouring intervals of the same phase added up exactly.
pub(crate) struct MergedIntervals<'a> {
    pub(crate) phase: Phase,
    /// Start and end on the trial's clock, s.
    pub(crate) from: f64,
    pub(crate) to: f64,
    pub(crate) tally: Tally,
    latencies: Vec<&'a LatencyHistogram>,
    /// Transactions of each of several generators; empty when they are not told apart.
    pub(crate) generators: Vec<u64>,
}

/// The intervals; neighbours are merged when there are more than the plot can show.
fn steps(intervals: &[IntervalRecord]) -> Vec<MergedIntervals<'_>> {
    let each = merged(intervals.len());
    let same_phase = intervals.chunk_by(|one, next| one.phase == next.phase);
    same_phase.flat_map(|phase| phase.chunks(each)).filter_map(step).collect()
}

/// How many of so many intervals are one step.
fn merged(intervals: usize) -> usize {
    intervals.div_ceil(POINTS_MAX).max(1)
}

fn step(intervals: &[IntervalRecord]) -> Option<MergedIntervals<'_>> {
    let (first, last) = (intervals.first()?, intervals.last()?);
    let mut tally = Tally::new(0);
    let mut generators = Vec::new();
    for interval in intervals {
        tally.merge(&interval.tally);
        add_counts(&mut generators, &interval.generators);
    }
    Some(MergedIntervals {
        phase: first.phase,
        from: first.start_ns as f64 / 1e9,
        to: last.end_ns as f64 / 1e9,
        tally,
        latencies: intervals.iter().map(|interval| &interval.latencies).collect(),
        generators,
    })
}

impl MergedIntervals<'_> {
    pub(crate) fn middle(&self) -> f64 {
        f64::midpoint(self.from, self.to)
    }

    pub(crate) fn latencies(&self) -> LatencyHistogram {
        LatencyHistogram::sum(self.latencies.iter().copied())
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
                let mut second: IntervalRecord = second.clone();
                second.phase = if at < 7 { Phase::WarmUp } else { Phase::Measure };
                second
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
