//! Ratios with their intervals in the cells of a table, drawn on one logarithmic scale: a forest plot.

use std::str::FromStr;

/// Width of a drawing, in its own units, and of its margins.
const WIDTH: f64 = 260.0;
const MARGIN: f64 = 6.0;
/// The scale reaches this far on both sides of 1 at least.
const LEAST: f64 = 1.05;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Ratio {
    /// `None`: it is not known.
    pub(crate) value: Option<f64>,
    pub(crate) ends: Option<(f64, f64)>,
    /// How far apart the same thing measured twice was.
    pub(crate) floor: Option<f64>,
}

impl Ratio {
    /// As the text of a cell.
    pub(crate) fn cell(self) -> String {
        let Some(value) = self.value else { return String::new() };
        let ends = self.ends.map_or("- -".to_owned(), |(low, high)| format!("{low} {high}"));
        let floor = self.floor.map_or("-".to_owned(), |floor| floor.to_string());
        format!("{value} {ends} {floor}")
    }

    pub(super) fn parse(cell: &str) -> Self {
        let mut words = cell.split_whitespace().map(|word| f64::from_str(word).ok());
        let mut next = || words.next().flatten();
        let (value, low, high, floor) = (next(), next(), next(), next());
        Self { value, ends: low.zip(high), floor }
    }

    pub(super) fn text(&self) -> String {
        let Some(value) = self.value else { return "-".to_owned() };
        let ends = self.ends.map(|(low, high)| format!(" ({low:.3} to {high:.3})"));
        format!("{value:.3}{}", ends.unwrap_or_default())
    }
}

/// The logarithm of the farther end, which is as far from 1 as its inverse.
pub(super) struct RatioScale(f64);

impl RatioScale {
    pub(super) fn of(ratios: impl Iterator<Item = Ratio>) -> Self {
        let logs = ratios.flat_map(|ratio| {
            let (low, high) = ratio.ends.unzip();
            let floor = ratio.floor.map(|floor| 1.0 + floor);
            [ratio.value, low, high, floor].into_iter().flatten().map(|it| it.ln().abs())
        });
        Self(logs.filter(|log| log.is_finite()).fold(LEAST.ln(), f64::max))
    }

    fn x(&self, ratio: f64) -> f64 {
        let part = (ratio.ln() / self.0).clamp(-1.0, 1.0);
        WIDTH / 2.0 + part * (WIDTH / 2.0 - MARGIN)
    }

    pub(super) fn svg(&self, ratio: &Ratio) -> String {
        let Some(value) = ratio.value else { return "-".to_owned() };
        let middle = self.x(1.0);
        let floor = ratio.floor.map_or(String::new(), |floor| {
            let (from, to) = (self.x(1.0 / (1.0 + floor)), self.x(1.0 + floor));
            let width = to - from;
            format!(
                "<rect class=\"shade\" x=\"{from:.1}\" y=\"0\" width=\"{width:.1}\" height=\"20\"/>"
            )
        });
        let ends = ratio.ends.map_or(String::new(), |(low, high)| {
            format!("<path class=\"bar c0\" d=\"M{:.1} 10H{:.1}\"/>", self.x(low), self.x(high))
        });
        format!(
            "<svg viewBox=\"0 0 {WIDTH} 20\" role=\"img\" aria-label=\"{}\">{floor}<path class=\"grid one\" \
             d=\"M{middle:.1} 0V20\"/>{ends}<circle class=\"marker c0\" cx=\"{:.1}\" cy=\"10\" r=\"4\"/></svg>",
            ratio.text(),
            self.x(value)
        )
    }

    /// Both ends and 1.
    pub(super) fn axis(&self) -> String {
        let text = |x: f64, anchor: &str, text: String| {
            format!(
                "<text class=\"tick\" x=\"{x:.1}\" y=\"12\" text-anchor=\"{anchor}\">{text}</text>"
            )
        };
        let most = self.0.exp();
        format!(
            "<svg viewBox=\"0 0 {WIDTH} 16\" aria-hidden=\"true\">{}{}{}</svg>",
            text(0.0, "start", format!("{:.2} lower", 1.0 / most)),
            text(WIDTH / 2.0, "middle", "1".to_owned()),
            text(WIDTH, "end", format!("higher {most:.2}"))
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_has_what_was_put_into_it() {
        let whole = Ratio { value: Some(0.78), ends: Some((0.52, 1.2)), floor: Some(0.03) };
        for ratio in [whole, Ratio { ends: None, floor: None, ..whole }, Ratio::default()] {
            assert_eq!(Ratio::parse(&ratio.cell()), ratio);
        }
        assert_eq!(whole.text(), "0.780 (0.520 to 1.200)");
    }

    #[test]
    fn a_scale_is_as_far_on_both_sides_of_one() {
        let ratio = Ratio { value: Some(0.5), ends: Some((0.25, 1.0)), floor: None };
        let scale = RatioScale::of([ratio].into_iter());
        assert_eq!([0.25, 1.0, 4.0].map(|it| scale.x(it)), [6.0, 130.0, 254.0]);
        assert!((scale.x(0.5) - 68.0).abs() < 1e-9, "half of the way");
    }
}
