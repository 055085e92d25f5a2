//! The plots over a whole run: one of each kind for each workload.

use measure::LatencyHistogram;

use crate::digest::{Digest, Point, clients_text};
use crate::number::{latency, number, percentile_name};
use crate::svg::{Axis, Chart, Dot, Scale, Series, Size, Unit};

/// Sizes of the plots over a whole run.
const HALF_ROW: Size = Size { is_wide: false, height: 340.0 };
const WHOLE_ROW: Size = Size { is_wide: true, height: 340.0 };

/// More lines than this are not told apart.
const LINES_MAX: usize = 8;

/// Steps along the percentile axis.
const SPECTRUM_STEPS: u32 = 96;

/// Every plot of one workload that the run has the figures for.
pub(crate) fn of_workload(digest: &Digest<'_>, workload: &str) -> Vec<Chart> {
    let points: Vec<&Point<'_>> = digest
        .points
        .iter()
        .filter(|point| point.workload == workload && !point.counted.is_empty())
        .collect();
    let context = Context { digest, workload, points };
    [context.throughput(), context.comparison(), context.percentiles(), context.spectrum()]
        .into_iter()
        .flatten()
        .collect()
}

struct Context<'d, 'a> {
    digest: &'d Digest<'a>,
    workload: &'d str,
    /// Those of the workload that have figures.
    points: Vec<&'d Point<'a>>,
}

impl<'d, 'a> Context<'d, 'a> {
    /// Throughput against clients; nothing to draw of a single number of clients.
    fn throughput(&self) -> Option<Chart> {
        if self.levels().len() < 2 {
            return None;
        }
        let series: Vec<Series> =
            self.systems().map(|(colour, name)| self.throughput_line(colour, name)).collect();
        let dots = || series.iter().flat_map(|line| &line.dots);
        let highest = dots().map(|dot| dot.error.map_or(dot.y, |(_, high)| high.max(dot.y)));
        Some(Chart {
            title: format!("{}: throughput against clients", self.workload),
            subtitle: self.digest.under_test(),
            description: self.throughput_description(),
            x: Axis::new("clients", Scale::Log2, Unit::Number, dots().map(|dot| dot.x)),
            y: Axis::new("transactions per second", Scale::Linear, Unit::Number, highest),
            series,
            shades: Vec::new(),
            marks: Vec::new(),
            size: HALF_ROW,
        })
    }

    /// Throughput of each system beside the others, where there is only one number of clients.
    fn comparison(&self) -> Option<Chart> {
        let systems: Vec<(usize, &str)> = self.systems().collect();
        if self.levels().len() != 1 || systems.len() < 2 {
            return None;
        }
        let place = |(place, (colour, system)): (usize, &(usize, &'a str))| {
            let mut line = self.throughput_line(*colour, system);
            for dot in &mut line.dots {
                dot.x = place as f64;
                dot.label = Some(number(dot.y));
            }
            line
        };
        let series: Vec<Series> = systems.iter().enumerate().map(place).collect();
        let clients = self.levels().first().map_or(String::new(), |level| clients_text(*level));
        let dots = series.iter().flat_map(|line| &line.dots);
        let highest = dots.map(|dot| dot.error.map_or(dot.y, |(_, high)| high.max(dot.y)));
        Some(Chart {
            title: format!("{}: throughput of {clients}", self.workload),
            subtitle: self.digest.under_test(),
            description: self.throughput_description(),
            x: Axis::names("system", systems.iter().map(|(_, name)| (*name).to_owned()).collect()),
            y: Axis::new("transactions per second", Scale::Linear, Unit::Number, highest),
            series,
            shades: Vec::new(),
            marks: Vec::new(),
            size: WHOLE_ROW,
        })
    }

    fn throughput_line(&self, colour: usize, system: &str) -> Series {
        let dots = self.points_of(system).filter_map(|point| {
            let estimate = self.digest.estimate(point, |summary| summary.transactions_per_s)?;
            let interval = estimate.interval;
            let spread = interval.map_or(String::new(), |interval| {
                format!(", 95 % interval {} to {}", number(interval.low), number(interval.high))
            });
            let clients = clients_text(point.clients);
            Some(Dot {
                error: interval.map(|interval| (interval.low.max(0.0), interval.high)),
                note: Some(format!("{clients}: {} per s{spread}", number(estimate.median))),
                ..Dot::at(point.clients as f64, estimate.median)
            })
        });
        Series { has_markers: true, ..Series::line(system, colour, dots.collect()) }
    }

    fn throughput_description(&self) -> String {
        let best = self.systems().filter_map(|(_, system)| {
            let of = |point: &&Point<'_>| {
                self.digest.estimate(point, |summary| summary.transactions_per_s)
            };
            let best = self.points_of(system).filter_map(|point| Some((point, of(&point)?.median)));
            let (point, rate) = best.max_by(|a, b| a.1.total_cmp(&b.1))?;
            let clients = clients_text(point.clients);
            Some(format!("{system} is highest with {} per second at {clients}", number(rate)))
        });
        best.collect::<Vec<_>>().join("; ")
    }

    /// Latency percentiles against throughput, a step for each number of clients.
    fn percentiles(&self) -> Option<Chart> {
        let percentiles = self.shown_percentiles();
        if self.levels().len() < 2 || percentiles.is_empty() {
            return None;
        }
        let is_single = self.systems().count() == 1;
        let mut series = Vec::new();
        for (colour, system) in self.systems() {
            for (at, percent) in percentiles.iter().enumerate() {
                let is_top = at + 1 == percentiles.len();
                let name = percentile_name(*percent);
                series.push(Series {
                    name: if is_single { name } else { format!("{system} {name}") },
                    colour: if is_single { at } else { colour },
                    dash: if is_single { 0 } else { at },
                    has_markers: true,
                    dots: self.percentile_dots(system, *percent, is_top),
                });
            }
        }
        let dots = || series.iter().flat_map(|line| &line.dots);
        Some(Chart {
            title: format!("{}: latency against throughput", self.workload),
            subtitle: self.digest.under_test(),
            description: "Each step along a line is one number of clients, written above the \
                          highest percentile."
                .to_owned(),
            x: Axis::new(
                "transactions per second",
                Scale::Linear,
                Unit::Number,
                dots().map(|dot| dot.x),
            ),
            y: Axis::new("latency", Scale::Log10, Unit::Latency, dots().map(|dot| dot.y)),
            series,
            shades: Vec::new(),
            marks: Vec::new(),
            size: HALF_ROW,
        })
    }

    /// All percentiles of one system; the lowest and the last but one or two of several, so that
    /// lines can be told apart.
    fn shown_percentiles(&self) -> Vec<f64> {
        let all = &self.digest.run.header.percentiles;
        if self.systems().count() == 1 || all.len() <= 2 {
            return all.iter().copied().take(LINES_MAX).collect();
        }
        let high = all.iter().copied().rfind(|percent| *percent <= 99.0);
        [all.first().copied(), high.or(all.last().copied())].into_iter().flatten().collect()
    }

    fn percentile_dots(&self, system: &str, percent: f64, has_label: bool) -> Vec<Dot> {
        let dots = self.points_of(system).filter_map(|point| {
            let rate = self.digest.estimate(point, |summary| summary.transactions_per_s)?.median;
            let value = self.digest.estimate(point, |summary| {
                summary.latency.percentile_ns(percent).unwrap_or_default() as f64
            })?;
            let clients = clients_text(point.clients);
            let name = percentile_name(percent);
            Some(Dot {
                label: has_label.then(|| point.clients.to_string()),
                note: Some(format!(
                    "{clients}: {name} {} at {} per s",
                    latency(value.median),
                    number(rate)
                )),
                ..Dot::at(rate, value.median)
            })
        });
        dots.filter(|dot| dot.y > 0.0).collect()
    }

    /// The percentile spectrum of transactions. Of several systems, colour tells the system and the
    /// dash the number of clients.
    fn spectrum(&self) -> Option<Chart> {
        let points = self.spectrum_points();
        let is_single = self.systems().count() == 1;
        let mut levels: Vec<usize> = points.iter().map(|point| point.clients).collect();
        levels.sort_unstable();
        levels.dedup();
        let line = |point: &&Point<'_>| {
            let clients = clients_text(point.clients);
            let level = levels.iter().position(|level| *level == point.clients).unwrap_or(0);
            let system = self.systems().find(|(_, name)| *name == point.system);
            let system = system.map_or(0, |(colour, _)| colour);
            Spectrum {
                name: if is_single { clients } else { format!("{}, {clients}", point.system) },
                colour: if is_single { level } else { system },
                dash: level,
                latencies: self.digest.latencies(point),
            }
        };
        let lines: Vec<Spectrum> = points.iter().map(line).collect();
        let title = format!("{}: latency by percentile", self.workload);
        spectrum(title, self.digest.under_test(), &lines, WHOLE_ROW)
    }

    /// Every level when that is few enough; else the ends and the middle; else the highest.
    fn spectrum_points(&self) -> Vec<&'d Point<'a>> {
        let levels = self.levels();
        let some = match levels.as_slice() {
            [first, .., last] => vec![*first, levels[levels.len() / 2], *last],
            few => few.to_vec(),
        };
        let last: Vec<usize> = levels.last().copied().into_iter().collect();
        let of = |levels: &[usize]| -> Vec<&'d Point<'a>> {
            let has = |point: &&&'d Point<'a>| levels.contains(&point.clients);
            self.points.iter().filter(has).copied().collect()
        };
        let choices = [of(&levels), of(&some), of(&last)];
        let few = choices.into_iter().find(|points| points.len() <= LINES_MAX);
        few.unwrap_or_else(|| of(&last).into_iter().take(LINES_MAX).collect())
    }

    /// Systems that have points here, each with its colour on the whole page.
    fn systems(&self) -> impl Iterator<Item = (usize, &'a str)> {
        let all = self.digest.systems().into_iter().enumerate();
        all.map(|(colour, (name, _))| (colour, name))
            .filter(|(_, name)| self.points.iter().any(|point| point.system == *name))
    }

    fn points_of(&self, system: &str) -> impl Iterator<Item = &'d Point<'a>> {
        let mut points: Vec<_> =
            self.points.iter().filter(|point| point.system == system).copied().collect();
        points.sort_by_key(|point| point.clients);
        points.into_iter()
    }

    fn levels(&self) -> Vec<usize> {
        let mut levels: Vec<usize> = self.points.iter().map(|point| point.clients).collect();
        levels.sort_unstable();
        levels.dedup();
        levels
    }
}

/// One line of a percentile spectrum.
pub(crate) struct Spectrum {
    pub(crate) name: String,
    pub(crate) colour: usize,
    pub(crate) dash: usize,
    pub(crate) latencies: LatencyHistogram,
}

/// Latency by percentile of several histograms; nothing to draw when all are empty.
pub(crate) fn spectrum(
    title: String,
    subtitle: String,
    lines: &[Spectrum],
    size: Size,
) -> Option<Chart> {
    let series: Vec<Series> = lines
        .iter()
        .filter(|line| !line.latencies.is_empty())
        .map(|line| Series {
            dash: line.dash,
            ..Series::line(&line.name, line.colour, spectrum_dots(&line.latencies))
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
        shades: Vec::new(),
        marks: Vec::new(),
        size,
    })
}

/// Points at even distances on the axis, up to the percentile that the last value stands for.
fn spectrum_dots(histogram: &LatencyHistogram) -> Vec<Dot> {
    let far = (histogram.count() as f64).ln();
    let mut dots: Vec<Dot> = (0..=SPECTRUM_STEPS)
        .map(|step| {
            let percent =
                (1.0 - (-far * f64::from(step) / f64::from(SPECTRUM_STEPS)).exp()) * 100.0;
            Dot::at(percent, histogram.percentile_ns(percent) as f64)
        })
        .filter(|dot| dot.y > 0.0)
        .collect();
    if let Some(last) = dots.last_mut() {
        last.y = histogram.max_ns() as f64;
    }
    dots
}
