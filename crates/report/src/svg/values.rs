//! The values of a plot's points as attributes of its series, for the script that shows them.

use super::chart::{Arrow, Chart, Dot, Series};
use super::scale::{Scale, Unit};
use crate::table::escape;

/// Separates the texts of one attribute.
const SEPARATOR: char = '|';

impl Chart {
    /// The attributes of the plot: names of its axes, left, top, right and bottom of its area, `data-time` with the ends
    /// of an axis of time, and `data-by` where a point is
    /// found by both coordinates.
    pub(super) fn axes_attributes(&self, [left, top, right, bottom]: [f64; 4]) -> String {
        let time = match self.x.unit {
            Unit::Seconds => format!(" data-time=\"{}\"", self.x.end()),
            _ => String::new(),
        };
        let by = if self.has_measured_places() { " data-by=\"point\"" } else { "" };
        format!(
            " data-x=\"{}\" data-y=\"{}\" data-area=\"{left:.1} {top} {right:.1} {bottom}\"{time}{by}",
            escape(&self.x.label),
            escape(&self.y.label)
        )
    }

    /// Whether the values on the x axis are measured too, so that no line has the places of another.
    fn has_measured_places(&self) -> bool {
        self.x.scale == Scale::Linear && self.series.iter().any(|series| series.has_markers)
    }

    /// The attributes of a series: its name, and the place and value of each point. Places that are those of an
    /// earlier series, as far as they go and but for the last, are not repeated.
    pub(super) fn series_attributes(&self, series: &Series, known: &mut Vec<String>) -> String {
        let places: Vec<String> = series.dots.iter().map(|dot| self.place(dot)).collect();
        let values: Vec<String> = series.dots.iter().map(|dot| self.value(dot)).collect();
        let before = known.get(..places.len()).and_then(<[String]>::split_last);
        let places_text = match (places.split_last(), before) {
            (Some((last, others)), Some((last_before, others_before)))
                if others == others_before =>
            {
                let is_same = last == last_before;
                if is_same { String::new() } else { format!(" data-last=\"{}\"", escape(last)) }
            }
            _ => {
                let text = format!(" data-x=\"{}\"", joined(&places));
                *known = places;
                text
            }
        };
        format!(" data-n=\"{}\"{places_text} data-y=\"{}\"", escape(&series.name), joined(&values))
    }

    fn place(&self, dot: &Dot) -> String {
        dot.place.clone().unwrap_or_else(|| self.x.show(dot.x))
    }

    fn value(&self, dot: &Dot) -> String {
        if let Some(value) = &dot.value {
            return value.clone();
        }
        let value = self.y.show(dot.y);
        match (dot.error, dot.arrow) {
            (_, Some(Arrow::Value)) => format!("\u{2265} {value}"),
            (None, _) => value,
            (Some((low, high)), arrow) => {
                let beyond = if arrow.is_some() { "more than " } else { "" };
                format!("{value} ({} to {beyond}{})", self.y.show(low), self.y.show(high))
            }
        }
    }
}

fn joined(texts: &[String]) -> String {
    let mut out = String::new();
    for (at, text) in texts.iter().enumerate() {
        if at > 0 {
            out.push(SEPARATOR);
        }
        out.push_str(&escape(&text.replace(SEPARATOR, "/")));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::svg::{Axis, Size, Unit, Width};

    fn chart(series: Vec<Series>) -> Chart {
        Chart {
            title: "t".to_owned(),
            description: String::new(),
            x: Axis::seconds(3.0),
            y: Axis::new("latency", Scale::Log10, Unit::Latency, [1e6, 3e6]),
            series,
            size: Size { width: Width::Half, height: 240.0 },
            ..Chart::default()
        }
    }

    #[test]
    fn values_stand_once_in_the_page_and_shared_places_too() {
        let line = |name: &str, values: [f64; 2], places: [f64; 2]| {
            let dots = values.iter().zip(places).map(|(y, x)| Dot::at(x, *y));
            Series::line(name, 0, dots.collect())
        };
        let html = chart(vec![
            line("p50", [1e6, 1.23e6], [0.5, 1.5]),
            line("p|99", [2e6, 3e6], [0.5, 1.5]),
            line("max", [2e6, 3e6], [0.5, 1.25]),
        ])
        .html("x");
        assert!(html.contains("<g data-n=\"p50\" data-x=\"0.5|1.5\" data-y=\"1.00 ms|1.23 ms\">"));
        assert!(html.contains("<g data-n=\"p|99\" data-y=\"2.00 ms|3.00 ms\">"), "{html}");
        assert!(html.contains("<g data-n=\"max\" data-last=\"1.25\" data-y="), "{html}");
    }

    #[test]
    fn bounds_and_intervals_are_part_of_a_value() {
        let dots = vec![
            Dot { arrow: Some(Arrow::Value), ..Dot::at(0.0, 1e6) },
            Dot { error: Some((1e6, 3e6)), ..Dot::at(1.0, 2e6) },
            Dot {
                error: Some((1e6, 3e6)),
                arrow: Some(Arrow::ErrorBar),
                place: Some("a|b".to_owned()),
                ..Dot::at(2.0, 2e6)
            },
        ];
        let html = chart(vec![Series::line("p99", 0, dots)]).html("x");
        let values =
            "\u{2265} 1.00 ms|2.00 ms (1.00 ms to 3.00 ms)|2.00 ms (1.00 ms to more than 3.00 ms)";
        assert!(html.contains(&format!("data-x=\"0|1|a/b\" data-y=\"{values}\"")), "{html}");
    }
}
