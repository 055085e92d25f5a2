//! The plot of a series of a history.

use super::views::change_text;
use super::{History, Series};
use crate::number::number;
use crate::svg::{Axis, Chart, Dot, Moment, Scale, Series as Line, Size, Unit, Width};

const SIZE: Size = Size { width: Width::Half, height: 240.0 };

/// A series with the mean of each part between its changes. The runs have the places from 1 on.
pub(super) fn chart(history: &History, series: &Series) -> Chart {
    let values = &series.values;
    let dots = values.iter().map(|(run, value)| Dot {
        place: Some(history.run_name(*run)),
        ..Dot::at((run + 1) as f64, *value)
    });
    let measured = Line { has_markers: true, ..Line::line("each run", 0, dots.collect()) };
    let levels = Line { dash: 1, ..Line::line("mean", 1, levels(history, series)) };
    let moments = series.changes.iter().map(|change| {
        let run = values[change.at].0;
        let label = change_text(change);
        let note = format!("{label} from {}", history.run_name(run));
        Moment { x: run as f64 + 0.5, label, note }
    });
    let names = series.names();
    let (unit, label) = match series.is_latency() {
        true => (Unit::Latency, "latency"),
        false => (Unit::Number, "transactions per second"),
    };
    let moments: Vec<Moment> = moments.collect();
    Chart {
        title: format!("{}, {}, {}: {}", names[0], names[1], names[2], names[3]),
        description: format!(
            "{} runs; {} changes",
            number(values.len() as f64),
            number(moments.len() as f64)
        ),
        x: Axis::new("run", Scale::Linear, Unit::Number, [history.runs.len() as f64]),
        y: Axis::new(label, Scale::Linear, unit, values.iter().map(|(_, value)| *value)),
        series: vec![measured, levels],
        moments,
        size: SIZE,
        ..Chart::default()
    }
}

/// The mean of each part between two changes, from its first run to its last.
fn levels(history: &History, series: &Series) -> Vec<Dot> {
    let Series { values, changes, .. } = series;
    let starts = std::iter::once(0).chain(changes.iter().map(|change| change.at));
    let ends = changes.iter().map(|change| change.at).chain([values.len()]);
    let parts = starts.zip(ends).filter_map(|(start, end)| values.get(start..end));
    let of_part = |part: &[(usize, f64)]| {
        let mean = part.iter().map(|(_, value)| value).sum::<f64>() / part.len() as f64;
        let ends = [part.first(), part.last()].into_iter().flatten();
        let dot = |(run, _): &(usize, f64)| Dot {
            place: Some(history.run_name(*run)),
            ..Dot::at((run + 1) as f64, mean)
        };
        ends.map(dot).collect::<Vec<_>>()
    };
    parts.flat_map(of_part).collect()
}
