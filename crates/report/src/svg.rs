//! Plots as inline SVG, drawn here so that a page is self-contained.
//!
//! A [`Chart`] is a value: axes, series, shades, marks and moments in the units of the data. Drawing is the last step.
//! Colours are classes (`c0`, `c1` ...) for which the page's style sheet sets colours for light, dark and
//! print. Every series also has its own marker or dash, so that plots are readable without colour. The values of the
//! points are in the attributes of their series, where the page's script finds them.

mod bands;
mod chart;
mod draw;
mod file;
mod labels;
mod scale;
mod values;

pub(crate) use chart::{
    Arrow, Band, BandFill, Chart, Dot, Mark, Moment, Series, Shade, ShadeKind, Size, Width,
};
pub(crate) use scale::{Axis, Scale, Unit};
