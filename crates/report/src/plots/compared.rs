//! Variants side by side: a plot of ratios with their intervals.

use analysis::Comparison;

use crate::comparison::Group;
use crate::digest::{Point, load_text};
use crate::figure::Figure;
use crate::noise_floor;
use crate::svg::{Axis, Chart, Dot, Series, Size, Width};

const SIZE: Size = Size { width: Width::Row, height: 300.0 };
/// Distance between the variants of one load on the x axis, where loads are 1 apart.
const APART: f64 = 0.12;

/// The figure of the verdict for one workload, as a ratio to the baseline's, at one x position for each load.
pub(crate) fn chart(group: &Group<'_, '_>, workload: &str) -> Option<Chart> {
    let mut base_points = group.points(group.baseline());
    base_points.retain(|point| point.workload == workload);
    let loads: Vec<String> = base_points.iter().map(|point| load_of(point)).collect();
    let figure = group.judged_by(&base_points);
    let mut series = Vec::new();
    let names: Vec<&str> = group.others().chain(group.again).collect();
    for (colour, name) in names.iter().copied().enumerate() {
        let shift = (colour as f64 - (names.len() as f64 - 1.0) / 2.0) * APART;
        let dots = group.points(name).into_iter().filter(|point| point.workload == workload);
        let dots = dots.filter_map(|point| {
            let place = loads.iter().position(|load| *load == load_of(point))?;
            let found = group.compare(point, figure)?;
            Some(dot(place as f64 + shift, found, &told(group, name, figure, found)))
        });
        let line = Series::line(name, colour + 1, dots.collect());
        series.push(Series { has_markers: true, ..line });
    }
    if series.iter().all(|line| line.dots.is_empty()) {
        return None;
    }
    let values = series.iter().flat_map(|line| &line.dots);
    let values = values.flat_map(|dot| {
        let (low, high) = dot.error.unwrap_or((dot.y, dot.y));
        [low, high, dot.y]
    });
    let y = Axis::ratios(format!("ratio to {}, log scale", group.baseline()), values);
    let ends = [-0.5, loads.len() as f64 - 0.5].map(|place| Dot::at(place, 1.0));
    let baseline = Series::line(format!("{}: 1", group.baseline()), 0, ends.to_vec());
    series.insert(0, Series { dash: 1, ..baseline });
    Some(Chart {
        title: format!("{workload}: {} compared with {}", figure.name(), group.baseline()),
        subtitle: group.under_test(),
        description: description(group, workload, figure),
        x: Axis::names("load", loads),
        y,
        series,
        size: SIZE,
        ..Chart::default()
    })
}

fn load_of(point: &Point<'_>) -> String {
    load_text(point.clients, point.rate)
}

/// The verdict; of the baseline that was measured twice, the noise floor.
fn told(group: &Group<'_, '_>, name: &str, figure: Figure, found: Comparison) -> String {
    let floor = || noise_floor::of(Some(found)).map_or("-".to_owned(), noise_floor::show);
    match group.again == Some(name) {
        true => format!("{} {}", noise_floor::HEAD, floor()),
        false => figure.verdict(found.verdict).to_owned(),
    }
}

fn dot(place: f64, found: Comparison, told: &str) -> Dot {
    let ratio = found.ratio;
    let interval = ratio.logs.has_interval().then_some((ratio.low, ratio.high));
    let spread = interval
        .map_or(String::new(), |(low, high)| format!(", 95 % interval {low:.3} to {high:.3}"));
    let told = format!("{:.3}{spread}: {told}", ratio.ratio);
    Dot {
        error: interval,
        label: Some(format!("{:.3}", ratio.ratio)),
        note: Some(told.clone()),
        value: Some(told),
        ..Dot::at(place, ratio.ratio)
    }
}

fn description(group: &Group<'_, '_>, workload: &str, figure: Figure) -> String {
    let of = |name: &'_ str| {
        let points = group.points(name).into_iter().filter(|point| point.workload == workload);
        let all = points.filter_map(|point| {
            let found = group.compare(point, figure)?;
            Some(format!("{} at {}", told(group, name, figure, found), load_of(point)))
        });
        format!("{name}: {}", all.collect::<Vec<_>>().join(", "))
    };
    group.others().chain(group.again).map(of).collect::<Vec<_>>().join("; ")
}
