//! Drawing the bands of a chart.

use super::chart::Band;
use super::draw::Drawing;
use crate::table::escape;

/// Width of one letter of a label.
const LETTER: f64 = 6.2;
/// The part of a lane that its bands fill.
const FILLED: f64 = 0.8;

impl Drawing<'_> {
    /// A band with its label, where that fits: above the plot, or in its lane.
    pub(super) fn band(&self, band: &Band) -> String {
        let (from, to) = (self.x(band.from), self.x(band.to));
        let (top, bottom, text) = match band.lane {
            None => (self.top(), self.bottom(), self.top() - 6.0),
            Some(lane) => {
                let middle = self.y(lane);
                (self.y(lane + FILLED / 2.0), self.y(lane - FILLED / 2.0), middle + 4.0)
            }
        };
        // Short spans have a minimum width to stay visible.
        let width = (to - from).max(0.5);
        let label = if band.label.chars().count() as f64 * LETTER <= width {
            let middle = f64::midpoint(from, to);
            format!(
                "<text class=\"band-label\" x=\"{middle:.1}\" y=\"{text:.1}\" text-anchor=\"middle\">{}</text>",
                escape(&band.label)
            )
        } else {
            String::new()
        };
        format!(
            "<g><title>{}</title><rect class=\"{}\" x=\"{from:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" \
             height=\"{:.1}\"/>{label}</g>\n",
            escape(&band.note),
            band.fill.class(),
            bottom - top
        )
    }
}
