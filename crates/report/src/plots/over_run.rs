//! The plots over a whole run: one of each kind for each workload.

use analysis::{Peak, Summary};

use crate::conclusion;
use crate::confidence::Confidence;
use crate::digest::{Digest, Point, load_text};
use crate::figure::Figure;
use crate::number::{bounded, count, latency, number, percentile_name};
use crate::scaling;
use crate::svg::{Arrow, Axis, Chart, Dot, Scale, Series, Shade, ShadeKind, Size, Unit, Width};

/// Size of a plot in a card.
pub(crate) const CARD: Size = Size { width: Width::Card, height: 120.0 };
/// Sizes of the plots over a whole run.
pub(crate) const HALF_ROW: Size = Size { width: Width::Half, height: 340.0 };
pub(super) const WHOLE_ROW: Size = Size { width: Width::Row, height: 340.0 };

/// More lines than this cannot be distinguished.
pub(super) const LINES_MAX: usize = 8;

/// An error bar ends at this multiple of its value: the wide interval of two repetitions would otherwise
/// squeeze all dots to the bottom.
const HIGHEST_BAR: f64 = 4.0;

/// Every plot of one workload for which the run has figures.
pub(crate) fn of_workload(
    digest: &Digest<'_>,
    sweeps: &[scaling::Sweep],
    workload: &str,
) -> Vec<Chart> {
    let points: Vec<&Point<'_>> = digest
        .points
        .iter()
        .filter(|point| point.workload == workload && !point.counted.is_empty())
        .collect();
    let context = Context::new(digest, sweeps, workload, points);
    [context.throughput(), context.comparison(), context.percentiles(), context.spectrum()]
        .into_iter()
        .flatten()
        .collect()
}

/// Throughput and latency of a workload against its load, in the size of a card; `None` for a single load.
pub(crate) fn cards(
    digest: &Digest<'_>,
    sweeps: &[scaling::Sweep],
    workload: &str,
) -> Option<[Chart; 2]> {
    let points = digest.points.iter();
    let points = points.filter(|point| point.workload == workload && !point.counted.is_empty());
    let context = Context::new(digest, sweeps, workload, points.collect());
    (context.levels().len() > 1).then(|| [context.throughput_card(), context.latency_card()])
}

pub(super) struct Context<'d, 'a> {
    pub(super) digest: &'d Digest<'a>,
    sweeps: &'d [scaling::Sweep],
    pub(super) workload: &'d str,
    /// The workload's points with figures; in a sweep over rates, only those with the most clients.
    pub(super) points: Vec<&'d Point<'a>>,
    pub(super) sweep: Sweep,
    with_fewer_clients: usize,
}

/// The load parameter that varies between the points of a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sweep {
    Clients,
    /// The rate that an open loop offers.
    Rate,
}

impl Sweep {
    pub(super) fn of(self, point: &Point<'_>) -> f64 {
        match self {
            Self::Clients => point.clients as f64,
            Self::Rate => point.offered_per_s,
        }
    }

    fn text(self, point: &Point<'_>) -> String {
        match self {
            Self::Clients => count(point.clients as u64),
            Self::Rate => number(point.offered_per_s),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Clients => "clients",
            Self::Rate => "offered rate",
        }
    }

    fn axis(self, values: impl Iterator<Item = f64>) -> Axis {
        match self {
            Self::Clients => Axis::new("clients", Scale::Log2, Unit::Number, values),
            Self::Rate => Axis::new("offered per second", Scale::Linear, Unit::Number, values),
        }
    }

    fn step(self) -> &'static str {
        match self {
            Self::Clients => "number of clients",
            Self::Rate => "offered rate per second",
        }
    }
}

impl<'d, 'a> Context<'d, 'a> {
    fn new(
        digest: &'d Digest<'a>,
        sweeps: &'d [scaling::Sweep],
        workload: &'d str,
        mut points: Vec<&'d Point<'a>>,
    ) -> Self {
        let first = points.first().map(|point| point.offered_per_s);
        let is_swept = points.iter().any(|point| Some(point.offered_per_s) != first);
        let sweep = if is_swept { Sweep::Rate } else { Sweep::Clients };
        let all = points.len();
        if sweep == Sweep::Rate {
            let most = points.iter().map(|point| point.clients).max();
            points.retain(|point| Some(point.clients) == most);
        }
        let with_fewer_clients = all - points.len();
        Self { digest, sweeps, workload, points, sweep, with_fewer_clients }
    }

    /// A remark with what the plots of this workload leave out.
    pub(super) fn remark(&self, sentences: impl IntoIterator<Item = String>) -> String {
        let fewer = (self.with_fewer_clients > 0).then(|| {
            format!(
                "Points with fewer clients are left out, {} of them; the table of results has them.",
                self.with_fewer_clients
            )
        });
        let all: Vec<String> = sentences.into_iter().chain(fewer).collect();
        all.join(" ")
    }

    /// Throughput against clients or the offered rate; `None` for a single point.
    fn throughput(&self) -> Option<Chart> {
        if self.levels().len() < 2 {
            return None;
        }
        let mut series: Vec<Series> =
            self.systems().map(|(colour, name)| self.throughput_line(colour, name)).collect();
        if self.sweep == Sweep::Rate {
            let all_of_it = self.levels().into_iter().map(|rate| Dot::at(rate, rate));
            let line = Series::line("offered", series.len(), all_of_it.collect());
            series.push(Series { dash: 1, ..line });
        }
        // The axis has a tick for each place of these; the curves lie between them.
        let x = self.sweep.axis(series.iter().flat_map(|line| &line.dots).map(|dot| dot.x));
        series.extend(self.curves());
        let dots = series.iter().flat_map(|line| &line.dots);
        let highest = dots.map(|dot| dot.error.map_or(dot.y, |(_, high)| high.max(dot.y)));
        Some(Chart {
            title: format!("{}: throughput against {}", self.workload, self.sweep.name()),
            subtitle: self.subtitle(),
            description: self.throughput_description(),
            remark: self.remark(self.symbols(&series)),
            x,
            y: Axis::new(self.unit(), Scale::Linear, Unit::Number, highest),
            series,
            shades: self.peak().into_iter().collect(),
            size: HALF_ROW,
            ..Chart::default()
        })
    }

    fn throughput_card(&self) -> Chart {
        let is_single = self.systems().count() == 1;
        let line = |(colour, name)| Series {
            has_band: is_single,
            is_named: !is_single,
            ..self.throughput_line(colour, name)
        };
        let series: Vec<Series> = self.systems().map(line).collect();
        let dots = || series.iter().flat_map(|line| &line.dots);
        let highest = dots().map(|dot| dot.error.map_or(dot.y, |(_, high)| high.max(dot.y)));
        Chart {
            title: format!("{}: throughput against {}", self.workload, self.sweep.name()),
            subtitle: self.subtitle(),
            description: self.throughput_description(),
            x: self.sweep.axis(dots().map(|dot| dot.x)),
            y: Axis::new(self.unit(), Scale::Linear, Unit::Number, highest),
            series,
            size: CARD,
            ..Chart::default()
        }
    }

    /// Latency against the load: the lowest, the usual and the highest percentile of an only system, else the usual one.
    fn latency_card(&self) -> Chart {
        let all = &self.digest.run.header.percentiles;
        let usual = conclusion::percentile(self.digest);
        let is_single = self.systems().count() == 1;
        let ends = [all.first().copied(), usual, all.last().copied()];
        let mut shown: Vec<f64> = match is_single {
            true => ends.into_iter().flatten().collect(),
            false => usual.into_iter().collect(),
        };
        shown.dedup();
        let mut series = Vec::new();
        for (colour, system) in self.systems() {
            for (at, percent) in shown.iter().enumerate() {
                let name = percentile_name(*percent);
                let dots = self.points_of(system).filter_map(|point| {
                    let figure = |summary: &Summary| summary.latency.percentile(*percent);
                    let (value, is_bound) = self.digest.bounded(point, figure)?;
                    let arrow = is_bound.then_some(Arrow::Value);
                    Some(Dot { arrow, ..Dot::at(self.sweep.of(point), value.median) })
                });
                let dots = dots.filter(|dot| dot.y > 0.0).collect();
                let (name, colour) =
                    if is_single { (name, at) } else { (system.to_owned(), colour) };
                series.push(Series { is_named: true, ..Series::line(name, colour, dots) });
            }
        }
        let dots = || series.iter().flat_map(|line| &line.dots);
        let what = if is_single {
            "latency".to_owned()
        } else {
            shown.iter().map(|it| percentile_name(*it)).collect()
        };
        Chart {
            title: format!("{}: {what} against {}", self.workload, self.sweep.name()),
            subtitle: self.subtitle(),
            x: self.sweep.axis(dots().map(|dot| dot.x)),
            y: Axis::new("latency", Scale::Log10, Unit::Latency, dots().map(|dot| dot.y)),
            series,
            size: CARD,
            ..Chart::default()
        }
    }

    /// The systems under test, and how many of the trials are not valid.
    fn subtitle(&self) -> String {
        let trials = self.points.iter().flat_map(|point| &point.trials);
        let trials: Vec<_> = trials.map(|at| &self.digest.trials[*at]).collect();
        let under_test = self.digest.under_test_of(self.workload);
        let told = [under_test, conclusion::not_valid_of(&trials)];
        told.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" \u{b7} ")
    }

    fn unit(&self) -> &'static str {
        self.digest.event_of(self.workload).per_second()
    }

    /// The law of each system that was fitted to its sweep over clients.
    fn curves(&self) -> Vec<Series> {
        let curve = |(colour, system): (usize, &str)| {
            scaling::curve(self.sweeps, system, self.workload, colour)
        };
        match self.sweep {
            Sweep::Clients => self.systems().filter_map(curve).collect(),
            Sweep::Rate => Vec::new(),
        }
    }

    /// The interval of the clients with the highest throughput of an only system.
    fn peak(&self) -> Option<Shade> {
        let systems: Vec<(usize, &str)> = self.systems().collect();
        let &[(_, system)] = &systems[..] else { return None };
        let found = scaling::of(self.sweeps, system, self.workload)?;
        let Peak::Within { clients, .. } = found.peak else { return None };
        let ends = found.levels.first()?.clients as f64..=found.levels.last()?.clients as f64;
        let to = clients.high?.min(*ends.end());
        let note = format!(
            "highest throughput of the curve at {} clients",
            scaling::with_interval(&clients, |it| number(it.round()))
        );
        Some(Shade { from: clients.low.max(*ends.start()), to, kind: ShadeKind::Peak, note })
    }

    /// Throughput of the systems side by side, when there is only one number of clients.
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
        let clients = self.points.first().map_or(String::new(), |point| load_of(point));
        let dots = series.iter().flat_map(|line| &line.dots);
        let highest = dots.map(|dot| dot.error.map_or(dot.y, |(_, high)| high.max(dot.y)));
        Some(Chart {
            title: format!("{}: throughput of {clients}", self.workload),
            subtitle: self.subtitle(),
            description: self.throughput_description(),
            remark: self.remark(self.symbols(&series)),
            x: Axis::names("system", systems.iter().map(|(_, name)| (*name).to_owned()).collect()),
            y: Axis::new(self.unit(), Scale::Linear, Unit::Number, highest),
            series,
            size: WHOLE_ROW,
            ..Chart::default()
        })
    }

    fn throughput_line(&self, colour: usize, system: &str) -> Series {
        let dots = self.points_of(system).filter_map(|point| {
            let estimate = self.digest.estimate(point, |summary| summary.transactions_per_s)?;
            let interval = Figure::Throughput.interval(self.digest, point);
            let clients = load_of(point);
            let spread = spread_text(interval, number);
            Some(Dot {
                note: Some(format!("{clients}: {} per s{spread}", number(estimate.median))),
                validity: self.digest.validity_of(point),
                ..with_bar(Dot::at(self.sweep.of(point), estimate.median), interval)
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
            let clients = load_of(point);
            Some(format!("{system} is highest with {} per second at {clients}", number(rate)))
        });
        best.collect::<Vec<_>>().join("; ")
    }

    /// Latency percentiles against throughput, one point for each number of clients or offered rate.
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
                    ..Series::line("", 0, self.percentile_dots(system, *percent, is_top))
                });
            }
        }
        let dots = || series.iter().flat_map(|line| &line.dots);
        Some(Chart {
            title: format!("{}: latency against throughput", self.workload),
            subtitle: self.subtitle(),
            description: format!(
                "Each step along a line is one {}, written beside the highest percentile.",
                self.sweep.step()
            ),
            x: Axis::new(self.unit(), Scale::Linear, Unit::Number, dots().map(|dot| dot.x)),
            remark: self.remark(self.symbols(&series).into_iter().chain(self.other_percentiles())),
            y: Axis::new("latency", Scale::Log10, Unit::Latency, dots().flat_map(ends)),
            series,
            size: HALF_ROW,
            ..Chart::default()
        })
    }

    /// All percentiles of one system, up to the number of lines that can be distinguished. Of several systems
    /// the lowest percentile and the highest up to p99, or the last when all are above it.
    fn shown_percentiles(&self) -> Vec<f64> {
        let all = &self.digest.run.header.percentiles;
        if self.systems().count() == 1 || all.len() <= 2 {
            return all.iter().copied().take(LINES_MAX).collect();
        }
        let high = all.iter().copied().rfind(|percent| *percent <= 99.0);
        [all.first().copied(), high.or(all.last().copied())].into_iter().flatten().collect()
    }

    /// Which percentiles are not shown; `None` when all are.
    fn other_percentiles(&self) -> Option<String> {
        let shown = self.shown_percentiles();
        let all = self.digest.run.header.percentiles.iter().copied();
        let (shown, others): (Vec<f64>, Vec<f64>) = all.partition(|it| shown.contains(it));
        let names = |of: &[f64]| of.iter().map(|it| percentile_name(*it)).collect::<Vec<_>>();
        (!others.is_empty()).then(|| {
            let (shown, others) = (names(&shown).join(", "), names(&others).join(", "));
            format!("Shown: {shown}. The table of results also has {others}.")
        })
    }

    fn percentile_dots(&self, system: &str, percent: f64, has_label: bool) -> Vec<Dot> {
        let dots = self.points_of(system).filter_map(|point| {
            let rate = self.digest.estimate(point, |summary| summary.transactions_per_s)?.median;
            let (value, is_bound) =
                self.digest.bounded(point, |summary| summary.latency.percentile(percent))?;
            let clients = load_of(point);
            let name = percentile_name(percent);
            let system =
                if self.systems().count() > 1 { format!("{system}, ") } else { String::new() };
            let figure = Figure::Latency(percent);
            let interval = figure.interval(self.digest, point).filter(|_| !is_bound);
            let dot = with_bar(Dot::at(rate, value.median), interval);
            Some(Dot {
                label: has_label.then(|| self.sweep.text(point)),
                place: Some(format!("{} ({system}{clients})", number(rate))),
                note: Some(format!(
                    "{clients}: {name} {} at {} per s{}",
                    bounded(latency(value.median), is_bound),
                    number(rate),
                    spread_text(interval, latency)
                )),
                arrow: if is_bound { Some(Arrow::Value) } else { dot.arrow },
                validity: self.digest.validity_of(point),
                ..dot
            })
        });
        dots.filter(|dot| dot.y > 0.0).collect()
    }

    /// Systems that have points here, each with the colour that it has on the whole page.
    pub(super) fn systems(&self) -> impl Iterator<Item = (usize, &'a str)> {
        let all = self.digest.systems().into_iter().enumerate();
        all.map(|(colour, (name, _))| (colour, name))
            .filter(|(_, name)| self.points.iter().any(|point| point.system == *name))
    }

    fn points_of(&self, system: &str) -> impl Iterator<Item = &'d Point<'a>> {
        let mut points: Vec<_> =
            self.points.iter().filter(|point| point.system == system).copied().collect();
        points.sort_by(|one, other| self.sweep.of(one).total_cmp(&self.sweep.of(other)));
        points.into_iter()
    }

    /// What the bars and arrows of a plot mean.
    fn symbols(&self, series: &[Series]) -> Vec<String> {
        let dots = || series.iter().flat_map(|line| &line.dots);
        let has = |arrow| dots().any(|dot| dot.arrow == Some(arrow));
        let value = "An arrow: this or more, because transactions were never answered.";
        let bar = "An arrow at the end of a bar: the 95 % interval goes on; the table of intervals has its end.";
        let arrows = [(Arrow::Value, value), (Arrow::ErrorBar, bar)];
        let arrows = arrows.into_iter().filter(|(arrow, _)| has(*arrow));
        arrows.map(|(_, text)| text.to_owned()).collect()
    }

    pub(super) fn levels(&self) -> Vec<f64> {
        let mut levels: Vec<f64> = self.points.iter().map(|point| self.sweep.of(point)).collect();
        levels.sort_by(f64::total_cmp);
        levels.dedup();
        levels
    }
}

/// A dot with its error bar. One that ends too far above is cut there; one that begins at zero has no place on an axis
/// of logarithms.
fn with_bar(dot: Dot, interval: Option<Confidence>) -> Dot {
    let highest = HIGHEST_BAR * dot.y;
    let interval = interval.filter(|it| it.low > 0.0);
    let is_cut = |it: &Confidence| it.high.is_none_or(|high| high > highest);
    Dot {
        error: interval.map(|it| (it.low, it.high.map_or(highest, |high| high.min(highest)))),
        arrow: interval.filter(is_cut).map(|_| Arrow::ErrorBar),
        ..dot
    }
}

fn ends(dot: &Dot) -> [f64; 3] {
    let (low, high) = dot.error.unwrap_or((dot.y, dot.y));
    [low, dot.y, high]
}

fn spread_text(interval: Option<Confidence>, show: impl Fn(f64) -> String) -> String {
    interval.map_or(String::new(), |it| format!(", 95 % interval {}", it.text(show)))
}

pub(super) fn load_of(point: &Point<'_>) -> String {
    load_text(point.clients, point.rate)
}
