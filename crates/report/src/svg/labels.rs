//! Texts next to points, placed so that they cover neither each other nor, where possible, markers and lines.

use std::fmt::Write;

use super::chart::{Arrow, Dot, Series};
use super::draw::{CHARACTER, Drawing};
use crate::table::escape;

/// Height of a text, and half the width of a marker.
const HEIGHT: f64 = 14.0;
const MARKER: f64 = 5.5;
/// Points of a line between two dots at which it must not cross a text.
const STEPS: u32 = 12;

/// What a text may not cover: another text at any price, the edge of the drawing, a marker, a line.
const COST_TEXT: u32 = 1_000;
const COST_EDGE: u32 = 200;
const COST_MARKER: u32 = 20;
const COST_LINE: u32 = 1;

pub(super) struct Labels {
    pub(super) svg: String,
    /// How many had no room.
    pub(super) left_out: usize,
}

#[derive(Clone, Copy, Debug)]
struct Area {
    left: f64,
    top: f64,
    right: f64,
    bottom: f64,
}

impl Area {
    fn has(&self, (x, y): (f64, f64)) -> bool {
        (self.left..=self.right).contains(&x) && (self.top..=self.bottom).contains(&y)
    }

    fn meets(&self, other: &Self) -> bool {
        let apart = self.right < other.left
            || other.right < self.left
            || self.bottom < other.top
            || other.bottom < self.top;
        !apart
    }
}

/// A text at one of its possible places.
#[derive(Clone, Copy, Debug)]
struct Spot {
    x: f64,
    y: f64,
    anchor: &'static str,
    area: Area,
}

impl Drawing<'_> {
    /// Every text next to a point, the cheapest place first found around it; without those that would cover another.
    pub(super) fn labels(&self) -> Labels {
        let lines: Vec<Vec<(f64, f64)>> =
            self.chart.series.iter().map(|it| self.places(it)).collect();
        let mut taken: Vec<Area> = Vec::new();
        let mut labels = Labels { svg: String::new(), left_out: 0 };
        for (series, places) in self.chart.series.iter().zip(&lines) {
            for (dot, (x, y)) in series.dots.iter().zip(places) {
                let Some(text) = &dot.label else { continue };
                let spots = spots(*x, self.top_of(dot, *y), *y, text);
                let cost = |spot: &Spot| self.cost(spot, &taken, &lines);
                let best = spots.into_iter().map(|spot| (cost(&spot), spot));
                let Some((cost, spot)) = best.min_by_key(|(cost, _)| *cost) else { continue };
                if cost >= COST_TEXT {
                    labels.left_out += 1;
                    continue;
                }
                taken.push(spot.area);
                let _ = writeln!(
                    labels.svg,
                    "<text class=\"tick value\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{}\">{}</text>",
                    spot.x,
                    spot.y,
                    spot.anchor,
                    escape(text)
                );
            }
        }
        labels
    }

    fn places(&self, series: &Series) -> Vec<(f64, f64)> {
        series.dots.iter().map(|dot| (self.x(dot.x), self.y(dot.y))).collect()
    }

    /// The upper end of a dot with its error bar and arrow.
    fn top_of(&self, dot: &Dot, y: f64) -> f64 {
        let y = dot.error.map_or(y, |(_, high)| self.y(high).min(y));
        if dot.arrow == Some(Arrow::Value) { y - 12.0 } else { y }
    }

    fn cost(&self, spot: &Spot, taken: &[Area], lines: &[Vec<(f64, f64)>]) -> u32 {
        let area = &spot.area;
        let texts = taken.iter().filter(|other| other.meets(area)).count() as u32;
        let is_out = area.left < self.left || area.right > self.width() || area.top < 0.0;
        let mut cost = texts * COST_TEXT + u32::from(is_out) * COST_EDGE;
        for (series, places) in self.chart.series.iter().zip(lines) {
            if series.has_markers {
                let markers = places.iter().filter(|place| marker(**place).meets(area));
                cost += markers.count() as u32 * COST_MARKER;
            }
            if series.has_line {
                let crossing = places.windows(2).filter(|ends| crosses(ends, area));
                cost += crossing.count() as u32 * COST_LINE;
            }
        }
        cost
    }
}

/// The places around a dot: above it, beside it, below it.
fn spots(x: f64, top: f64, y: f64, text: &str) -> Vec<Spot> {
    let width = text.chars().count() as f64 * CHARACTER;
    let far = MARKER + 3.0;
    [
        (x, top - 9.0, "middle", x - width / 2.0),
        (x + far, y + 4.0, "start", x + far),
        (x - far, y + 4.0, "end", x - far - width),
        (x + far, y - 7.0, "start", x + far),
        (x - far, y - 7.0, "end", x - far - width),
        (x, y + 9.0 + HEIGHT, "middle", x - width / 2.0),
    ]
    .map(|(x, y, anchor, left)| {
        let area = Area { left, top: y - HEIGHT + 3.0, right: left + width, bottom: y + 3.0 };
        Spot { x, y, anchor, area }
    })
    .to_vec()
}

fn marker((x, y): (f64, f64)) -> Area {
    Area { left: x - MARKER, top: y - MARKER, right: x + MARKER, bottom: y + MARKER }
}

fn crosses(ends: &[(f64, f64)], area: &Area) -> bool {
    let ((x1, y1), (x2, y2)) = (ends[0], ends[1]);
    (0..=STEPS).any(|step| {
        let part = f64::from(step) / f64::from(STEPS);
        area.has((x1 + (x2 - x1) * part, y1 + (y2 - y1) * part))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::svg::{Axis, Chart, Scale, Size, Unit, Width};

    /// Latencies that double with the clients at a throughput that stays the same.
    fn saturated() -> Chart {
        let line = |name: &str, colour: usize, least: f64| {
            let dots = (0..8).map(|level: i32| Dot {
                label: (colour == 1).then(|| (1 << level).to_string()),
                ..Dot::at(f64::from(level.min(3)) * 100.0 + 100.0, least * 2_f64.powi(level.max(3)))
            });
            Series { has_markers: true, ..Series::line(name, colour, dots.collect()) }
        };
        let series = vec![line("p50", 0, 1e5), line("p99", 1, 4e5)];
        let values = || series.iter().flat_map(|line| &line.dots);
        Chart {
            title: "t".to_owned(),
            description: String::new(),
            x: Axis::new("tps", Scale::Linear, Unit::Number, values().map(|dot| dot.x)),
            y: Axis::new("latency", Scale::Log10, Unit::Latency, values().map(|dot| dot.y)),
            series,
            size: Size { width: Width::Half, height: 340.0 },
            ..Chart::default()
        }
    }

    #[test]
    fn levels_at_saturation_do_not_cover_each_other() {
        let chart = saturated();
        let labels = Drawing::of(&chart).labels();
        assert_eq!(labels.left_out, 0);
        let number = |text: &str, name: &str| -> f64 {
            let rest = text.split_once(&format!(" {name}=\"")).unwrap().1;
            rest.split('"').next().unwrap().parse().unwrap()
        };
        let places: Vec<(f64, f64)> =
            labels.svg.lines().map(|text| (number(text, "x"), number(text, "y"))).collect();
        assert_eq!(places.len(), 8);
        for (at, one) in places.iter().enumerate() {
            for other in &places[at + 1..] {
                let is_apart = (one.0 - other.0).abs() > 24.0 || (one.1 - other.1).abs() >= HEIGHT;
                assert!(is_apart, "{one:?} {other:?}: {}", labels.svg);
            }
        }
        // On the vertical line, the texts stand beside their dots.
        let beside = labels.svg.matches("text-anchor=\"start\"").count();
        assert!(beside + labels.svg.matches("text-anchor=\"end\"").count() >= 4, "{}", labels.svg);
    }

    #[test]
    fn a_text_without_room_is_left_out_and_the_plot_says_so() {
        let mut chart = saturated();
        for dot in &mut chart.series[1].dots {
            (dot.x, dot.y) = (200.0, 1e6);
        }
        let left_out = Drawing::of(&chart).labels().left_out;
        assert!((1..8).contains(&left_out), "{left_out}");
        assert!(chart.html("x").contains(&format!("{left_out} labels have no room")));
    }
}
