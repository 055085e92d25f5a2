//! Plots as inline SVG, drawn here so that a page needs nothing else.
//!
//! A [`Chart`] is a value: axes, series, shades and marks in the units of the data. Drawing it is the
//! last step. Colours are classes (`c0`, `c1` ...) that the page's style sheet gives a colour for
//! light, dark and print; every series also has a marker or a dash of its own, so that no plot needs
//! colour to be read.

mod chart;
mod draw;
mod scale;

pub(crate) use chart::{Chart, Dot, Mark, Series, Shade, ShadeKind, Size};
pub(crate) use scale::{Axis, Scale, Unit};
