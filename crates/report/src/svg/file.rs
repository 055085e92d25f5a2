//! A plot as a file of its own.

use std::fmt::Write;

use super::chart::Chart;
use super::draw::{Drawing, WIDTH, key};
use crate::table::escape;
use crate::wrap::wrap;

/// Height of a line of the head of a plot in a file.
const HEAD_LINE: f64 = 17.0;
/// Width of one of its letters.
const HEAD_LETTER: f64 = 6.6;

impl Chart {
    /// The plot as a file of its own: in light colours, with its title, the system, what else is known of it, and the
    /// names of its series.
    pub(crate) fn file(&self, about: &str, style: &str) -> String {
        let drawing = Drawing::of(self);
        let labels = drawing.labels();
        let lines = [&self.title, &self.subtitle, about].map(str::to_owned);
        let (width, height) = (drawing.width().max(WIDTH), self.size.height);
        let letters = (width / HEAD_LETTER) as usize;
        let lines = lines.iter().filter(|line| !line.is_empty());
        let lines: Vec<String> = lines.flat_map(|line| wrap(line, letters)).collect();
        let top = HEAD_LINE * (lines.len() + 1) as f64 + 8.0;
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {0}\" width=\"{width}\" \
             height=\"{0}\" font-family=\"system-ui, sans-serif\">\n<style>{style}</style>\n\
             <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
            height + top
        );
        for (at, line) in lines.iter().enumerate() {
            let (y, class) = (HEAD_LINE * (at + 1) as f64, if at == 0 { "label" } else { "tick" });
            let _ =
                writeln!(out, "<text class=\"{class}\" x=\"8\" y=\"{y}\">{}</text>", escape(line));
        }
        let mut x = 8.0;
        let y = HEAD_LINE * (lines.len() + 1) as f64;
        for series in self.series.iter().filter(|series| !series.is_named) {
            let _ = writeln!(
                out,
                "<g transform=\"translate({x:.1} {:.1})\">{}<text class=\"tick\" x=\"32\" y=\"11\">{}\
                 </text></g>",
                y - 11.0,
                key(series),
                escape(&series.name)
            );
            x += 48.0 + series.name.chars().count() as f64 * 7.0;
        }
        let svg = drawing.svg("plot", &labels.svg);
        let placed =
            format!("<svg x=\"0\" y=\"{top}\" width=\"{}\" height=\"{height}\" ", drawing.width());
        out.push_str(&svg.replacen("<svg ", &placed, 1));
        out.push_str("</svg>\n");
        out
    }
}
