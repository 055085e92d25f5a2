//! A figure, declared once: its key, its label, its unit and how it is read. Every view shows it from
//! this declaration.

use measure::{Nanos, Quantity};

use crate::SampleWindow;

/// A figure. `Get` is the function that reads it.
#[derive(Clone, Copy, Debug)]
pub struct Metric<Get> {
    /// For programs; the unit stands last, where it is not a number of things.
    pub key: &'static str,
    /// For people.
    pub label: &'static str,
    /// What its values are.
    pub unit: Quantity,
    /// How it is read; `None` where it is not known.
    pub get: Get,
}

/// Two readings, one after the other, between which a figure has one value.
#[derive(Clone, Copy, Debug)]
pub struct Between<'a, R> {
    pub(crate) from: &'a R,
    pub(crate) to: &'a R,
    pub(crate) seconds: f64,
    /// Main memory of the host; `None` when not known.
    pub(crate) memory_bytes: Option<u64>,
}

/// How a figure is read from two readings.
pub type OverTime<R> = fn(&Between<'_, R>) -> Option<f64>;

impl<R> Between<'_, R> {
    /// The growth of a counter in a second; `None` when it is not known or was set back.
    pub(crate) fn rate(&self, of: impl Fn(&R) -> Option<u64>) -> Option<f64> {
        Some(of(self.to)?.checked_sub(of(self.from)?)? as f64 / self.seconds)
    }
}

/// One sample window for each two readings that are apart in time, where the figure is known.
pub(crate) fn over_time<R>(
    readings: &[R],
    at_ns: impl Fn(&R) -> Nanos,
    value: impl Fn(&R, &R, f64) -> Option<f64>,
) -> Vec<SampleWindow> {
    let pairs = readings.windows(2).filter(|pair| at_ns(&pair[1]) > at_ns(&pair[0]));
    pairs
        .filter_map(|pair| {
            let (from_ns, to_ns) = (at_ns(&pair[0]), at_ns(&pair[1]));
            let mean = value(&pair[0], &pair[1], (to_ns - from_ns) as f64 / 1e9)?;
            Some(SampleWindow { from_ns, to_ns, mean, peak: mean, is_seen: false })
        })
        .collect()
}

/// Declares the figures of something, each in one place: an enum of their names, the list of all in the
/// order of tables, and the [`Metric`] of each. The label documents the name.
macro_rules! metrics {
    (
        $(#[$of:meta])* $figures:ident: $get:ty;
        $($(#[$doc:meta])* $figure:ident = $key:literal, $label:literal, $unit:ident, $read:expr;)+
    ) => {
        $(#[$of])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum $figures { $(#[doc = $label] $(#[$doc])* $figure,)+ }

        impl $figures {
            /// All of them, in the order of tables.
            pub const ALL: &'static [Self] = &[$(Self::$figure),+];

            /// What it is called, its unit and how it is read.
            pub fn metric(self) -> $crate::Metric<$get> {
                match self {
                    $(Self::$figure => $crate::Metric::<$get> {
                        key: $key,
                        label: $label,
                        unit: measure::Quantity::$unit,
                        get: $read,
                    },)+
                }
            }
        }
    };
}

pub(crate) use metrics;
