//! Drawing a chart.

use std::fmt::{self, Display, Formatter, Write};

use analysis::Validity;

use super::chart::{Arrow, Chart, Dot, Mark, Moment, Series, Shade, ShadeKind, Width};
use super::scale::{Axis, Scale};
use crate::number::several;
use crate::table::escape;

/// Width of a plot in its own units; the page scales it to its column.
pub(super) const WIDTH: f64 = 560.0;
/// Width of a plot that takes a whole row: two plots with the gap and edges between them.
const WIDTH_WIDE: f64 = 1_180.0;
/// Width of a plot in a card.
const WIDTH_CARD: f64 = 228.0;

/// Space for the label of the y axis.
const LABEL: f64 = 32.0;
/// Space for one character of a tick, in the larger type of narrow windows and of print.
pub(super) const CHARACTER: f64 = 8.6;

/// The same in a card, and the number of ticks there.
const CARD_CHARACTER: f64 = 6.0;
const CARD_TICKS: usize = 4;
const CARD_X_TICKS: usize = 8;
/// Least distance between the names of two lines.
const NAMES_APART: f64 = 11.0;

/// Number of markers and colours before they repeat.
const COLOURS: usize = 8;

/// Dash patterns, the first solid.
const DASHES: [&str; 8] = ["", "7 4", "2 3", "9 3 2 3", "14 4", "4 4", "9 3 2 3 2 3", "14 4 4 4"];

/// A colour that comes again has the dash pattern this many places on.
const DASH_SHIFT: usize = 2;

const ONE_POINT: &str = "h3";

/// Ticks of the x axis whose texts are closer than this lose theirs.
const TEXT_GAP: f64 = 6.0;

/// Height of the label of a moment, and how many are below each other before they begin at the top again.
const MOMENT_LABEL: f64 = 15.0;
const MOMENT_LABELS: usize = 6;

impl Chart {
    /// The plot with its legend as a figure of HTML. `id` is unique on the page.
    pub(crate) fn html(&self, id: &str) -> String {
        let drawing = Drawing::of(self);
        let labels = drawing.labels();
        let mut out = format!(
            "<figure id=\"{id}\"{}>\n<figcaption>{}<small>{}</small></figcaption>\n",
            if self.size.width == Width::Row { " class=\"wide\"" } else { "" },
            escape(&self.title),
            escape(&self.subtitle)
        );
        out.push_str(&self.legend());
        let svg = drawing.svg(id, &labels.svg);
        match self.size.width {
            Width::Row => out.push_str(&format!(
                "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"{}\">\n{svg}</div>\n",
                escape(&self.title)
            )),
            Width::Card | Width::Half => out.push_str(&svg),
        }
        let left_out = several(labels.left_out as u64, "label has", "labels have");
        let left_out = format!("{left_out} no room in the plot; the tables have all points.");
        let left_out = if labels.left_out > 0 { &left_out } else { "" };
        let remark = format!("{} {left_out}", self.remark);
        if !remark.trim().is_empty() {
            out.push_str(&format!("<p class=\"note\">{}</p>\n", escape(remark.trim())));
        }
        out.push_str("</figure>\n");
        out
    }

    /// The plot alone, for a card.
    pub(crate) fn svg(&self, id: &str) -> String {
        Drawing::of(self).svg(id, "")
    }

    /// A legend for a single line would only repeat the title.
    fn legend(&self) -> String {
        let has_extra = !self.shades.is_empty() || !self.marks.is_empty();
        let are_named = self.series.iter().all(|series| series.is_named);
        if (self.series.len() < 2 || are_named) && !has_extra {
            return String::new();
        }
        let mut out = String::from("<ul class=\"legend\">\n");
        for series in &self.series {
            out.push_str(&legend_item(&key(series), &escape(&series.name)));
        }
        for kind in ShadeKind::ALL {
            if self.shades.iter().any(|shade| shade.kind == kind) {
                let class = kind.class();
                let swatch =
                    format!("<rect class=\"{class}\" x=\"1\" y=\"1\" width=\"26\" height=\"12\"/>");
                out.push_str(&legend_item(&swatch, kind.label()));
            }
        }
        if !self.marks.is_empty() {
            out.push_str(&legend_item(&cross(14.0, 7.0), "failed transactions"));
        }
        out.push_str("</ul>\n");
        out
    }
}

/// A chart with the texts of its ticks, and the edges of its area, which follow from them.
pub(super) struct Drawing<'c> {
    pub(super) chart: &'c Chart,
    x_ticks: Vec<(f64, String)>,
    y_ticks: Vec<(f64, String)>,
    /// After the label and the longest tick of the y axis.
    pub(super) left: f64,
    /// Leaves space for half of the last tick's text.
    right: f64,
}

impl<'c> Drawing<'c> {
    pub(super) fn of(chart: &'c Chart) -> Self {
        let is_card = chart.size.width == Width::Card;
        let (x_ticks, y_ticks) = match is_card {
            true => (chart.x.few_ticks(CARD_X_TICKS), chart.y.few_ticks(CARD_TICKS)),
            false => (chart.x.ticks(), chart.y.ticks()),
        };
        let (label, character) = if is_card { (8.0, CARD_CHARACTER) } else { (LABEL, CHARACTER) };
        let longest = y_ticks.iter().map(|(_, text)| text.chars().count()).max();
        let left = label + longest.unwrap_or_default() as f64 * character;
        let last = x_ticks.last().map_or(0, |(_, text)| text.chars().count());
        let named = chart.series.iter().filter(|series| series.is_named);
        let name = named.map(|series| series.name.chars().count()).max().unwrap_or_default();
        let margin =
            (last as f64 * character / 2.0).max(8.0).max(name as f64 * character + 4.0) + 4.0;
        let mut drawing = Self { chart, x_ticks, y_ticks, left, right: 0.0 };
        drawing.right = drawing.width() - margin;
        drawing
    }

    pub(super) fn svg(&self, id: &str, labels: &str) -> String {
        let (width, height) = (self.width(), self.chart.size.height);
        let mut out = format!(
            "<svg viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{}, {}\" \
             aria-describedby=\"{id}-d\"{}>\n<desc id=\"{id}-d\">{}</desc>\n",
            escape(&self.chart.title),
            escape(&self.chart.subtitle),
            self.chart.axes_attributes(self.area()),
            escape(&self.chart.description)
        );
        self.chart.shades.iter().for_each(|shade| out.push_str(&self.shade(shade)));
        out.push_str(&self.axes());
        self.chart.bands.iter().for_each(|band| out.push_str(&self.band(band)));
        let mut places = Vec::new();
        for series in &self.chart.series {
            let attributes = self.chart.series_attributes(series, &mut places);
            out.push_str(&format!("<g{attributes}>\n{}</g>\n", self.line(series)));
        }
        out.push_str(&self.names());
        out.push_str(labels);
        self.chart.marks.iter().for_each(|mark| out.push_str(&self.mark(mark)));
        let moments = self.chart.moments.iter().enumerate();
        moments.for_each(|(place, moment)| out.push_str(&self.moment(moment, place)));
        out.push_str("</svg>\n");
        out
    }

    pub(super) fn width(&self) -> f64 {
        match self.chart.size.width {
            Width::Card => WIDTH_CARD,
            Width::Half => WIDTH,
            Width::Row => WIDTH_WIDE,
        }
    }

    /// Left, top, right and bottom of the plot without its axes.
    fn area(&self) -> [f64; 4] {
        [self.left, self.top(), self.right, self.bottom()]
    }

    fn is_card(&self) -> bool {
        self.chart.size.width == Width::Card
    }

    pub(super) fn top(&self) -> f64 {
        if self.is_card() { 8.0 } else { 22.0 }
    }

    pub(super) fn bottom(&self) -> f64 {
        self.chart.size.height - if self.is_card() { 20.0 } else { 42.0 }
    }

    pub(super) fn x(&self, value: f64) -> f64 {
        self.left + self.chart.x.place(value) * (self.right - self.left)
    }

    pub(super) fn y(&self, value: f64) -> f64 {
        let bottom = self.bottom();
        bottom - self.chart.y.place(value) * (bottom - self.top())
    }

    fn shade(&self, shade: &Shade) -> String {
        let (from, to) = (self.x(shade.from), self.x(shade.to));
        // Short spans have a minimum width to stay visible.
        let (width, top) = ((to - from).max(1.0), self.top());
        let height = self.bottom() - top;
        format!(
            "<rect class=\"{}\" x=\"{from:.1}\" y=\"{top}\" width=\"{width:.1}\" \
             height=\"{height:.1}\"><title>{}</title></rect>\n",
            shade.kind.class(),
            escape(&shade.note)
        )
    }

    fn axes(&self) -> String {
        let (left, right, bottom) = (self.left, self.right, self.bottom());
        let mut out = String::new();
        for (value, text) in &self.y_ticks {
            let (y, text) = (self.y(*value), escape(text));
            let _ = writeln!(
                out,
                "<path class=\"grid\" d=\"M{left:.1} {y:.1}H{right:.1}\"/>\
                 <text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{text}</text>",
                left - 7.0,
                y + 4.0
            );
        }
        out.push_str("<g class=\"x\">");
        let character = if self.is_card() { CARD_CHARACTER } else { CHARACTER };
        let mut last_end = f64::NEG_INFINITY;
        for (value, text) in &self.x_ticks {
            let x = self.x(*value);
            if !self.is_card() {
                let _ = write!(out, "<path class=\"axis\" d=\"M{x:.1} {bottom}v5\"/>");
            }
            let half = text.chars().count() as f64 * character / 2.0;
            if x - half - last_end >= TEXT_GAP {
                last_end = x + half;
                let below = if self.is_card() { 14.0 } else { 18.0 };
                let (y, text) = (bottom + below, escape(text));
                let _ = writeln!(
                    out,
                    "<text class=\"tick\" x=\"{x:.1}\" y=\"{y}\" text-anchor=\"middle\">{text}</text>"
                );
            }
        }
        out.push_str("</g>\n");
        if self.is_card() {
            return out;
        }
        let middle = f64::midpoint(self.top(), bottom);
        let _ = write!(
            out,
            "<path class=\"axis\" d=\"M{left:.1} {bottom}H{right:.1}\"/>\n\
             <text class=\"label\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\n\
             <text class=\"label\" transform=\"translate(13 {middle:.1}) rotate(-90)\" \
             text-anchor=\"middle\">{}</text>\n",
            f64::midpoint(left, right),
            self.chart.size.height - 6.0,
            escape(&with_scale(&self.chart.x)),
            escape(&with_scale(&self.chart.y))
        );
        out
    }

    /// A bar for each dot of a series that has bars.
    fn column(&self, series: &Series, dot: &Dot, width: f64) -> String {
        let (left, right) = (self.x(dot.x - width / 2.0), self.x(dot.x + width / 2.0));
        let (top, bottom) = (self.y(dot.y), self.bottom());
        let note = dot.note.as_ref().map(|note| format!("<title>{}</title>", escape(note)));
        format!(
            "<g>{}<rect class=\"marker c{}\" x=\"{left:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{:.1}\"/></g>\n",
            note.unwrap_or_default(),
            series.colour % COLOURS,
            right - left,
            (bottom - top).max(0.0)
        )
    }

    fn line(&self, series: &Series) -> String {
        if let Some(width) = series.bar_width {
            let bars = series.dots.iter().map(|dot| self.column(series, dot, width));
            let spreads = series.dots.iter().map(|dot| self.dot(series, dot));
            return bars.chain(spreads).collect();
        }
        let mut path = String::new();
        for (at, dot) in series.dots.iter().enumerate() {
            let command = if at == 0 { 'M' } else { 'L' };
            let _ = write!(path, "{command}{} {}", Tenth(self.x(dot.x)), Tenth(self.y(dot.y)));
        }
        if series.dots.len() == 1 {
            // A line of one point is not visible.
            path.push_str(ONE_POINT);
        }
        let mut out = self.interval_band(series);
        if series.has_line && !series.dots.is_empty() {
            out.push_str(&stroke(series, &path));
            out.push('\n');
        }
        for dot in &series.dots {
            out.push_str(&self.dot(series, dot));
        }
        out
    }

    /// The intervals of all dots as one area.
    fn interval_band(&self, series: &Series) -> String {
        let known = || series.dots.iter().filter_map(|dot| Some((dot.x, dot.error?)));
        if !series.has_band || known().count() < 2 {
            return String::new();
        }
        let lower = known().map(|(x, (low, _))| (x, low));
        let upper: Vec<(f64, f64)> = known().map(|(x, (_, high))| (x, high)).collect();
        let corners = lower.chain(upper.into_iter().rev());
        let corners = corners.map(|(x, y)| format!("{},{}", Tenth(self.x(x)), Tenth(self.y(y))));
        let corners = corners.collect::<Vec<_>>().join(" ");
        format!("<polygon class=\"interval c{}\" points=\"{corners}\"/>\n", series.colour % COLOURS)
    }

    /// The names of series at the ends of their lines, moved apart where lines end near each other.
    fn names(&self) -> String {
        let named = self.chart.series.iter().filter(|series| series.is_named);
        let mut names: Vec<(f64, &Series)> = named
            .filter_map(|series| Some((self.y(series.dots.last()?.y) + 3.5, series)))
            .collect();
        names.sort_by(|one, other| one.0.total_cmp(&other.0));
        for at in 1..names.len() {
            names[at].0 = names[at].0.max(names[at - 1].0 + NAMES_APART);
        }
        // The last one has to stay in the plot, and those above it make room.
        let mut most = self.bottom() + 3.5;
        for (y, _) in names.iter_mut().rev() {
            *y = y.min(most);
            most = *y - NAMES_APART;
        }
        let text = |(y, series): (f64, &Series)| {
            let (x, colour) = (self.right + 4.0, series.colour % COLOURS);
            let name = escape(&series.name);
            format!("<text class=\"tick name c{colour}\" x=\"{x:.1}\" y=\"{y:.1}\">{name}</text>\n")
        };
        names.into_iter().map(text).collect()
    }

    fn dot(&self, series: &Series, dot: &Dot) -> String {
        let (x, y) = (self.x(dot.x), self.y(dot.y));
        let colour = series.colour % COLOURS;
        let mut out = String::new();
        if let Some((low, high)) = dot.error.filter(|_| !series.has_band) {
            let (low, high) = (self.y(low), self.y(high));
            let end = match dot.arrow {
                Some(Arrow::ErrorBar) => arrow_head(x, high),
                Some(Arrow::Value) | None => format!("M{:.1} {high:.1}h8", x - 4.0),
            };
            let _ = writeln!(
                out,
                "<path class=\"bar c{colour}\" d=\"M{x:.1} {low:.1}V{high:.1}M{:.1} {low:.1}h8{end}\"/>",
                x - 4.0
            );
        }
        if dot.arrow == Some(Arrow::Value) {
            let tip = y - 16.0;
            let head = arrow_head(x, tip);
            let _ = writeln!(
                out,
                "<path class=\"bar c{colour}\" d=\"M{x:.1} {y:.1}V{tip:.1}{head}\"/>"
            );
        }
        if series.has_markers {
            let note = dot.note.as_ref().map(|note| format!("<title>{}</title>", escape(note)));
            let note = note.unwrap_or_default();
            let _ = writeln!(out, "<g>{note}{}</g>", standing(dot.validity, series.colour, x, y));
        }
        out
    }

    fn mark(&self, mark: &Mark) -> String {
        let x = self.x(mark.x);
        let (top, bottom) = (self.top(), self.bottom());
        format!(
            "<g class=\"mark\"><title>{}</title><path class=\"wrong-line\" d=\"M{x:.1} {top}V{bottom}\"/>{}</g>\n",
            escape(&mark.note),
            cross(x, top + 2.0)
        )
    }

    /// A line with its label towards the middle of the plot; the labels of several are below each other.
    fn moment(&self, moment: &Moment, place: usize) -> String {
        let (x, top, bottom) = (self.x(moment.x), self.top(), self.bottom());
        let is_left = x < f64::midpoint(self.left, self.right);
        let (label_x, anchor) = if is_left { (x + 4.0, "start") } else { (x - 4.0, "end") };
        let label_y = top + MOMENT_LABEL * (place % MOMENT_LABELS + 1) as f64;
        format!(
            "<g class=\"moment\"><title>{}</title><path d=\"M{x:.1} {top}V{bottom}\"/>\
             <text class=\"label value\" x=\"{label_x:.1}\" y=\"{label_y:.1}\" text-anchor=\"{anchor}\">{}</text></g>\n",
            escape(&moment.note),
            escape(&moment.label)
        )
    }
}

/// A coordinate to a tenth, without a zero at its end.
struct Tenth(f64);

impl Display for Tenth {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}", (self.0 * 10.0).round() / 10.0)
    }
}

fn legend_item(drawing: &str, name: &str) -> String {
    format!(
        "<li><svg viewBox=\"0 0 28 14\" width=\"28\" height=\"14\" aria-hidden=\"true\">{drawing}\
         </svg>{name}</li>\n"
    )
}

/// The line and marker of a series in a legend.
pub(super) fn key(series: &Series) -> String {
    let line = if series.has_line { stroke(series, "M1 7H27") } else { String::new() };
    let marker = if series.has_markers { marker(series.colour, 14.0, 7.0) } else { String::new() };
    format!("{line}{marker}")
}

fn stroke(series: &Series, path: &str) -> String {
    let dash = series.dash + DASH_SHIFT * (series.colour / COLOURS);
    let dash = DASHES[dash % DASHES.len()];
    let dash =
        if dash.is_empty() { String::new() } else { format!(" stroke-dasharray=\"{dash}\"") };
    format!("<path class=\"line c{}\" d=\"{path}\"{dash}/>", series.colour % COLOURS)
}

/// The head of an arrow upwards with its tip at this place.
fn arrow_head(x: f64, y: f64) -> String {
    format!("M{:.1} {:.1}l4 -6l4 6", x - 4.0, y + 6.0)
}

fn cross(x: f64, y: f64) -> String {
    let (left, top) = (x - 4.0, y - 4.0);
    format!("<path class=\"wrong\" d=\"M{left:.1} {top:.1}l8 8m0 -8l-8 8\"/>")
}

/// A label of an axis, with its scale where it is not linear.
fn with_scale(axis: &Axis) -> String {
    match axis.scale {
        Scale::Log10 | Scale::Log2 if !axis.label.contains("log") => {
            format!("{} (log scale)", axis.label)
        }
        _ => axis.label.clone(),
    }
}

/// A marker as its trials can be believed.
fn standing(validity: Validity, colour: usize, x: f64, y: f64) -> String {
    let colour_class = colour % COLOURS;
    match validity {
        Validity::Valid => marker(colour, x, y),
        Validity::Doubtful => {
            marker(colour, x, y).replacen("class=\"marker", "class=\"marker doubtful", 1)
        }
        Validity::Invalid => format!(
            "<path class=\"marker invalid c{colour_class}\" d=\"M{x:.1} {y:.1}m-4 -4l8 8m0 -8l-8 8\"/>"
        ),
    }
}

/// A shape for each colour, so that lines are distinguished without it.
fn marker(colour: usize, x: f64, y: f64) -> String {
    let colour = colour % COLOURS;
    let shape = match colour {
        0 => "m-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0z",
        1 => "m-4 -4h8v8h-8z",
        2 => "m0 -5.5l5 9h-10z",
        3 => "m0 -5.5l5.5 5.5l-5.5 5.5l-5.5 -5.5z",
        4 => "m0 5.5l5 -9h-10z",
        5 => "m-1.5 -5h3v3.5h3.5v3h-3.5v3.5h-3v-3.5h-3.5v-3h3.5z",
        6 => "m-5 -2.5h10v5h-10z",
        _ => "m-2.5 -5h5v10h-5z",
    };
    format!("<path class=\"marker c{colour}\" d=\"M{x:.1} {y:.1}{shape}\"/>")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn thirty_two_lines_have_colours_and_dashes_of_their_own() {
        let line = |at: usize| Series { dash: at, ..Series::line("", at, Vec::new()) };
        let strokes: BTreeSet<String> = (0..32).map(|at| stroke(&line(at), "M0 0")).collect();
        assert_eq!(strokes.len(), 32);
    }
}
