//! A plot as a value.

use analysis::Validity;

use super::scale::Axis;

/// A plot of series over two axes.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Chart {
    pub(crate) title: String,
    /// The systems under test: product, version, storage.
    pub(crate) subtitle: String,
    /// One sentence as a text alternative for screen readers.
    pub(crate) description: String,
    /// Sentences below the plot that everybody should read; often empty.
    pub(crate) remark: String,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    pub(crate) series: Vec<Series>,
    /// Highlighted spans of the x axis.
    pub(crate) shades: Vec<Shade>,
    /// Labelled spans of the x axis.
    pub(crate) bands: Vec<Band>,
    /// Points of the x axis at which failures occurred.
    pub(crate) marks: Vec<Mark>,
    /// Labelled points of the x axis.
    pub(crate) moments: Vec<Moment>,
    pub(crate) size: Size,
}

/// Size of a plot on the page, in its own units.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Size {
    pub(crate) width: Width,
    pub(crate) height: f64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Width {
    /// A part of a card: few ticks, and no labels of axes. What is on them stands beside it.
    Card,
    #[default]
    Half,
    Row,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Series {
    pub(crate) name: String,
    /// Index of colour and marker, from 0. Colours repeat with another dash pattern.
    pub(crate) colour: usize,
    /// Index of the dash pattern, from 0 (solid).
    pub(crate) dash: usize,
    pub(crate) has_markers: bool,
    pub(crate) has_line: bool,
    /// Width of a bar from the x axis to each dot, in units of the x axis; without it the dots are joined by a line.
    pub(crate) bar_width: Option<f64>,
    /// Whether the intervals of the dots are one band in place of a bar each.
    pub(crate) has_band: bool,
    /// Its name at the end of its line, in place of a legend.
    pub(crate) is_named: bool,
    pub(crate) dots: Vec<Dot>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Dot {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) error: Option<(f64, f64)>,
    pub(crate) arrow: Option<Arrow>,
    /// Its marker is filled, hollow or a cross.
    pub(crate) validity: Validity,
    pub(crate) label: Option<String>,
    /// Tooltip where scripts do not run.
    pub(crate) note: Option<String>,
    /// Its place in the tooltip, when that is not the value on the x axis.
    pub(crate) place: Option<String>,
    /// Its value in the tooltip, when that is not the value on the y axis with the error bar.
    pub(crate) value: Option<String>,
}

/// What goes on upwards from where it is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrow {
    /// The value: it is known only from below.
    Value,
    /// The error bar: its end is out of the plot.
    ErrorBar,
}

/// A highlighted span of the x axis.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Shade {
    pub(crate) from: f64,
    pub(crate) to: f64,
    pub(crate) kind: ShadeKind,
    pub(crate) note: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ShadeKind {
    WarmUp,
    Outage,
    /// The load generator itself did not run.
    Stall,
    Capacity,
    /// The interval of the load with the highest throughput.
    Peak,
}

impl ShadeKind {
    pub(crate) const ALL: [Self; 5] =
        [Self::WarmUp, Self::Outage, Self::Stall, Self::Capacity, Self::Peak];

    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::WarmUp => "warm-up",
            Self::Outage => "outage",
            Self::Stall => "dyno was stalled",
            Self::Capacity => "95 % interval of the capacity",
            Self::Peak => "95 % interval of the clients with the highest throughput",
        }
    }

    pub(crate) fn class(self) -> &'static str {
        match self {
            Self::WarmUp => "shade",
            Self::Outage => "shade outage",
            Self::Stall => "shade stall",
            Self::Capacity | Self::Peak => "shade capacity",
        }
    }
}

/// A labelled span of the x axis.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Band {
    pub(crate) from: f64,
    pub(crate) to: f64,
    /// Its place on the y axis, which then has a name for each lane; without one the band is as high as the plot.
    pub(crate) lane: Option<f64>,
    pub(crate) fill: BandFill,
    /// Shown where the band is wide enough.
    pub(crate) label: String,
    pub(crate) note: String,
}

/// What a band is filled with: neighbours alternate, so that each is seen without its label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BandFill {
    Even,
    Odd,
    Failed,
}

impl BandFill {
    pub(crate) fn class(self) -> &'static str {
        match self {
            Self::Even => "band",
            Self::Odd => "band odd",
            Self::Failed => "band failed",
        }
    }
}

/// A point of the x axis at which failures occurred.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Mark {
    pub(crate) x: f64,
    pub(crate) note: String,
}

/// A labelled point of the x axis: a line as high as the plot.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Moment {
    pub(crate) x: f64,
    pub(crate) label: String,
    pub(crate) note: String,
}

impl Chart {
    /// Adds a sentence to the remark.
    pub(crate) fn say(&mut self, sentence: impl AsRef<str>) {
        let sentence = sentence.as_ref();
        if !self.remark.is_empty() && !sentence.is_empty() {
            self.remark.push(' ');
        }
        self.remark.push_str(sentence);
    }
}

impl Series {
    pub(crate) fn line(name: impl Into<String>, colour: usize, dots: Vec<Dot>) -> Self {
        Self {
            name: name.into(),
            colour,
            dash: 0,
            has_markers: false,
            has_line: true,
            bar_width: None,
            has_band: false,
            is_named: false,
            dots,
        }
    }
}

impl Dot {
    pub(crate) fn at(x: f64, y: f64) -> Self {
        Self { x, y, ..Self::default() }
    }
}
