//! Latency by percentile: of a workload's points, and of the operations of one trial.

use std::collections::BTreeSet;

use analysis::Summary;
use measure::{LatencyHistogram, sum};

use super::over_run::{Context, LINES_MAX, WHOLE_ROW, load_of};
use crate::digest::Point;
use crate::number::several;
use crate::svg::{Axis, Chart, Dot, Scale, Series, Size, Unit};

/// Steps along the percentile axis.
const SPECTRUM_STEPS: u32 = 96;

impl<'d, 'a> Context<'d, 'a> {
    /// The percentile spectrum of transactions. With several systems, colour stands for the system and dash for
    /// the level. In an open loop, service times are drawn as well as response times.
    pub(super) fn spectrum(&self) -> Option<Chart> {
        let points = self.spectrum_points();
        let is_single = self.systems().count() == 1;
        let mut levels: Vec<f64> = points.iter().map(|point| self.sweep.of(point)).collect();
        levels.sort_by(f64::total_cmp);
        levels.dedup();
        let mut lines = Vec::new();
        for point in &points {
            let load = load_of(point);
            let level = levels.iter().position(|level| *level == self.sweep.of(point));
            let level = level.unwrap_or(0);
            let system = self.systems().find(|(_, name)| *name == point.system);
            let colour = if is_single { level } else { system.map_or(0, |(colour, _)| colour) };
            let name = if is_single { load } else { format!("{}, {load}", point.system) };
            let latencies = self.digest.latencies(point);
            if point.rate.is_none() {
                lines.push(Spectrum { name, colour, dash: level, latencies });
                continue;
            }
            let dash = if is_single { 0 } else { 2 * level };
            let service = format!("{name}: service");
            let response = format!("{name}: response");
            lines.push(Spectrum { name: response, colour, dash, latencies });
            let latencies = self.digest.service(point);
            lines.push(Spectrum { name: service, colour, dash: dash + 1, latencies });
        }
        let title = format!("{}: latency by percentile", self.workload);
        let counted = || points.iter().flat_map(|point| &point.counted);
        let trials = || counted().map(|at| &self.digest.trials[*at]);
        let mut remarks: Vec<String> =
            unanswered(trials().map(|trial| &trial.summary)).into_iter().collect();
        if points.iter().any(|point| point.counted.len() > 1) {
            remarks.push(
                "The lines are of all repetitions that count, taken together; the tables have medians over them."
                    .to_owned(),
            );
        }
        remarks.extend(self.left_out(&points));
        let chart = spectrum(title, self.digest.under_test_of(self.workload), &lines, WHOLE_ROW)?;
        Some(Chart { remark: self.remark(remarks), ..chart })
    }

    /// All levels when they are few enough, else the lowest, middle and highest, else only the highest.
    fn spectrum_points(&self) -> Vec<&'d Point<'a>> {
        let levels = self.levels();
        let some = match levels.as_slice() {
            [first, .., last] => vec![*first, levels[levels.len() / 2], *last],
            few => few.to_vec(),
        };
        let last: Vec<f64> = levels.last().copied().into_iter().collect();
        let of = |levels: &[f64]| -> Vec<&'d Point<'a>> {
            let has = |point: &&&'d Point<'a>| levels.contains(&self.sweep.of(point));
            self.points.iter().filter(has).copied().collect()
        };
        let choices = [of(&levels), of(&some), of(&last)];
        let is_open = self.points.iter().any(|point| point.rate.is_some());
        let most = if is_open { LINES_MAX / 2 } else { LINES_MAX };
        let few = choices.into_iter().find(|points| points.len() <= most);
        few.unwrap_or_else(|| of(&last).into_iter().take(most).collect())
    }

    fn left_out(&self, shown: &[&Point<'_>]) -> Option<String> {
        if shown.len() == self.points.len() {
            return None;
        }
        let mut loads: Vec<String> = shown.iter().map(|point| load_of(point)).collect();
        let mut seen = BTreeSet::new();
        loads.retain(|load| seen.insert(load.clone()));
        let is_shown = |name: &&str| shown.iter().any(|point| point.system == *name);
        let systems = self.systems().map(|(_, name)| name);
        let missing: Vec<&str> = systems.filter(|name| !is_shown(name)).collect();
        let without = match missing.as_slice() {
            [] => String::new(),
            names => format!(", without {}", names.join(", ")),
        };
        Some(format!(
            "Shown are {} of {} points: {}{without}. The table of results has percentiles of all.",
            shown.len(),
            self.points.len(),
            loads.join("; ")
        ))
    }
}

/// A note that a spectrum leaves out transactions that were never answered; `None` when all were answered.
pub(crate) fn unanswered<'s>(trials: impl Iterator<Item = &'s Summary>) -> Option<String> {
    let missing = sum(trials.map(|summary| summary.latency.unanswered));
    (missing > 0).then(|| {
        format!(
            "Without {} that were never answered: their latencies are not known, so the true lines lie higher. The \
             tables have lower bounds.",
            several(missing, "transaction", "transactions")
        )
    })
}

pub(crate) struct Spectrum {
    pub(crate) name: String,
    pub(crate) colour: usize,
    pub(crate) dash: usize,
    pub(crate) latencies: LatencyHistogram,
}

/// Latency by percentile of several histograms; `None` when all are empty.
pub(crate) fn spectrum(
    title: String,
    subtitle: String,
    lines: &[Spectrum],
    size: Size,
) -> Option<Chart> {
    let lines = || lines.iter().filter(|line| !line.latencies.is_empty());
    let far = lines().map(|line| line.latencies.count()).max()?;
    let far = (far as f64).ln();
    let series: Vec<Series> = lines()
        .map(|line| Series {
            dash: line.dash,
            ..Series::line(&line.name, line.colour, spectrum_dots(&line.latencies, far))
        })
        .collect();
    let dots = || series.iter().flat_map(|line| &line.dots);
    dots().next()?;
    Some(Chart {
        title,
        subtitle,
        description: "Each line rises from the fastest to the slowest; every step to the right on \
                      the axis leaves a tenth of the values above."
            .to_owned(),
        x: Axis::new("percentile", Scale::Percentile, Unit::Percent, dots().map(|dot| dot.x)),
        y: Axis::new("latency", Scale::Log10, Unit::Latency, dots().map(|dot| dot.y)),
        series,
        size,
        ..Chart::default()
    })
}

/// Points at even distances on the axis, `far` from its beginning to its end, up to the percentile of the last value.
/// The places are those of the other lines, but for the last.
fn spectrum_dots(histogram: &LatencyHistogram, far: f64) -> Vec<Dot> {
    let last_percent = (1.0 - 1.0 / histogram.count() as f64) * 100.0;
    let steps: Vec<f64> = (0..SPECTRUM_STEPS)
        .map(|step| (1.0 - (-far * f64::from(step) / f64::from(SPECTRUM_STEPS)).exp()) * 100.0)
        .take_while(|percent| *percent < last_percent)
        .collect();
    let values_ns = histogram.percentiles_ns(steps.iter().copied());
    let dots =
        steps.into_iter().zip(values_ns).map(|(percent, value)| Dot::at(percent, value as f64));
    let place = Some("100".to_owned());
    let last = Dot { place, ..Dot::at(last_percent, histogram.max_ns() as f64) };
    dots.chain([last]).filter(|dot| dot.y > 0.0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::svg::Width;

    #[test]
    fn lines_of_other_lengths_share_their_places_up_to_their_own_ends() {
        let mut few = LatencyHistogram::new();
        let mut many = LatencyHistogram::new();
        (1..=10).for_each(|at| few.record(at * 1_000));
        (1..=1_000).for_each(|at| many.record(at * 1_000));
        let line = |name: &str, at: usize, latencies| Spectrum {
            name: name.to_owned(),
            colour: at,
            dash: at,
            latencies,
        };
        let lines = [line("many", 0, many), line("few", 1, few)];
        let size = Size { width: Width::Row, height: 260.0 };
        let chart = spectrum("t".to_owned(), String::new(), &lines, size).unwrap();
        let places = |at: usize| chart.series[at].dots.iter().map(|dot| dot.x).collect::<Vec<_>>();
        let (many, few) = (places(0), places(1));
        assert_eq!(many.len(), SPECTRUM_STEPS as usize + 1);
        assert_eq!(few[..few.len() - 1], many[..few.len() - 1]);
        assert!((few.last().unwrap() - 90.0).abs() < 1e-9);
        assert_eq!(chart.html("x").matches(" data-x=\"0|").count(), 1, "places stand once");
    }
}
