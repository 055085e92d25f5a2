//! The history of a plan as one self-contained page.

use crate::history::{History, MISSING, RunChange, Series, change_text};
use crate::number::number;
use crate::svg::{Axis, Chart, Dot, Moment, Scale, Series as Line, Size, Unit};
use crate::table::escape;

use super::document::{closing, opening};
use super::{figures, folded, paragraph, section, table};

const SIZE: Size = Size { is_wide: false, height: 240.0 };

impl History {
    /// As a page with a plot of each series.
    pub fn html(&self) -> String {
        let title = self.title();
        let mut out = opening(&escape(&title));
        out.push_str(&format!(
            "<header>\n<h1>{}</h1>\n<p class=\"under-test\">{}</p>\n</header>\n<main>\n",
            escape(&title),
            escape(&self.test_text())
        ));
        out.push_str(&self.changes_section());
        out.push_str(&section("series", "Series", &table(&self.table(), "")));
        let charts: Vec<Chart> = self.series.iter().map(|series| self.chart(series)).collect();
        let plots = if charts.is_empty() { String::new() } else { figures(&charts, "h") };
        out.push_str(&section("plots", "Plots", &plots));
        let runs = folded(&self.runs_table(), "Runs");
        let left_out = folded(&self.left_out_table(), "Left out");
        let missing = folded(&self.missing_table(), MISSING);
        out.push_str(&section("runs", "Runs", &format!("{runs}{left_out}{missing}")));
        out.push_str(&closing());
        out
    }

    fn changes_section(&self) -> String {
        let one = |change: &RunChange| {
            let (told, differences) = self.differences(change);
            let differences = differences.map(|it| folded(&it, "What differs")).unwrap_or_default();
            let changed = table(&self.changed_table(change.run), &self.run_name(change.run));
            format!("{changed}{}{differences}", paragraph(&told))
        };
        let body: String = self.changes.iter().map(one).collect();
        let none = || paragraph("No figure changed.");
        let body = if body.is_empty() { none() } else { body };
        section("changes", "Changes", &body)
    }

    /// A series with the mean of each part between its changes. The runs have the places from 1 on.
    fn chart(&self, series: &Series) -> Chart {
        let values = &series.values;
        let dots = values.iter().map(|(run, value)| Dot {
            place: Some(self.run_name(*run)),
            ..Dot::at((run + 1) as f64, *value)
        });
        let measured = Line { has_markers: true, ..Line::line("each run", 0, dots.collect()) };
        let levels = Line { dash: 1, ..Line::line("mean", 1, self.levels(series)) };
        let moments = series.changes.iter().map(|change| {
            let run = values[change.at].0;
            let label = change_text(change);
            let note = format!("{label} from {}", self.run_name(run));
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
            subtitle: String::new(),
            description: format!(
                "{} runs; {} changes",
                number(values.len() as f64),
                number(moments.len() as f64)
            ),
            remark: String::new(),
            x: Axis::new("run", Scale::Linear, Unit::Number, [self.runs.len() as f64]),
            y: Axis::new(label, Scale::Linear, unit, values.iter().map(|(_, value)| *value)),
            series: vec![measured, levels],
            shades: Vec::new(),
            bands: Vec::new(),
            marks: Vec::new(),
            moments,
            size: SIZE,
        }
    }

    /// The mean of each part between two changes, from its first run to its last.
    fn levels(&self, series: &Series) -> Vec<Dot> {
        let Series { values, changes, .. } = series;
        let starts = std::iter::once(0).chain(changes.iter().map(|change| change.at));
        let ends = changes.iter().map(|change| change.at).chain([values.len()]);
        let parts = starts.zip(ends).filter_map(|(start, end)| values.get(start..end));
        let of_part = |part: &[(usize, f64)]| {
            let mean = part.iter().map(|(_, value)| value).sum::<f64>() / part.len() as f64;
            let ends = [part.first(), part.last()].into_iter().flatten();
            let dot = |(run, _): &(usize, f64)| Dot {
                place: Some(self.run_name(*run)),
                ..Dot::at((run + 1) as f64, mean)
            };
            ends.map(dot).collect::<Vec<_>>()
        };
        parts.flat_map(of_part).collect()
    }
}
